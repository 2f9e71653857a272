"""The section `refine` of a sweep file: the outcome whose boundary is sought, how surely, and for how many cells."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.columns import scalar_outcomes
from swingby.model.detector import OutcomeKind
from swingby.model.experiment import Experiment
from swingby.options import setting
from swingby.sweepfile.outcomes import written_kinds
from swingby.sweepfile.yaml import Document

FORMS = (
    "allowed: a yes/no outcome (learned); one category against the rest (kind = late); a number above or below a level "
    "(height > 0.05, height < 0.05), or where its median crosses one (median height = 0.05)"
)
_FORM = re.compile(r"(?:(?P<median>median)\s+)?(?P<name>[a-zA-Z_]\w*)(?:\s*(?P<test>[=><])\s*(?P<value>.+))?")
_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%")
STATUS = "status"
"""The column that says how a cell ended, which can be asked for as a category."""


class RefineSection(BaseModel):
    """The keys of `refine`."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    outcome: str | list[str] | None = Field(
        None,
        description="the outcome whose boundary is sought, or several, which share the cells: a yes/no outcome; "
        "`kind = late`; `height > 0.05`; `median height = 0.05`. None: that of the diagram",
    )
    share: float = Field(0.5, gt=0, lt=1, description="the share of seeds at which the boundary lies")
    within: float = Field(
        0.1, gt=0, lt=1, description="a point whose share is at most this far from `share` may be told `near`"
    )
    confidence: float = Field(0.95, gt=0.5, lt=1, description="of each verdict on a point")
    wrong: float = Field(
        0.01,
        gt=0,
        lt=1,
        description="where to stop: the expected share of points that are told wrongly by more than `within`",
    )
    budget: str | int = Field(
        "20 %", description="the most cells: a share of the grid's, such as `20 %`, or a number of them"
    )
    apart: list[str] = Field(
        [],
        description="axes of numbers whose values say nothing of each other; so do those of words, and the facet's",
    )

    @field_validator("budget")
    @classmethod
    def _is_budget(cls, value: str | int) -> str | int:
        budget_of(value, 1)
        return value


def budget_of(value: str | int, cells: int) -> int:
    """The number of cells that a budget allows of a grid's.

    Raises:
        ValueError: it is neither a share of the grid nor a number of cells.
    """
    if isinstance(value, int):
        if value < 1:
            raise ValueError(f"a budget of {value} cells trains nothing; allowed: 1 and more, or a share such as 20 %")
        return min(value, cells)
    text = value.strip()
    if text.replace(",", "").isdigit():
        return budget_of(int(text.replace(",", "")), cells)
    match = _SHARE.fullmatch(text)
    if match is None or not 0 < float(match[1]) <= 100:
        raise ValueError(f"{value!r} is no budget; allowed: a share of the grid's cells such as 20 %, or their number")
    return max(1, round(float(match[1]) / 100 * cells))


@dataclass(frozen=True, slots=True)
class Labelled:
    """What makes a cell's outcome a yes or a no.

    Attributes:
        text: as it was written.
        name: of the outcome.
        test: the outcome itself is yes or no, equals a category, or is above or below a number.
        value: the category or the number.
        median: whether the share is one half, whatever the section says: the outcome's median is meant.
    """

    text: str
    name: str
    test: Literal["is", "=", ">", "<"] = "is"
    value: str | float | None = None
    median: bool = False


@dataclass(frozen=True)
class Refinement:
    """What a refined sweep is after.

    Attributes:
        labels: one for each outcome.
        share, within, confidence, wrong, apart: as in `RefineSection`.
        budget: cells, at most.
    """

    labels: tuple[Labelled, ...]
    share: float
    within: float
    confidence: float
    wrong: float
    budget: int
    apart: tuple[str, ...]


def kinds_of(experiment: Experiment, outcomes: Mapping[str, str]) -> dict[str, OutcomeKind]:
    """How each outcome of an experiment, and of a sweep file over it, is drawn.

    An outcome of a file whose experiment says its columns only once it has run is not among them.
    """
    kinds: dict[str, OutcomeKind] = {STATUS: "category"}
    for detector in registry.detectors_for(experiment.name):
        kinds |= detector.kinds
    kinds |= scalar_outcomes(experiment)
    return kinds | written_kinds(experiment, outcomes)


def labelled(text: str, kinds: Mapping[str, OutcomeKind], unknown: Collection[str] = ()) -> Labelled:
    """The yes-or-no that a text of `refine.outcome` stands for.

    Args:
        kinds: of the outcomes that are known.
        unknown: outcomes of which only the names are known.

    Raises:
        SwingbyError: it is no such text, there is no such outcome, or it does not go with its kind.
    """
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise SwingbyError(f"{text!r} says no yes or no of a cell; {FORMS}")
    name, test, value, median = match["name"], match["test"], match["value"], bool(match["median"])
    if name not in kinds and name not in unknown:
        raise SwingbyError(f"unknown outcome {name!r}; {registry.nearest(name, [*kinds, *unknown])}")
    kind = kinds.get(name)
    if test is None and not median and kind in ("yes_no", None):
        return Labelled(text, name)
    number = _number(value)
    if median and test == "=" and number is not None and kind in ("number", None):
        return Labelled(text, name, ">", number, median=True)
    if not median and test in (">", "<") and number is not None and kind in ("number", None):
        return Labelled(text, name, ">" if test == ">" else "<", number)
    if not median and test == "=" and value and kind in ("category", None):
        return Labelled(text, name, "=", value.strip().strip("'\""))
    what = {"yes_no": "a yes/no outcome", "number": "a number", "category": "a category", None: "an outcome"}[kind]
    raise SwingbyError(f"{name} is {what}, and {text!r} does not go with it; {FORMS}")


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


def read_refine(
    document: Document, experiment: Experiment | None, axes: Collection[str], outcomes: Mapping[str, str]
) -> dict[str, Any] | None:
    """The section as plain values, checked; None where there is none, or with its faults noted."""
    values = document.value.get("refine")
    if values is None:
        return None
    section = document.read(("refine",), {} if values is True else values, RefineSection)
    if section is None:
        return None
    for index, name in enumerate(section.apart):
        if name not in axes:
            wrong = f"{name!r} is no axis of this sweep"
            document.fault(("refine", "apart", index), wrong, registry.nearest(name, list(axes)))
    written = section.outcome
    if experiment is not None and written is not None:
        several = isinstance(written, list)
        for index, text in enumerate(written if isinstance(written, list) else [written]):
            path = ("refine", "outcome", index) if several else ("refine", "outcome")
            try:
                labelled_in(text, experiment, outcomes)
            except SwingbyError as error:
                message, _, hint = str(error).partition("; ")
                document.fault(path, f"refine.outcome: {message}", hint or None)
        if several and not written:
            document.fault(("refine", "outcome"), "refine.outcome is empty", FORMS)
    return section.model_dump(mode="json")


def checked_section(values: Mapping[str, Any]) -> dict[str, Any]:
    """The section of these values, with its defaults.

    Raises:
        InputFaults: every value that is not allowed.
    """
    document = Document("refine")
    section = document.read(("refine",), dict(values), RefineSection)
    document.finish()
    assert section is not None
    return section.model_dump(mode="json")


def labelled_in(text: str, experiment: Experiment, outcomes: Mapping[str, str]) -> Labelled:
    """`labelled` among the outcomes of an experiment, and `outcomes`, those that a sweep file writes itself."""
    discovers = getattr(experiment, "discovers", False)
    kinds = kinds_of(experiment, outcomes)
    named = _FORM.fullmatch(text.strip())
    unknown = {*outcomes} if not discovers or named is None else {*outcomes, named["name"]}
    return labelled(text, kinds, unknown)


def refinement_of(
    section: Mapping[str, Any] | None,
    experiment: Experiment,
    outcomes: Mapping[str, str],
    shown: str | None,
    facet: str | None,
    cells: int,
) -> Refinement:
    """What a sweep's refinement is after, its defaults filled in.

    Args:
        section: as `read_refine` gives it.
        outcomes: those that the sweep file writes.
        shown: the outcome of the sweep's diagram, or that its report sums up.
        facet: the diagram's.
        cells: of the whole grid.

    Raises:
        SwingbyError: no outcome is named and none can be taken instead, or it does not go with its kind.
    """
    read = RefineSection.model_validate(section or {})
    written = [read.outcome] if isinstance(read.outcome, str) else read.outcome or []
    if not written:
        yes_no = [name for name, kind in kinds_of(experiment, outcomes).items() if kind == "yes_no"]
        if shown is None:
            allowed = ", ".join(yes_no) or "(none)"
            raise SwingbyError(
                "say whose boundary is sought, in the sweep file (refine: {outcome: ...}) or as "
                f"{setting('refine.outcome=...')}; yes/no outcomes: {allowed}. {FORMS}"
            )
        written = [shown]
    labels = tuple(labelled_in(text, experiment, outcomes) for text in written)
    named: list[str] = [*read.apart, *([facet] if facet is not None else [])]
    apart = tuple(dict.fromkeys(named))
    return Refinement(
        labels, read.share, read.within, read.confidence, read.wrong, budget_of(read.budget, cells), apart
    )
