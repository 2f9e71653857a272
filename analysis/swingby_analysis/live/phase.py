"""A phase diagram that fills in: what detectors have said so far, over the first two axes of a sweep."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal

from swingby.errors import SwingbyError
from swingby.model.registry import nearest
from swingby.store import Store
from swingby.store.views import OF_SHARD, quoted
from swingby.text import plain
from swingby_analysis.live.grid import Axis, Grid
from swingby_analysis.stats.shares import wilson

Kind = Literal["share", "category", "median"]
OUTCOMES = "outcomes_"


@dataclass(slots=True)
class Pool:
    """What is known of some cells together: how many are planned, have a result, have an outcome; and the outcomes."""

    planned: int = 0
    results: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    numbers: list[float] = field(default_factory=list)

    def add(self, other: Pool) -> None:
        """Takes the cells of another one too."""
        self.planned += other.planned
        self.results += other.results
        self.counts.update(other.counts)
        self.numbers += other.numbers

    @property
    def told(self) -> int:
        """Cells with an outcome."""
        return self.counts.total() + len(self.numbers)

    @property
    def median(self) -> float | None:
        """Of the numbers."""
        return median(self.numbers) if self.numbers else None

    @property
    def most(self) -> str | None:
        """The commonest category; of equally common ones the first in the alphabet."""
        return min(self.counts, key=lambda name: (-self.counts[name], name)) if self.counts else None

    def share(self, category: str) -> float:
        """The share of a category among the cells with an outcome."""
        return self.counts[category] / self.told

    def interval(self, category: str) -> tuple[float, float]:
        """Wilson's 95 % interval of that share."""
        low, high = wilson(self.counts[category], self.told)
        return float(low), float(high)

    def sure(self, category: str) -> bool:
        """Whether the 95 % interval of that share leaves out one half."""
        low, high = self.interval(category)
        return not low <= 0.5 <= high


@dataclass(frozen=True, slots=True)
class Outcome:
    """Which outcome is shown: the table and column that hold it, and of what kind it is.

    `value` is the category whose share is shown; None where each point's commonest is.
    """

    table: str
    column: str
    kind: Kind
    value: str | None = None

    def __str__(self) -> str:
        told = self.column if self.value in (None, "true") else f"{self.column} = {self.value}"
        what = {"share": "share of cells with", "category": "commonest", "median": "median of"}[self.kind]
        return plain(f"{what} {told} ({self.table.removeprefix(OUTCOMES)})")


@dataclass(frozen=True)
class Phase:
    """Pools over one axis or two.

    Attributes:
        asked: what is shown; None if no detector has said anything yet.
        x, y: the axes; y is None for a single one, both are None where the sweep has none.
        pools: (place on x, place on y) -> what is known there; places that are not part of the sweep are not.
        at: axes that were held, with the value.
        over: axes that are taken together.
    """

    asked: Outcome | None
    x: Axis | None
    y: Axis | None
    pools: Mapping[tuple[int, int], Pool]
    at: tuple[tuple[str, str], ...]
    over: tuple[str, ...]


def chosen_outcome(store: Store, sweep_id: str, resolved: Mapping[str, Any], outcome: str | None) -> Outcome | None:
    """The outcome to show: the one that was asked for (`name` or `name=value`), the sweep's own, or the first there is.

    Raises:
        SwingbyError: no detector has said anything of what was asked for.
    """
    known: dict[str, tuple[str, str]] = {}
    for table, columns in sorted(store.tables().items()):
        if table.startswith(OUTCOMES) and not table.endswith("_all"):
            for column, type_ in columns:
                if column not in ("cell_id", OF_SHARD) and not type_.endswith("]"):
                    known.setdefault(column, (table, type_))
    name, _, value = (outcome or "").partition("=")
    if name:
        if known and name not in known:
            raise SwingbyError(f"--outcome: no outcome is called {plain(name)!r}; {nearest(name, list(known))}")
        return _asked(name, known, value)
    own = section(resolved, "diagram").get("outcome") or resolved.get("outcome")
    if own is not None:
        return _asked(str(own), known, "")
    return _asked(_first(store, sweep_id, known), known, "")


def section(resolved: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of a resolved sweep; empty if there is none, or somebody else's plan has something else there."""
    found = resolved.get(name)
    return found if isinstance(found, Mapping) else {}


def _first(store: Store, sweep_id: str, known: Mapping[str, tuple[str, str]]) -> str:
    """The first outcome that any cell of the sweep has: one that holds or not, if there is one."""
    query = "select 1 from {} o semi join members m on m.cell_id = o.cell_id and m.sweep_id = ? limit 1"
    there = {table for table, _ in known.values() if len(store.sql(query.format(quoted(table)), [sweep_id]))}
    found = [(type_ != "BOOLEAN", name) for name, (table, type_) in known.items() if table in there]
    return min(found, key=lambda one: one[0])[1] if found else ""


def _asked(name: str, known: Mapping[str, tuple[str, str]], value: str) -> Outcome | None:
    if name not in known:
        return None
    table, type_ = known[name]
    if type_ == "BOOLEAN":
        return Outcome(table, name, "share", value or "true")
    if type_ == "VARCHAR" or value:
        return Outcome(table, name, "share" if value else "category", value or None)
    return Outcome(table, name, "median")


def pools(store: Store, experiment: str, sweep_id: str, asked: Outcome | None, grid: Grid) -> dict[int, Pool]:
    """What is known at each point of the grid."""
    found = {point: Pool(planned) for point, planned in grid.planned.items()}
    if experiment not in store.tables():
        return found
    # Outcomes of the very row that stands for the cell; which row that is, its shard says.
    joined = f"left join {quoted(asked.table)} o on o.cell_id = e.cell_id and o.{OF_SHARD} = e.shard" if asked else ""
    column = "null" if asked is None else f"o.{quoted(asked.column)}"
    numbers = asked is not None and asked.kind == "median"
    value = f"list(cast({column} as double)) as numbers" if numbers else f"cast({column} as varchar) as value"
    rows = store.sql(
        f"""select m.point, count(*) as cells, {value} from members m join "{experiment}" e on e.cell_id = m.cell_id
            {joined} where m.sweep_id = ? and e.status <> 'running' group by m.point{"" if numbers else ", value"}""",
        [sweep_id],
    ).rows()
    for row in rows:
        pool = found.setdefault(row.point, Pool())
        pool.results += row.cells
        if numbers:
            pool.numbers += [number for number in row.numbers if number is not None and not math.isnan(number)]
        elif row.value is not None:
            pool.counts[row.value] += row.cells
    return found


def phase(
    grid: Grid,
    points: Mapping[int, Pool],
    asked: Outcome | None,
    diagram: Mapping[str, Any],
    at: Sequence[tuple[str, str]],
) -> Phase:
    """The pools of the points over the first two axes, or those of the sweep's diagram, that are not held.

    Raises:
        SwingbyError: an axis that is to be held, or its value, is not there.
    """
    held = {(axis := grid.axis(name)): grid.axes[axis].find(value) for name, value in at}
    chosen = _chosen(grid, [diagram.get("x"), diagram.get("y")], held)
    gathered: dict[tuple[int, int], Pool] = {}
    for point, places in grid.places.items():
        if all(places[axis] == place for axis, place in held.items()):
            where = (places[chosen[0]] if chosen else 0, places[chosen[1]] if len(chosen) > 1 else 0)
            gathered.setdefault(where, Pool()).add(points[point])
    shown = [grid.axes[number] for number in chosen]
    groups = {grid.together[number] for number in chosen}
    return Phase(
        asked,
        shown[0] if shown else None,
        shown[1] if len(shown) > 1 else None,
        gathered,
        tuple((grid.axes[axis].name, grid.axes[axis].labels[place]) for axis, place in held.items()),
        tuple(
            axis.name
            for number, axis in enumerate(grid.axes)
            if number not in held and grid.together[number] not in groups and len(axis.values) > 1
        ),
    )


def _chosen(grid: Grid, asked: Iterable[Any], held: Mapping[int, int]) -> list[int]:
    """The axes to show: those asked for, if they are free; else the first free ones that do not advance together."""
    names = [axis.name for axis in grid.axes]
    found = [names.index(name) for name in asked if name in names and names.index(name) not in held]
    for number, group in enumerate(grid.together):
        free = number not in held and group not in {grid.together[one] for one in found}
        if len(found) < 2 and free:
            found.append(number)
    return found
