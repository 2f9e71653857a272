"""Lines of theory in the diagrams of scaling, held against curves of the closed form at their places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swingby_sweeps.scaling import theory, theory_lines
from swingby_sweeps.scaling.losses import curves
from tests.support import cells
from tests.support.grids import grid

COMMON: dict[str, Any] = {
    "model": "multilinear", "alpha": 0.6, "skills": 100_000, "s": 5.0, "r0": 0.01, "lr": 1.0, "decades": 2.0,
    "largest": 1e6, "data": 10_000, "width": None,
}  # fmt: skip


def loss(**values: Any) -> float:
    """The loss at the end of a curve."""
    return float(curves(cells.cell("multilinear", **{**COMMON, "decades": 1.0, "points": 2, **values}))["loss"][-1])


def test_enough_skills_leave_a_twentieth() -> None:
    """On the line L_C is 5 % of the loss in the middle of the window."""
    places = grid(("skills", list(np.geomspace(1e2, 1e10, 9))), ("alpha", [0.3, 0.6, 0.9, 1.2]))
    (line,) = theory_lines.enough_skills({"common": COMMON}, places)
    assert len(line.x) == 4
    for skills, alpha in zip(line.x, line.y, strict=True):
        lost = theory.lost_loss("time", alpha, skills, 5.0, 499.0)
        assert lost == pytest.approx(0.05 * loss(alpha=alpha, skills=round(skills), largest=1e5), rel=0.02)


def test_equal_reach_is_where_the_losses_are_equal() -> None:
    """On the line the time alone leaves the loss that the width alone leaves; the level is that of the data."""
    places = grid(("largest", list(np.geomspace(10, 1e6, 6))), ("width", list(np.geomspace(3, 3000, 7))))
    line, level = theory_lines.equal_reach({"common": COMMON}, places)
    for time, width in list(zip(line.x, line.y, strict=True))[1:]:
        alone = loss(bottleneck="width", skills=None, largest=width * 1.0)
        assert loss(skills=None, largest=time) == pytest.approx(alone, rel=0.1)
    by_data = loss(bottleneck="data", drawn=False, skills=None, largest=1e4)
    assert by_data == pytest.approx(loss(bottleneck="width", skills=None, largest=level.y[0]), rel=0.02)


def test_stage_like_pairs_begin_at_their_overlap() -> None:
    """On each line the overlap of its pair is 5 %."""
    places = grid(("r0", list(np.geomspace(1e-12, 2, 9))), ("alpha", [0.3, 1.0, 2.0]))
    lines = theory_lines.stage_like({"common": COMMON}, places)
    assert [line.label for line in lines] == ["overlap of skills 1 and 2 is 5 %", "overlap of skills 5 and 6 is 5 %"]
    for k, line in zip((1, 5), lines, strict=True):
        for start, alpha in zip(line.x, line.y, strict=True):
            assert theory.overlap(alpha, 5 / start - 1, k) == pytest.approx(0.05)
