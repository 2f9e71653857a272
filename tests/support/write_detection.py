"""Writes what the detector of `sim` can see into its .md files: `python -m tests.support.write_detection DATA`.

DATA is a data folder in which the sweep `detection-power` was run. A file has the tables between two marks; no test
can hold them against the code, since they take minutes to make.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import polars as pl

from swingby.store import Store
from swingby.store.lookup import find_sweep
from swingby_analysis.query import Query, ask
from swingby_sweeps.sim.drawings.detection import ALL, LARGE, MOST_FALSE, CallShare, classes, counted
from swingby_sweeps.sim.drawings.subject import SQL
from tests.support.readmes import rewrite

SECTION = re.compile(r"(<!-- detection power; .*? -->\n).*?(<!-- end of detection power -->)", re.DOTALL)
GOALS = {"0.03": 0.9, "0.1": 0.7}
"""Learning rate -> the share of large bumps that the detector is meant to find there."""


def section(runs: pl.DataFrame) -> str:
    """Both tables and the sentences about the goals, from the rows of the query `detection`."""
    sizes = [*classes(), ("5 and more", LARGE, float("inf"))]
    power, calls = list(counted(runs, sizes)), list(counted(runs))
    names = [name.replace(" and more", " % and more") if "more" in name else f"{name} %" for name, _, _ in sizes]
    head = ["", f"| learning rate | depth | {' | '.join(names)} |", f"|---|---|{'---|' * len(names)}"]
    of = {(row.line, row.panel, row.column): row for row in power}
    places = sorted(dict.fromkeys((row.line, row.panel) for row in power), key=lambda place: float(place[0]))
    lines = [
        f"| {line} | {panel} | {' | '.join(_cell(of.get((line, panel, name))) for name, _, _ in sizes)} |"
        for line, panel in places
    ]
    falsely = ["", "| learning rate | depth | called non-monotone, of runs whose twin is monotone |", "|---|---|---|"]
    ordered = sorted(calls, key=lambda row: float(row.line))
    falsely += [f"| {row.line} | {row.panel} | {_cell(row)} |" for row in ordered]
    large = {row.line: row for row in power if (row.panel, row.column) == (ALL, "5 and more")}
    return "\n".join(
        [*head, *lines, *falsely, "", " ".join(_goals(large, [row for row in ordered if row.panel == ALL])), "", ""]
    )


def _cell(row: CallShare | None) -> str:
    if row is None:
        return "none"
    return f"{row.k} of {row.n}, {row.share:.0%} ({100 * row.low:.0f} to {100 * row.high:.0f})"


def _goals(large: dict[str, CallShare], calls: Sequence[CallShare]) -> Iterator[str]:
    """A sentence for each goal: whether it is reached."""
    for line, goal in GOALS.items():
        if line in large:
            row, reached = large[line], "reached" if large[line].share >= goal else "missed"
            yield f"Goal at {line}: {goal:.0%} of bumps of 5 % of L_ref and more; found: {_cell(row)}: {reached}."
    for reached, rows in groupby(calls, lambda row: row.share <= MOST_FALSE):
        told = "; ".join(f"{row.line}: {_cell(row)}" for row in rows)
        yield f"Goal of at most {MOST_FALSE:.0%} false calls, {'reached' if reached else 'missed'} at {told}."


def main(arguments: Sequence[str]) -> int:
    """Counts the runs of the sweep, and writes the section of the file."""
    with Store.open(Path(arguments[0])) as store:
        sweep = arguments[1] if len(arguments) > 1 else "detection-power"
        text = section(ask(store, Query("detection", (find_sweep(store, sweep).sweep_id,), SQL)))
    if len(arguments) > 1:
        print(text)
        return 0
    rewrite(SECTION, lambda match: match[1] + text + match[2])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
