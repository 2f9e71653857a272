"""Text of other people, made safe to print: without characters that steer a terminal; and the begin of docstrings."""

from __future__ import annotations

import re

MARK = "\N{REPLACEMENT CHARACTER}"


def plain(text: object, most: int = 300) -> str:
    """The text as one line: a space for every run of white space, a mark for any other character that is not printable.

    Terminals obey control characters, and draw text backwards for some invisible ones.
    """
    cut = " ".join(str(text)[: 4 * most].split())
    safe = "".join(char if char.isprintable() else MARK for char in cut)
    return safe if len(safe) <= most else f"{safe[: most - 1]}…"


def legible(text: object) -> str:
    """The text with its line breaks and tabs; other blanks become spaces, and whatever else is not printable a mark.

    Half a surrogate pair, which no terminal's encoding has, becomes a mark.
    """
    whole = str(text)
    # Most texts are printable, and the answer to a query may be long.
    return whole if whole.isprintable() else "".join(map(_shown, whole.replace("\r\n", "\n")))


def _shown(char: str) -> str:
    if char.isprintable() or char in "\n\t":
        return char
    return " " if char.isspace() and char > "\x7f" and char not in "\x85\u2028\u2029" else MARK


def first_sentence(text: str | None) -> str:
    """The first sentence of a docstring, on one line and without its full stop."""
    paragraph = " ".join((text or "").strip().split("\n\n")[0].split())
    return re.split(r"(?<!App)(?<!Fig)(?<!Eq)\.(?: |$)", paragraph, maxsplit=1)[0]


def once(names: list[str]) -> list[str]:
    """Names of columns, a number behind those that came before: no file and no frame has two of one name."""
    unique: dict[str, None] = {}
    for name in names:
        tried, number = name, 0
        while tried in unique or (number and tried in names):
            number += 1
            tried = f"{name}_{number}"
        unique[tried] = None
    return list(unique)
