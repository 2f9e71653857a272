"""Text of other people, made safe to print: without characters that steer a terminal; and the begin of docstrings."""

from __future__ import annotations

import os
import re
import shutil
from textwrap import wrap
from typing import IO

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


def folded(text: str, width: int, hang: int = 4) -> str:
    """The text in lines of at most so many characters, broken at spaces: a path, or any word, is longer where it must.

    Args:
        hang: how much further than a line's begin its rest is indented.
    """
    lines = list[str]()
    for line in text.split("\n"):
        if len(line) <= width:
            lines.append(line)
            continue
        rest = " " * (len(line) - len(line.lstrip(" ")) + hang)
        room = max(width, len(rest) + 20)
        lines += wrap(line, room, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


def fitted(text: object, stream: IO[str], hang: int = 4) -> str:
    """The text, made legible; folded to the width of a terminal, or of COLUMNS, and as it is in a pipe or a file."""
    safe = legible(text)
    fits = stream.isatty() or "COLUMNS" in os.environ
    return folded(safe, shutil.get_terminal_size().columns, hang) if fits else safe


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
