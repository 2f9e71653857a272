"""MLflow's runs: the folder `mlruns`, and its store in SQLite.

Source: https://github.com/mlflow/mlflow, file_store.py and dbmodels/models.py of mlflow/store/tracking.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swingby.errors import SwingbyError
from swingby.imports.tools.run import LeftOut, Run, files_below, number, of_text, yaml_of
from swingby.imports.tools.sqlite import has_tables, reading

TOOL = "MLflow runs"
META = "meta.yaml"
STATES = {1: "running", 2: "scheduled", 3: "finished", 4: "failed", 5: "killed"}
"""`RunStatus` of MLflow."""
LARGEST = 1.7e308
"""MLflow's database has this and more for what is infinite."""


def recognises(path: Path) -> bool:
    """Whether it is a folder `mlruns`, that of an experiment in it, or a store."""
    if path.is_dir():
        return any(True for _ in _folders(path))
    return has_tables(path, ("experiments", "runs", "metrics", "params"))


def runs(path: Path) -> Iterator[Run | LeftOut]:
    """The runs of all experiments; deleted ones are left out."""
    if path.is_dir():
        names = dict[Path, str]()
        for folder in _folders(path):
            above = folder.parent
            if above not in names:
                names[above] = str(_meta(above).get("name") or above.name)
            yield _of_folder(folder, names[above])
        return
    with reading(path) as connection:
        yield from _of_store(connection)


def _folders(path: Path) -> Iterator[Path]:
    """The folders of runs: those with the file of a run beside folders of its parameters and metrics."""
    for depth in ("", "*/", "*/*/", "*/*/*/"):
        for meta in sorted(path.glob(f"{depth}{META}")):
            if (meta.parent / "params").is_dir() or (meta.parent / "metrics").is_dir():
                yield meta.parent


def _meta(folder: Path) -> dict[str, Any]:
    try:
        read = yaml_of((folder / META).read_text(errors="replace"), META)
    except (OSError, SwingbyError):
        return {}
    return read if isinstance(read, dict) else {}


def _of_folder(folder: Path, study: str) -> Run | LeftOut:
    meta = _meta(folder)
    name = str(meta.get("run_name") or folder.name)
    if not meta:
        return LeftOut(name, f"its {META} cannot be read")
    if meta.get("lifecycle_stage") == "deleted":
        return LeftOut(name, "deleted")
    run = Run(name, status=_state(meta.get("status")), study=study)
    run.params = {
        str(file.relative_to(folder / "params")): of_text(file.read_text(errors="replace"))
        for file in files_below(folder / "params", "*")
    }
    for file in files_below(folder / "metrics", "*"):
        metric, broken = str(file.relative_to(folder / "metrics")), 0
        curve = run.curves.setdefault(metric, {})
        for line in file.read_text(errors="replace").splitlines():
            words = line.split()
            value = number(words[1]) if len(words) in (2, 3, 4) else None
            if value is None or (len(words) > 2 and not words[2].lstrip("-").isdecimal()):
                broken += bool(line.strip())
                continue
            curve[max(0, int(words[2])) if len(words) > 2 else 0] = value
        if broken:
            run.notes.append(f"{broken} lines of {metric} that are no values")
    return run


def _of_store(connection: sqlite3.Connection) -> Iterator[Run | LeftOut]:
    by_id = dict[str, Run]()
    query = """select run_uuid, r.name, r.status, r.lifecycle_stage, e.name from runs r join experiments e using
               (experiment_id) order by r.start_time, run_uuid"""
    for id_, name, status, stage, study in connection.execute(query):
        if stage == "deleted":
            yield LeftOut(name or id_, "deleted")
        else:
            by_id[id_] = Run(name or id_, status=_state(status), study=study)
    params = dict[str, dict[str, Any]]()
    for key, value, id_ in connection.execute("select key, value, run_uuid from params order by rowid"):
        params.setdefault(id_, {})[key] = of_text(value or "")
    for key, value, id_, step, is_nan in connection.execute(
        "select key, value, run_uuid, step, is_nan from metrics order by timestamp"
    ):
        if id_ in by_id:
            plain = math.nan if is_nan else finite(number(value))
            by_id[id_].curves.setdefault(key, {})[max(0, step)] = plain
    for id_, run in by_id.items():
        run.params = params.get(id_, {})
        yield run


def finite(value: float | None) -> float | None:
    """A value of MLflow's database, in which infinity is the largest number."""
    return value if value is None or abs(value) < LARGEST else math.copysign(math.inf, value)


def _state(status: Any) -> str | None:
    return STATES.get(status) if isinstance(status, int) else str(status).lower() if status else None
