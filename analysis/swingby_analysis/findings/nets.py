"""Diagrams of deep nets: signals, sizes, starts and learning rates."""

from __future__ import annotations

from swingby_analysis.findings.diagram import Diagram
from swingby_analysis.findings.sentence import NO, UNSURE, YES, Sentence
from swingby_analysis.findings.words import along, between, common, fate
from swingby_sweeps.sim import theory_lines

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
        lines=theory_lines.plateau_and_steepness,
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
        lines=theory_lines.plateau_and_steepness,
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
    "times the line (median of the {depths} depths at which there is one; {least:.2f} to {largest:.2f}).",
    NO: "Getting to the answer does not end at the line lr = 2 / (L a_max): of {above} runs beyond it "
    "{found_above} end within a percent of L_ref, up to {farthest:.2f} times the line, and {diverged_above} "
    "diverge; of {below} before it {found_below} get to the answer and {diverged_below} diverge. The lowest rate "
    "at which half of the seeds diverge lies at {typical:.2f} times the line (median of the {depths} depths at "
    "which there is one; {least:.2f} to {largest:.2f}).",
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
        lines=theory_lines.steepest_rate,
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
        lines=theory_lines.steepest_rate,
    ),
)
