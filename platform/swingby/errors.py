"""Errors that a user can mend: each says what was given, where, and what is allowed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


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
