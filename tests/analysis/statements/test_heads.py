"""Heads of statements, templates, and the views that a query defines."""

from __future__ import annotations

import pytest

from swingby.errors import SwingbyError
from swingby_analysis.statements.compose import compose
from swingby_analysis.statements.statement import Statement, parse, parse_shared
from swingby_analysis.statements.template import Field, Template

CLAIM = """-- in most seeds: It rises [Fig 1, 2 and eq 3 of [4]]
-- sweeps: one, two
-- setting: width {width}
-- measured: rise {median(rise):.2f},
--     at most {max(rise)}
-- asks: Of every seed:
--     does it rise?
select *, rise > 0 as holds from risen
"""
TWINS = """-- found: It falls with [what]: {effect:.1f}.
-- contrary: It rises with [what]: {effect:.1f}.
-- cannot be told: Who knows.
-- asks: Does it fall?
--
-- slug by-width: one
-- what: the width
--
-- slug by-depth: two
-- what: the depth
select seed, fall as effect from runs
"""
VIEWS = """-- preset paper: the paper's conventions
-- note on claims: They are few.
-- least: 9
-- order: it-rises

-- Runs that rise.
create view risen as
select * from all_runs where risen;

create view all_runs_of_now as
select 1;
"""


def test_a_head_is_read_as_it_is_written() -> None:
    """Keys, values over several lines, the question, and the SQL below it."""
    (claim,) = parse(CLAIM, "it-rises.sql")
    assert (claim.slug, claim.text, claim.sweeps) == ("it-rises", "It rises", ("one", "two"))
    assert claim.measured == "rise {median(rise):.2f}, at most {max(rise)}"
    assert claim.question == "Of every seed: does it rise?"
    assert claim.body == "select *, rise > 0 as holds from risen"
    assert (claim.rule, claim.source) == ("in most seeds", "Fig 1, 2 and eq 3 of [4]")


def test_several_statements_share_a_query() -> None:
    """Each has its own slug, sweeps and words; the contrary is something found."""
    first, second = parse(TWINS, "twins.sql")
    assert (first.slug, second.slug) == ("by-width", "by-depth")
    assert first.words["found"] == "It falls with the width: {effect:.1f}."
    assert second.words["not found"] == "It rises with the depth: {effect:.1f}."
    assert first.either
    assert first.body == second.body


@pytest.mark.parametrize(
    ("was", "becomes", "complaint"),
    [
        (" [Fig 1, 2 and eq 3 of [4]]", "", "a claim ends with its source in brackets"),
        ("-- sweeps:", "-- sweep:", "there is no key 'sweep'.*did you mean 'sweeps'"),
        ("in most seeds", "in most sees", "there is no key 'in most sees'.*did you mean 'in most seeds'"),
        ("in most seeds", "law", "a law says 'within'"),
        ("-- sweeps:", "-- always: It rises [1]\n-- sweeps:", "a claim has one kind; not in most seeds and always"),
        ("-- sweeps:", "-- within: 0.1\n-- sweeps:", "'within' is no key of a claim by the rule 'in most seeds'"),
        ("-- sweeps:", "-- reverse: no\n-- sweeps:", "'reverse' is a key of a claim in the mean, and says 'no'"),
        ("-- sweeps:", "-- within: none\n-- sweeps:", "'within' is a number above 0; not 'none'"),
        ("-- sweeps:", "-- least: few\n-- sweeps:", "'least' is a number of seeds, 1 or more; not 'few'"),
        ("-- sweeps:", "-- sweeps: one\n-- sweeps:", "the key 'sweeps' stands twice"),
        ("-- asks: Of every seed:\n--     does it rise?\n", "", "its head says no 'asks'"),
        ("select *, rise > 0 as holds from risen", "", "there is no SQL under its head"),
        ("{max(rise)}", "{max(rise)", "a brace is not closed"),
    ],
)
def test_a_head_that_is_wrong_is_told(was: str, becomes: str, complaint: str) -> None:
    """What is missing, unknown or twice, with the name of the file."""
    with pytest.raises(SwingbyError, match=f"statement it-rises.sql: .*{complaint}"):
        parse(CLAIM.replace(was, becomes), "it-rises.sql")


def test_braces_hold_sql() -> None:
    """An expression may have casts, texts and braces of its own; a form is that of a number."""
    template = Template.of("{a}: {count(*)::bigint}, {coalesce(format('{:.1f} %', x), 'none')}, {avg(x):.2f}")
    fields = [("a", ""), ("count(*)::bigint", ""), ("coalesce(format('{:.1f} %', x), 'none')", ""), ("avg(x)", ".2f")]
    assert template.fields == [Field(*field) for field in fields]
    assert [field.plain for field in template.fields] == [True, False, False, False]
    assert "'{}: {}, {}, {:.2f}'" in template.sql


def test_a_query_defines_the_views_it_names() -> None:
    """A view of the folder that stands behind `from` or `join`, with its comment; the others are left out."""
    shared = parse_shared(VIEWS, ("toy",))
    assert shared.presets == {"paper": "the paper's conventions"}
    assert shared.notes_of("note on claims") == ["They are few."]
    claim: Statement
    (claim,) = parse(CLAIM, "it-rises.sql", shared)
    assert (claim.least, claim.place) == (9, (0, "it-rises"))
    query = compose(claim, (), (), defined=("runs",))
    assert "-- Runs that rise.\nrisen as (\n    select * from all_runs where risen\n)" in query
    assert "all_runs_of_now" not in query
    with pytest.raises(SwingbyError, match="only views can stand there"):
        parse_shared(VIEWS + "\ndrop table claims;", ("toy",))
    with pytest.raises(SwingbyError, match="there is no key 'hour'; did you mean 'hours'"):
        parse_shared("-- hour: yes\n", ("toy",))
