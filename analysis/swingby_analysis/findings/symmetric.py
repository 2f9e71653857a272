"""Diagrams of the symmetric model, and of how many concepts fit."""

from __future__ import annotations

from swingby_analysis.findings.diagram import Diagram
from swingby_analysis.findings.sentence import NO, UNSURE, YES, Sentence
from swingby_analysis.findings.words import along, common, fate
from swingby_sweeps.sim import theory_lines

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
        lines=theory_lines.symmetric_start,
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
        lines=theory_lines.symmetric_start,
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
        lines=theory_lines.bottleneck,
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
