"""Times of records as the index has them."""

from __future__ import annotations

from datetime import UTC, datetime

from swingby.errors import SwingbyError


def instant(text: str) -> datetime:
    """An ISO 8601 time as a naive datetime in UTC.

    Raises:
        SwingbyError: it is not one.
    """
    try:
        time = datetime.fromisoformat(text)
    except (ValueError, TypeError) as error:
        raise SwingbyError(f"{text!r} is not a time (ISO 8601)") from error
    return time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)
