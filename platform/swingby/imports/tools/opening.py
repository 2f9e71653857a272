"""The one door for files and folders of runs: which tool left them is seen by their content."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from swingby.data.files import clear_os_errors
from swingby.errors import SwingbyError
from swingby.imports.reading import PACKED, READERS, RunsFile, of_counts, read_frame, read_runs
from swingby.imports.tools import folders, mlflow, optuna, plain, tensorboard, wandb_files, wandb_panel
from swingby.imports.tools.frame import frame_of
from swingby.imports.tools.run import Hints, LeftOut, Run
from swingby.imports.tools.sqlite import is_sqlite
from swingby.options import option

PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".joblib")


class Tool(Protocol):
    """A module that reads what a tool leaves."""

    @property
    def TOOL(self) -> str:
        """Its name in words."""
        ...

    @staticmethod
    def recognises(path: Path) -> bool:
        """Whether it can read this."""
        ...

    @staticmethod
    def runs(path: Path) -> Iterator[Run | LeftOut]:
        """The runs."""
        ...


TOOLS: tuple[Tool, ...] = (wandb_files, optuna, mlflow, wandb_panel, folders, tensorboard, plain)
"""The first that recognises a path reads it: Ray Tune and Lightning leave event files, too."""


@contextmanager
def open_runs(paths: Sequence[Path], hints: Hints) -> Iterator[RunsFile]:
    """The runs of a file, of several, or of a folder.

    Raises:
        SwingbyError: there is no such path, nothing that is known lies there, or it cannot be read.
    """
    table: dict[str, dict[str, str]] | None = None
    if len(paths) > 1:
        tables = {path: rows for path in paths if (rows := wandb_panel.run_table(path)) is not None}
        rest = [path for path in paths if path not in tables]
        if len(tables) == 1 and rest and all(map(wandb_panel.recognises, rest)):
            paths, (table,) = rest, tables.values()
    first = paths[0]
    for path in paths:
        if not path.exists():
            raise SwingbyError(f"no file {path}")
        if path.suffix.lower() in PICKLES:
            raise SwingbyError(f"{path}: a pickle is not read: it can run code; write its table as CSV")
    with clear_os_errors(f"read {first}"):
        tool = next((one for one in TOOLS if one.recognises(first)), None)
    if tool is None and len(paths) == 1 and hints.from_name is None and not plain.is_saved(first):
        if first.is_dir():
            raise SwingbyError(f"{first} has no runs that are known: {known()}")
        if is_sqlite(first):
            raise SwingbyError(f"{first} is SQLite, and neither an Optuna study nor a store of MLflow: {known()}")
        with read_runs(first) as file:
            yield file if hints.counts is None else of_counts(file, *hints.counts)
        return
    if hints.counts is not None:
        raise SwingbyError(f"{option('counts')} is for one table, and {first} is {tool.TOOL if tool else plain.TOOL}")
    with clear_os_errors(f"read {first}"):
        if tool is None:
            runs = plain.of_files(paths)
        elif len(paths) == 1 and table is None:
            runs = tool.runs(first)
        else:
            other = next((path for path in paths if not tool.recognises(path)), None)
            if other is not None:
                raise SwingbyError(f"{other} is not {tool.TOOL}, as {first} is: import them one by one")
            runs = merged(itertools.chain.from_iterable(map(tool.runs, paths)))
            runs = runs if table is None else wandb_panel.with_settings(runs, table)
        frame = frame_of(runs, (tool or plain).TOOL, first, hints)
    others = [one for one in TOOLS if first.is_dir() and one not in (tool, plain, tensorboard)]
    beside = [one.TOOL for one in others if one.recognises(first)]
    notes = [*frame.notes, *(f"{first} holds {one} too: import their folder by itself" for one in beside)]
    about = {"export": frame.export, "names": frame.names, "notes": tuple(notes), "title": frame.title}
    with read_frame(first, frame.table, digest(frame.table), **about) as file:
        yield file


def merged(runs: Iterator[Run | LeftOut]) -> Iterator[Run | LeftOut]:
    """Runs of one name as one: panels of W&B are a file a metric."""
    by_name = dict[str, Run]()
    for run in runs:
        if isinstance(run, LeftOut):
            yield run
        elif run.name in by_name and not run.params:
            by_name[run.name].curves |= run.curves
            by_name[run.name].notes += run.notes
        else:
            by_name[run.name if not run.params else f"{run.name} {len(by_name)}"] = run
    yield from by_name.values()


def known() -> str:
    """What can be imported, in words."""
    tables = ", ".join([*READERS, *(f"... {ending}" for ending in PACKED)])
    return (
        f"tables ({tables}), W&B's run files and panels, MLflow's folders and SQLite, an Optuna study in SQLite, "
        f"TensorBoard's event files, folders of Ray Tune, Hydra and Lightning, and a file a run with "
        f"{option('from_name')}"
    )


def digest(table: pa.Table) -> str:
    """SHA-256 of the runs as they were read: folders hold checkpoints and logs, too."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return hashlib.sha256(sink.getvalue()).hexdigest()
