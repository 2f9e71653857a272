"""Runs of a tool as a table, a row a run, and what its columns mean."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from swingby.errors import SwingbyError
from swingby.imports.exports import Export, seed_column, unambiguous
from swingby.imports.tools.names import pairs_in, pattern_of, settings_in, template_for
from swingby.imports.tools.run import Curves, Hints, LeftOut, Run, flat
from swingby.options import option
from swingby.units import counted

CONFIG, METRICS, LAST = "config.", "metrics.", "summary."
MOST_SHOWN = 3
MOST_SETTINGS = 5_000


@dataclass(frozen=True)
class Frame:
    """Runs as a table.

    Attributes:
        table: a row a run; `step` and the curves are lists, null where a run has no value.
        export: what the columns mean.
        names: of the runs, a row each.
        notes: what was left out, and why.
        title: the study that all runs belong to; "": nothing says it.
    """

    table: pa.Table
    export: Export
    names: Sequence[str]
    notes: tuple[str, ...]
    title: str


def frame_of(runs: Iterable[Run | LeftOut], tool: str, path: Path, hints: Hints) -> Frame:
    """The runs as a table.

    Raises:
        SwingbyError: there are none, they belong to several studies, or nothing says their settings.
    """
    taken, left = list[Run](), list[LeftOut]()
    for one in runs:
        if isinstance(one, LeftOut):
            left.append(one)
        elif one.params or one.curves or one.scalars:
            taken.append(one)
        else:
            left.append(LeftOut(one.name, "; ".join(one.notes) or "neither settings nor results"))
    taken = _of_study(taken, path, hints)
    taken, unnamed = _with_names(taken, path, hints)
    left += unnamed
    if not taken:
        raise SwingbyError(f"{path} has no run that can be taken{': ' if left else ''}{'; '.join(_left_out(left))}")
    return _frame(taken, tool, _left_out(left) + _remarks(taken))


def _of_study(runs: list[Run], path: Path, hints: Hints) -> list[Run]:
    studies = Counter(run.study for run in runs)
    if hints.study is not None:
        if hints.study not in studies:
            raise SwingbyError(f"{path} has no study {hints.study!r}; it has {', '.join(map(str, studies))}")
        return [run for run in runs if run.study == hints.study]
    if len(studies) > 1:
        listed = ", ".join(f"{study} ({counted(count, 'run')})" for study, count in studies.most_common())
        raise SwingbyError(f"{path} has runs of several studies: {option('study')} takes one of {listed}")
    return runs


def _with_names(runs: list[Run], path: Path, hints: Hints) -> tuple[list[Run], list[LeftOut]]:
    """The runs with the settings that their names hold, and those whose names do not fit."""
    left = list[LeftOut]()
    if hints.from_name is not None:
        pattern, kept = pattern_of(hints.from_name), list[Run]()
        for run in runs:
            settings = settings_in(hints.from_name, pattern, run.name)
            if settings is None:
                left.append(LeftOut(run.name, f"its name does not fit {hints.from_name!r}"))
            else:
                run.params = {**run.params, **settings}
                kept.append(run)
        return kept, left
    if runs and not any(run.params for run in runs):
        for run in runs:
            run.params = pairs_in(run.name)
        if not hints.params and not any(run.params for run in runs):
            names = [run.name for run in runs]
            proposal = template_for(names)
            example = (
                f"{option('from_name', 'run-lr{lr}_s{seed}')} reads them where the names hold them, "
                f"{option('params', 'lr')} where the files do; the table of all runs, as the tool exports it, "
                "has them too"
            )
            how = f"{option('from_name', proposal)} would read them" if proposal else example
            raise SwingbyError(f"{path}: nothing says the settings of runs such as {names[0]!r}: {how}")
    return runs, left


def _frame(runs: list[Run], tool: str, notes: list[str]) -> Frame:
    settings = [dict(_limited(run.params)) for run in runs]
    scalars = [dict(_limited(run.scalars)) for run in runs]
    metrics = list(dict.fromkeys(name for run in runs for name in run.curves))
    once = {name for name in metrics if max(len(run.curves.get(name, ())) for run in runs) <= 1}
    for run, values in zip(runs, scalars, strict=True):
        for name in once & run.curves.keys():
            values.setdefault(name, next(iter(run.curves[name].values()), None))
    curves = [name for name in metrics if name not in once]
    columns = dict[str, pa.Array]()
    for prefix, rows in ((CONFIG, settings), (LAST, scalars)):
        for name in dict.fromkeys(name for row in rows for name in row):
            columns[f"{prefix}{name}"] = column([row.get(name) for row in rows])
    if curves:
        steps = [sorted({step for name in curves for step in run.curves.get(name, ())}) for run in runs]
        columns["step"] = pa.array(steps, pa.list_(pa.int64()))
        for name in curves:
            columns[f"{METRICS}{name}"] = pa.array(
                [_entries(run.curves, name, of) for run, of in zip(runs, steps, strict=True)], pa.list_(pa.float64())
            )
    for role in ("status", "message"):
        reported = [getattr(run, role) for run in runs]
        if any(reported):
            columns[role] = pa.array(reported, pa.string())
    names = {one: one.partition(".")[2] for one in columns if one.startswith((CONFIG, METRICS, LAST))}
    names = unambiguous(names, columns)
    export = Export(
        tool=tool, names=names,
        status="status" if "status" in columns else None, message="message" if "message" in columns else None,
        params=tuple(one for one in columns if one.startswith(CONFIG)), seed=seed_column(columns, names),
        step="step" if curves else None, conditional=True,
    )  # fmt: skip
    return Frame(pa.table(columns), export, [run.name for run in runs], tuple(notes), runs[0].study or "")


def _entries(curves: Curves, name: str, steps: Sequence[int]) -> list[float | None]:
    curve = curves.get(name, {})
    return [curve.get(step) for step in steps]


def _limited(values: Any) -> list[tuple[str, Any]]:
    parts = list[tuple[str, Any]]()
    for part in flat(values):
        parts.append(part)
        if len(parts) > MOST_SETTINGS:
            raise SwingbyError(f"a run has more than {MOST_SETTINGS:,} settings or values")
    return parts


def column(values: Sequence[Any]) -> pa.Array:
    """Values of any kind as a column: of booleans, integers, numbers, lists of numbers, else of texts."""
    there = [value for value in values if value is not None]
    kinds = {type(value) for value in there}
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int} and all(-(2**63) <= value < 2**63 for value in there):
        return pa.array(values, pa.int64())
    if kinds <= {int, float} and kinds:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if kinds == {list} and all(type(part) in (int, float) for value in there for part in value):
        return pa.array(values, pa.list_(pa.float64()))
    return pa.array([value if value is None or isinstance(value, str) else _text(value) for value in values])


def _text(value: Any) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)


def _left_out(left: Sequence[LeftOut]) -> list[str]:
    """Runs that were left out, by why."""
    by_why = dict[str, list[str]]()
    for one in left:
        by_why.setdefault(one.why, []).append(one.name)
    return [f"{counted(len(names), 'run')} left out ({_some(names)}): {why}" for why, names in by_why.items()]


def _remarks(runs: Sequence[Run]) -> list[str]:
    """What could not be read of runs that are taken."""
    by_note = dict[str, list[str]]()
    for run in runs:
        for note in run.notes:
            by_note.setdefault(note, []).append(run.name)
    shown = [f"{note}, of {counted(len(names), 'run')} ({_some(names)})" for note, names in by_note.items()]
    more = len(shown) - 2 * MOST_SHOWN
    return [*shown[: 2 * MOST_SHOWN], *([f"and {counted(more, 'remark')} more"] if more > 0 else [])]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST_SHOWN]) + (", ..." if len(names) > MOST_SHOWN else "")
