"""Lines of theory in the diagrams of layerwise models, held against closed forms at their places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swingby_sweeps.layerwise import net_theory, theory, theory_lines
from tests.support.grids import grid

COMMON: dict[str, Any] = {"target": 2.0, "imbalance": 0.5}


def test_two_modes_overlap_by_5_percent_along_the_line_of_their_panel() -> None:
    """Each number of layers has its own line, in its own panel, on which `mode_overlap` is 0.05."""
    facets = tuple(f"layers = {layers}" for layers in (1, 2, 3, 4))
    places = grid(("second_moments.1", np.linspace(0.02, 0.98, 50)), ("start", np.geomspace(5e-3, 0.6, 50)), facets)
    lines = theory_lines.stage_like({"common": COMMON}, places)
    assert [line.facet for line in lines] == list(facets)
    for layers, line in enumerate(lines, start=1):
        corners = list(zip(line.x, line.y, strict=True))
        assert len(corners) >= (0 if layers == 1 else 20)
        for ratio, start in corners[::10]:
            overlap = theory.mode_overlap(np.array([1, ratio]), COMMON["target"], np.full((2, layers), start))
            assert overlap == pytest.approx(0.05, rel=1e-6)


def test_two_layers_have_the_line_of_the_pair_rule() -> None:
    """Of two layers c = S / u(0) - 1 is 19^((1 + x) / (1 - x)) on the line, x = E_2 / E_1."""
    places = grid(
        ("second_moments.1", np.linspace(0.05, 0.9, 9)), ("start", np.geomspace(1e-3, 0.6, 9)), ("layers = 2",)
    )
    (line,) = theory_lines.stage_like({"common": COMMON}, places)
    x, start = np.array(line.x), np.array(line.y)
    assert COMMON["target"] / start**2 - 1 == pytest.approx(19 ** ((1 + x) / (1 - x)), rel=1e-9)


def test_the_number_of_stages_is_its_estimate_along_a_line() -> None:
    """On each line `pairs_expected` is its number."""
    places = grid(("alpha", np.linspace(0.1, 3, 9)), ("start", np.geomspace(1e-12, 0.5, 9)))
    lines = theory_lines.numbers_of_stages({"common": COMMON}, places)
    for k, line in zip((1, 3, 9), lines, strict=True):
        assert len(line.x)
        for alpha, start in zip(line.x, line.y, strict=True):
            assert theory.pairs_expected(alpha, COMMON["target"] / start**2 - 1) == pytest.approx(k, rel=1e-9)


def test_the_kernel_turns_as_far_as_its_line_says() -> None:
    """On each line the closed form of the kernel's distance is its level."""
    places = grid(("target", np.geomspace(1e-3, 1e3, 9)), ("d", [2, 4, 8, 16]))
    for level, line in zip((0.01, 0.1, 0.3), theory_lines.kernel_distances({"common": COMMON}, places), strict=True):
        assert len(line.x)
        for target, n in zip(line.x, line.y, strict=True):
            distance = net_theory.kernel_distance(np.array([target]), np.array(COMMON["imbalance"]), int(n))
            assert distance == pytest.approx(level, rel=1e-6)


def test_nets_as_wide_as_their_task_are_wide_enough() -> None:
    """The line of balanced starts is width = d, within the diagram."""
    (line,) = theory_lines.wide_enough({"common": COMMON}, grid(("d", [2, 4, 8]), ("width", [2, 4, 8])))
    assert line.x == line.y == [2, 4, 8]
