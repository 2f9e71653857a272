"""A page as Markdown, for a README: figures as the files beside it, and no text taken for markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from swingby_analysis.page import (
    Badge,
    Block,
    Code,
    Figure,
    Fold,
    Heading,
    Items,
    Link,
    Page,
    Part,
    Picture,
    Pictures,
    QueryRows,
    Section,
    Several,
    Statement,
    Table,
    Terms,
    Text,
    Toned,
)


def markdown(page: Page, level: int = 1) -> str:
    """The page; its title is a heading of this level, its sections one below."""
    lines = [f"{'#' * level} {plain(page.title)}", ""]
    lines += [line for part in (page.lead, *page.notes, page.byline) if part for line in (_part(part), "")]
    lines += [line for section in page.sections for line in section_lines(section, level + 1)]
    return "\n".join(lines).rstrip("\n") + "\n"


def section_lines(section: Section, level: int = 2) -> Iterator[str]:
    """The lines of one section under a heading of this level."""
    heading = plain(section.heading)
    yield f"{'#' * level} [{heading}]({section.link})" if section.link else f"{'#' * level} {heading}"
    yield ""
    for block in section.blocks:
        yield from block_lines(block, level + 1)


def block_lines(block: Block, level: int = 3) -> Iterator[str]:
    """The lines of one block, an empty one at the end; what is folded away on a page is left out."""
    match block:
        case Text(text=text):
            yield from (_part(text), "")
        case Heading(text=text):
            yield from (f"{'#' * level} {plain(text)}", "")
        case Items(items=items):
            yield from (*(f"- {_part(item)}" for item in items), "")
        case Terms(lines=terms):
            yield from (*(f"- {plain(term)}: {plain('; '.join(lines))}" for term, lines in terms.items()), "")
        case Table():
            yield from table_lines(block)
        case Figure(slug=slug, title=title, caption=caption):
            yield from (f"![{plain(title)}]({slug}.png)", "", plain(caption), "")
        case Picture(slug=slug, alt=alt):
            yield from (f"![{plain(alt)}]({slug}.png)", "")
        case Pictures(pictures=pictures):
            yield from (*(f"![{plain(one.alt)}]({one.slug}.png)" for one in pictures), "")
        case Statement(text=text, badge=badge, heading=heading, blocks=blocks):
            mark = f" *({plain(badge.text)})*" if badge is not None else ""
            yield f"{'#' * level} {_part(text)}{mark}" if heading else f"- {_part(text)}{mark}"
            if heading:
                yield ""
                for inner in blocks:
                    yield from block_lines(inner, level + 1)
        case Fold() | QueryRows():
            return


def table_lines(table: Table) -> Iterator[str]:
    """A table with the sentence about it."""
    if table.about:
        yield from (plain(table.about), "")
    columns = len(table.headings) or max((len(row) for row in table.rows), default=0)
    yield _row([plain(text) for text in table.headings] or [""] * columns)
    yield "|" + "---|" * columns
    yield from (_row([_part(part) for part in row]) for row in table.rows)
    yield ""


def plain(text: str) -> str:
    """Text that no Markdown reader takes for markup."""
    return re.sub(r"([\\|*_`<>\[\]])", r"\\\1", text).replace("\n", " ")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _part(part: Part) -> str:
    match part:
        case str():
            return plain(part)
        case Link(text=text, target=target):
            return f"[{plain(text)}]({target})"
        case Code(text=text):
            return f"`{text}`"
        case Badge(text=text) | Toned(text=text):
            return plain(text)
        case Several(parts=parts):
            return "".join(map(_part, parts))
        case Table(rows=rows):
            return "; ".join(" ".join(_part(cell) for cell in row) for row in rows)
        case _:
            return plain(str(part))
