"""Claims about deeper nets: transient memorization, dimension and width, and the training points."""

from __future__ import annotations

from swingby_analysis.claims.claim import Claim

_WEAK = (
    "The detector asks for a rise of the loss; in most settings an output retreats in more seeds than that. Probably "
    "the signs at the start decide which seeds swing by."
)

DEEP: tuple[Claim, ...] = (
    Claim(
        "fig-2c-low",
        "Four linear layers in low dimension show transient memorization",
        "Fig 2c, 3.3",
        ("figure-2c",),
        _WEAK,
        "transient-memorization",
    ),
    Claim(
        "fig-2c-direction",
        "Where the loss rises again, the output is nearer to the cluster with the strongest signal than to any other",
        "Fig 2c, 3.3",
        ("figure-2c", "figure-3"),
        "Under the text's conventions the training loss rises too in most of the rises of two layers: overshoots of a "
        "step too long, and no swing-by.",
        "swings-to-the-strongest",
        "Reworded: it said that the output is at the cluster, and the predicate asks which is nearest. The predicate "
        "is the same.",
    ),
    Claim(
        "fig-2c-return",
        "With enough training the output comes back to the test point",
        "Fig 2c, 3.3",
        ("figure-2c",),
        sql="generalizes-in-the-end",
    ),
    Claim(
        "fig-3-low",
        "In low dimension the OOD loss of multi-layer nets falls, rises and falls again",
        "Fig 3",
        ("figure-3",),
        _WEAK,
        "low-d-non-monotone",
    ),
    Claim(
        "fig-3-high",
        "In high dimension the OOD loss of multi-layer nets only slows down: it is monotone",
        "Fig 3",
        ("figure-3",),
        sql="high-d-monotone",
    ),
    Claim(
        "low-dimension-swings-more",
        "At one width and one effective learning rate, a lower dimension swings by more",
        "3.3",
        ("claim-dimension-width",),
        "The paper changes dimension, width and learning rate together; taken apart, a lower dimension does it in "
        "narrow nets at best.",
    ),
    Claim(
        "narrow-width-swings-more",
        "At one dimension and one effective learning rate, a narrower net swings by more",
        "said beside 3.3",
        ("claim-dimension-width",),
    ),
    Claim(
        "fig-13",
        "Three linear layers of three units in three dimensions show transient memorization",
        "Fig 13, F.2",
        ("figure-13",),
        _WEAK,
        "transient-memorization",
    ),
    Claim(
        "fig-14",
        "The OOD loss of these nets falls, rises and falls again",
        "Fig 14, F.2",
        ("figure-14",),
        _WEAK + " At the text's learning rate and the stronger signals the training loss rises with it, as the claim "
        "about that loss shows: there it is a step too long.",
        "non-monotone",
    ),
    Claim(
        "fig-15",
        "No training point lies near the test point",
        "Fig 15, F.3",
        ("figure-15",),
        "Where sigma is a variance the clusters are wide enough for a few points to come near.",
        "no-training-point-near",
    ),
    Claim(
        "fig-16",
        "Truncating the training set around the test point has little impact on the dynamics",
        "Fig 16, F.3",
        ("figure-15", "figure-16"),
        sql="truncation-changes-little",
    ),
    Claim(
        "truncation-where-it-cuts",
        "Truncating has little impact also where it discards points in every seed",
        "F.3, at wider clusters than Fig 16",
        ("claim-truncation",),
        sql="truncation-changes-little",
        after="Added when hardly a seed of the figure was seen to lose a point; the sweep was there already, and so "
        "was the predicate.",
    ),
)
