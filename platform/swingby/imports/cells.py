"""Cells of a file of runs: a row for each, with its seed, how it ended, its scalars, and its curves as lists."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import pyarrow as pa

from swingby.errors import SwingbyError
from swingby.function.values import loss_like
from swingby.imports.exports import ENDED
from swingby.imports.layout import NUMBERS, STEP_NAMES, Layout
from swingby.imports.reading import ROW, RunsFile
from swingby.model.cell import SeedMode
from swingby.options import option
from swingby.store.database import clear_errors
from swingby.store.sql import literal, quoted
from swingby.sweepfile.axes import rounded
from swingby.units import counted

MOST_SHOWN = 3
"""Rows of each kind of fault that a message names."""


@dataclass(frozen=True)
class Cells:
    """The cells of a file.

    Attributes:
        table: a row a cell: the parameters, `seed`, `status`, `message`, `step`, and the results by their names; in
            the order of the file.
        curves, scalars: the names of the results that have an entry for each step, and of the others.
        seed_mode: what the file says of the random draws; None: nothing.
        notes: sentences on what was decided.
    """

    table: pa.Table
    curves: tuple[str, ...]
    scalars: tuple[str, ...]
    seed_mode: SeedMode | None
    notes: tuple[str, ...]


def cells_of(
    file: RunsFile,
    layout: Layout,
    known: Mapping[str, str] | None = None,
    values: Mapping[str, Collection[float]] | None = None,
) -> Cells:
    """The cells of a file whose table `runs` was made.

    Args:
        known: for results that the experiment has already, "curve" or "scalar".
        values: the values that its parameters have already.

    Raises:
        SwingbyError: a value is missing, a step or a cell comes twice, or the file does not say of a run how it ended;
            names the rows.
    """
    _check_there(file, layout)
    notes = list(file.notes)
    for name in layout.params:
        if name in layout.optional:
            ((without,),) = file.ask(f"select count(*) from runs where {quoted(name)} is null")
            notes.append(f"{counted(without, 'run')} without {name}: its value there is null")
    _note_texts(file, layout, notes)
    _unite_values(file, layout, values or {}, notes)
    if layout.long:
        curves, scalars = _of_steps(file, layout, known or {}, notes)
    else:
        curves, scalars = _of_runs(file, layout, known or {})
    for name in (*curves, *scalars):
        before, now = (known or {}).get(name), "curve" if name in curves else "scalar"
        if before is not None and before != now:
            raise SwingbyError(
                f"{name!r} is a {now} here, and a {before} in what was imported before: leave it out "
                f"({option('ignored')}), or import it under another name ({option('experiment')})"
            )
    scalars = _without_names(file, layout, scalars, notes)
    _number_seeds(file, layout, notes)
    _end(file, layout, curves, scalars, notes)
    names = [*layout.params, "seed", "status", "message", "step", *curves, *scalars]
    with clear_errors(f"import {file.path}"):
        table = file.database.sql(
            f"select {', '.join(map(quoted, names))} from cells order by {quoted(ROW)}"
        ).to_arrow_table()
    if not table.num_rows:
        raise SwingbyError(f"{file.path} has no run that is over: {'; '.join(notes)}")
    mode: SeedMode | None = None
    if layout.seed_mode:
        modes = [text for (text,) in file.ask("select distinct seed_mode_ from cells")]
        if len(modes) != 1 or modes[0] not in get_args(SeedMode):
            raise SwingbyError(
                f"the column {layout.seed_mode!r} has {', '.join(map(str, modes))}; allowed: one of both"
            )
        mode = modes[0]
    return Cells(table, tuple(curves), tuple(scalars), mode, tuple(notes))


def _note_texts(file: RunsFile, layout: Layout, notes: list[str]) -> None:
    """Says of results that are texts for a few values alone, which these are."""
    for name, kind in layout.results.items():
        if kind == "str":
            ((numbers, texts, example),) = file.ask(
                f"""select count(*) filter (number), count(*) filter (not number), min(x) filter (not number)
                    from (select {quoted(name)} as x, try_cast(x as double) is not null as number from runs)
                    where x is not null"""
            )
            if numbers >= texts:
                notes.append(f"{name} is a text: {texts:,} of its values are no numbers, such as {example!r}")


def _check_there(file: RunsFile, layout: Layout) -> None:
    """Refuses rows without a parameter, a seed or a step, and parameters that no cell can have."""
    needed = [(name, "parameter", layout.renamed.get(name, name)) for name in layout.params]
    needed += [
        (name, noun, noun) for name, noun in ((layout.seed, "seed"), (layout.step, "step"), (layout.run, "run")) if name
    ]
    for name, noun, shown in needed:
        if (noun == "step" and not layout.long) or name in layout.optional:
            continue
        rows = file.ask(f"select {quoted(ROW)} from runs where {quoted(name)} is null order by all")
        if rows:
            where = f"{_rows([row for (row,) in rows], file.names)} {'has' if len(rows) == 1 else 'have'} no value"
            remedy = (
                f" fill it in, or take the column out of {option('params')}" if noun == "parameter" else " fill it in"
            )
            raise SwingbyError(f"{where} for the {noun} {shown!r}:{remedy}")
        if noun in ("seed", "step"):
            wrong = file.ask(f"select {quoted(ROW)}, {quoted(name)} from runs where {quoted(name)} < 0 order by all")
            for row, value in wrong:
                raise SwingbyError(f"row {row} has the {noun} {value}; allowed: 0 and more")
        elif layout.params.get(name) == "float":
            wrong = file.ask(f"select {quoted(ROW)}, {quoted(name)} from runs where not isfinite({quoted(name)})")
            for row, value in wrong:
                raise SwingbyError(f"row {row} has {value} for the parameter {shown!r}; allowed: finite numbers")


def _unite_values(file: RunsFile, layout: Layout, known: Mapping[str, Collection[float]], notes: list[str]) -> None:
    """Makes one value of those of a parameter that differ in their last bits alone: the one that is there already, else
    the shortest."""
    for name, kind in layout.params.items():
        if kind != "float":
            continue
        values = [value for (value,) in file.ask(f"select distinct {quoted(name)} from runs") if value is not None]
        there = [value for value in known.get(name, ()) if value is not None]
        taken = {rounded(value): value for value in (*sorted(values, key=lambda v: -len(repr(v))), *there)}
        other = {value: taken[rounded(value)] for value in values if taken[rounded(value)] != value}
        for value, kept in other.items():
            file.ask(f"update runs set {quoted(name)} = ? where {quoted(name)} = ?", kept, value)
        if other:
            value, kept = next(iter(other.items()))
            notes.append(f"{name} {value!r} is taken for {kept!r}, from which it differs in its last bits alone")


def _of_steps(
    file: RunsFile, layout: Layout, known: Mapping[str, str], notes: list[str]
) -> tuple[list[str], list[str]]:
    """Makes the table `cells` of a file with a row a step; returns the names of curves and scalars."""
    step = quoted(str(layout.step))
    identity = [*layout.params, *([layout.seed] if layout.seed else [])]
    key = [layout.run] if layout.run else identity
    keys = ", ".join(map(quoted, key)) or "1"
    for name in identity if layout.run else ():
        split = file.ask(
            f"""select {keys}, count(distinct {quoted(name)}), list(distinct {quoted(ROW)} order by {quoted(ROW)})
                from runs group by all having count(distinct {quoted(name)}) > 1 order by all limit 1"""
        )
        for run, _, rows in split:
            raise SwingbyError(f"{name!r} differs within run {run!r}, at {_rows(rows)}: a run has one value of it")
    twice = file.ask(
        f"""select {step}, list({quoted(ROW)} order by {quoted(ROW)}) as found from runs
            group by {keys}, {step} having count(*) > 1 order by found limit {MOST_SHOWN}"""
    )
    if twice:
        shown = "; ".join(f"{_rows(rows)} are all step {value} of one run" for value, rows in twice)
        remedy = (
            f"{option('run')} names the column that tells runs apart"
            if not layout.run
            else "a step of a run comes once"
        )
        if not layout.seed and not layout.run:
            remedy = f"{option('seed')} names the column with the seed, and {remedy}"
        raise SwingbyError(f"{shown}: {remedy}")
    curves, scalars = list[str](), list[str]()
    for name, kind in layout.results.items():
        ((most,),) = file.ask(
            f"select max(n) from (select count(distinct {quoted(name)}) as n from runs group by {keys})"
        )
        varies = (most or 0) > 1
        if kind == "str" and varies:
            notes.append(f"{name} is left out: a text that changes within a run")
        elif kind in NUMBERS and known.get(name) == "scalar" and varies:
            raise SwingbyError(
                f"{name!r} has one value a run in what was imported before, and changes within runs here"
            )
        elif kind in ("str", "matrix") or not (varies or known.get(name) == "curve"):
            scalars.append(name)
        else:
            curves.append(name)
    columns = [f"min({quoted(ROW)}) as {quoted(ROW)}", f"list({step} order by {step}) as step"]
    kept = [layout.status, layout.message, layout.seed_mode]
    columns += [
        f"any_value({quoted(name)}) as {quoted(name)}" for name in dict.fromkeys([*identity, *scalars, *kept]) if name
    ]
    columns += [f"list({_number(layout, name)} order by {step}) as {quoted(name)}" for name in curves]
    file.ask(f"create temp table cells as select {', '.join(columns)} from runs group by {keys}")
    return curves, scalars


def _of_runs(file: RunsFile, layout: Layout, known: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Makes the table `cells` of a file with a row a run; returns the names of curves and scalars.

    Lists are curves: where there is a list of steps, those of its length; without one, all.
    """
    curves, scalars = list[str](), list[str]()
    for name, kind in layout.results.items():
        if kind in ("vector", "matrix") and known.get(name) != "scalar":
            other = f"len({quoted(name)}) <> len({quoted(layout.step)})" if layout.step else "false"
            ((ragged,),) = file.ask(f"select count(*) from runs where {other}")
            (scalars if ragged else curves).append(name)
        else:
            scalars.append(name)
    longest = ", ".join(f"len({quoted(name)})" for name in curves)
    steps = (
        f"{quoted(layout.step)}::bigint[]"
        if layout.step
        else f"range(greatest({longest}))"
        if curves
        else "[]::bigint[]"
    )
    others = [*layout.params, layout.seed, layout.status, layout.message, layout.seed_mode, *curves, *scalars]
    columns = [f"{quoted(name)}" for name in dict.fromkeys(others) if name]
    selected = ", ".join([quoted(ROW), f"coalesce({steps}, []) as step", *columns])
    file.ask(f"create temp table cells as select {selected} from runs")
    return curves, scalars


def _without_names(file: RunsFile, layout: Layout, scalars: Sequence[str], notes: list[str]) -> list[str]:
    """The scalars without texts that are another one in every run: these are names, and no results."""
    kept = list[str]()
    for name in scalars:
        if layout.results[name] == "str" and name not in layout.requested:
            ((runs, different),) = file.ask(f"select count(*), count(distinct {quoted(name)}) from cells")
            if different == runs > 2:
                notes.append(f"{name} is left out: a text of its own for every run; {option('columns')} keeps it")
                continue
        kept.append(name)
    return kept


def _number_seeds(file: RunsFile, layout: Layout, notes: list[str]) -> None:
    """Gives every cell its seed: that of its column, else its place among the runs of its parameters."""
    params = ", ".join(map(quoted, layout.params))
    if layout.seed is None:
        numbered = f"row_number() over (partition by {params} order by {quoted(ROW)}) - 1"
        file.ask(f"create temp table numbered as select *, {numbered} as seed from cells")
        ((most,),) = file.ask("select max(seed) + 1 from numbered")
        notes.append(
            "no column has the seed: runs of equal parameters are numbered from 0 on in the order of the file "
            f"(at most {most}); {option('seed')} names one"
        )
    else:
        file.ask(f"create temp table numbered as select * rename ({quoted(layout.seed)} as seed) from cells")
    file.ask("drop table cells")
    if layout.seed and layout.status:
        _without_attempts(file, layout, notes)
    twice = file.ask(
        f"""select list({quoted(ROW)} order by {quoted(ROW)}) as found, seed, {params} from numbered
            group by all_but having count(*) > 1 order by found limit {MOST_SHOWN}""".replace(
            "all_but", f"seed, {params}"
        )
    )
    if twice:
        shown = [
            f"{_rows(rows, file.names)} ({_setting(layout, values)}, seed {seed})" for rows, seed, *values in twice
        ]
        remedy = f"name another column by {option('seed')}, or the one that is missing among {option('params')}"
        if layout.seed:
            remedy += f"; {option('ignored', layout.seed)} numbers them as repeats"
        steps = [one.name for one in file.columns if one.name in STEP_NAMES and one.kind in ("int", "float")]
        if steps and not layout.long:
            remedy += f"; or are these steps of one run? {option('step', steps[0])}"
        raise SwingbyError(f"one cell comes more than once: {'; '.join(shown)}; {remedy}")


def _without_attempts(file: RunsFile, layout: Layout, notes: list[str]) -> None:
    """Takes out runs that failed or are not over where another run is of the same cell, and all but the last of them
    where none of them ended well."""
    state = f"lower(trim({quoted(str(layout.status))}))"
    cell = ", ".join(map(quoted, (*layout.params, "seed")))
    well = ", ".join(literal(text) for text, end in ENDED.items() if end in ("ok", "diverged"))
    rank = (
        f"row_number() over (partition by {cell} order by coalesce({state} in ({well}), true) desc, {quoted(ROW)} desc)"
    )
    earlier = f"""select {quoted(ROW)} from (select *, {rank} as rank from numbered)
                  where rank > 1 and not coalesce({state} in ({well}), true)"""
    rows = [row for (row,) in file.ask(f"{earlier} order by all")]
    if rows:
        file.ask(f"delete from numbered where {quoted(ROW)} in ({earlier})")
        notes.append(
            f"{counted(len(rows), 'run')} that did not end well left out, since a later or better one is of the same "
            f"cell: {_rows(rows, file.names)}"
        )


def _end(file: RunsFile, layout: Layout, curves: Sequence[str], scalars: Sequence[str], notes: list[str]) -> None:
    """Makes the table `cells` again, with `status` and `message`.

    Curves end where one that `ends_run` is not finite; of others a value that is not finite is a gap, which the message
    tells. Where no curve ends a run, it has diverged if the last value of every one is not finite.
    """
    ending_status, message = "'ok'", "null"
    if layout.status:
        ending_status = _ended(file, layout, notes)
        state = f"lower(trim({quoted(layout.status)}))"
        message = f"case when {ending_status} <> 'ok' then {state} || ' where it was trained' end"
        if layout.message:
            message = quoted(layout.message)
    bad = {name: f"list_transform({quoted(name)}, lambda x: {_infinite(file, name)})" for name in curves}
    first = {name: f"nullif(list_position({sql}, true), 0)" for name, sql in bad.items()}
    ending = [name for name in curves if ends_run(name)]
    firsts = [first[name] for name in ending]
    stop = f"least({', '.join(firsts)})" if len(firsts) > 1 else firsts[0] if firsts else "null::bigint"
    floats = [name for name in scalars if layout.results[name] == "float"]
    shown = {name: f"{literal(name)} || ' is ' || {quoted(name)}" for name in floats}
    ends = [f"when {first[n]} = stop then {literal(n)} || ' is not finite at step ' || step[stop]" for n in ending]
    ends += [f"when not isfinite({quoted(n)}) then {shown[n]} || ' at the end'" for n in floats if ends_run(n)]
    if curves and not ending:
        last = [f"list_filter({sql}, lambda x: x is not null)[-1]" for sql in bad.values()]
        vanished = f"not list_contains([{', '.join(last)}], false) and list_contains([{', '.join(last)}], true)"
        ends += [f"when {vanished} then 'no recorded value is finite any more at step ' || step[-1]"]
    gaps = [
        f"case when {first[n]} is not null then {literal(n)} || ' is not finite at ' || len(list_filter({bad[n]}, "
        f"lambda x: x)) || ' steps, first at step ' || step[{first[n]}] || ': a gap' end"
        for n in curves
    ] + [f"case when not isfinite({quoted(n)}) then {shown[n]} || ' at the end: a gap' end" for n in floats]
    why = f"case {' '.join(ends)} end" if ends else "null"
    remarks = f"concat_ws('; ', {message}, {', '.join(gaps)})" if gaps else message
    held = {name: f"list_transform({quoted(name)}, lambda x: case when {_infinite(file, name)} then null else x end)"
            for name in curves if name not in ending}  # fmt: skip
    cut = [
        f"case when stop is null then {held.get(n, quoted(n))} else {held.get(n, quoted(n))}[:stop] end as {quoted(n)}"
        for n in ("step", *curves)
    ]
    finite = [
        f"case when isfinite({quoted(n)}) then {quoted(n)} end as {quoted(n)}"
        if n in floats and not ends_run(n)
        else quoted(n)
        for n in scalars
    ]
    columns = [quoted(ROW), *map(quoted, layout.params), "seed", *finite]
    mode = f"{quoted(layout.seed_mode)} as seed_mode_," if layout.seed_mode else ""
    file.ask(
        f"""create temp table cells as
            select {", ".join(columns)}, {mode} {", ".join(cut)},
                   case when ending = 'ok' and why is not null then 'diverged' else ending end as status,
                   case when ending = 'ok' then coalesce(why, nullif(remarks, ''))
                        else coalesce(nullif(remarks, ''), why) end as message
            from (select *, {why} as why, {ending_status} as ending, {remarks} as remarks
                  from (select *, {stop} as stop from numbered))
            where ending is not null"""
    )


def ends_run(name: str) -> bool:
    """Whether a value that is not finite says that a run diverged: a loss, or the objective of an Optuna study."""
    return loss_like(name) or name == "value"


def _ended(file: RunsFile, layout: Layout, notes: list[str]) -> str:
    """The status of a row as SQL, null for runs that are not over; refuses texts that say no end."""
    state = f"lower(trim({quoted(str(layout.status))}))"
    rows = file.ask(f"select {state}, list({quoted(ROW)} order by {quoted(ROW)}) from numbered group by 1 order by 1")
    left = 0
    for text, where in rows:
        if text is not None and text not in ENDED:
            allowed = ", ".join(ENDED)
            raise SwingbyError(f"{_rows(where, file.names)} ended as {text!r}, which is not known; allowed: {allowed}")
        left += len(where) if text is not None and ENDED[text] is None else 0
    if left:
        notes.append(f"{counted(left, 'run')} not over yet: left out")
    cases = " ".join(f"when {literal(text)} then {literal(end) if end else 'null'}" for text, end in ENDED.items())
    return f"case coalesce({state}, 'ok') {cases} end"


def _infinite(file: RunsFile, name: str) -> str:
    """The condition that the entry `x` of a curve has a number that is not finite."""
    depth = _type(file, name, "numbered").count("[]")
    return "x is not null and not isfinite(x)" if depth < 2 else "len(list_filter(x, lambda y: not isfinite(y))) > 0"


def _number(layout: Layout, name: str) -> str:
    """The entry of a curve: a double, or a vector of them."""
    return quoted(name) if layout.results[name] == "vector" else f"{quoted(name)}::double"


def _type(file: RunsFile, name: str, table: str = "runs") -> str:
    ((type_,),) = file.ask(
        "select data_type from duckdb_columns() where table_name = ? and column_name = ?", table, name
    )
    return type_


def _rows(rows: Sequence[int], names: Sequence[str] = ()) -> str:
    """Rows of the file in words, or the runs that they are."""
    more = f" and {len(rows) - MOST_SHOWN:,} more" if len(rows) > MOST_SHOWN else ""
    listed = ", ".join(names[row - 1] if names else str(row) for row in rows[:MOST_SHOWN])
    return f"{'run' if names else 'row'}{'' if len(rows) == 1 else 's'} {listed}{more}"


def _setting(layout: Layout, values: Sequence[object]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in zip(layout.params, values, strict=True))
