"""A phase diagram that fills in: the outcomes that detectors have written so far, over two axes of a sweep."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.columns import scalar_outcomes
from swingby.model.detector import EXPRESSION_TABLE
from swingby.model.registry import nearest
from swingby.options import option
from swingby.store import Store
from swingby.store.lookup import written_outcomes
from swingby.store.sweep_grid import SweepAxis, SweepGrid, groups_of, points_of
from swingby.store.views import OF_SHARD, quoted
from swingby.text import plain
from swingby_analysis.stats.shares import wilson

Kind = Literal["share", "category", "median"]
OUTCOMES = "outcomes_"


def short(value: Any) -> str:
    """A parameter's value as the terminal shows it: one short line without control characters."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return plain("(" + ", ".join(map(short, value)) + ")", 40)
    return plain(value, 40)


@dataclass(slots=True)
class Pool:
    """Some cells together: how many are planned and how many have a result, and the outcomes of those that have one.

    Attributes:
        counts: yes/no outcomes and categories -> cells.
        numbers: outcomes that are numbers, one a cell.
    """

    planned: int = 0
    results: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    numbers: list[float] = field(default_factory=list)

    def add(self, other: Pool) -> None:
        """Takes in the cells of another pool."""
        self.planned += other.planned
        self.results += other.results
        self.counts.update(other.counts)
        self.numbers += other.numbers

    @property
    def with_outcome(self) -> int:
        """How many cells have an outcome."""
        return self.counts.total() + len(self.numbers)

    @property
    def median(self) -> float | None:
        """The median of the numbers; None without numbers."""
        return median(self.numbers) if self.numbers else None

    @property
    def commonest(self) -> str | None:
        """The commonest category; of equally common ones the first in the alphabet."""
        return min(self.counts, key=lambda name: (-self.counts[name], name)) if self.counts else None

    def share(self, category: str) -> float:
        """The share of a category among the cells with an outcome."""
        return self.counts[category] / self.with_outcome

    def interval(self, category: str) -> tuple[float, float]:
        """Wilson's 95 % interval of a category's share."""
        low, high = wilson(self.counts[category], self.with_outcome)
        return float(low), float(high)

    def decided(self, category: str) -> bool:
        """Whether the 95 % interval of a category's share leaves out one half."""
        low, high = self.interval(category)
        return not low <= 0.5 <= high


@dataclass(frozen=True, slots=True)
class Outcome:
    """Which outcome the diagram shows: the table and column that hold it, and of what kind it is.

    Attributes:
        value: the category whose share is shown; None where each point's commonest category is.
        title: what it is called, where that is not its column's name.
    """

    table: str
    column: str
    kind: Kind
    value: str | None = None
    title: str = ""

    def __str__(self) -> str:
        title = self.title or self.column
        name = title if self.value in (None, "true") else f"{title} = {self.value}"
        what = {"share": "share of cells with", "category": "commonest", "median": "median of"}[self.kind]
        return plain(f"{what} {name}" if self.title else f"{what} {name} ({self.table.removeprefix(OUTCOMES)})")


@dataclass(frozen=True)
class Phase:
    """The outcomes of a sweep over one axis or two.

    Attributes:
        outcome: what is shown; None if no detector has written anything yet.
        x, y: the axes; y is None for a single one, both are None where the sweep has none.
        pools: (index on x, index on y) -> the cells there; places without a point of the sweep are left out.
        at: axes that are held, each with its value.
        over: axes that are not shown: cells at all of their values are pooled.
    """

    outcome: Outcome | None
    x: SweepAxis | None
    y: SweepAxis | None
    pools: Mapping[tuple[int, int], Pool]
    at: tuple[tuple[str, str], ...]
    over: tuple[str, ...]


def chosen_outcome(store: Store, sweep_id: str, resolved: Mapping[str, Any], outcome: str | None) -> Outcome | None:
    """The outcome to show: `outcome` (`name` or `name=value`), the sweep's own, or the first that it has.

    Raises:
        SwingbyError: there is no outcome of that name.
    """
    written = written_outcomes(store, sweep_id)
    named = [*(name for name in section(resolved, "outcomes") if name in written), *written]
    known = {name: (written[name].table, store.columns(written[name].table)["value"]) for name in named}
    for table, columns in sorted(store.tables().items()):
        by_sweep = EXPRESSION_TABLE.fullmatch(table) or any(column == "sweep_id" for column, _ in columns)
        if table.startswith(OUTCOMES) and not table.endswith("_all") and not by_sweep:
            for column, type_ in columns:
                if column not in ("cell_id", OF_SHARD) and not type_.endswith("]"):
                    known.setdefault(column, (table, type_))
    name, _, value = (outcome or "").partition("=")
    default = name or str(section(resolved, "diagram").get("outcome") or resolved.get("outcome") or "")
    if default and default not in known and (scalar := _scalar(store, resolved, default)) is not None:
        known[default] = scalar
    if name and known and name not in known:
        raise SwingbyError(f"{option('outcome')}: no outcome is called {plain(name)!r}; {nearest(name, list(known))}")
    if not name:
        value, name = "", default
    if not name:  # the first that any cell of the sweep has, a yes/no outcome if there is one
        query = "select 1 from {} o semi join members m on m.cell_id = o.cell_id and m.sweep_id = ? limit 1"
        filled = {table for table, _ in known.values() if len(store.sql(query.format(quoted(table)), [sweep_id]))}
        there = [(type_ != "BOOLEAN", name) for name, (table, type_) in known.items() if table in filled]
        name = min(there, key=lambda one: one[0])[1] if there else ""
    if name not in known:
        return None
    table, type_ = known[name]
    column = "value" if name in written else name
    title = "" if table.startswith(OUTCOMES) and name not in written else name
    if type_ == "BOOLEAN":
        return Outcome(table, column, "share", value or "true", title)
    if type_ == "VARCHAR" or value:
        return Outcome(table, column, "share" if value else "category", value or None, title)
    return Outcome(table, column, "median", None, title)


def _scalar(store: Store, resolved: Mapping[str, Any], name: str) -> tuple[str, str] | None:
    """The table and the type of a scalar of the sweep's experiment; None if it has no such one that can be drawn."""
    experiment = resolved.get("experiment")
    if not isinstance(experiment, str) or not registry.known(experiment):
        return None
    type_ = store.columns(experiment).get(name)
    known = name in scalar_outcomes(registry.experiment(experiment))
    return (experiment, type_) if known and type_ is not None else None


def section(resolved: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of a resolved sweep; empty if there is none, or the plan of another program has something else there."""
    part = resolved.get(name)
    return part if isinstance(part, Mapping) else {}


def sweep_grid(
    store: Store, experiment: str, sweep_id: str, resolved: Mapping[str, Any]
) -> tuple[SweepGrid, dict[int, int]]:
    """Where the points of a sweep stand, trained or not, and how many cells are planned at each."""
    groups = groups_of(resolved)
    rows = points_of(store, experiment, sweep_id, groups)
    return SweepGrid.of(groups, rows), {row["point"]: row["planned"] for row in rows}


def pools(
    store: Store, experiment: str, sweep_id: str, outcome: Outcome | None, planned: Mapping[int, int]
) -> dict[int, Pool]:
    """The cells at each point of a sweep, of which so many are planned."""
    pool_of = {point: Pool(cells) for point, cells in planned.items()}
    if experiment not in store.names():
        return pool_of
    # Outcomes of the very row that stands for the cell; which row that is, its shard says.
    join = ""
    column = "null"
    if outcome is not None and outcome.table == experiment:
        column = f"e.{quoted(outcome.column)}"
    elif outcome is not None:
        join = f"left join {quoted(outcome.table)} o on o.cell_id = e.cell_id and o.{OF_SHARD} = e.shard"
        column = f"o.{quoted(outcome.column)}"
    numbers = outcome is not None and outcome.kind == "median"
    value = f"list(cast({column} as double)) as numbers" if numbers else f"cast({column} as varchar) as value"
    rows = store.sql(
        f"""select m.point, count(*) as cells, {value} from members m join "{experiment}" e on e.cell_id = m.cell_id
            {join} where m.sweep_id = ? and e.status <> 'running' group by m.point{"" if numbers else ", value"}""",
        [sweep_id],
    ).rows()
    for row in rows:
        pool = pool_of.setdefault(row.point, Pool())
        pool.results += row.cells
        if numbers:
            pool.numbers += [number for number in row.numbers if number is not None and not math.isnan(number)]
        elif row.value is not None:
            pool.counts[row.value] += row.cells
    return pool_of


def phase(
    grid: SweepGrid,
    points: Mapping[int, Pool],
    outcome: Outcome | None,
    diagram: Mapping[str, Any],
    at: Sequence[tuple[str, str]],
) -> Phase:
    """The cells of the points over two axes: those of the sweep's diagram, or the first that are not held.

    Args:
        points: point -> its cells.
        diagram: as the sweep file has it.
        at: axes to hold, each with a value as somebody typed it.

    Raises:
        SwingbyError: an axis that is to be held, or its value, is not there.
    """
    names, held = [axis.name for axis in grid.axes], dict[int, int]()
    for name, typed in at:
        if name not in names:
            raise SwingbyError(f"{option('at')}: {plain(name)!r} is no axis of this sweep; {nearest(name, names)}")
        held[names.index(name)] = _index_of(typed, grid.axes[names.index(name)])
    drawn = [names.index(name) for name in (diagram.get("x"), diagram.get("y")) if name in names]
    drawn = [number for number in drawn if number not in held]
    for number, group in enumerate(grid.groups):
        if len(drawn) < 2 and number not in held and group not in {grid.groups[other] for other in drawn}:
            drawn.append(number)
    gathered: dict[tuple[int, int], Pool] = {}
    for point, indices in grid.places.items():
        if all(indices[number] == index for number, index in held.items()):
            place = (indices[drawn[0]] if drawn else 0, indices[drawn[1]] if len(drawn) > 1 else 0)
            gathered.setdefault(place, Pool()).add(points[point])
    apart = {grid.groups[number] for number in drawn}
    return Phase(
        outcome,
        x=grid.axes[drawn[0]] if drawn else None,
        y=grid.axes[drawn[1]] if len(drawn) > 1 else None,
        pools=gathered,
        at=tuple((names[number], short(grid.axes[number].values[index])) for number, index in held.items()),
        over=tuple(
            axis.name
            for number, (axis, group) in enumerate(zip(grid.axes, grid.groups, strict=True))
            if number not in held and group not in apart and len(axis.values) > 1
        ),
    )


def _index_of(typed: str, axis: SweepAxis) -> int:
    """The index of a value that somebody typed: as it is shown, as Python writes it, or as an equal number."""
    try:
        number = float(typed)
    except ValueError:
        number = None
    for index, value in enumerate(axis.values):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if typed in (short(value), str(value)) or (is_number and value == number):
            return index
    labels = [short(value) for value in axis.values]
    raise SwingbyError(f"{option('at')} {plain(axis.name)}={plain(typed)}: {nearest(typed, labels)}")
