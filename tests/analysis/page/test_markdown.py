"""A page as Markdown: its excerpt or all sections, no text taken for markup, and what is folded away left out."""

from __future__ import annotations

import pytest

from swingby_analysis.page import (
    Badge,
    Block,
    Code,
    Fold,
    Items,
    Link,
    Page,
    Part,
    Picture,
    Pictures,
    Section,
    Statement,
    Statements,
    Strong,
    Table,
    Text,
)
from swingby_analysis.page.html import html
from swingby_analysis.page.markdown import markdown

SHARES = Table((), [["paper", "19 of 20"]], name="shares", brief="paper: 19 of 20")


def lines(*blocks: Block) -> list[str]:
    """The lines of an excerpt."""
    return markdown(Page("test", "Title", [], excerpt=blocks)).splitlines()


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("a_b *c* <d> | e", r"a\_b \*c\* \<d\> \| e"),
        (Link("report", "a/b.html"), "[report](a/b.html)"),
        (Link("below", "#rule"), "below"),
        (Code("swingby run"), "`swingby run`"),
        ([Strong("Why."), " So."], "**Why.** So."),
        (SHARES, "paper: 19 of 20"),
    ],
)
def test_a_part_is_written_as_markdown_has_it(part: Part, text: str) -> None:
    """Texts are escaped; a link to a place on the page itself and a table in a cell become text."""
    assert lines(Text(part)) == [text]


def test_only_verdicts_that_need_it_stand_behind_a_statement() -> None:
    """A statement that was found is a plain sentence, any other says what became of it."""
    found = Statement("yes", "It rises.", Badge("found", "yes"))
    not_found = Statement("no", "It rises.", Badge("no", "no"))
    assert lines(Statements([found, not_found]), Text("End.")) == [
        "- It rises.", "- It rises. *(no)*", "", "End."
    ]  # fmt: skip


def test_a_section_without_an_excerpt_is_written_whole() -> None:
    """Headings are of the level asked for; of pictures side by side the first is shown, and folds are left out."""
    pictures = Pictures([Picture(slug, b"", f"alt {slug}", "text") for slug in ("one", "two")])
    table = Table(("claim", "seeds"), [[Link("It rises", "#rises"), SHARES]])
    section = Section("s", "Sect_ion", [pictures, table, Items(["a"]), Fold("more", [Text("hidden")])])
    assert markdown(Page("test", "Title", [section]), level=2).splitlines() == [
        r"## Sect\_ion", "", "![alt one](one.png)", "", "| claim | seeds |", "|---|---|",
        "| It rises | paper: 19 of 20 |", "", "- a",
    ]  # fmt: skip


def test_html_and_markdown_come_from_one_page() -> None:
    """The page shows what its Markdown shows, and what is folded away besides."""
    statement = Statement("rises", "It rises.", Badge("holds", "yes"), [Fold("Query", [Text("select <1>")])], "Fig 1")
    page = Page("claims", "Title", [Section("s", "Heading", [statement, Statements([statement])])])
    shown = html(page)
    assert '<section class="statement" id="rises">' in shown
    assert shown.count("select &lt;1&gt;") == 2
    assert "<script" not in shown
    assert markdown(page).splitlines() == ["### Heading", "", "#### It rises.", "", "- It rises."]
