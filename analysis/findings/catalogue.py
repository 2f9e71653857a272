"""The phase diagrams of the page, in its order, each with what it may show."""

from __future__ import annotations

from analysis.findings import lines
from analysis.findings.diagram import PREFIX, Diagram
from analysis.findings.sentence import NO, UNSURE, YES, Sentence
from analysis.findings.words import along, between, common, fate

_RELU = "relu"

SPREAD = (
    Diagram(
        "ratio-spread",
        "Signal ratio against spread: deep linear nets",
        (
            common("ratio-spread"),
            fate("ratio-spread"),
            between("ratio-spread", "x", "signal ratio mu_2 / mu_1", ".2f"),
            along("ratio-spread", "y", "at spreads up to {} mu_1", "at spreads from {} mu_1 on", ".2g"),
        ),
    ),
    Diagram(
        "ratio-spread-relu",
        "Signal ratio against spread: ReLU nets",
        (
            common("ratio-spread", _RELU),
            fate("ratio-spread", _RELU),
            between("ratio-spread", "x", "signal ratio mu_2 / mu_1", ".2f", _RELU),
            along("ratio-spread", "y", "at spreads up to {} mu_1", "at spreads from {} mu_1 on", ".2g", _RELU),
        ),
    ),
)

_WHICH = Sentence(
    "dimension-width-which",
    {
        YES: "The width matters more than the dimension: from at most 5 to more than 16 units the share falls by "
        "{by_width:.3f}, from at most 5 to more than 16 dimensions by {by_dimension:.3f}.",
        NO: "The dimension matters more than the width: from at most 5 to more than 16 dimensions the share falls "
        "by {by_dimension:.3f}, from at most 5 to more than 16 units by {by_width:.3f}.",
        UNSURE: "Whether the dimension or the width matters more cannot be told: the share falls by "
        "{by_dimension:.3f} from at most 5 to more than 16 dimensions, by {by_width:.3f} from at most 5 to more "
        "than 16 units.",
    },
)

SIZE = (
    Diagram(
        "dimension-width",
        "Input dimension against hidden width: deep linear nets",
        (
            common("dimension-width"),
            fate("dimension-width"),
            along("dimension-width", "x", "in at most {} dimensions", "in {} dimensions or more", "d"),
            along("dimension-width", "y", "with at most {} units", "with {} units or more", "d"),
            _WHICH,
        ),
    ),
    Diagram(
        "dimension-width-relu",
        "Input dimension against hidden width: ReLU nets",
        (
            common("dimension-width", _RELU),
            fate("dimension-width", _RELU),
            along("dimension-width", "x", "in at most {} dimensions", "in {} dimensions or more", "d", _RELU),
            along("dimension-width", "y", "with at most {} units", "with {} units or more", "d", _RELU),
        ),
    ),
)

_REGIONS = {
    YES: "Two lines of theory tell most fates. Left of the line of the first plateau {below:.0%} of the runs end "
    "on a plateau; between the lines {between_them:.0%} get to the answer; right of the line of steepness "
    "{above:.0%} diverge.",
    NO: "The two lines of theory do not tell the fates: left of the line of the first plateau {below:.0%} of the "
    "runs end on a plateau; between the lines {between_them:.0%} get to the answer; right of the line of steepness "
    "{above:.0%} diverge.",
    UNSURE: "Whether the two lines of theory tell most fates cannot be told: left of the line of the first plateau "
    "{below:.0%} of the runs end on a plateau; between the lines {between_them:.0%} get to the answer; right of "
    "the line of steepness {above:.0%} diverge.",
}

START = (
    Diagram(
        "depth-gain",
        "Depth against gain of the initialisation: narrow linear nets",
        (
            common("depth-gain"),
            fate("depth-gain"),
            Sentence("depth-gain-lines", _REGIONS),
            along("depth-gain", "y", "with at most {} layers", "with {} layers or more", "d"),
            between("depth-gain", "x", "gain", ".2g"),
        ),
        lines=lines.plateau_and_steepness,
    ),
    Diagram(
        "depth-gain-relu",
        "Depth against gain of the initialisation: narrow ReLU nets",
        (
            common("depth-gain", _RELU),
            fate("depth-gain", _RELU),
            along("depth-gain", "y", "with at most {} layers", "with {} layers or more", "d", _RELU),
            between("depth-gain", "x", "gain", ".2g", _RELU),
        ),
    ),
    Diagram(
        "width-gain",
        "Hidden width against gain of the initialisation: linear nets",
        (
            common("width-gain"),
            fate("width-gain"),
            Sentence("width-gain-lines", _REGIONS, sql="depth-gain-lines"),
            along("width-gain", "y", "with at most {} units", "with {} units or more", "d"),
            between("width-gain", "x", "gain", ".2g"),
        ),
        lines=lines.plateau_and_steepness,
    ),
    Diagram(
        "width-gain-relu",
        "Hidden width against gain of the initialisation: ReLU nets",
        (
            common("width-gain", _RELU),
            fate("width-gain", _RELU),
            along("width-gain", "y", "with at most {} units", "with {} units or more", "d", _RELU),
            between("width-gain", "x", "gain", ".2g", _RELU),
        ),
    ),
)

_LINE = {
    YES: "The line lr = 2 / (L a_max), beyond which no solution is flat enough, is where getting to the answer "
    "ends: of {above} runs beyond it {found_above} end within a percent of L_ref, none of them farther out than "
    "{farthest:.2f} times the line, and {diverged_above} diverge; of {below} before it {found_below} get to the "
    "answer and {diverged_below} diverge. The lowest rate at which half of the seeds diverge lies at {typical:.2f} "
    "times the line (median over depths; {least:.2f} to {largest:.2f}).",
    NO: "Getting to the answer does not end at the line lr = 2 / (L a_max): of {above} runs beyond it "
    "{found_above} end within a percent of L_ref, up to {farthest:.2f} times the line, and {diverged_above} "
    "diverge; of {below} before it {found_below} get to the answer and {diverged_below} diverge. The lowest rate "
    "at which half of the seeds diverge lies at {typical:.2f} times the line (median over depths; {least:.2f} to "
    "{largest:.2f}).",
    UNSURE: "No run lies beyond lr = 2 / (L a_max).",
}

RATE = (
    Diagram(
        "rate-depth",
        "Learning rate against depth: linear nets",
        (
            common("rate-depth"),
            fate("rate-depth"),
            Sentence("rate-depth-line", _LINE),
            along("rate-depth", "x", "at rates up to {}", "at rates from {} on", ".2g"),
            along("rate-depth", "y", "with at most {} layers", "with {} layers or more", "d"),
        ),
        lines=lines.steepest_rate,
    ),
    Diagram(
        "rate-depth-relu",
        "Learning rate against depth: ReLU nets",
        (
            common("rate-depth", _RELU),
            fate("rate-depth", _RELU),
            Sentence("rate-depth-line-relu", _LINE, sql="rate-depth-line"),
            along("rate-depth", "x", "at rates up to {}", "at rates from {} on", ".2g", _RELU),
            along("rate-depth", "y", "with at most {} layers", "with {} layers or more", "d", _RELU),
        ),
        lines=lines.steepest_rate,
    ),
)

_PREDICTED = {
    YES: "There is more transient memorization where eq 4.3 predicts it of a typical start ({region:.0%} of the "
    "grid) than elsewhere: {predicted:.0%} of the runs against {other:.0%}.",
    NO: "There is less transient memorization where eq 4.3 predicts it of a typical start ({region:.0%} of the "
    "grid) than elsewhere: {predicted:.0%} of the runs against {other:.0%}.",
    UNSURE: "Whether there is more transient memorization where eq 4.3 predicts it of a typical start "
    "({region:.0%} of the grid) cannot be told: {predicted:.0%} of the runs against {other:.0%}.",
}

_ASSUMED = {
    YES: "Under App. D's assumptions on the start and on the signals (D.4, D.5; {region:.0%} of the runs) there is "
    "more transient memorization than elsewhere: {assumed:.1%} of the runs against {other:.1%}.",
    NO: "App. D's assumptions on the start and on the signals (D.4, D.5; {region:.0%} of the runs) leave little of "
    "the phenomenon: under them {assumed:.1%} of the runs show transient memorization, elsewhere {other:.1%}.",
    UNSURE: "Whether there is more or less transient memorization under App. D's assumptions on the start and on "
    "the signals (D.4, D.5; {region:.0%} of the runs) cannot be told: {assumed:.1%} of the runs against "
    "{other:.1%}.",
}

SYMMETRIC = (
    Diagram(
        "ratio-gain",
        "Signal ratio against gain: the symmetric model from a normal start",
        (
            common("ratio-gain"),
            fate("ratio-gain"),
            Sentence("ratio-gain-line", _PREDICTED),
            Sentence("ratio-gain-assumed", _ASSUMED, sql="ratio-assumed", either=True),
            along("ratio-gain", "x", "at signal ratios up to {}", "at signal ratios from {} on", ".2f"),
            along("ratio-gain", "y", "from gains up to {}", "from gains of {} on", ".2g"),
        ),
        lines=lines.symmetric_start,
    ),
    Diagram(
        "ratio-start",
        "Signal ratio against scale: the symmetric model from a positive start",
        (
            common("ratio-start"),
            fate("ratio-start"),
            Sentence("ratio-start-line", _PREDICTED),
            Sentence("ratio-start-assumed", _ASSUMED, sql="ratio-assumed", either=True),
            along("ratio-start", "x", "at signal ratios up to {}", "at signal ratios from {} on", ".2f"),
            along("ratio-start", "y", "from scales up to {}", "from scales of {} on", ".2g"),
        ),
        lines=lines.symmetric_start,
    ),
)

CONCEPTS = (
    Diagram(
        "latent-concepts",
        "Latent width against number of concepts: structural failure",
        (
            Sentence(
                "latent-concepts-below",
                {
                    YES: "No net that is narrower than the number of concepts gets to the answer: none of {runs} "
                    "runs comes down to one percent of L_ref, the best to {least:.1%}.",
                    NO: "Some nets that are narrower than the number of concepts get to the answer: {found} of "
                    "{runs} runs come down to one percent of L_ref (symmetric {symmetric}, linear {linear}, ReLU "
                    "{relu}).",
                    UNSURE: "No run is narrower than its number of concepts.",
                },
            ),
            Sentence(
                "latent-concepts-above",
                {
                    YES: "A linear model that is wide enough gets to the answer: {symmetric_found} of {symmetric} "
                    "runs of the symmetric model do, and {linear_found} of {linear} of the linear net.",
                    NO: "A linear model that is wide enough need not get to the answer: {symmetric_found} of "
                    "{symmetric} runs of the symmetric model do, and {linear_found} of {linear} of the linear net.",
                    UNSURE: "No run of a linear model is wide enough.",
                },
            ),
            Sentence(
                "latent-concepts-relu",
                {
                    YES: "A ReLU net that is wide enough gets to the answer in most runs with two concepts or "
                    "more: {found:.0%}; with twice as many units as concepts, {found_wide:.0%}.",
                    NO: "For a ReLU net to be as wide as there are concepts is not enough: with two concepts or "
                    "more, {found:.0%} of its runs get to the answer; with twice as many units as concepts, "
                    "{found_wide:.0%}.",
                    UNSURE: "A ReLU net that is wide enough gets to the answer in about half of its runs with two "
                    "concepts or more: {found:.0%}; with twice as many units as concepts, {found_wide:.0%}.",
                },
            ),
        ),
        maps=("outcome", "transient_memorization", "bump_height"),
        lines=lines.bottleneck,
    ),
    Diagram(
        "concepts-start",
        "Number of concepts against scale of the initialisation: descents of the symmetric model",
        (
            Sentence(
                "concepts-start-most",
                {
                    YES: "The loss never descends more often than there are concepts: in none of {runs} runs, "
                    "counting drops of more than a tenth of a percent of L_ref.",
                    NO: "The loss can descend more often than there are concepts: it does in {more} of {runs} "
                    "runs, by up to {beyond} descents, counting drops of more than a tenth of a percent of L_ref.",
                    UNSURE: "No run tells how often its loss descends.",
                },
            ),
            Sentence(
                "concepts-start-all",
                {
                    YES: "As many descents as concepts get rarer with more concepts: {two:.0%} of the runs with "
                    "two, {three:.0%} with three, {four:.0%} with four, {five:.1%} with five, {six:.1%} with six.",
                    NO: "As many descents as concepts do not get rarer step by step with more concepts: {two:.0%} "
                    "of the runs with two, {three:.0%} with three, {four:.0%} with four, {five:.1%} with five, "
                    "{six:.1%} with six.",
                    UNSURE: "Whether as many descents as concepts get rarer with each concept up to five cannot be "
                    "told: {two:.0%} of the runs with two, {three:.0%} with three, {four:.0%} with four, "
                    "{five:.1%} with five, {six:.1%} with six.",
                },
            ),
            Sentence(
                "concepts-start-number",
                {
                    YES: "More concepts bring more descents: {two:.2f} in the mean with two, {six:.2f} with six.",
                    NO: "More concepts bring fewer descents: {two:.2f} in the mean with two, {six:.2f} with six.",
                    UNSURE: "Whether more concepts bring more descents cannot be told: {two:.2f} in the mean with "
                    "two, {six:.2f} with six.",
                },
            ),
            Sentence(
                "concepts-start-scale",
                {
                    YES: "Starts of a middle scale bring the most descents: {middle:.2f} in the mean for init_high "
                    "from 0.02 to 0.3, {small:.2f} below and {large:.2f} above.",
                    NO: "Starts of a middle scale do not bring the most descents: {middle:.2f} in the mean for "
                    "init_high from 0.02 to 0.3, {small:.2f} below and {large:.2f} above.",
                    UNSURE: "Whether starts of a middle scale bring the most descents cannot be told: {middle:.2f} "
                    "in the mean for init_high from 0.02 to 0.3, {small:.2f} below and {large:.2f} above.",
                },
            ),
        ),
        maps=("descents_fine", "transient_memorization", "outcome", "bump_height"),
    ),
)

_SCALE = {
    YES: "At one distance in units of sigma it matters how far out the clusters are themselves: farther out, "
    "transient memorization is more common, {far_out:.0%} of the runs against {near_by:.0%}.",
    NO: "At one distance in units of sigma it matters how far out the clusters are themselves: farther out, "
    "transient memorization is rarer, {far_out:.0%} of the runs against {near_by:.0%}.",
    UNSURE: "At one distance in units of sigma no difference can be told by how far out the clusters are "
    "themselves: {near_by:.1%} of the runs where mu_1 is below 1, {far_out:.1%} where it is above.",
}
_NEAR, _FAR = "up to {} sigma from the nearest centre", "from {} sigma on"
_FOUND = {
    YES: "The net gets to the answer more often where the test point is far from the training points: in "
    "{high:.0%} of the runs from {high_from:.2g} sigma on, in {low:.0%} up to {low_to:.2g} sigma.",
    NO: "The net gets to the answer less often where the test point is far from the training points: in {high:.0%} "
    "of the runs from {high_from:.2g} sigma on, in {low:.0%} up to {low_to:.2g} sigma.",
    UNSURE: "How far the test point is from the training points makes no difference that can be told to whether "
    "the net gets to the answer: {high:.1%} of the runs from {high_from:.2g} sigma on, {low:.1%} up to "
    "{low_to:.2g} sigma.",
}
_TRUNCATED = {
    YES: "Without training points near the test point there is less transient memorization: in {without_them:.0%} "
    "of the runs against {with_them:.0%} with them, over the same grid.",
    NO: "Without training points near the test point there is more transient memorization: in {without_them:.0%} "
    "of the runs against {with_them:.0%} with them, over the same grid. It does not come from their being there.",
    UNSURE: "Training points near the test point make no difference that can be told to transient memorization: "
    "{without_them:.1%} of the runs without them, {with_them:.1%} with them, over the same grid.",
}
_TRUNCATED_FOUND = {
    YES: "Without training points near the test point the net gets to the answer less often: in "
    "{found_without:.0%} of the runs against {found_with:.0%} with them, over the same grid.",
    NO: "Without training points near the test point the net gets to the answer more often: in {found_without:.0%} "
    "of the runs against {found_with:.0%} with them, over the same grid.",
    UNSURE: "Training points near the test point make no difference that can be told to whether the net gets to "
    "the answer: {found_without:.1%} of the runs without them, {found_with:.1%} with them, over the same grid.",
}


def _distance(of: str, heading: str) -> tuple[Diagram, Diagram]:
    """The diagram with all training points, and the one without those near the test point."""
    tail = f"-{of}" if of else ""
    two = (f"{PREFIX}distance{tail}", f"{PREFIX}distance-truncated{tail}")
    whole = (
        common("distance", of),
        fate("distance", of),
        along("distance", "x", _NEAR, _FAR, ".2g", of),
        Sentence(f"distance-scale{tail}", _SCALE, sql="distance-scale", either=True),
        Sentence(f"distance-found{tail}", _FOUND, sql="distance-found", either=True),
    )
    truncated = (
        Sentence(f"distance-truncated{tail}", _TRUNCATED, two, "distance-truncated", either=True),
        Sentence(f"distance-truncated-found{tail}", _TRUNCATED_FOUND, two, "distance-truncated-found", either=True),
        along("distance", "x", _NEAR, _FAR, ".2g", f"truncated{tail}"),
    )
    return (
        Diagram(f"distance{tail}", f"{heading}", whole, lines=lines.points_near),
        Diagram(
            f"distance-truncated{tail}",
            f"{heading}, without training points near it",
            truncated,
            lines=lines.points_near,
        ),
    )


DISTANCE = (
    *_distance("", "Distance of the test point in units of sigma, linear nets"),
    *_distance(_RELU, "Distance of the test point in units of sigma, ReLU nets"),
)

CATALOGUE: tuple[Diagram, ...] = (*SPREAD, *SIZE, *START, *SYMMETRIC, *RATE, *CONCEPTS, *DISTANCE)
