"""Other people's text as something that can only be read: without what steers a terminal."""

from __future__ import annotations

MARK = "\N{REPLACEMENT CHARACTER}"


def plain(text: object, most: int = 300) -> str:
    """One line that can only be read: a space for every run of white space, a mark for whatever else is not printable.

    Terminals obey control characters, and draw text backwards for some invisible ones.
    """
    cut = " ".join(str(text)[: 4 * most].split())
    safe = "".join(char if char.isprintable() else MARK for char in cut)
    return safe if len(safe) <= most else f"{safe[: most - 1]}…"


def legible(text: object) -> str:
    """Text of any length that can only be read: its lines and tabs stay, blanks of any kind are spaces, and whatever
    else is not printable is a mark.

    Half a surrogate pair, which no terminal's encoding has, is one of these.
    """
    found = str(text)
    # Most text is sound, and an answer of a query may be long.
    return found if found.isprintable() else "".join(map(_shown, found.replace("\r\n", "\n")))


def _shown(char: str) -> str:
    if char.isprintable() or char in "\n\t":
        return char
    return " " if char.isspace() and char > "\x7f" and char not in "\x85\u2028\u2029" else MARK
