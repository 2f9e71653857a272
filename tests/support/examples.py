"""How many examples a law of stores draws: fewer where every change waits for them."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")


def examples(few: T, many: T) -> T:
    """`few` where the same examples are drawn each time, `many` where new ones are looked for."""
    return many if settings.get_current_profile_name() == "new-examples" else few
