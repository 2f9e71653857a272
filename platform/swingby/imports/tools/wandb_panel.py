"""The CSV of a panel of W&B's page: a column a run, `name - metric`, with `__MIN` and `__MAX` beside it."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from swingby.errors import SwingbyError
from swingby.imports.exports import is_about
from swingby.imports.tools.run import LeftOut, Run, number, of_text
from swingby.units import counted

TOOL = "a panel of W&B"
BETWEEN = " - "
ENDS = ("__MIN", "__MAX")


def recognises(path: Path) -> bool:
    """Whether it is a CSV in which each column but the first names a run and a metric."""
    if path.suffix.lower() != ".csv" or not path.is_file():
        return False
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        try:
            header = next(csv.reader([file.readline(2**24)]), [])
        except csv.Error:
            return False
    return len(header) > 1 and BETWEEN not in header[0] and all(BETWEEN in name for name in header[1:])


def runs(path: Path) -> Iterator[Run | LeftOut]:
    """The runs in the order of the columns.

    Raises:
        SwingbyError: two columns have one name, or a row has no step.
    """
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = csv.reader(file)
        header = next(rows)
        twice = next((name for name, count in Counter(header).items() if count > 1), None)
        if twice is not None:
            raise SwingbyError(f"{path}: two columns are called {twice!r}: rename one of the runs, which share a name")
        by_run, spread = dict[str, Run](), dict[str, set[str]]()
        columns = list[tuple[int, str, str]]()
        for place, name in enumerate(header[1:], 1):
            run, _, metric = name.rpartition(BETWEEN)
            if not metric.endswith(ENDS) and metric != "_step":
                by_run.setdefault(run, Run(run))
                columns.append((place, run, metric))
        at = {name: place for place, name in enumerate(header)}
        for line, row in enumerate(rows, 1):
            step = number(row[0]) if row else None
            if row and (step is None or step < 0 or step != round(step)):
                raise SwingbyError(f"{path}: row {line} has the {header[0]} {row[0]!r}; allowed: 0, 1, 2, ...")
            for place, run, metric in columns:
                if step is None or place >= len(row) or not row[place].strip():
                    continue
                value = number(row[place])
                if value is None:
                    note = f"values of {metric} that are no numbers"
                    by_run[run].notes += [note] if note not in by_run[run].notes else []
                    continue
                by_run[run].curves.setdefault(metric, {})[round(step)] = value
                ends = [row[at[f"{header[place]}{end}"]] for end in ENDS if f"{header[place]}{end}" in at]
                if any(end.strip() and number(end) != value and value == value for end in ends):
                    spread.setdefault(run, set()).add(f"{metric} {step:g}")
    for name, steps in spread.items():
        by_run[name].notes.append(f"{counted(len(steps), 'mean')} of several points or runs (__MIN and __MAX differ)")
    for run in by_run.values():
        yield run if run.curves else LeftOut(run.name, "no value")


def run_table(path: Path) -> dict[str, dict[str, str]] | None:
    """The rows of W&B's table of runs by the runs' names, without what is about the run; None: it is another file.

    Raises:
        SwingbyError: two runs have one name.
    """
    if path.suffix.lower() != ".csv" or not path.is_file():
        return None
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = csv.DictReader(file)
        if not {"Name", "State"} <= set(rows.fieldnames or ()):
            return None
        table = dict[str, dict[str, str]]()
        for row in rows:
            if row["Name"] in table:
                raise SwingbyError(f"{path}: two runs are called {row['Name']!r}: a panel does not tell them apart")
            table[row["Name"]] = {name: value for name, value in row.items() if value and not is_about(name)}
    return table


def with_settings(runs: Iterator[Run | LeftOut], table: dict[str, dict[str, str]]) -> Iterator[Run | LeftOut]:
    """The runs of panels with what the table of runs says of them."""
    for run in runs:
        if isinstance(run, LeftOut) or run.name in table:
            row = table.get(run.name, {})
            if isinstance(run, Run):
                run.scalars = {
                    name: of_text(value) for name, value in row.items() if name not in ("State", *run.curves)
                }
                run.status = row.get("State")
            yield run
        else:
            yield LeftOut(run.name, "it is not in the table of runs")
