"""How many examples a law of stores draws: fewer where every change waits for them."""

from __future__ import annotations

from hypothesis import settings


def examples(few: int, many: int) -> int:
    """`few` where the same examples are drawn each time, `many` where new ones are looked for."""
    return many if settings.get_current_profile_name() == "new-examples" else few
