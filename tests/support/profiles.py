"""How much of a law is tried: less in the tests that every change must pass, where one try is dear."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")


def examples(many: T, few: T) -> T:
    """The many where new examples are looked for (`make laws`, `make test-all`), the few otherwise."""
    return many if settings.get_current_profile_name() == "new-examples" else few
