"""What a README shows of a page, as Markdown: figures as the files beside the page, and no text taken for markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from swingby_analysis.page import (
    Badge,
    Bar,
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
    Statement,
    Statements,
    Strong,
    Table,
    Terms,
    Text,
    Toned,
    Widget,
    marked,
)


def markdown(page: Page, level: int = 3) -> str:
    """The excerpt of a page, or all of its sections, under headings of this level."""
    lines: list[str] = []
    for part in page.excerpt or page.sections:
        if isinstance(part, Section):
            heading = plain(part.heading)
            lines += [f"{'#' * level} [{heading}]({part.link})" if part.link else f"{'#' * level} {heading}", ""]
            lines += [line for block in part.blocks for line in block_lines(block, level + 1)]
        else:
            lines += block_lines(part, level)
    return "\n".join(lines).rstrip("\n") + "\n"


def block_lines(block: Block, level: int) -> Iterator[str]:
    """The lines of one block, an empty one at the end; what is folded away on a page is left out."""
    match block:
        case Text(text=text):
            yield from (part_text(text), "")
        case Heading(text=text):
            yield from (f"{'#' * level} {plain(text)}", "")
        case Items(items=items):
            yield from (*(f"- {part_text(item)}" for item in items), "")
        case Terms(lines=terms):
            yield from (*(f"- {plain(term)}: {part_text('; '.join(lines))}" for term, lines in terms.items()), "")
        case Table(headings=headings, rows=rows, about=about):
            yield from (part_text(about), "") if about else ()
            columns = len(headings) or max((len(row) for row in rows), default=0)
            yield from (_row([plain(text) for text in headings] or [""] * columns), "|" + "---|" * columns)
            yield from (*(_row([part_text(part) for part in row]) for row in rows), "")
        case Figure(slug=slug, title=title, caption=caption):
            yield from (f"![{plain(title)}]({slug}.png)", "", part_text(caption), "")
        case Picture() | Pictures():
            shown = block.pictures[:1] if isinstance(block, Pictures) else [block]
            yield from (line for one in shown for line in (f"![{plain(one.alt)}]({one.slug}.png)", ""))
        case Statement(text=text, badge=badge, blocks=blocks):
            yield from (f"{'#' * level} {part_text(text)}{_mark(badge)}", "")
            for inner in blocks:
                yield from block_lines(inner, level + 1)
        case Statements(statements=statements):
            yield from (*(f"- {part_text(one.text)}{_mark(one.badge)}" for one in statements), "")
        case Fold() | QueryRows() | Widget():
            return


def plain(text: str) -> str:
    """Text that no Markdown reader takes for markup."""
    return re.sub(r"([\\|*_`<>\[\]])", r"\\\1", text).replace("\n", " ")


def part_text(part: Part) -> str:
    """A part of a sentence; of a link that leads to a place on the page itself, the text alone."""
    match part:
        case str():
            return "".join(plain(one) if isinstance(one, str) else f"`{one.text}`" for one in marked(part))
        case Link(text=text, target=target):
            return plain(text) if target.startswith("#") else f"[{plain(text)}]({target})"
        case Code(text=text):
            return f"`{text}`"
        case Strong(text=text):
            return f"**{plain(text)}**"
        case Badge(text=text) | Toned(text=text):
            return plain(text)
        case Table(rows=rows, brief=brief):
            return plain(brief) or "; ".join(" ".join(part_text(cell) for cell in row) for row in rows)
        case Bar():
            return plain(str(part))
        case _:
            return "".join(map(part_text, part))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _mark(badge: Badge | None) -> str:
    """The verdict behind a statement; one that was found, or holds, needs none."""
    return "" if badge is None or badge.tone == "yes" else f" *({plain(badge.text)})*"
