"""Wordings that several diagrams share; each is a template for what the data may say."""

from __future__ import annotations

from collections.abc import Mapping

from swingby_analysis.findings.sentence import NO, UNSURE, YES, Sentence

Words = Mapping[str, str]

COMMON: Words = {
    YES: "There are conditions under which transient memorization is the rule: at {ruled} of {points} points of "
    "the grid it shows in most seeds (the lower end of the point's interval lies above one half). Over the whole "
    "grid it shows in {share:.0%} of the runs, and the bump, where there is one, is {height:.3f} L_ref high "
    "(median).",
    NO: "Nowhere is transient memorization the rule: the points of the grid at which most seeds can be said to "
    "show it are no more than chance would have above one half, {ruled} of {points}. Over the whole grid it shows "
    "in {share:.1%} of the runs; where there is a bump, it is {height:.3f} L_ref high (median).",
    UNSURE: "Nothing can be said of how common transient memorization is: no run tells.",
}
FATE: Words = {
    YES: "Most runs get to the answer: {found:.0%} of {runs}; {stuck:.1%} end on a plateau, {diverged:.1%} diverge.",
    NO: "Most runs do not get to the answer: {found:.0%} of {runs} do; {stuck:.0%} end on a plateau, "
    "{diverged:.1%} diverge.",
    UNSURE: "About half of {runs} runs get to the answer: {found:.0%}; {stuck:.0%} end on a plateau, "
    "{diverged:.1%} diverge.",
}


def common(at: str, sweep: str = "") -> Sentence:
    """How common transient memorization is in a diagram."""
    return Sentence(f"{at}-common{_of(sweep)}", COMMON, sql=f"{at}-common")


def fate(at: str, sweep: str = "") -> Sentence:
    """How its runs end."""
    return Sentence(f"{at}-fate{_of(sweep)}", FATE, sql=f"{at}-fate", either=True)


def along(at: str, axis: str, small: str, large: str, form: str = ".3g", sweep: str = "") -> Sentence:
    """Is it more common at one end of an axis than at the other?

    Args:
        small, large: what the thirds at both ends are called; {} is where they end.
    """
    low, high = small.format(f"{{low_to:{form}}}"), large.format(f"{{high_from:{form}}}")
    words = {
        YES: f"Transient memorization is more common {high} than {low}: {{high:.0%}} of the runs against {{low:.0%}}.",
        NO: f"Transient memorization is more common {low} than {high}: {{low:.0%}} of the runs against {{high:.0%}}.",
        UNSURE: f"Whether transient memorization is more common {low} or {high} cannot be told: {{low:.0%}} of "
        "the runs against {high:.0%}.",
    }
    return Sentence(f"{at}-along-{axis}{_of(sweep)}", words, sql=f"{at}-along-{axis}", either=True)


def between(at: str, axis: str, what: str, form: str = ".3g", sweep: str = "") -> Sentence:
    """Is it most common in the middle of an axis?

    Args:
        what: what the axis is, such as "gain".
    """
    low, high = f"{{low_to:{form}}}", f"{{high_from:{form}}}"
    shares = "{middle:.0%} of the runs there, {low:.0%} below and {high:.0%} above"
    words = {
        YES: f"Transient memorization belongs to a middle {what}: it is most common between {low} and {high}, "
        f"{shares}.",
        NO: f"Transient memorization does not belong to a middle {what}: between {low} and {high} it is not the "
        f"most common, {shares}.",
        UNSURE: f"Whether transient memorization belongs to a middle {what}, between {low} and {high}, cannot be "
        f"told: {shares}.",
    }
    return Sentence(f"{at}-along-{axis}{_of(sweep)}", words, sql=f"{at}-along-{axis}")


def _of(sweep: str) -> str:
    return f"-{sweep}" if sweep else ""
