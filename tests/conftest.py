"""What several test files share: somebody else's package of experiments, as if it were installed."""

from __future__ import annotations

from pathlib import Path

import pytest

PLUGIN = Path(__file__).parent / "plugin"


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> str:
    """The experiment `toy` of tests/plugin, found by entry point like any other; gives its name."""
    monkeypatch.syspath_prepend(str(PLUGIN))
    return "toy"
