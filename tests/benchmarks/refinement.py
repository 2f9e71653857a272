"""The selector of boundaries beside other ways to find one: `python -m tests.benchmarks.refinement`.

Cases are recorded sweeps, whose truth is a surface fitted to the recorded labels, and made-up grids. In each of some
orders all ways see labels of the same truth, seed by seed. What is measured goes to a file of JSON lines, from which
the tables are printed, and from which a run that was ended goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from scipy.spatial import KDTree

from swingby.select import boundary as package
from swingby.select.boundary.boundary import Boundary
from tests.benchmarks.refinement_recorded import recorded
from tests.benchmarks.refinement_rivals import RIVALS, SHARE, Sides
from tests.benchmarks.refinement_tables import OWN, print_tables
from tests.support.boundaries import Case, Cells, judge, made_up, neighbours

Key = tuple[str, int, str]
Cases = dict[str, Callable[[], Case]]
WIDTH = 170
POINTS = 31
"""Points along each axis of the grids that are made up."""
LOOKED = 0.2
"""Share of the cells at which errors are read last: a walk that has stopped before, with any, goes on to there."""
QUICK = ("depth-gain, diverged", "sharp", "islands", "1/2 everywhere", "3 x 3", "one axis")


def main() -> None:
    """Measures what the file lacks, and prints the tables."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--orders", type=int, default=20, help="draws of labels, each an order in which they come")
    parser.add_argument("--rivals", type=int, default=5, help="of these orders, those that the other ways get")
    parser.add_argument("--first", type=int, default=0, help="the first order: orders not seen in development")
    parser.add_argument("--quick", action="store_true", help="few cases and orders")
    parser.add_argument("--cases", nargs="*", help="only cases whose name contains one of these")
    parser.add_argument("--only", action="store_true", help="this selector and the full grid alone")
    parser.add_argument("--known", action="store_true", help="measure nothing: tables of what is there")
    parser.add_argument("--out", type=Path, default=Path("refinement-benchmark"), help="folder of what is measured")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    cases: Cases = recorded(asked.out) | made_up(POINTS)
    orders = range(asked.first, asked.first + (min(asked.orders, 2) if asked.quick else asked.orders))
    if asked.quick:
        cases = {name: cases[name] for name in QUICK}
    if asked.cases:
        cases = {name: of for name, of in cases.items() if any(part in name for part in asked.cases)}
    names = [OWN, "full grid"] if asked.only else [OWN, *RIVALS]
    file = asked.out / "measured.jsonl"
    known = read(file)
    if not asked.known:
        measure(file, known, cases, orders[: asked.rivals], names)
        measure(file, known, cases, orders, names[:2])
    there = [one for key, one in known.items() if key[0] in cases and key[1] in orders and key[2] in names]
    print_tables(Console(width=WIDTH), there, names)
    if "python-adaptive" not in RIVALS:
        print("python-adaptive is not installed, and is left out: pip install adaptive")


def read(file: Path) -> dict[Key, dict[str, Any]]:
    """Measurements of these sources that a file holds, by case, order and way."""
    ones = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return {(one["case"], one["order"], one["way"]): one for one in ones if one["version"] == sources()}


def measure(
    file: Path, known: dict[Key, dict[str, Any]], cases: Cases, orders: Iterable[int], names: Sequence[str]
) -> None:
    """Adds what is not known, to the file, too, order by order."""
    version, made = sources(), dict[str, Case]()
    for order, name, way in itertools.product(orders, cases, names):
        if (name, order, way) not in known:
            if name not in made:
                made[name] = cases[name]()
            one = own(made[name], order) if way == OWN else rival(made[name], order, way)
            one |= {"case": name, "order": order, "way": way, "version": version}
            known[name, order, way] = one
            with file.open("a") as out:
                out.write(json.dumps(one) + "\n")


def sources() -> str:
    """A digest of the selector's sources: measurements of other sources are no part of a table."""
    texts = [path.read_bytes() for path in sorted(Path(package.__path__[0]).glob("*.py"))]
    return hashlib.sha256(b"".join(texts)).hexdigest()[:12]


class Compare:
    """What is false about the sides of a case's points."""

    def __init__(self, case: Case) -> None:
        self._case, self._pairs = case, neighbours(case)
        self._above = case.truth > case.goal.share
        # Where the share is the level itself, no side is wrong.
        self._sided = case.truth != case.goal.share
        self._far = np.abs(case.truth - case.goal.share) > case.goal.within
        where = np.stack(np.unravel_index(case.space.place, case.space.shape), axis=1).astype(float)
        # Panels are further from each other than any two points of one.
        where = np.column_stack([where, case.space.panel * 10.0 * sum(case.space.shape)])
        self._middle = (where[self._pairs[0]] + where[self._pairs[1]]) / 2
        self._line = self._edges(self._above)

    def _edges(self, sides: Sides) -> np.ndarray:
        first, second = self._pairs
        return self._middle[sides[first] != sides[second]]

    def __call__(self, sides: Sides) -> tuple[float, float, float | None]:
        """Share of points on the wrong side; by more than `within`; and the lines' mean distance in grid steps."""
        there = self._case.answered
        wrong = ((sides != self._above) & self._sided)[there]
        line, distance = self._edges(sides), None
        if len(line) and len(self._line):
            there_and_back = (KDTree(line).query(self._line)[0], KDTree(self._line).query(line)[0])
            distance = float(np.mean([np.mean(each) for each in there_and_back]))
        return float(wrong.mean()), float((wrong & self._far[there]).mean()), distance


def own(case: Case, order: int) -> dict[str, Any]:
    """The selector's walk, and beyond where it stops; verdicts where it does, and where the walk ends."""
    compare, revealed, cells = Compare(case), Cells(case, order), case.space.cells
    boundary, seconds = Boundary(case.space, [case.goal], round(SHARE * cells)), list[float]()
    trace, stop = list[tuple[float, float, float, float | None]](), None
    while True:
        began = time.perf_counter()
        points = boundary.ask()
        seconds.append(time.perf_counter() - began)
        if count := int(revealed.cells.sum()):
            standing = boundary.standing()
            now = compare(standing.estimates[0].above > 0.5)
            trace.append((count / cells, *now))
            judged = asdict(judge(case, standing.estimates[0]))
            if stop is None and not len(points):
                stop = {"share": count / cells, "reached": boundary.reached(standing), "expected": standing.wrong(0)}
                stop |= {"wrong": now[0], "far": now[1], **judged}
                # From here on no goal can be reached, so that it goes on.
                goal = replace(case.goal, wrong=-1.0)
                boundary = Boundary(case.space, [goal], boundary.budget, boundary.memory)
                boundary.tell(revealed.evidence)
                points = boundary.ask()
            if not len(points) or (stop is not None and (count >= LOOKED * cells or not now[0])):
                return {"trace": trace, "stop": stop, "end": judged, "seconds": seconds}
        revealed.train(points)
        boundary.tell(revealed.evidence)


def rival(case: Case, order: int, way: str) -> dict[str, Any]:
    """The walk of another way."""
    compare = Compare(case)
    return {"trace": [(count / case.space.cells, *compare(sides)) for count, sides in RIVALS[way](case, order)]}


if __name__ == "__main__":
    main()
