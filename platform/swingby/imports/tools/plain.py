"""Plain folders: a file a run, or a folder a run, with the settings in its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from swingby.errors import SwingbyError
from swingby.imports.tools.folders import filled
from swingby.imports.tools.run import LeftOut, Run
from swingby.imports.tools.tables import ENDINGS, read_table

TOOL = "files of runs"
_TENSORBOARD = re.compile(r"run-(?P<run>.+)-tag-(?P<tag>.+)")


def recognises(path: Path) -> bool:
    """Whether it is a folder with tables."""
    return path.is_dir() and any(True for _ in _tables(path))


def is_saved(path: Path) -> bool:
    """Whether a file is called as the CSV that TensorBoard's page saves of a run's scalar."""
    return path.is_file() and path.suffix.lower() == ".csv" and _TENSORBOARD.fullmatch(path.stem) is not None


def runs(path: Path) -> Iterator[Run | LeftOut]:
    """The runs of a folder: where several folders have files of one name, each of them is a run, else each file."""
    files = list(_tables(path))
    names = Counter(file.name for file in files)
    if len({file.parent for file in files}) > 1 and max(names.values()) > 1:
        for folder in sorted({file.parent for file in files}):
            yield filled(Run(str(folder.relative_to(path)) if folder != path else "."), folder)
        return
    yield from of_files(files, path)


def of_files(files: Sequence[Path], below: Path | None = None) -> Iterator[Run | LeftOut]:
    """A run a file; files that TensorBoard's page saved are named by their run and its tag."""
    read = dict[str, Run]()
    for file in files:
        name = str(file.relative_to(below)) if below else file.name
        saved = _TENSORBOARD.fullmatch(file.stem)
        name, tag = (saved["run"], saved["tag"]) if saved else (name, "value")
        run = read.get(name) or Run(name)
        try:
            read_table(file, run, tag)
        except (SwingbyError, OSError) as error:
            yield LeftOut(name, str(error))
            continue
        read[name] = run
    yield from read.values()


def _tables(path: Path) -> Iterator[Path]:
    for file in sorted(path.rglob("*")):
        hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
        if file.suffix.lower() in ENDINGS and not hidden and file.is_file():
            yield file
