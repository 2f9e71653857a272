"""The layout of a file of runs: which columns are parameters, seed, steps and results, and under which names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from swingby.errors import SwingbyError
from swingby.imports.exports import ENDED, Export, recognised
from swingby.imports.reading import ROW, TYPES, UNUSED, FileColumn, RunsFile
from swingby.model.params import UntypedParams
from swingby.options import option
from swingby.store.sql import quoted
from swingby.store.views import RESERVED, STEPS
from swingby.sweepfile.outcomes import TAKEN

ROLES = ("seed", "step", "run", "status", "message", "seed_mode")
"""What a column can mean beside parameters and results."""
STEP_NAMES = ("step", "_step", "global_step", "steps", "iteration", "iter", "epoch")
"""What columns of steps are often called."""
NUMBERS = ("bool", "int", "float")
MOST_TEXTS = 20
"""Different texts of a column that is a result by default; one with more is a name, a path or a date."""
MOST_CANDIDATES = 12
_PART = re.compile(r"[A-Za-z_]\w*", re.ASCII)
"""A part of a dotted name; an entry of a list has a number."""


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """What the user says of a file; columns go by their names in the file, or by the names that they get.

    Attributes:
        params: the parameters, each perhaps with a type, such as "rate:float"; (): those that the export marks.
        seed, step, run: columns; None: the one that the export has, if any.
        status: the column that says how a run ended; None: the one that the export has.
        columns: the results that are wanted; (): all.
        ignored: columns that are left out.
    """

    params: tuple[str, ...] = ()
    seed: str | None = None
    step: str | None = None
    run: str | None = None
    status: str | None = None
    columns: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class Layout:
    """The roles of the columns of a file, whose values are the columns of the table `runs`, by their own names.

    Attributes:
        tool: the export that was recognised, in words; "".
        params: kind by name, in the order in which they were given.
        results: kind by name.
        seed, step, run, status, message, seed_mode: columns with these meanings; None: there is none.
        renamed: for each column that has another name than in the file, that of the file.
        left_out: for each column that is left out, why.
        long: whether a row is a step, and no whole run.
        requested: results that were asked for by their names.
        optional: parameters that some runs have no value of.
        settings: columns that the tool marks as settings, and that are no parameters, with why; by their names there.
    """

    tool: str
    params: Mapping[str, str]
    results: Mapping[str, str]
    seed: str | None = None
    step: str | None = None
    run: str | None = None
    status: str | None = None
    message: str | None = None
    seed_mode: str | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    long: bool = False
    requested: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    settings: Mapping[str, str] = field(default_factory=dict)


def layout_of(file: RunsFile, requested: ColumnRoles, known: Mapping[str, str] | None = None) -> Layout:
    """The layout of a file, with its table `runs`, which has `ROW` and the columns that are used.

    Args:
        known: the parameters that the experiment was imported with before, with their kinds; None: it is new.

    Raises:
        SwingbyError: a column that is named is not there or has no such meaning, no parameters are named, or two
            columns would have one name.
    """
    columns = {one.name: one for one in file.columns}
    export = file.export or recognised(columns)
    names = _names(file.columns, export, requested.ignored)
    dotted = {name: _dotted(export.names.get(name, name)) for name in names}
    finder = _Finder(columns, names, dotted)
    types = {finder.find(name): kind for name, kind in map(_typed, requested.params)}
    chosen, ignored = ({finder.find(name) for name in listed} for listed in (requested.columns, requested.ignored))
    roles = _roles(file, requested, export, finder, {*types, *ignored})
    unfit = {
        name: _why_no_axis(file, columns[name], export)
        for name in export.params
        if name not in ignored and name not in roles.values()
    }
    params = list(types) or [name for name, why in unfit.items() if not why]
    if not params:
        others = [one for name, one in columns.items() if name not in roles.values()]
        raise SwingbyError(_no_params(file, others, export))
    taken = {names[name] for name in params}
    for name in params:  # parts of a setting have dots, as everywhere; not in what was imported when they had none
        path = dotted[name]
        groups = {path[:place] for place, letter in enumerate(path) if letter == "."}
        if groups and names[name] not in (known or {}) and not groups & taken:
            names[name] = path
    left_out, settings, results = dict[str, str](), dict[str, str](), dict[str, FileColumn]()
    for name, one in columns.items():
        if name in params or name in roles.values():
            continue
        why = _why_not(file, one, export, chosen, ignored) if name not in unfit or name in chosen else unfit[name]
        if name in unfit and name not in chosen:
            settings[name] = why or "not among the parameters that are named"
        elif why:
            left_out[name] = why
        else:
            results[name] = _with_infinity(one) if export.largest else one
            if names[name] == STEPS:  # a name that is allowed for a parameter only
                names[name] = f"{STEPS}_"
    used = dict[str, FileColumn]()
    for name in params:
        kind = types.get(name) or (known or {}).get(names[name]) or columns[name].kind
        used[name] = _checked_param(columns[name], kind)
    seeds = [roles["seed"]] if "seed" in roles else []

    def shown(name: str) -> str:
        """What the tool calls a column: a frame marks settings and metrics by prefixes of its own."""
        return export.names.get(name, name) if file.export else name

    lacking = [name for name in params if export.conditional and not _is_complete(file, columns[name])]
    _make_runs(file, {**{name: _role(columns[name], role) for role, name in roles.items()}, **results, **used}, names)
    return Layout(
        export.tool,
        {names[name]: one.kind for name, one in used.items()},
        {names[name]: one.kind for name, one in results.items()},
        **{role: names[name] for role, name in roles.items()},
        renamed={names[name]: shown(name) for name in (*used, *results, *seeds) if names[name] != shown(name)},
        left_out={shown(name): why for name, why in left_out.items()},
        long="step" in roles and columns[roles["step"]].kind != "vector",
        requested=frozenset(names[name] for name in chosen),
        optional=frozenset(names[name] for name in lacking),
        settings={shown(name): why for name, why in settings.items()},
    )


def _roles(
    file: RunsFile, roles: ColumnRoles, export: Export, finder: _Finder, others: Collection[str]
) -> dict[str, str]:
    """The columns that are no parameters and no results, by what they mean; those that the user names come first.

    Args:
        others: columns that the user names for something else.
    """
    column_of = dict[str, str]()
    for role in ROLES:
        requested = getattr(roles, role, None)
        name = finder.find(requested) if requested else getattr(export, role)
        if name is None or name in others or (not requested and finder.columns[name].kind == UNUSED):
            continue
        if role == "seed" and not requested and finder.columns[name].kind not in ("int", "float"):
            continue
        if role == "status" and not requested and not export.tool and not _tells_ends(file, finder.columns[name]):
            continue
        column_of[role] = name
    return column_of


def column_name(name: str) -> str:
    """A name that queries need not quote and no table has already: `val/loss` becomes `val_loss`."""
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "column"
    plain = f"c{plain}" if plain[0].isdigit() else plain
    taken = plain.lower() in (RESERVED | TAKEN | {"step", "batch"}) - {STEPS} or hasattr(UntypedParams, plain)
    return f"{plain}_" if taken else plain


def _dotted(name: str) -> str:
    """The name of a setting with parts, such as `optim.lr` of `optim/lr`; else that of any column."""
    parts = re.split(r"[./]", name)
    return ".".join(parts) if len(parts) > 1 and all(map(_PART.fullmatch, parts)) else column_name(name)


def _names(columns: Sequence[FileColumn], export: Export, ignored: Collection[str]) -> dict[str, str]:
    """The name that each column gets.

    Raises:
        SwingbyError: two columns that may be used would have one name.
    """
    names, before = dict[str, str](), dict[str, str]()
    for one in columns:
        name = names[one.name] = column_name(export.names.get(one.name, one.name))
        if one.name not in export.dropped and one.name not in ignored and one.kind != UNUSED:
            other = before.setdefault(name.lower(), one.name)
            if other != one.name:
                raise SwingbyError(
                    f"the columns {other!r} and {one.name!r} would both be called {name!r}: leave one out "
                    f"({option('ignored')})"
                )
    return names


class _Finder:
    """Columns by what users call them."""

    def __init__(self, columns: Mapping[str, FileColumn], names: Mapping[str, str], dotted: Mapping[str, str]) -> None:
        self.columns = columns
        every = [*names.items(), *dotted.items()]
        self._by_name = {name: original for original, name in reversed(every)}

    def find(self, name: str) -> str:
        """The column of a file by its name there, or by the name that it gets."""
        match = name if name in self.columns else self._by_name.get(name)
        if match is None:
            alike = {original for original in self.columns if original.lower() == name.lower()}
            match = alike.pop() if len(alike) == 1 else None
        if match is None:
            close = difflib.get_close_matches(name, [*self.columns, *self._by_name], n=1)
            guess = f"did you mean {close[0]!r}? " if close else ""
            raise SwingbyError(f"the file has no column {name!r}; {guess}it has {', '.join(self.columns)}")
        return match


def _tells_ends(file: RunsFile, one: FileColumn) -> bool:
    """Whether a column says of every run how it ended."""
    if one.kind != "str":
        return False
    texts = file.ask(f"select distinct lower(trim({one.value})) from source where {one.value} is not null")
    return {text for (text,) in texts} <= set(ENDED)


def _typed(text: str) -> tuple[str, str | None]:
    """Name and type of a parameter as the user writes it."""
    name, colon, kind = text.rpartition(":")
    if not colon or kind not in TYPES:
        return text, None
    return name, kind


def _why_no_axis(file: RunsFile, one: FileColumn, export: Export) -> str:
    """Why a setting that an export marks does not tell points apart; "" if it does."""
    if one.kind == UNUSED:
        return one.why
    ((rows, there, different, odd),) = file.ask(
        f"select count(*), count(x), count(distinct x), {f'count(*) filter ({_ODD})' if one.kind == 'str' else 0} "
        f"from (select {one.value} as x from source)"
    )
    if rows != there and not export.conditional:
        return f"{rows - there:,} of {rows:,} runs have none"
    if one.kind == "str" and different == there > 1 and rows > 2 and (rows > MOST_TEXTS or odd == there):
        return f"differs among runs: a text of its own for each, such as {_example(file, one)!r}"
    return ""


_ODD = r"regexp_matches(x, '[/\\\\]|[0-9]{4}-[0-9]{2}-[0-9]{2}|^[0-9a-f]{8,}$')"
"""Texts that are paths, days, or ids."""


def _example(file: RunsFile, one: FileColumn) -> str:
    ((text,),) = file.ask(f"select {one.value} from source where {one.value} is not null limit 1")
    return text if len(text) <= 40 else f"{text[:37]}..."


def _is_complete(file: RunsFile, one: FileColumn) -> bool:
    """Whether every row has a value."""
    ((complete,),) = file.ask(f"select count(*) = count({one.value}) from source")
    return bool(complete)


def _with_infinity(one: FileColumn) -> FileColumn:
    """A column in which the largest number stands for infinity."""
    if one.kind != "float":
        return one
    value = f"(case when abs({one.value}) >= 1.7e308 then sign({one.value}) * 'inf'::double else {one.value} end)"
    return replace(one, value=value)


def _no_params(file: RunsFile, columns: Sequence[FileColumn], export: Export) -> str:
    """The message where nobody says which columns are parameters: those that come into question."""
    candidates = list[str]()
    for one in columns:
        if one.kind not in (*NUMBERS, "str") or one.name in export.dropped or one.name in STEP_NAMES:
            continue
        ((different,),) = file.ask(f"select count(distinct {one.value}) from source")
        if different <= max(1, file.rows // 2):
            candidates.append(f"{one.name} ({different:,} value{'' if different == 1 else 's'})")
    more = f" and {len(candidates) - MOST_CANDIDATES} more" if len(candidates) > MOST_CANDIDATES else ""
    listed = ", ".join(candidates[:MOST_CANDIDATES]) + more
    return (
        f"say which columns are parameters, such as {option('params', 'rate,width')}; values come again in "
        f"{listed or 'no column'}"
    )


def _why_not(file: RunsFile, one: FileColumn, export: Export, chosen: Collection[str], ignored: Collection[str]) -> str:
    """Why a column is no result; "" if it is one."""
    if one.name in ignored:
        return "ignored"
    if one.kind == UNUSED:
        return one.why
    if chosen:
        return "" if one.name in chosen else "not among the columns that are wanted"
    if one.name in export.dropped:
        return "about the run"
    if one.kind == "str":
        ((different,),) = file.ask(f"select count(distinct {one.value}) from source")
        return f"{different:,} different texts" if different > MOST_TEXTS else ""
    return ""


def _checked_param(column: FileColumn, kind: str) -> FileColumn:
    """A parameter in the type that it gets; refuses one that no column holds, or that would change its type."""
    if column.kind == UNUSED:
        raise SwingbyError(f"the parameter {column.name!r} holds {column.why}; allowed: {', '.join(TYPES)}")
    widens = {("int", "float"), ("float", "int"), ("bool", "str"), ("int", "str"), ("float", "str")}
    if kind != column.kind and (column.kind, kind) not in widens:
        raise SwingbyError(
            f"the parameter {column.name!r} is {column.kind} in the file, not {kind}: an experiment's parameters keep "
            f"their types, so import it under another name ({option('experiment')})"
        )
    return replace(column, kind=kind)


def _role(one: FileColumn, role: str) -> FileColumn:
    """The column of a role in the type that it needs.

    Raises:
        SwingbyError: it holds something else.
    """
    if role in ("seed", "step") and one.kind in ("int", "float"):
        return replace(one, kind="int")
    needed = {"seed": ("int",), "step": ("int", "vector"), "run": tuple(TYPES)}.get(role, ("str",))
    if one.kind not in needed:
        noun = "integers" if role in ("seed", "step") else "texts"
        raise SwingbyError(f"the column {one.name!r} cannot be the {role}: it holds {one.why or one.kind}, not {noun}")
    return one


def _make_runs(file: RunsFile, columns: Mapping[str, FileColumn], names: Mapping[str, str]) -> None:
    """Makes the table `runs` of these columns, each in the type of its kind.

    Raises:
        SwingbyError: a number that is no integer stands where integers are needed; with its row.
    """
    for one in columns.values():
        if one.kind == "int":
            broken = f"try_cast({one.value} as double) is distinct from round(try_cast({one.value} as double))"
            rows = file.ask(f"select rowid + 1, {one.value}::varchar from source where {broken} order by all limit 1")
            for row, value in rows:
                raise SwingbyError(f"row {row} has {value} for {one.name!r}, which holds integers")
    selected = [
        f"{one.value}::{TYPES[one.kind]} as {quoted(names[name])}" for name, one in columns.items()
    ]  # fmt: skip
    file.ask(f"create temp table runs as select rowid + 1 as {quoted(ROW)}, {', '.join(selected)} from source")
