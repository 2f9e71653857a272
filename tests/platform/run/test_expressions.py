"""Laws of deriving outcomes that sweep files write: each cell once for each expression, as Python would compute it."""

from __future__ import annotations

from typing import Any

import pytest

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.detector import expression_table
from swingby.run.driver import run_sweep
from swingby.run.extend import extend_seeds, shares_of
from swingby.run.options import RunOptions
from swingby.run.outcomes import derive
from swingby.store import Store
from swingby.store.lookup import sweep_rows, written_outcomes

HIGH, TOP = "position[-1] > 0", "list_max(position)"
WORD = "case when wants = 'ok' and rate > 0.7 then 'fast' else status end"


def ran(walk: Any, outcomes: dict[str, str], **changes: Any) -> Any:
    """A sweep that has run with these outcomes."""
    sweep = walk.sweep(outcomes=outcomes, **changes)
    run_sweep(sweep, walk.data, local=True, pilot=False)
    return sweep


def derived(walk: Any) -> list[str]:
    """The kinds of the derived files, one for each file."""
    return sorted(name.partition("/")[0] for name in walk.records().derived())


def test_values_are_those_that_python_computes_from_the_curves(walk: Any) -> None:
    """Each finished cell has each outcome under its name, for the sweep that writes it; a diverged one as well."""
    sweep = ran(
        walk, {"high": HIGH, "top": TOP, "word": WORD}, axes={"wants": ["ok", "diverge", "raise"], "rate": [0.5, 1.0]}
    )
    with Store.open(walk.data) as store:
        rows = store.sql("select * from outcomes_of_walk join walk using (cell_id)").rows()
        assert {one.kind for one in written_outcomes(store, sweep.sweep_id).values()} == {
            "yes_no",
            "number",
            "category",
        }
    assert len(rows) == 12
    assert {row.status for row in rows} == {"ok", "diverged"}
    for row in rows:
        assert row.sweep_id == sweep.sweep_id
        assert (row.high, row.top) == (row.position[-1] > 0, max(row.position))
        assert row.word == ("fast" if row.wants == "ok" and row.rate > 0.7 else row.status)
    table = sweep_rows(walk.data, "walks")
    assert {"high", "top", "word", "height"} <= set(table.column_names)
    shares = {share.point: (share.k, share.n) for share in shares_of(walk.data, sweep, "high")}
    assert shares[0] == (sum(row.high for row in rows if row.point == 0), 3)
    with pytest.raises(SwingbyError, match="'top' is a number, and has no share"):
        shares_of(walk.data, sweep, "top")


def test_an_edited_expression_is_computed_anew_and_no_other(walk: Any) -> None:
    """An expression is computed once for a cell, by whatever sweep and name; an edit costs that expression alone."""
    ran(walk, {"high": HIGH, "top": TOP})
    first = derived(walk)
    assert first == [
        "expressions",
        "outcomes_walk_height",
        *sorted(expression_table("walk", one) for one in (HIGH, TOP)),
    ]
    sweep = ran(walk, {"high": "position[-1] > 0.1", "top": TOP})
    new = expression_table("walk", "position[-1] > 0.1")
    assert derived(walk) == sorted([*first, new, "expressions"])
    with Store.open(walk.data) as store:
        for row in store.sql("select high, top, position from outcomes_of_walk join walk using (cell_id)").rows():
            assert (row.high, row.top) == (row.position[-1] > 0.1, max(row.position))
    assert not any(derive(walk.records()).values())
    other = ran(walk, {"up": HIGH}, name="others")  # cells and expression are shared, the name is its own
    assert derived(walk) == sorted([*first, new, *["expressions"] * 2])
    with Store.open(walk.data) as store:
        rows = store.sql("select sweep_id, high, up from outcomes_of_walk").rows()
    assert {row.sweep_id for row in rows if row.up is not None} == {other.sweep_id}
    assert {row.sweep_id for row in rows if row.high is not None} == {sweep.sweep_id}
    ran(walk, {"top": TOP})  # an outcome that the file has no more
    with Store.open(walk.data) as store:
        assert list(written_outcomes(store, sweep.sweep_id)) == ["top"]


def test_one_name_of_two_types_breaks_no_store(walk: Any) -> None:
    """Sweeps that mean a number and a truth by one name have both as text in the common view, and each its own type."""
    sweeps = ran(walk, {"mark": HIGH}), ran(walk, {"mark": TOP}, name="others")
    with Store.open(walk.data) as store:
        assert store.columns("outcomes_of_walk")["mark"] == "VARCHAR"
        kinds = [written_outcomes(store, sweep.sweep_id)["mark"].kind for sweep in sweeps]
    assert kinds == ["yes_no", "number"]


def test_what_cannot_be_computed_is_null_and_stops_nothing(walk: Any) -> None:
    """A row at which an expression raises has null; an expression over unknown columns is told in the end."""
    ran(walk, {"number": "cast(wants as int)", "high": HIGH})
    with Store.open(walk.data) as store:
        rows = store.sql("select number, high from outcomes_of_walk").rows()
    assert {row.number for row in rows} == {None}
    assert None not in {row.high for row in rows}
    with pytest.raises(SwingbyError, match=r"outcome 'odd': unknown column 'nosuch'.*all other outcomes are kept"):
        derive(walk.records(), None, {walk.sweep().sweep_id: {"odd": "nosuch > 1", "top": TOP}})
    with Store.open(walk.data) as store:
        assert None not in {row.top for row in store.sql("select top from outcomes_of_walk").rows()}


def test_columns_that_only_runs_tell_are_read_from_the_store(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an experiment that discovers its columns, expressions are typed by what its runs left."""
    monkeypatch.setattr(type(registry.experiment("walk")), "discovers", True, raising=False)
    sweep = ran(walk, {"high": HIGH})
    with Store.open(walk.data) as store:
        assert written_outcomes(store, sweep.sweep_id)["high"].kind == "yes_no"


def test_seeds_are_added_until_the_share_of_an_expression_is_known(walk: Any) -> None:
    """`extend` takes an outcome of the sweep file, which its diagram draws, like one of a detector."""
    content = {"outcomes": {"high": HIGH}, "axes": {"width": [1]}, "diagram": {"x": "width", "outcome": "high"}}
    ran(walk, content["outcomes"], **{key: content[key] for key in ("axes", "diagram")})
    file = walk.folder / "walks.yaml"
    file.write_text(walk.text(**content))
    said: list[str] = []
    assert extend_seeds(str(file), walk.data, None, 0.3, 20, (), RunOptions(local=True, pilot=False), said.append) > 3
    with pytest.raises(SwingbyError, match=r"'top' has no share; .*high"):
        extend_seeds(
            str(file),
            walk.data,
            "top",
            0.3,
            20,
            ("outcomes.top=list_max(position)",),
            RunOptions(local=True),
            said.append,
        )
