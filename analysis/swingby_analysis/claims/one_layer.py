"""Claims about the order of concepts, the slow-down, and Theorem 4.1: one layer, and two."""

from __future__ import annotations

from swingby_analysis.claims.claim import Claim

_STEP = (
    "A step of the text's learning rate is a large part of the fastest time constant, which the flow of the theorem "
    "leaves out; mini-batches, in which the clusters are never quite even, add to it. With a bias it is silent."
)
_BIAS = "With a bias the mean of the points is probably learned apart from their spread, whose rates are lower."
_BESIDE = (
    "The misses lie at the points next to the reversal, where the two concepts come nearly together. There probably "
    "the initial weights decide."
)
_BY_MODEL = "Split: one claim for deeper nets and the symmetric model together before. The predicate is the same."

ORDER: tuple[Claim, ...] = (
    Claim(
        "fig-2a-order",
        "One layer: the concept with the stronger signal is learned first",
        "Fig 2a, 3.1",
        ("figure-2a",),
        sql="order-follows-a",
    ),
    Claim(
        "fig-2a-reversal",
        "One layer: the order reverses where the signals a_p are equal, as the signal strength grows",
        "Fig 2a, 3.1, eq 4.1",
        ("figure-2a",),
        "The place is right on the average; in a single seed the initial weights probably move it.",
        "order-reverses",
    ),
    Claim(
        "fig-2b-order",
        "One layer: the concept with the more diverse data, hence the larger a_p, is learned first",
        "Fig 2b, 3.1",
        ("figure-2b",),
        _BESIDE,
        "order-follows-a",
    ),
    Claim(
        "fig-2b-reversal",
        "One layer: the order reverses where the signals a_p are equal, as the diversity grows",
        "Fig 2b, 3.1, eq 4.1",
        ("figure-2b",),
        "The place is right on the average; in a single seed the initial weights probably move it.",
        "order-reverses",
    ),
    Claim(
        "fig-11-order",
        "Two linear layers: the order of the concepts follows a_p",
        "Fig 11, F.2",
        ("figure-11",),
        _BESIDE,
        "order-follows-a",
    ),
    Claim(
        "fig-12-order",
        "Two ReLU layers: the order of the concepts follows a_p",
        "Fig 12, F.2",
        ("figure-12",),
        "The misses are not only next to the reversal. Probably the rates of a ReLU net are not the a_p, but those of "
        "the units that are active for a concept.",
        "order-follows-a",
    ),
    Claim(
        "slow-down",
        "The terminal slow-down of one layer is exponential",
        "3.2, Theorem 4.1 (ii)",
        ("figure-2a", "figure-2b"),
        _BIAS + " Two rates in one curve are no single exponential, the less so the farther apart the signals are.",
        "terminal-exponential",
    ),
    Claim(
        "slow-down-two-layers",
        "The terminal slow-down of two linear layers is exponential",
        "3.2, F.2",
        ("figure-11",),
        "The curves bend most often where the signals are far apart. Probably the concept that is learned first "
        "still feels the other on its way.",
        "terminal-exponential",
        _BY_MODEL,
    ),
    Claim(
        "slow-down-symmetric",
        "The terminal slow-down of the symmetric model is exponential",
        "3.2, 4.2.2",
        ("figure-5", "figure-8", "figure-9"),
        sql="terminal-exponential",
        after=_BY_MODEL + " More figures of the model are judged than before.",
    ),
    Claim(
        "terminal-rate-one-layer",
        "The terminal rate of a concept in one layer is its a_p",
        "Theorem 4.1",
        ("figure-2a", "figure-2b"),
        _BIAS + " Without one the rate is that of a descent in steps as long as these, which is faster than the flow.",
    ),
)

THEOREM: tuple[Claim, ...] = (
    Claim(
        "theorem-4-1",
        "SGD on one layer follows the growth and noise terms of Theorem 4.1",
        "Theorem 4.1, eq 4.2",
        ("figure-2a", "claim-theorem-4-1"),
        _STEP,
    ),
    Claim(
        "theorem-4-1-noise",
        "What the growth term leaves of an SGD run is the noise term: bounded as stated, and gone at the end",
        "Theorem 4.1 (i), (iii)",
        ("figure-2a", "claim-theorem-4-1"),
        _STEP,
        after="The query was repaired: that the rest is gone at the end was said, and not asked.",
    ),
    Claim(
        "theorem-4-1-growth",
        "The growth term alone describes an SGD run: the noise term can be left out",
        "4.1",
        ("figure-2a", "claim-theorem-4-1"),
        "The framework's default initialisation is not small enough for that: the noise term starts at a share of the "
        "test point that can be seen.",
    ),
    Claim(
        "closed-form-against-sgd",
        "SGD without a bias follows the closed form of Theorem 4.1, run beside it from the same weights",
        "Theorem 4.1",
        ("claim-theorem-4-1",),
        _STEP,
    ),
    Claim(
        "closed-form-against-descent",
        "Full-batch descent without a bias follows the closed form of Theorem 4.1 on the same points",
        "Theorem 4.1, C.2",
        ("claim-theorem-4-1",),
        "The theorem is about a flow; what is left here is the length of a step alone.",
    ),
    Claim(
        "one-layer-monotone",
        "One layer shows no transient memorization: its OOD loss falls, and its output never retreats",
        "4.1",
        ("figure-2a", "figure-2b"),
    ),
)
