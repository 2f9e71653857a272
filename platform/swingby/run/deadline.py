"""How long a batch may give no sign of life: what may be asked, what holds otherwise, and both in words."""

from __future__ import annotations

from swingby.errors import SwingbyError

FACTOR, FLOOR, UNKNOWN = 30.0, 300.0, 86400.0
"""The deadline of a trial: so many times what it should take, but never fewer seconds than these; and where nobody
knows what it should take."""


def check_deadline(seconds: float | None) -> None:
    """Refuses a deadline that is none.

    Raises:
        SwingbyError: it is not a positive number of seconds, or longer than a year.
    """
    if seconds is not None and not 0 < seconds <= 366 * 86400:
        raise SwingbyError(f"--deadline {seconds:g}: allowed are seconds, more than 0 and at most a year")


def deadline_told(asked: float | None) -> str:
    """When a batch that gives no sign of life is ended, in words."""
    if asked is not None:
        return f"a batch that is silent for {asked:g} s is ended, as if its process had died"
    least = f"{FACTOR:g} times its forecast (at least {FLOOR:g} s)"
    return f"a batch that is silent for {least} is ended, as if its process had died"
