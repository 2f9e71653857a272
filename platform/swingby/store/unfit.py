"""Records that the store cannot take: what they raise, and whose fault it was."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from swingby.errors import SwingbyError
from swingby.store.build import Build
from swingby.store.database import Database, DatabaseError, is_outside
from swingby.store.layout import Layout

UNFIT = (
    SwingbyError,
    DatabaseError,
    pa.ArrowException,
    LookupError,
    ArithmeticError,
    ValueError,
    TypeError,
    NotImplementedError,
    RecursionError,
)
"""What a record may raise while it is read or applied."""


def reason(error: BaseException) -> SwingbyError:
    """The reason for which a record is set aside, in a line."""
    if isinstance(error, SwingbyError):
        return error
    text = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return SwingbyError(f"it holds what the store cannot take: {text}")


def refused(attempt: Callable[[Database], object]) -> bool:
    """Whether a store that is empty refuses what `attempt` puts into it, too."""
    with tempfile.TemporaryDirectory(prefix="swingby-trial-") as folder:
        trial = Build(Layout(Path(folder)), 1)
        try:
            attempt(trial.connection())
        except UNFIT as error:
            return not is_outside(error)
        finally:
            trial.discard()
    return False
