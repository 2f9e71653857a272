"""What packages offer and cannot be loaded: it is left out, told once a process, and costs nothing else."""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass
from importlib.metadata import Distribution

from swingby.errors import SwingbyError
from swingby.text import legible

FAULTS = (Exception, SystemExit)
"""What the import of anybody's module may raise that is a fault of the module."""

_reported = set[str]()
"""The lines that this process has told."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A package that cannot be loaded, or one thing that a package offers.

    Attributes:
        what: what it is, such as "the package 'mine'".
        reason: what is wrong with it, in one line, with file and line where they are known.
        dist: name and version of the distribution that it belongs to; "" where that is not known.
        remedy: what to do about it.
    """

    what: str
    reason: str
    dist: str = ""
    remedy: str = "mend or uninstall it"

    def __str__(self) -> str:
        return f"{self.fault}; {self.remedy}"

    @property
    def fault(self) -> str:
        """What cannot be loaded, and why."""
        return f"{self.what}{f' ({self.dist})' if self.dist else ''} cannot be loaded: {self.reason}"

    def tell(self) -> None:
        """Writes one line to standard error, once a process; standard output may be read by a program."""
        line = legible(f"warning: {self}; all else works without it")
        if line not in _reported:
            _reported.add(line)
            sys.stderr.write(f"{line}\n")


class LoadError(SwingbyError):
    """Something was asked for that a package offers and that cannot be loaded.

    Attributes:
        broken: what it is, and why.
    """

    def __init__(self, broken: Broken) -> None:
        super().__init__(str(broken))
        self.broken = broken


def name_of(dist: Distribution | None) -> str:
    """Name and version of a distribution; "" for none."""
    return "" if dist is None else f"{dist.name} {dist.version}"


def reason_of(error: BaseException) -> str:
    """Kind and message of an error that an import raised, with the file and line of the fault: one line of text."""
    if isinstance(error, SyntaxError) and error.filename:
        message, place = error.msg, f" ({error.filename}, line {error.lineno})"
    else:
        # The machinery of imports stands between the asker and the line that is at fault.
        frames = [one for one in traceback.extract_tb(error.__traceback__) if "importlib" not in one.filename]
        message = str(error)
        place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if len(frames) > 1 else ""
    return f"{type(error).__name__}: {' '.join(message.split())}{place}"
