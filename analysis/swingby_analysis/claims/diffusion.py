"""Claims of section 5: concept-space diffusion, by the judge that measures the images and by the trained classifier."""

from __future__ import annotations

from collections.abc import Sequence

from swingby_analysis.claims.claim import Claim
from swingby_analysis.claims.verdict import DIFFUSION_LEAST

_CONTRASTS = ("figure-6-small", "figure-6")
_GRID = ("learning-order",)
_ENDED = (
    "The query was repaired, in what it takes from the detector: where no circle is found in half of the images at the "
    "end, the last evaluation that has them was taken for the end of the run; now no concept is right there."
)
_SEEN = (
    "The query was repaired: runs whose noise and few evaluations would have hidden it counted against it. A run tells "
    "now if it could have shown a move to halfway between the class's own corner and that of a trained class, which "
    "was fixed before the thresholds of the runs were looked at."
)


def _claim(
    slug: str,
    text: str,
    source: str,
    sweeps: Sequence[str] = _CONTRASTS,
    *,
    after: str = "",
    together: bool = False,
) -> Claim:
    """A claim whose sweeps take hours."""
    name, least = f"diffusion-{slug}", 1 if together else DIFFUSION_LEAST
    return Claim(name, text, source, tuple(sweeps), after=after, together=together, least=least, hours=True)


DIFFUSION: tuple[Claim, ...] = (
    _claim(
        "trained-learned",
        "Diffusion: both concepts of every class trained on are learned",
        "5, assumed",
    ),
    _claim(
        "judges-agree",
        "Diffusion: measured and classified, the same concept of the held-out class is learned first",
        "G.3, assumed",
        after=_ENDED,
    ),
    _claim(
        "order",
        "Diffusion: the color's contrast decides the order of learning: at the lowest size comes first, at the highest "
        "color",
        "Fig 6a, 5",
        after=_ENDED,
    ),
    _claim(
        "speed",
        "Diffusion: the larger the color's contrast, the earlier color is learned",
        "Fig 6a, 5",
        after=_ENDED,
    ),
    _claim(
        "size-contrast",
        "Diffusion: at one contrast of the colors, a larger one of the sizes makes size come first more often",
        "5, G.1",
        _GRID,
        after=_ENDED,
    ),
    _claim(
        "color-contrast",
        "Diffusion: at one contrast of the sizes, a larger one of the colors makes color come first more often",
        "5, G.1",
        _GRID,
        after=_ENDED,
    ),
    _claim(
        "bend",
        "Diffusion: the path of the held-out class bends toward the concept with the stronger signal",
        "Fig 6a, 5",
        after=f"{_SEEN} How a bend's threshold is taken was changed once more when verdicts by the first way had "
        "been seen: they were those of paths at rest, whose few evaluations on the way could have shown nothing. "
        f"{_ENDED}",
    ),
    _claim(
        "bend-transient",
        "Diffusion: the bend is transient",
        "Fig 6a, 5",
        after="The query was repaired: every run with a bend told, so that one alone gave the verdict, and those "
        "counted against it of which a return by half could not have been seen.",
    ),
    _claim(
        "converges",
        "Diffusion: the generation eventually converges to the correct class",
        "5",
        after=_ENDED,
    ),
    _claim(
        "descents",
        "Diffusion: the concept-space MSE of the held-out class falls, rises and falls, in single runs",
        "Fig 6b, 5",
        after=_SEEN,
    ),
    _claim(
        "memorization",
        "Diffusion: where it rises, that is transient memorization",
        "Fig 6b, 5",
        after="The query was repaired: the detector looked whether the whole training loss rises, which falls by "
        "thousands of bits with the schedule alone, so that the condition could not fail; it looks at the diffusion "
        "term since. Four runs had been seen by then. Later, with all of them seen, it also asks the approach to be "
        "beyond its threshold, and says nothing of runs whose loss is not known.",
    ),
    _claim(
        "mean-descents",
        "Diffusion: the concept-space MSE falls, rises and falls in the mean over seeds",
        "Fig 6b, 5",
        together=True,
    ),
    _claim(
        "slowdown",
        "Diffusion: learning slows down exponentially rather than as a power of time",
        "Fig 6c, 5",
    ),
    _claim(
        "exponential",
        "Diffusion: an exponential describes how learning slows down",
        "Fig 6c, 5",
    ),
)
