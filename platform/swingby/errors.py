"""Errors that a user can mend: each says what was given, where, and what is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_KIND = re.compile(r"^[A-Za-z][\w ]*? (?:Error|Exception): ")
_NO_TABLE = re.compile(r'Referenced table "(\w+)" not found!')
_PLACE = re.compile(r"^(LINE \d+: )(.*)\n( *)\^", re.MULTILINE)


LONGEST_SHOWN = 200
"""Characters of a line of what DuckDB says; it may repeat a line of a file."""


def plain_words(error: object, query_of_user: bool = True) -> str:
    """What DuckDB or Arrow says is wrong, without the names of their own kinds of errors and of their parts.

    Args:
        query_of_user: the user wrote the query: the place at fault is shown under its text. Of the platform's own
            queries nothing is shown, and what is said becomes one line.
    """
    text = _KIND.sub("", str(error).strip())
    text = _NO_TABLE.sub(r'\g<0> A column with a dot in its name stands in double quotes: "\1.NAME".', text)
    if query_of_user:
        text = _PLACE.sub(lambda match: f"  {match[2]}\n  {match[3][len(match[1]) :]}^", text)
    else:
        text = _brief(_PLACE.sub("", text))
    return re.sub(r"\b(pyarrow|pa)\.(lib\.)?", "", text)


def _brief(text: str) -> str:
    """The lines that say what is wrong, as one, without a file's settings and advice on options of DuckDB's."""
    lines = list[str]()
    for line in map(str.strip, text.splitlines()):
        if line.startswith(("Possible ", "file = ")):
            break
        if line.strip("^"):
            lines.append(line if len(line) <= LONGEST_SHOWN else f"{line[:LONGEST_SHOWN]} ...")
    return "; ".join(lines)


class SwingbyError(Exception):
    """A fault in what the user gave; the command prints it without a traceback and ends with code 2."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with an input file: what, where (line counted from 1, or None), and how to mend it."""

    message: str
    line: int | None = None
    hint: str | None = None

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}: "
        hint = "" if self.hint is None else f"\n    {self.hint}"
        return f"{place}{self.message}{hint}"


class BrokenStoreError(SwingbyError):
    """Files of the store are damaged or missing; it can be made again from the records."""


class InputFaults(SwingbyError):  # noqa: N818 - the faults, not one error
    """Every fault found in one input, raised once."""

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        self.source = source
        self.faults = tuple(sorted(faults, key=lambda fault: (fault.line is None, fault.line or 0)))
        count = len(self.faults)
        heading = f"{source}: {count} fault{'s' if count != 1 else ''}"
        super().__init__("\n".join([heading, *(f"  {fault}" for fault in self.faults)]))
