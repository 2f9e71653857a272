"""Claims about the test points' order, and about what the code behind the figures does otherwise than the text."""

from __future__ import annotations

from swingby_analysis.claims.claim import Claim

_MADE = "Split: one claim for the figure as made and as captioned together before."
_LEARNED = (
    "The query was repaired: pairs of test points that are both learned counted as in order, so that a net that had "
    "learned all could not fail."
)

CONVENTIONS: tuple[Claim, ...] = (
    Claim(
        "fig-7-linear",
        "One linear layer: the test points are learned in topological order, more concepts never give less loss",
        "Fig 7 as made, B.2",
        ("figure-7",),
        "Most pairs out of order are those of the test point of no concept. Probably it is the bias that moves it.",
        "hypercube-order-linear",
        f"{_MADE} {_LEARNED}",
    ),
    Claim(
        "fig-7-throughout",
        "One linear layer: the test points are learned in topological order at every step, not only after epochs",
        "Fig 7 as made, B.2",
        ("figure-7",),
        "Under the text's conventions pairs are out of order early in the first epoch, while the losses fall fast; "
        "under the code's mostly after it, most of them pairs of the test point of no concept.",
        "hypercube-order-throughout",
        "Added when one layer was seen to have learned all by the end of the first epoch under the text's conventions, "
        "with the tolerances of the claim above.",
    ),
    Claim(
        "fig-7-relu",
        "Two ReLU layers: the test points are learned in topological order, more concepts never give less loss",
        "Fig 7 as captioned, B.2",
        ("figure-7",),
        "Probably because a ReLU net is another linear net for each pattern of active units: the losses of single "
        "pairs cross.",
        "hypercube-order-relu",
        f"{_MADE} {_LEARNED}",
    ),
    Claim(
        "epoch-recording",
        "A loss that is recorded once an epoch still shows the rise",
        "code behind the figures",
        ("claim-recording",),
        "The rise mostly lasts less than an epoch, and the record comes only at the start of each.",
    ),
    Claim(
        "mean-is-a-shorter-step",
        "The mean over coordinates is the half sum with the learning rate times two over the dimension",
        "code behind the figures",
        ("claim-shorter-step",),
        after="The query was repaired: it was asked in two dimensions alone, where the factor is one. A sweep was "
        "added in which it is not.",
    ),
    Claim(
        "convention-reduction",
        "Mean over coordinates or half sum: at one learning rate the runs show the same",
        "code behind the figures, eq 2.1",
        ("claim-conventions",),
        "The mean's gradient carries a factor that falls with the dimension, so that the high dimension differs most.",
    ),
    Claim(
        "convention-bias",
        "With or without biases the runs show the same",
        "code behind the figures, F.1",
        ("claim-conventions",),
        "Probably because a bias gives the net a way to the means of the clusters that does not pass through the "
        "concepts.",
    ),
    Claim(
        "convention-zero-cluster",
        "With or without a cluster at the origin the runs show the same",
        "code behind the figures, 2.1",
        ("claim-conventions",),
        "Probably because with biases the cluster at the origin is what ties the affine map down; without it the "
        "spread of the clusters alone has to.",
    ),
    Claim(
        "convention-sigma",
        "Whether sigma is a variance or a standard deviation, the runs show the same",
        "code behind the figures, 2.1",
        ("claim-conventions",),
    ),
    Claim(
        "convention-shuffle",
        "Whether the points are shuffled once or in every epoch, the runs show the same",
        "code behind the figures",
        ("claim-conventions",),
    ),
    Claim(
        "conventions-together",
        "With all of the text's conventions at once the runs of the code behind the figures show the same",
        "code behind the figures, F.1",
        ("claim-conventions",),
        "See the single conventions above.",
        after="Added when the single conventions had been judged, with their predicate.",
    ),
)
