"""Laws of a Ray that does not come up: whoever typed the command is told in a sentence, and what to do."""

from __future__ import annotations

import io
from typing import Any

import pytest

from swingby.errors import SwingbyError
from swingby.run.driver import run_sweep
from swingby.run.progress import Lines, Progress
from swingby.run.ray.environment import require_tokens


@pytest.fixture
def ray() -> Any:
    """Ray, imported when it is to use tokens and not with this file: it reads that once, for all tests of a process."""
    require_tokens()
    import ray

    return ray


def test_a_ray_that_comes_up_too_late_is_told(walk: Any, ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its node is not there in time, Ray raises a bare exception: a sentence, and what to do."""

    def late(**_: Any) -> None:
        raise Exception("The current node timed out during startup. This could happen.")

    monkeypatch.setattr(ray, "init", late)
    said = io.StringIO()
    with pytest.raises(SwingbyError, match=r"^Ray does not start: The current node timed out.*; local=True") as told:
        run_sweep(walk.sweep(), walk.data, pilot=False, ray=True, workers=1, progress=Lines(said))
    assert "\n" not in str(told.value)
    assert said.getvalue().startswith("starting Ray on this machine ...\n")


def test_a_ray_that_nobody_needs_is_not_told(walk: Any) -> None:
    """Where nothing is missing Ray is neither started nor spoken of."""
    said = io.StringIO()
    run_sweep(walk.sweep(), walk.data, pilot=False, local=True, progress=Progress())
    run_sweep(walk.sweep(), walk.data, workers=1, progress=Lines(said))
    assert "Ray" not in said.getvalue()
    assert "12 done, 0 missing" in said.getvalue()


def test_a_mistake_of_ours_is_no_late_ray(walk: Any, ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other faults keep their traceback."""

    def wrong(**_: Any) -> None:
        raise TypeError("no such option")

    monkeypatch.setattr(ray, "init", wrong)
    with pytest.raises(TypeError, match="no such option"):
        run_sweep(walk.sweep(), walk.data, pilot=False, workers=1)
