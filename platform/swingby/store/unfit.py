"""Records that the store cannot take: what they raise, and whose fault it was."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from swingby.errors import SwingbyError, plain_words
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
LONGEST = 500
"""Characters of a reason."""


def reason(error: BaseException) -> SwingbyError:
    """The reason for which a record is set aside, of bounded length: it may repeat what the record says."""
    text = plain_words(error)
    if not isinstance(error, SwingbyError):
        text = f"it holds what the store cannot take: {(text.splitlines() or [type(error).__name__])[0]}"
    return SwingbyError(text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}...")


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
