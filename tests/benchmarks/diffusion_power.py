"""Power: how many images, evaluations and seeds it takes to tell a swing, a bend or an order from none.

`python -m tests.benchmarks.diffusion_power` prints the tables. Paths of known shape get the noise of a pilot run, and
the detector judges them as it judges runs. A move to halfway between the held-out class and a trained one is the least
that the claims ask for, see `detect.detectability`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import binom

from swingby.model.cell import philox
from swingby.model.experiment import Recording
from swingby.select.intervals import wilson
from swingby_analysis.stats.seeds import bump_over_seeds
from swingby_sweeps.diffusion.detect.bend import bend, shared_bend
from swingby_sweeps.diffusion.detect.descent import descents, error_of
from swingby_sweeps.diffusion.detect.detectability import ASIDE, HALFWAY, RISE, WIDTH, bend_threshold, rise_threshold
from swingby_sweeps.diffusion.detect.path import Path, toward

Array = np.ndarray
Shape = Literal["straight", "swing", "bend"]
SHAPES: tuple[Shape, ...] = ("straight", "swing", "bend")
HELD_OUT, TRAINED = 3, (0, 1, 2)
POWER = 0.8


@dataclass(frozen=True)
class Design:
    """What a sweep spends on a run, and the noise that the pilot had.

    Attributes:
        steps: of training.
        evaluations: of a run, evenly spaced in the root of the step.
        judged: images of the held-out class at an evaluation.
        spread: sd of a coordinate over the images of one evaluation.
        scatter: sd of what the weights add to all images of an evaluation alike.
        learned: step at which half of the way is done.
        apart: sd of the logarithm of that step over seeds.
        slow: the width of the way in the root of the step, over the root of `learned`.
    """

    steps: int = 3600
    evaluations: int = 40
    judged: int = 128
    spread: float = 0.2
    scatter: float = 0.02
    learned: float = 900.0
    apart: float = 0.1
    slow: float = 0.15

    @property
    def at(self) -> Array:
        """The recorded steps as floats, without the first, where there are no circles."""
        return Recording("sqrt", self.evaluations).at(self.steps)[1:].astype(float)


class Shares(NamedTuple):
    """Of runs of one shape, the shares in which a swing and a bend to halfway could have been seen, and were."""

    swing_told: float
    swing_seen: float
    bend_told: float
    bend_seen: float


def progress(design: Design, shape: Shape, learned: float) -> Array:
    """The true way of the held-out class from its wrong corner (0, 0) to (1, 1), (T, 2).

    A swing takes size back to halfway once, for about a sixth of the run, and later where a seed learns later; a bend
    is as far aside as that place, once, in the middle of the way.
    """
    root = np.sqrt(design.at)
    done = 1 / (1 + np.exp(-(root - np.sqrt(learned)) / (design.slow * np.sqrt(learned))))
    way = np.stack([done, done], axis=1)
    if shape == "bend":
        return way + ASIDE * np.sin(np.pi * done)[:, None] * np.array([1, -1]) / np.sqrt(2)
    if shape == "swing":
        middle, width = 1.5 * np.sqrt(learned), WIDTH * (root[-1] - root[0])
        way[:, 1] -= HALFWAY * np.exp(-(((root - middle) / width) ** 2))
    return way


def paths(design: Design, shape: Shape, runs: int, seed: int = 0) -> Iterator[Path]:
    """Paths of one shape with the design's noise."""
    stream = philox(seed, "power", shape)
    error = design.spread / np.sqrt(design.judged)
    for _ in range(runs):
        truth = progress(design, shape, design.learned * float(np.exp(stream.normal(0, design.apart))))
        seen = truth + np.hypot(error, design.scatter) * stream.standard_normal(truth.shape)
        place = toward(seen, HELD_OUT)
        yield Path(HELD_OUT, TRAINED, design.at, np.arange(1, len(place) + 1), place, np.full_like(place, error))


def shares(design: Design, shape: Shape, runs: int = 200) -> Shares:
    """How often single runs of a shape can tell a swing and a bend, and say that there is one."""
    tests = []
    for path in paths(design, shape, runs):
        bent = bend(path)
        tests.append(
            (
                rise_threshold(path) <= RISE,
                bool(descents(path).drops > 1),
                bent is not None and bend_threshold(path) <= ASIDE,
                bent is not None and bent.beyond,
            )
        )
    return Shares(*np.mean(tests, axis=0).tolist())


def together(design: Design, shape: Shape, seeds: int, samples: int = 100) -> tuple[float, float]:
    """How often the tests over seeds find a shared bump and a shared bend in so many runs of a shape."""
    drawn = list(paths(design, shape, seeds * samples, seed=1))
    bumps = bends = 0
    for k in range(samples):
        ways = np.stack([path.progress for path in drawn[k * seeds : (k + 1) * seeds]])
        bump, bent = bump_over_seeds(design.at, error_of(ways)), shared_bend(design.at, ways)
        bumps += bump is not None and bump.significant
        bends += bent is not None and bent.significant
    return bumps / samples, bends / samples


def power_of_most(share: float, seeds: int) -> float:
    """The chance that Wilson's 95 % interval of a share of so many seeds lies above one half."""
    held = np.arange(seeds + 1)
    above = wilson(held, seeds)[0] > 0.5
    return float(binom.pmf(held, seeds, share)[above].sum())


def seeds_for(share: float, power: float = POWER) -> int:
    """The least number of seeds from which on that chance is `power` or more, for a share above one half."""
    enough = [power_of_most(share, n) >= power for n in range(1, 400)]
    return len(enough) - enough[::-1].index(False) + 1


RUNS = (
    (32, 24, 0.02), (64, 24, 0.02), (64, 40, 0.02), (128, 40, 0.02), (128, 40, 0.01), (128, 60, 0.01),
    (128, 40, 0.05), (128, 40, 0.1),
)  # fmt: skip
"""Images, evaluations and scatter of the runs of the first table."""
TOGETHER = (
    (5, 0.02, (0.1, 0.25)), (10, 0.02, (0.1, 0.25)), (10, 0.1, (0.1, 0.25)), (20, 0.02, (0.1, 0.25)),
    (20, 0.1, (0.1, 0.25)), (30, 0.02, (0.1, 0.25)), (30, 0.1, (0.1, 0.25)), (30, 0.15, (0.1,)), (50, 0.15, (0.1,)),
)  # fmt: skip
"""Seeds and scatter of the rows of the second table, with the spreads of the step at which a seed learns."""


def tables() -> Iterator[str]:
    """The lines of the README's tables: single runs by images and evaluations, seeds together, seeds for a share."""
    yield (
        "| images | evaluations | scatter | a swing could be seen, is seen | a bend could be seen, is seen "
        "| seen where there is none |"
    )
    yield "|---|---|---|---|---|---|"
    for judged, evaluations, scatter in RUNS:
        design = Design(judged=judged, evaluations=evaluations, scatter=scatter)
        none, swing, bent = (shares(design, shape) for shape in SHAPES)
        pairs = (swing[:2], bent[2:], (none.swing_seen, none.bend_seen))
        cells = " | ".join(f"{one:.2f}, {other:.2f}" for one, other in pairs)
        yield f"| {judged} | {evaluations} | {scatter} | {cells} |"
    yield ""
    yield "| seeds | scatter | a shared bump, apart 0.1 | apart 0.25 | a shared bend, apart 0.1 | apart 0.25 |"
    yield "|---|---|---|---|---|---|"
    for seeds, scatter, aparts in TOGETHER:
        bumps, bends = ["", ""], ["", ""]
        for place, apart in enumerate(aparts):
            design = Design(scatter=scatter, apart=apart)
            (false_bump, false_bend), (bump, _), (_, bent_found) = (together(design, shape, seeds) for shape in SHAPES)
            bumps[place], bends[place] = f"{bump:.2f} ({false_bump:.2f})", f"{bent_found:.2f} ({false_bend:.2f})"
        yield f"| {seeds} | {scatter} | {' | '.join([*bumps, *bends])} |"
    yield ""
    for share in (0.7, 0.75, 0.8, 0.85, 0.9, 0.95):
        yield f"{seeds_for(share)} seeds tell a share of {share:g} from one half in {POWER:.0%} of samples"


def main() -> None:
    """Print the tables, as the README has them."""
    for line in tables():
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
