"""The one schema that readers see: views over an attached index and its curve segments."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from swingby.model.experiment import AFTER
from swingby.store.packing import listed
from swingby.store.reading import EVERY_ROW, READ_AS
from swingby.store.sql import literal, query, quoted

FIXED = ("bad_shards", "conventions", "members", "plans", "retractions", "shards", "sweeps")
"""Tables every store has; no experiment and no kind of derived records may take their names."""

ROW_COLUMNS: Mapping[str, str] = {
    "cell_id": "VARCHAR",
    "sweep_id": "VARCHAR",
    "shard": "VARCHAR",
    "attempt": "BIGINT",
    "place": "BIGINT",
    "from_step": "BIGINT",
    "to_step": "BIGINT",
    AFTER: "BIGINT",
    "final": "BOOLEAN",
    "status": "VARCHAR",
    "message": "VARCHAR",
    "recorded": "VARCHAR[]",
    "curve": "BIGINT",
}
"""Columns of an experiment's rows in the index, before its scalars; `curve` numbers the row: segment x 2^32 + place."""

CELL_COLUMNS: Mapping[str, str] = {"cell_id": "VARCHAR", "seed": "BIGINT", "seed_mode": "VARCHAR"}
"""Columns of an experiment's cells in the index, before its parameters."""

CURVE_COLUMNS = ("curve", "steps")
"""Columns of an experiment's curves in a segment, before the curves: the row's number, and that of its list of steps
(null: it has a list of its own)."""

OF_SHARD = "of_shard"
"""The column of derived records that says from which shard's row of its cell a row was computed."""

OUTCOMES_OF = "outcomes_of_"
"""Begin of the names of views with the outcomes that sweep files write, one view an experiment."""

EXPRESSIONS = "expressions"
"""The kind of derived records that says which expression an outcome of a sweep is, and which table has its values."""

SHARE_FIT = "share_fit"
"""The kind of derived records with the fitted shares of refined sweeps."""

RENAMED = "renamed"
"""The kind of derived records with the names that sweeps were given here: `sweep_id` and `name`."""

BINDING = ("sweep_id", "outcome", "experiment", "expression", "table_name")
"""Columns of these records; the first two are their key. No expression: the sweep has the outcome no more."""

DERIVED_COLUMNS: Mapping[str, str] = {"version": "VARCHAR", "record": "VARCHAR", "created": "TIMESTAMP"}
"""Columns of derived records in the index, before their own."""

STEPS, LAST_STEP = "steps", "last_step"
"""The column with the last step of a cell; the second name is taken where a parameter has the first."""

RESERVED = {name.lower() for name in (*ROW_COLUMNS, *CELL_COLUMNS, STEPS, LAST_STEP)}
"""Names (lower case) that no scalar or curve can have, and no parameter but `steps`."""


@dataclass
class Table:
    """The columns from which the views of one experiment are made.

    Attributes:
        parameters, scalars: their columns.
        curves: column -> type, over all segments.
        ragged: curves that are not one entry a recorded step.
        segments: aliases of the databases that hold curves of it -> stored columns -> stored types.
        linked: whether some cell's curves are in several pieces.
        hides: whether some cell has a final row that its table does not show.
        differs: whether sweeps may read different rows of one cell: see `rows_read`.
    """

    parameters: list[str] = field(default_factory=list)
    scalars: list[str] = field(default_factory=list)
    curves: dict[str, str] = field(default_factory=dict)
    ragged: set[str] = field(default_factory=set)
    segments: dict[str, dict[str, str]] = field(default_factory=dict)
    linked: bool = False
    hides: bool = False
    differs: bool = False


_REQUESTED = f"cast(getvariable({literal(READ_AS)}) as varchar[])"


def rows_read(name: str, table: Table) -> str:
    """The query for the rows of an experiment that a connection reads, a row a cell: all columns of the index.

    Where no sweep can read another row than the rest, this hangs on no variable. Its branches hang on nothing but the
    variable, so that only one is run.
    """
    at = quoted(name)
    heads = f"""select * from ix.rows.{at} r
      where not exists (select 1 from ix.dropped.{at} x where x.curve = r.curve)"""
    if not table.differs:
        return heads
    finest = f"{heads} and not exists (select 1 from ix.spare.{at} x where x.curve = r.curve)"
    some = f"{_REQUESTED} is not null and not list_contains({_REQUESTED}, {literal(EVERY_ROW)})"
    of_sweep = f"list_contains({_REQUESTED}, m.sweep_id)"
    return f"""{finest} and {_REQUESTED} is null
    union all by name {heads} and list_contains({_REQUESTED}, {literal(EVERY_ROW)})
    union all by name {finest} and {some}
      and not exists (select 1 from ix.members m where m.cell_id = r.cell_id and {of_sweep})
    union all by name select * from ix.rows.{at} r where {some} and r.curve in (
      select curve from ({read_by_sweeps(name, of_sweep)})
      qualify row_number() over (partition by cell_id order by fineness desc, finished, shard) = 1)"""


def read_by_sweeps(name: str, which: str) -> str:
    """The query for the row that each sweep reads of each of its cells; `which` chooses sweeps by `m.sweep_id`."""
    return query("read", name).format(which=which)


def natural(version: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key under which 1.10 is newer than 1.9."""
    parts = re.split(r"(\d+)", version)
    return tuple((1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts if part)


def experiment_views(name: str, table: Table) -> list[str]:
    """The view with a row a cell and, once there are curves, the one with a row a recorded step."""
    curves = ["step", *sorted(set(table.curves) - {"step"})] if table.curves else []
    last = LAST_STEP if STEPS in table.parameters else STEPS
    columns = [
        "r.cell_id, c.seed, c.seed_mode",
        *(f"c.{quoted(column)}" for column in sorted(table.parameters)),
        "case when r.final then r.status else 'running' end as status",
        f"r.message, r.recorded, r.to_step as {last}, r.shard, r.attempt",
        *(f"r.{quoted(column)}" for column in sorted(table.scalars)),
        *(f"v.{quoted(column)}" for column in curves),
    ]
    joined = f"left join ({_whole_curves(name, table)}) v on v.curve = r.curve" if curves else ""
    cells = f"""create view {quoted(name)} as
select {", ".join(columns)}
from ({rows_read(name, table)}) r
left join ix.cells.{quoted(name)} c on c.cell_id = r.cell_id {joined}"""
    if "step" not in curves:
        return [cells]
    per_step = ", ".join(f"unnest({quoted(curve)}) as {quoted(curve)}" for curve in curves if curve not in table.ragged)
    points = f"""create view {quoted(name + "_points")} as
select cell_id, unnest(range(len("step"))) as k, {per_step} from {quoted(name)}"""
    return [cells, points]


def _unpacked(name: str, segment: str, stored: Mapping[str, str]) -> str:
    """The query for the curves in a segment, as they were before they were packed."""
    shared = "steps" in stored
    columns = ["p.curve"]
    for column, type_ in stored.items():
        at, seen = quoted(column), listed(type_)
        if column == "step" and shared:
            columns.append(f"coalesce(p.step, cast(s.step as {seen})) as step")
        elif column not in CURVE_COLUMNS:
            columns.append(f"p.{at}" if seen == type_ else f"cast(p.{at} as {seen}) as {at}")
    steps = f" left join {segment}.steps s on s.number = p.steps" if shared else ""
    return f"select {', '.join(columns)} from {segment}.curves.{quoted(name)} p{steps}"


def _whole_curves(name: str, table: Table) -> str:
    """The query for curves by the number of the row that is the cell's result.

    The pieces of a curve are joined end to end, each cut where the next begins; a ragged curve is its last piece.
    """
    stored = table.segments.items()
    pieces = " union all by name ".join(_unpacked(name, segment, columns) for segment, columns in stored)
    if not table.linked:
        return pieces
    links = f"ix.links.{quoted(name)}"
    joined = []
    for column, type_ in table.curves.items():
        at = quoted(column)
        if column in table.ragged:
            joined.append(f"arg_max({at}, place) as {at}")
        else:
            padded = f'coalesce({at}, list_resize(cast([] as {type_}), len("step")))'
            whole = f"flatten(list({padded}[1:kept] order by place))"
            joined.append(f"case when count({at}) > 0 then {whole} end as {at}")
    return f"""
with pieces as ({pieces})
select * from pieces p where not exists (select 1 from {links} l where l.head = p.curve)
union all by name
select head as curve, {", ".join(joined)}
from (select *, case when before_step is null then len("step")
                     else len(list_filter("step", lambda s: s < before_step)) end as kept
      from {links} l join pieces p on p.curve = l.part)
group by head"""


def derived_views(
    kind: str, columns: Sequence[str], versions: Sequence[str], hiding: Mapping[str, Table] = MappingProxyType({})
) -> list[str]:
    """The newest version's rows, and all rows with their version; none that was computed from a retracted result.

    Of the newest version those are shown whose result the table of the experiment shows; all versions have the others.

    Args:
        hiding: the experiments with such outcomes of which some results are hidden.
    """
    listed = ", ".join(quoted(column) for column in columns)
    newest = max(versions, key=natural)
    rows = f"ix.derived.{quoted(kind)} d"
    taken_back = f"select 1 from ix.retracted t where t.cell_id = d.cell_id and t.shard = d.{quoted(OF_SHARD)}"
    valid = f"not exists ({taken_back})" if {"cell_id", OF_SHARD} <= set(columns) else "true"
    shown = [valid]
    for name, table in hiding.items():
        shown.append(f"""not exists (select 1 from (
      select cell_id, shard from ix.rows.{quoted(name)} where final and curve not in (
        select curve from ({rows_read(name, table)}))) h where h.cell_id = d.cell_id and h.shard = d.{OF_SHARD})""")
    of_newest = f"version = {literal(newest)} and {' and '.join(shown)}"
    return [
        f"create view {quoted(kind)} as select {listed} from {rows} where {of_newest}",
        f"create view {quoted(kind + '_all')} as select version, {listed} from {rows} where {valid}",
    ]


def renamed(columns: Collection[str]) -> str:
    """The query for the names that sweeps were given here, a row a sweep; `columns` are those of the derived records.

    Records come from anybody: a name that could lead out of a folder is none.
    """
    if not {"sweep_id", "name"} <= set(columns):
        return "(select cast(null as varchar) as sweep_id, cast(null as varchar) as name where false)"
    return f"""(select distinct on (sweep_id) cast(sweep_id as varchar) as sweep_id, cast(name as varchar) as name
    from ix.derived.{RENAMED} where regexp_full_match(cast(name as varchar), '[a-z0-9][a-z0-9-]{{0,63}}')
    order by sweep_id, created desc, record desc)"""


@dataclass(frozen=True, slots=True)
class Bound:
    """An outcome that a sweep file writes as an expression: its name there, and the table with its values."""

    sweep_id: str
    experiment: str
    outcome: str
    table: str


def outcome_views(bound: Sequence[Bound], types: Mapping[str, str], experiments: Mapping[str, Table]) -> list[str]:
    """For each experiment the view `outcomes_of_<experiment>`: a row a finished cell of a sweep, a column an outcome.

    Sweeps may give one name to different expressions: each row has what its own sweep means by it. Where these are of
    different types, the column is text.

    Args:
        types: table -> the type of its values.
        experiments: name -> columns.
    """
    views = []
    for experiment in sorted({one.experiment for one in bound}):
        sweeps: dict[str, dict[str, str]] = {}
        for one in bound:
            if one.experiment == experiment:
                sweeps.setdefault(one.sweep_id, {})[one.outcome] = one.table
        alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
        for sweep_id, tables in sweeps.items():
            alike.setdefault(tuple(sorted(tables.items())), []).append(sweep_id)
        seen: dict[str, set[str]] = {}
        for name, table in (pair for pairs in alike for pair in pairs):
            seen.setdefault(name, set()).add(types[table])
        mixed = {name for name, kinds in seen.items() if len(kinds) > 1}
        differs = experiments[experiment].differs
        branches = [_outcomes_of(experiment, pairs, sweep_ids, mixed, differs) for pairs, sweep_ids in alike.items()]
        view = quoted(f"{OUTCOMES_OF}{experiment}")
        views.append(f"create view {view} as {' union all by name '.join(branches)}")
    return views


def _outcomes_of(
    experiment: str,
    pairs: Sequence[tuple[str, str]],
    sweep_ids: Sequence[str],
    mixed: Collection[str],
    differs: bool,
) -> str:
    """The query for the outcomes of sweeps that mean the same by the same names; each reads its own rows."""
    listed = f"m.sweep_id in ({', '.join(map(literal, sweep_ids))})"
    if differs:
        rows, on = read_by_sweeps(experiment, listed), "r.cell_id = m.cell_id and r.sweep_id = m.sweep_id"
    else:
        rows, on = rows_read(experiment, Table()), "r.cell_id = m.cell_id"
    values = [
        f"{f'cast(o{k}.value as varchar)' if name in mixed else f'o{k}.value'} as {quoted(name)}"
        for k, (name, _) in enumerate(pairs)
    ]
    joins = [
        f"left join {quoted(table)} o{k} on o{k}.cell_id = r.cell_id and o{k}.{OF_SHARD} = r.shard"
        for k, (_, table) in enumerate(pairs)
    ]
    return f"""
select m.sweep_id, m.point, m.cell_id, r.shard as {OF_SHARD}, {", ".join(values)}
from members m
join ({rows}) r on {on}
{chr(10).join(joins)}
where {listed} and r.final and r.status in ('ok', 'diverged')"""
