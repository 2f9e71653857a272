"""Folders of runs that say their settings in a file: Ray Tune's, Hydra's, Lightning's, and a program's own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from swingby.errors import SwingbyError
from swingby.imports.tools.run import LeftOut, Run, json_of, of_text, yaml_of
from swingby.imports.tools.tables import ENDINGS, read_table
from swingby.imports.tools.tensorboard import read_events

TOOL = "folders of runs with their settings"
SETTINGS = (
    "params.json", ".hydra/config.yaml", "hparams.yaml", "config.yaml", "config.yml", "config.json", "args.json",
    "args.yaml", "params.yaml", "settings.json", "settings.yaml",
)  # fmt: skip
"""Files of settings; the first that a folder has counts. Ray Tune writes the first, Hydra and Lightning the next."""
ERROR = "error.txt"
MOST_YAML = 4 * 2**20


def recognises(path: Path) -> bool:
    """Whether it is a folder in which folders of runs lie, or one of them."""
    return path.is_dir() and next(_folders(path), None) is not None


def runs(path: Path) -> Iterator[Run | LeftOut]:
    """The runs in the order of their paths."""
    for folder, settings in _folders(path):
        name = str(folder.relative_to(path)) if folder != path else folder.resolve().name
        run = Run(name)
        try:
            run.params = settings_of(folder / settings)
        except (SwingbyError, OSError) as error:
            yield LeftOut(name, f"its settings {settings} cannot be read: {error}")
            continue
        yield filled(run, folder, settings)


def _folders(path: Path) -> Iterator[tuple[Path, str]]:
    """The folders of runs, and the file of settings in each; a folder in that of a run belongs to that run."""
    for root, below, _ in os.walk(path):
        below.sort()
        folder = Path(root)
        settings = next((name for name in SETTINGS if (folder / name).is_file()), None)
        data = any(_is_data(one, settings) for one in folder.iterdir()) if settings else False
        if settings and (data or settings == ".hydra/config.yaml" or (folder / ERROR).exists()):
            yield folder, settings
            below.clear()
        below[:] = [name for name in below if not name.startswith(".")]


def _is_data(file: Path, settings: str | None) -> bool:
    """Whether a file may hold results."""
    if file.name in SETTINGS or file.name == settings or file.name.startswith((".", "experiment_state-", "basic-var")):
        return False
    return file.suffix.lower() in ENDINGS or "tfevents" in file.name


def filled(run: Run, folder: Path, settings: str | None = None) -> Run | LeftOut:
    """The run with the results that lie in its folder: tables, or where there are none, event files."""
    files = sorted(one for one in folder.iterdir() if one.is_file())
    tables = [one for one in files if _is_data(one, settings) and "tfevents" not in one.name]
    names = {one.name for one in tables}
    if {"result.json", "progress.csv"} <= names:  # Ray Tune writes both, and the second has less
        tables = [one for one in tables if one.name != "progress.csv"]
    for file in tables:
        try:
            read_table(file, run)
        except (SwingbyError, OSError) as error:
            run.notes.append(f"not read: {error}")
    if not run.curves and not run.scalars:
        for file in files:
            if "tfevents" in file.name:
                read_events(file, run)
    pickles = sorted({one.suffix for one in files if one.suffix in (".pkl", ".pickle", ".pt", ".npz", ".npy", ".h5")})
    if pickles and settings != "params.json":
        run.notes.append(f"files {', '.join(pickles)} are not read")
    failure = folder / ERROR
    if failure.is_file():
        lines = [line for line in failure.read_text(errors="replace").splitlines() if line.strip()]
        run.status, run.message = "error", lines[-1].strip()[:300] if lines else None
    if not run.curves and not run.scalars and not run.status:
        return LeftOut(run.name, "; ".join(run.notes) or f"no results ({', '.join(ENDINGS)}, or event files)")
    return run


def settings_of(file: Path) -> Mapping[str, Any]:
    """The settings that a JSON or YAML file holds.

    Raises:
        SwingbyError: it holds none, or YAML with aliases or tags of Python.
    """
    if file.stat().st_size > MOST_YAML:
        raise SwingbyError(f"larger than {MOST_YAML >> 20} MiB")
    text = file.read_text(encoding="utf-8-sig", errors="replace")
    values = json_of(text, file.name) if file.suffix == ".json" else yaml_of(text, file.name)
    if not isinstance(values, Mapping) or not values:
        raise SwingbyError("no settings by name")
    # YAML 1.1 has 1e-3 as a text.
    return {str(name): of_text(of) if isinstance(of, str) else of for name, of in values.items()}
