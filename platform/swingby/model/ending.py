"""How code of others may try to end the process that trains it: such an end is the cell's, and never the run's."""

from __future__ import annotations

import dis
import os
from collections.abc import Iterator
from contextlib import contextmanager

RAISE = dis.opmap["RAISE_VARARGS"]
"""The code of a `raise` with an exception."""


class Halt(BaseException):
    """What the platform raises through an experiment's code to end it; no `Exception`, so that none catches it."""


class InterruptedRun(Halt, KeyboardInterrupt):
    """The user's own Ctrl-C, which ends the run."""


class ExitError(BaseException):
    """The code called `os._exit`, which would have ended the process without a word."""


def is_its_own(error: BaseException) -> bool:
    """Whether what an experiment's code raised is that code's own fault, such as a `sys.exit()` in a cell.

    A KeyboardInterrupt is, if a `raise` stands where it begins: that of a Ctrl-C begins anywhere else.
    """
    if not isinstance(error, KeyboardInterrupt):
        return not isinstance(error, Halt)
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if isinstance(error, Halt) or trace is None:
        return False
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == RAISE


@contextmanager
def without_exit() -> Iterator[None]:
    """While inside, `os._exit` raises `ExitError` in this process; in processes forked from it it ends them."""
    before, process = os._exit, os.getpid()

    def ended(status: int) -> None:
        if os.getpid() != process:
            before(status)
        raise ExitError(f"os._exit({status})")

    os._exit = ended  # type: ignore[assignment]
    try:
        yield
    finally:
        os._exit = before
