"""Claims of App. D (bounds) and of App. E (the start, and failure)."""

from __future__ import annotations

from swingby_analysis.claims.claim import ENOUGH, TOGETHER, Claim

_BOUNDS = ("claim-bounds", "figure-5")
_PHASE = (
    "Outside of the assumptions nothing is promised; they ask for initial weights so small that no usual run has them."
)

_KEYED = "The query was repaired: it took together runs of two sweeps whose points have the same number."

BOUNDS: tuple[Claim, ...] = (
    Claim(
        "d-11-upper-growth",
        "Every entry grows no faster than its upper bound",
        "D.11, Lemma D.1",
        _BOUNDS,
        _PHASE,
        after=_KEYED,
    ),
    Claim(
        "d-23-lower-growth",
        "In the initial phase every entry grows at least as fast as its lower bound",
        "D.23, Lemma D.2",
        _BOUNDS,
        _PHASE,
        after=_KEYED,
    ),
    Claim(
        "d-36-later-growth",
        "After the initial phase a major entry grows at least as fast as its lower bound",
        "D.36, Lemma D.4",
        _BOUNDS,
        _PHASE,
        after=_KEYED,
    ),
    Claim(
        "diagonal-bounded",
        "Major entries stay between zero and their upper bound",
        "Lemma D.5",
        _BOUNDS,
        _PHASE,
        after=_KEYED,
    ),
    Claim(
        "minors-stay-small",
        "Minor entries never leave the initial phase",
        "Assertion D.1, Lemma D.8",
        _BOUNDS,
        _PHASE,
        after=_KEYED,
    ),
    Claim(
        "d-5-descending",
        "The signals can be as distinct as the proofs ask with a_p in the order of the main text",
        "Assumption D.5",
        _BOUNDS,
        "As printed the inequality can only hold with the a_p in ascending order; the main text has them descending.",
    ),
)

START: tuple[Claim, ...] = (
    Claim(
        "e-1-major",
        "A major entry of a normal start has the stated mean",
        "eq E.1",
        ("claim-initial-weights",),
        after=ENOUGH,
        together=True,
    ),
    Claim(
        "e-1-minor",
        "A minor entry of a normal start has mean zero",
        "eq E.1",
        ("claim-initial-weights",),
        after=ENOUGH,
        together=True,
    ),
    Claim(
        "e-1-spread",
        "The variance of a minor entry at the start is large where the hidden width is small",
        "App. E, below eq E.1",
        ("claim-initial-weights",),
        "At one spread of the entries of U the variance of a minor entry grows with the width; only beside the major "
        "entry does it fall.",
        after=TOGETHER,
        together=True,
    ),
    Claim(
        "e-1-relative-spread",
        "Beside the major entry, the spread of a minor entry at the start is large where the hidden width is small",
        "App. E, eq E.1 read in ratios",
        ("claim-initial-weights",),
        after=TOGETHER,
        together=True,
    ),
    Claim(
        "e-1-minor-beside-major",
        "Minor entries start much smaller than major ones, the more so the wider U",
        "App. E, eq E.1",
        ("claim-initial-weights",),
        "Beside the major entry the minor one falls slowly with the width, about as its root.",
    ),
    Claim(
        "fig-10-trapped",
        "Some minor entry can trap the model for good, short of the answer, at full rank",
        "Fig 10, E.3",
        ("figure-10",),
        "Training U, what looks like failure is a long plateau, which ends. The figure iterates W, which is not "
        "gradient descent: it gets to the answer, or diverges.",
    ),
    Claim(
        "fig-10-unfinished",
        "After the steps of the figure the OOD loss is still up",
        "Fig 10",
        ("figure-10",),
        "Probably the start and the power of A that drives the model set how long the plateau lasts; it ends, where U "
        "is trained.",
        after="The query was repaired: it names the steps of the figure, since the sweep was made longer to see the "
        "plateau end.",
    ),
    Claim(
        "recurrence-leaves-the-cone",
        "The iteration of W behind the figure leaves the positive semidefinite matrices, or diverges",
        "D.2 as iterated for Fig 10",
        ("figure-10",),
    ),
    Claim(
        "full-rank-is-never-trapped",
        "Training U with as many columns as concepts, no run is trapped for good",
        "said beside E.3",
        ("figure-10", "claim-rank"),
    ),
    Claim(
        "bottleneck-is-structural",
        "With fewer columns in U than concepts every run fails for good, at the least loss that its rank allows",
        "said beside E.3",
        ("claim-rank",),
        after="The query was repaired: what it asked for follows from the rank alone. Now the run has to get to that "
        "loss, and to stay away from the answer.",
    ),
)
