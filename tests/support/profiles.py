"""How many examples of a law are drawn where one example trains: fewer in the tests that every change must pass."""

from __future__ import annotations

from hypothesis import settings


def examples(many: int, few: int) -> int:
    """The many where new examples are looked for (`make laws`, `make test-all`), the few otherwise."""
    return many if settings.get_current_profile_name() == "new-examples" else few
