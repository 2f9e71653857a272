"""Claims about the symmetric model: descents, stages, rates, and what theory predicts of a run."""

from __future__ import annotations

from analysis.claims.claim import Claim

_FIGURES = ("figure-5", "figure-8", "figure-9")
_SIGNS = (
    "With signs at random a minor entry of the right sign is luck, and the rise it makes is often too small to count. "
    "The authors' start has every entry positive."
)
_SCALE = (
    "The rate of the entry that arrives last is still mixed with that of the entry it was suppressed by, unless the "
    "start is small enough to part them."
)
_TUNED = "The paper says that the seed of its figure was tuned. " + _SIGNS

SYMMETRIC: tuple[Claim, ...] = (
    Claim(
        "fig-5-descents",
        "The symmetric model with two concepts: the OOD loss descends twice",
        "Fig 5, 4.2",
        ("figure-5",),
        _SIGNS,
        "as-many-descents",
    ),
    Claim(
        "fig-5-stages",
        "The rise of the OOD loss is the suppression of a positive minor entry",
        "Fig 5, 4.2.2",
        _FIGURES,
        sql="rise-is-suppression",
    ),
    Claim(
        "fig-5-sign",
        "With two concepts the loss rises only if the minor entry starts positive",
        "4.2.2",
        ("figure-5",),
        sql="rise-needs-a-positive-minor",
    ),
    Claim(
        "fig-5-sign-suffices",
        "With two concepts a minor entry that starts positive makes the loss rise",
        "4.2.2",
        ("figure-5",),
        "At a small start the entry is suppressed before it is large enough to be seen in the loss.",
        "positive-minor-makes-a-rise",
    ),
    Claim(
        "fig-5-even-signs",
        "Each minor entry has an equal chance of starting positive or negative",
        "4.2.2",
        ("figure-5",),
        "The code behind the figures draws U from positive numbers, so that every entry of W starts positive.",
        "signs-are-even",
    ),
    Claim(
        "majors-in-order",
        "The major entries grow in the order of falling a_p",
        "4.2.1",
        _FIGURES,
    ),
    Claim(
        "minor-peaks-first",
        "A major entry grows only after the minor entry beside it has been suppressed",
        "E.1",
        _FIGURES,
    ),
    Claim(
        "fig-8-descents",
        "The symmetric model with three concepts: the OOD loss descends three times",
        "Fig 8, E.1",
        ("figure-8",),
        _TUNED,
        "as-many-descents",
    ),
    Claim(
        "fig-9-descents",
        "The symmetric model with four concepts: the OOD loss descends four times",
        "Fig 9, E.1",
        ("figure-9",),
        _TUNED,
        "as-many-descents",
    ),
    Claim(
        "fig-17",
        "The training loss only falls, also where the OOD loss does not",
        "Fig 17, F.4",
        ("figure-17", "figure-14"),
        "At the text's learning rate narrow nets oscillate at strong signals: a step too long raises both losses.",
        "training-loss-falls",
    ),
    Claim(
        "fig-18",
        "The outputs at both training centres bend too, at different stages",
        "Fig 18, F.4",
        ("figure-18",),
        "A minor entry that starts small enough makes a detour too small to count.",
        "training-outputs-bend",
    ),
    Claim(
        "terminal-rate-symmetric",
        "The terminal rates of the symmetric flow are those of the theory, for major and minor entries",
        "4.2.1, eq 4.3",
        _FIGURES,
        _SCALE,
    ),
    Claim(
        "terminal-rate-small-start",
        "From a start small enough the terminal rates of the symmetric flow are those of the theory",
        "4.2.1, eq 4.3",
        ("claim-omega",),
        _SCALE + " Where signals are close that takes the smallest starts.",
    ),
    Claim(
        "omega-exponent",
        "The peak of a suppressed minor entry scales with the initial scale as the leading order says",
        "eq 4.3, said beside 4.2",
        ("claim-omega",),
        "Signals that are close leave little between growth and suppression: the law is then approached more slowly.",
    ),
    Claim(
        "swing-by-vanishes",
        "The swing-by vanishes as the initial scale goes to zero",
        "said beside 4.2",
        ("claim-omega",),
        "Where the signals are close the exponent is small: the swing-by shrinks slowly with the scale.",
    ),
)

PREDICTIONS: tuple[Claim, ...] = (
    Claim(
        "predicted-order",
        "The major entries arrive in the order that theory predicts from the start",
        "4.2.1, eq 4.3",
        _FIGURES,
    ),
    Claim(
        "predicted-times",
        "The major entries arrive at the times that theory predicts from the start",
        "4.2.1, eq 4.3",
        _FIGURES,
        "The prediction is of leading order in the initial scale, which the figures do not make small.",
    ),
    Claim(
        "predicted-order-one-layer",
        "One layer: the concepts arrive in the order that the theorem predicts from the start",
        "Theorem 4.1",
        ("figure-2a",),
        "Where the signals are equal the order hangs on the initial weights and on the noise of SGD.",
        "predicted-order",
    ),
    Claim(
        "predicted-times-one-layer",
        "One layer: the concepts arrive at the times that the theorem predicts from the start",
        "Theorem 4.1",
        ("figure-2a",),
        "The steps of SGD are too long for the times of the flow.",
        "predicted-times",
    ),
)
