"""The whole SQL of a statement: the runs it is asked of, the views it names, its rows, and what is counted of them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.stats import t as student

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.store.sql import literal, quoted
from swingby.sweepfile.parameters import split
from swingby_analysis.statements.kinds import ALWAYS, EXISTS, LAW, MEAN, MOST
from swingby_analysis.statements.statement import Shared, Statement
from swingby_analysis.statements.template import Template
from swingby_analysis.stats.intervals import CONFIDENCE, majority, seen_as_majority

PROVIDED = ("runs", "grid", "intervals")
"""Views that every statement can name: the runs with their outcomes, their places in the diagram, and what an interval
of so many seeds hangs on."""
FEWEST = 10
"""Seeds up to which the view `intervals` goes at least."""
ROWS = "answers"
"""The name under which the rows of a statement are counted."""
_NOT_SQL = re.compile(r"--[^\n]*|'(?:[^']|'')*'")
_COMMENT_WIDTH = 120


@dataclass(frozen=True)
class QueriedSweep:
    """A sweep that a statement is asked of.

    Attributes:
        axes: the names of the parameters that advance together, axis by axis.
        diagram: what its diagram names, such as x and y; without one, x and y are the first two axes.
        seeds: how many seeds each of its points has.
    """

    sweep_id: str
    experiment: str
    axes: Sequence[Sequence[str]] = ()
    diagram: Mapping[str, Any] | None = None
    seeds: int = 0

    def expression(self, axis: str) -> str:
        """Where the diagram places a cell along "x" or "y", as SQL; null without such an axis."""
        firsts: Mapping[str, Any] = dict(zip(("x", "y"), (names[0] for names in self.axes), strict=False))
        name = (self.diagram or firsts).get(axis)
        return "null" if name is None else column(name)

    @property
    def facet(self) -> str:
        """The values of all other axes in words, as SQL."""
        drawn = {(self.diagram or {}).get(axis) for axis in ("x", "y")} if self.diagram else set()
        others = [names for names in self.axes[0 if self.diagram else 2 :] if not drawn & set(names)]
        parts = [f"{literal(f'{name} = ')} || {column(name)}" for names in others for name in names]
        return f"concat_ws(', ', {', '.join(parts)})" if parts else "''"


def column(name: str) -> str:
    """A parameter of a sweep file, such as `rates.1`, as SQL."""
    parameter, entry = split(name)
    parameter = quoted(parameter) if "." in parameter else parameter
    return parameter if entry is None else f"{parameter}[{entry + 1}]"


def compose(
    statement: Statement, requests: Sequence[QueriedSweep], tables: Collection[str], defined: Collection[str] = ()
) -> str:
    """The query that decides a statement, whole: it can be pasted into `swingby sql`.

    Args:
        requests: the sweeps it is asked of.
        tables: those of the store.
        defined: names of views that are there already, and are not defined by the query.
    """
    used = needed(statement, defined)
    parts = [_cte(view.name, view.select, view.comment) for view in statement.shared.views if view.name in used]
    sql = "\n".join([*parts, _counted(statement), statement.body])
    named, asked_for = words_of(sql), relations_of(sql)
    provided = {
        "runs": lambda: runs_view(requests, tables, named),
        "grid": lambda: _grid(requests),
        "intervals": lambda: _intervals(requests),
    }
    parts = [provided[name]() for name in PROVIDED if name in asked_for and name not in defined] + parts
    whole = ",\n".join([*parts, _cte(ROWS, statement.body)])
    return f"{comment(statement.question)}\nwith\n{whole}\n{_counted(statement)}"


def needed(statement: Statement, defined: Collection[str] = ()) -> set[str]:
    """The views of its folder that a statement uses, by itself or through others."""
    names = relations_of(statement.body)
    for view in reversed(statement.shared.views):
        if view.name in names and view.name not in defined:
            names |= relations_of(view.select)
    return {view.name for view in statement.shared.views if view.name in names} - set(defined)


def relations_of(sql: str) -> set[str]:
    """Every name that stands behind `from` or `join` in some SQL."""
    return set(re.findall(r"\b(?:from|join)\s+([A-Za-z_]\w*)", _NOT_SQL.sub(" ", sql)))


def words_of(sql: str) -> set[str]:
    """Every name in some SQL, without those in texts and comments."""
    return set(re.findall(r"[A-Za-z_]\w*", _NOT_SQL.sub(" ", sql)))


def comment(text: str) -> str:
    """A text as SQL comments."""
    return "\n".join(f"-- {line}" for line in textwrap.wrap(text, _COMMENT_WIDTH - 3, break_on_hyphens=False))


def _cte(name: str, select: str, above: str = "") -> str:
    return (f"{above}\n" if above else "") + f"{name} as (\n{textwrap.indent(select, '    ')}\n)"


def _ids(requests: Sequence[QueriedSweep]) -> str:
    return ", ".join(literal(item.sweep_id) for item in requests)


def experiment_of(requests: Sequence[QueriedSweep]) -> str:
    """The experiment that all of these sweeps are about.

    Raises:
        SwingbyError: they are about several.
    """
    names = sorted({item.experiment for item in requests})
    if len(names) != 1:
        raise SwingbyError(f"its sweeps are about several experiments: {', '.join(names)}")
    return names[0]


def runs_view(requests: Sequence[QueriedSweep], tables: Collection[str], named: Collection[str]) -> str:
    """The view `runs`: with the outcomes of every detector that the statement names a column of."""
    table = experiment_of(requests)
    # By their whole names: a detector may be called as the experiment is.
    outcomes = [
        name
        for detector in registry.detectors_for(table)
        if set(detector.outcomes) & set(named) and (name := f"outcomes_{detector.name}") in tables
    ]
    columns = "".join(f", {name}.* exclude (cell_id, of_shard)" for name in outcomes)
    joins = "".join(
        f"\n    left join {name} on {name}.cell_id = {table}.cell_id and {name}.of_shard = {table}.shard"
        for name in outcomes
    )
    return (
        "-- The finished cells of the sweeps, each under its preset, with what detectors say of it.\n"
        f"runs as (\n    select chosen.preset, {table}.*{columns}\n    from (\n"
        "        select distinct preset, cell_id from members join conventions using (sweep_id, point)\n"
        f"        where sweep_id in ({_ids(requests)})\n    ) chosen\n"
        f"    join {table} using (cell_id){joins}\n    where {table}.status in ('ok', 'diverged')\n)"
    )


def _grid(requests: Sequence[QueriedSweep]) -> str:
    """The view `grid`: sweeps that are drawn over the same parameters together."""
    table = experiment_of(requests)
    places: dict[tuple[str, str, str], list[QueriedSweep]] = {}
    for item in requests:
        places.setdefault((item.expression("x"), item.expression("y"), item.facet), []).append(item)
    selects = [
        f"    select sweep_id, point, cell_id, {x} as x, {y} as y, {facet} as facet\n"
        f"    from members join {table} using (cell_id) where sweep_id in ({_ids(group)})"
        for (x, y, facet), group in places.items()
    ]
    text = "\n    union all\n".join(selects)
    return f"-- Where the diagrams of the sweeps place each cell.\ngrid as (\n{text}\n)"


def _intervals(requests: Sequence[QueriedSweep]) -> str:
    """The view `intervals`: what intervals of n seeds hang on, for every n that a point of these sweeps can have."""
    rows = []
    for n in range(1, max(FEWEST, sum(item.seeds for item in requests)) + 1):
        factor = f"{student.ppf((1 + CONFIDENCE) / 2, n - 1):.6g}e0" if n > 1 else "null"
        least = seen_as_majority(n)
        rows.append(f"({n}, {majority(n) or 'null'}, {factor}, {'null' if least is None else f'{least:.3f}e0'})")
    text = textwrap.fill(", ".join(rows), _COMMENT_WIDTH - 8, initial_indent="    ", subsequent_indent="    ")
    return (
        "-- Of n seeds: how many make the lower end of Wilson's 95 % interval of their share exceed one half, and by\n"
        "-- which factor of its standard error the 95 % t-interval of a mean reaches to either side; and which share\n"
        "-- they show to lie above one half in 80 % of all cases.\n"
        f"intervals(n, majority, student, told) as (\n    values\n{text}\n)"
    )


def _counted(statement: Statement) -> str:
    """What is counted of a statement's rows."""
    if statement.claims:
        setting = Template.of(statement.setting)
        rows = ", ".join(dict.fromkeys(["preset", *(item.expression for item in setting.fields if item.plain)]))
        counts = "".join(f"    {sql} as {name},\n" for name, sql in _of_seeds(statement).items())
        return (
            f"select\n    preset,\n    coalesce({setting.sql}, 'not known') as setting,\n{counts}"
            f"    coalesce({Template.of(statement.measured).sql}, 'nothing') as measured\n"
            f"from {ROWS}\ngroup by {rows}\norder by {rows}"
        )
    fields = [field for words in statement.words.values() for field in Template.of(words).fields]
    expressions = dict.fromkeys(field.expression for field in fields if not field.plain)
    columns = [f'{expression} as "{expression.replace(chr(34), chr(34) * 2)}"' for expression in expressions]
    if not statement.holds or any(field.plain for field in fields):
        columns.insert(0, 'list(columns(* exclude (seed)) order by seed) as "\\0"')
    if statement.holds:
        columns.insert(0, f"{statement.holds} as holds")
    return f"select\n    {f',{chr(10)}    '.join(columns)}\nfrom {ROWS}"


def _of_seeds(claim: Statement) -> dict[str, str]:
    """The columns from which a claim's rule makes the verdict of a row, as SQL over its rows.

    Raises:
        SwingbyError: its query names none of the columns that its rule reads.
    """
    seeds = "count(distinct seed) filter (where {})"
    some, none = seeds.format("holds"), seeds.format("not holds")
    known = seeds.format("holds is not null")
    # A seed may have several rows: what exists it shows by any of them, everything else has to be true of all.
    if claim.rule == EXISTS:
        return {"n": known, "k": some, "example": "min(seed) filter (where holds)"}
    if claim.rule == ALWAYS:
        return {"n": known, "k": f"{known} - {none}", "example": "min(seed) filter (where not holds)"}
    if claim.rule == MOST:
        return {"n": known, "k": f"{known} - {none}"}
    names = ("seed", *number_columns(claim))
    return {f"{name}s": f"list({name} order by {', '.join(names)})" for name in names}


def number_columns(claim: Statement) -> tuple[str, ...]:
    """The columns with the numbers of a claim in the mean, or of a law.

    Raises:
        SwingbyError: its query names neither of those that a claim in the mean may have.
    """
    if claim.rule == LAW:
        return ("parameter", "error")
    views = [view.select for view in claim.shared.views if view.name in needed(claim)]
    named = words_of("\n".join([claim.body, *views]))
    for names in (("effect",), ("side", "value")):
        if named.issuperset(names):
            return names
    raise SwingbyError(f"a claim {MEAN} needs rows with 'effect', or with 'side' and 'value'; its query names neither")


def shared_of(statements: Sequence[Statement]) -> list[Shared]:
    """What the folders of these statements share, each folder once, in their order."""
    unique: list[Shared] = []
    for statement in statements:
        if statement.shared not in unique:
            unique.append(statement.shared)
    return unique
