"""Laws of a Ray that does not come up: whoever typed the command is told in a sentence, and what to do."""

from __future__ import annotations

from typing import Any

import pytest
import ray

from swingby.errors import SwingbyError
from swingby.run.drive import run_sweep


def test_a_ray_that_comes_up_too_late_is_told(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its node is not there in time, Ray raises a bare exception: a sentence, and what to do."""

    def late(**_: Any) -> None:
        raise Exception("The current node timed out during startup. This could happen.")

    monkeypatch.setattr(ray, "init", late)
    with pytest.raises(SwingbyError, match=r"^Ray does not start: The current node timed out.*; --local") as told:
        run_sweep(walk.sweep(), walk.data, pilot=False, workers=1)
    assert "\n" not in str(told.value)


def test_a_mistake_of_ours_is_no_late_ray(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other faults keep their traceback."""

    def wrong(**_: Any) -> None:
        raise TypeError("no such option")

    monkeypatch.setattr(ray, "init", wrong)
    with pytest.raises(TypeError, match="no such option"):
        run_sweep(walk.sweep(), walk.data, pilot=False, workers=1)
