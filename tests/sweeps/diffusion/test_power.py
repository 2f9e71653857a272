"""Laws of the power calculation: its shapes are what they say, and its seeds are enough and not more."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from swingby.select.intervals import wilson
from swingby_sweeps.diffusion.detect.descent import error_of
from swingby_sweeps.diffusion.detect.detectability import ASIDE, RISE
from tests.benchmarks.diffusion_power import POWER, Design, power_of_most, progress, seeds_for, shares

QUIET = Design(evaluations=60, judged=4096, scatter=0.001)


def test_a_swing_goes_to_halfway_and_a_bend_as_far_aside() -> None:
    """The MSE rises to that of halfway; a bend's largest distance from the diagonal is that of the same place."""
    straight, swing, bent = (progress(QUIET, shape, QUIET.learned) for shape in ("straight", "swing", "bend"))
    assert np.all(np.diff(error_of(straight)) < 0)
    late = QUIET.at > 1.5 * QUIET.learned
    assert error_of(swing)[late].max() == pytest.approx(RISE, rel=0.2)
    aside = (bent[:, 0] - bent[:, 1]) / np.sqrt(2)
    assert aside.max() == pytest.approx(ASIDE, rel=0.05)
    assert aside[-1] < 0.01


def test_without_noise_everything_is_told_and_with_much_nothing() -> None:
    """Runs with next to no noise show the move that is there and no other; images of wide spread show none."""
    straight, swing, bent = (shares(QUIET, shape, 10) for shape in ("straight", "swing", "bend"))
    assert (straight.swing_seen, straight.bend_seen) == (0, 0)
    assert (swing.swing_told, swing.swing_seen) == (1, 1)
    assert (bent.bend_told, bent.bend_seen) == (1, 1)
    loud = Design(judged=8, spread=0.5)
    assert shares(loud, "swing", 10).swing_seen == shares(loud, "bend", 10).bend_seen == 0


def test_seeds_are_enough_and_one_less_is_not() -> None:
    """From that number on the chance that Wilson's interval lies above one half is 80 % or more."""
    needed = seeds_for(0.85)
    assert power_of_most(0.85, needed - 1) < POWER <= min(power_of_most(0.85, n) for n in range(needed, needed + 30))
    above = [k for k in range(21) if wilson(k, 20)[0] > 0.5]
    assert power_of_most(0.8, 20) == pytest.approx(float(binom.sf(above[0] - 1, 20, 0.8)))
    assert power_of_most(0.5, 40) < 0.05
