"""Pages: sections of figures, tables, statements and queries, written as HTML, as Markdown and as pictures.

A page is a value; a writer turns it into text:

    from swingby_analysis.page import Bar, Fold, Page, QueryRows, Section, Statement, Table, Text
    from swingby_analysis.page.html import html
    from swingby_analysis.page.markdown import markdown

    bar = Bar(share=0.95, low=0.90, high=0.98, tone="yes")
    shares = Table(("convention", "seeds", "share"), [("paper", "19 of 20", bar)])
    rows = Fold("The query and its result", [QueryRows(query, ["seed", "holds"], [(0, True)])])
    page = Page(
        kind="claims",
        title="What the paper claims",
        lead="Each claim is a predicate in SQL.",
        sections=[
            Section("details", "Claims", [Statement("rises", "It rises.", Badge("holds", "yes"), [shares, rows])]),
            Section("rule", "How a verdict is made", [Items(["Wilson's interval of 95 %."])]),
        ],
    )
    text = html(page)  # one file that works offline, without a script
    readme = markdown(page)

Every text is plain text: the writers escape it. The contents list of a page is made from the headings of its sections.
A figure is drawn by the page's script (`html(page, data={"figures": {slug: spec}})`), or is shown as a `Picture`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from swingby import __version__
from swingby.data.files import utc_now
from swingby_analysis.query import Query

Tone = Literal["yes", "some", "no", "none"]
"""The colour of a verdict: for it, in between, against it, undecided."""


@dataclass(frozen=True)
class Badge:
    """A verdict in a few words, in a frame of its colour."""

    form: ClassVar[str] = "badge"
    text: str
    tone: Tone = "none"


@dataclass(frozen=True)
class Bar:
    """A share and its interval on a line from 0 to 1."""

    form: ClassVar[str] = "bar"
    share: float | None
    low: float
    high: float
    tone: Tone = "none"

    LENGTH: ClassVar[int] = 120
    """Pixels of the line."""

    @property
    def pixels(self) -> tuple[str, str, str]:
        """Where the interval starts, how wide it is, and where the share lies."""
        low, high = self.LENGTH * self.low, self.LENGTH * self.high
        return f"{low:.1f}", f"{max(high - low, 1):.1f}", f"{self.LENGTH * (self.share or 0.0):.1f}"

    def __str__(self) -> str:
        share = "unknown" if self.share is None else f"{self.share:.2f}"
        return f"{share}, {self.low:.2f} to {self.high:.2f}"


@dataclass(frozen=True)
class Link:
    """A text that leads elsewhere; `title` is shown when it is pointed at."""

    form: ClassVar[str] = "link"
    text: str
    target: str
    title: str = ""


@dataclass(frozen=True)
class Code:
    """A name or a command, in a fixed-width font; line breaks are kept."""

    form: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True)
class Strong:
    """A text in bold."""

    form: ClassVar[str] = "strong"
    text: str


@dataclass(frozen=True)
class Toned:
    """A text in the colour of a verdict."""

    form: ClassVar[str] = "toned"
    text: str
    tone: Tone = "none"


@dataclass(frozen=True)
class Table:
    """Rows under headings.

    Attributes:
        headings: empty for none; the first column then names the rows.
        rows: a part for each column.
        about: a sentence above the table.
        name: what the style sheet knows the table by.
        brief: its content in a few words, which Markdown shows where the table is a cell of another one.
    """

    form: ClassVar[str] = "table"
    headings: Sequence[str]
    rows: Sequence[Sequence[Part]]
    about: str = ""
    name: str = ""
    brief: str = ""


def marked(text: str) -> list[str | Code]:
    """The text in parts: what stands between backticks is code. Both writers take every sentence through this."""
    parts = _CODE.split(text)
    return [Code(part) if number % 2 else part for number, part in enumerate(parts) if part]


_CODE = re.compile(r"`{1,2}([^`\n]+)`{1,2}")
Part = str | Badge | Bar | Link | Code | Strong | Toned | Table | Sequence["Part"]
"""What a sentence, an item of a list or a cell of a table is made of; of several parts one stands after the other."""


@dataclass(frozen=True)
class Text:
    """A paragraph; `name` is one of those the style sheet knows: note, warning, byline, ..."""

    form: ClassVar[str] = "text"
    text: Part
    name: str = ""


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    form: ClassVar[str] = "items"
    items: Sequence[Part]
    name: str = "summary"


@dataclass(frozen=True)
class Terms:
    """Terms with the lines that explain each."""

    form: ClassVar[str] = "terms"
    lines: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class QueryRows:
    """A query as it was asked, parameters written in, and what it gave.

    Attributes:
        query: of a file, whose path is shown above it; or its text.
        columns, rows: its result; None where it is not shown.
    """

    form: ClassVar[str] = "query"
    query: Query | str
    columns: Sequence[str] | None = None
    rows: Sequence[Sequence[Any]] | None = None


@dataclass(frozen=True)
class Figure:
    """A chart with its caption and its queries.

    Attributes:
        slug: names its files, e.g. "phase-diagram.png", and its anchor on the page.
        title, caption, reading: plain text; `reading` tells how to read the marks.
        spec: Vega-Lite.
        queries: the SQL behind it, parameters filled in.
        facts: what it was made from: sweep ids, seeds, n, conventions, versions.
        points: True if pointing at a mark that carries a `point` shows that point's curves, in the panel beside the
            figure that is read.
        section: the part of a report that it belongs to: maps, curves, axes; "" for a drawing of its own.
        marks: what each kind of mark that is there means, by the name of its glyph: line, band, dot, square, ...
    """

    form: ClassVar[str] = "figure"
    slug: str
    title: str
    caption: str
    reading: str
    spec: Mapping[str, Any]
    queries: Sequence[Query] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    points: bool = False
    section: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Picture:
    """A figure as a PNG inside the page, with a sentence below it.

    Attributes:
        alt: what a reader who cannot see it, and the Markdown, are given.
        link: where the picture leads; "" for nowhere.
        wide: whether it has a row to itself among pictures side by side.
    """

    form: ClassVar[str] = "picture"
    slug: str
    png: bytes
    alt: str
    text: str
    link: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Pictures:
    """Pictures side by side; Markdown shows the first one."""

    form: ClassVar[str] = "pictures"
    pictures: Sequence[Picture]


@dataclass(frozen=True)
class Fold:
    """Blocks behind a line that opens them."""

    form: ClassVar[str] = "fold"
    summary: str
    blocks: Sequence[Block]
    opened: bool = False


@dataclass(frozen=True)
class Widget:
    """A place that a script of the page fills; Markdown leaves it out.

    Attributes:
        name: what the script knows it by.
        without: what is said in its place to a reader without scripts.
    """

    form: ClassVar[str] = "widget"
    name: str
    without: str = "This part of the page needs JavaScript."


@dataclass(frozen=True)
class Heading:
    """A heading below that of a section."""

    form: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Statement:
    """A statement with its verdict, and the blocks that show how it was decided.

    Attributes:
        slug: its anchor on the page.
        badge: the verdict; None for none.
        blocks: shares, notes, the query.
        byline: where it comes from, beside the verdict.
    """

    form: ClassVar[str] = "statement"
    slug: str
    text: Part
    badge: Badge | None
    blocks: Sequence[Block] = ()
    byline: Part = ""


@dataclass(frozen=True)
class Statements:
    """Statements as a list, without a heading each."""

    form: ClassVar[str] = "statements"
    statements: Sequence[Statement]


Block = (
    Text
    | Items
    | Terms
    | Table
    | QueryRows
    | Figure
    | Picture
    | Pictures
    | Fold
    | Widget
    | Heading
    | Statement
    | Statements
)
"""What a section is made of, one below the other."""


@dataclass(frozen=True)
class Section:
    """A part of a page under a heading.

    Attributes:
        slug: its anchor on the page.
        heading: of the section.
        blocks: what it shows.
        contents: what the list of contents calls it, if not by its heading.
        link: where its heading leads.
        name: what the style sheet knows it by.
        folded: whether it is closed until its heading is opened; its figures are drawn then. A page with such sections
            has no list of contents, since the headings stand one below the other.
        about: what a folded one holds, behind its heading.
    """

    slug: str
    heading: str
    blocks: Sequence[Block]
    contents: str = ""
    link: str = ""
    name: str = ""
    folded: bool = False
    about: str = ""


@dataclass(frozen=True)
class Page:
    """A page: its head, and its sections in order.

    Attributes:
        kind: what made it: report, claims, findings, ...; "" is not written.
        title: its heading.
        sections: its parts, in order.
        tab: what a browser's tab calls it, if not by its title.
        lead, byline: what it is, and how it was made.
        notes: what a reader must know first.
        files: kinds of the files that lie beside the page, for each figure; they are named, not linked, since a page
            may be sent alone.
        excerpt: what Markdown shows of it; () for all sections.
    """

    kind: str
    title: str
    sections: Sequence[Section]
    tab: str = ""
    lead: Part = ""
    byline: Part = ""
    notes: Sequence[str] = ()
    files: Sequence[str] = ()
    excerpt: Sequence[Section | Block] = ()


def written(rest: str = "") -> str:
    """The byline of a page: when it was written, by which version, and the rest of the sentence."""
    return f"Written {utc_now()[:16].replace('T', ' ')} UTC by swingby {__version__}{rest}."
