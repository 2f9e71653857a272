"""The outcomes that a sweep file writes itself: a name and a scalar SQL expression over one row for each."""

from __future__ import annotations

from collections.abc import Mapping

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.columns import row_schema
from swingby.model.detector import OUTCOME_NAME, OutcomeKind
from swingby.model.experiment import Experiment, Recording
from swingby.sweepfile.yaml import Document, Path, shown

TAKEN = {"attempt", "cell_id", "message", "of_shard", "point", "preset", "recorded", "seed_mode", "shard", "sweep_id"}
"""Columns that tables of results have beside those of their experiment."""


def read_outcomes(document: Document, experiment: Experiment | None, recording: Recording) -> dict[str, str]:
    """The outcomes as written, name -> expression; those with a fault are left out, and each fault is noted."""
    outcomes = document.value.get("outcomes")
    if outcomes is None:
        return {}
    if not isinstance(outcomes, dict):
        wrong = f"outcomes must be a mapping of names to expressions, got {shown(outcomes)}"
        document.fault(("outcomes",), wrong, "such as outcomes: {learned: 'loss[-1] < 0.1 * loss[1]'}")
        return {}
    taken = _taken(document, experiment) if experiment is not None else {}
    expressions: dict[str, str] = {}
    for name, text in outcomes.items():
        path: Path = ("outcomes", name)
        if not OUTCOME_NAME.fullmatch(name):
            document.fault(path, f"{shown(name)} cannot name an outcome", "allowed: up to 63 of a-z, 0-9 and _")
        elif name in taken:
            document.fault(path, f"outcomes.{name} is {taken[name]}", "give the outcome another name")
        elif not isinstance(text, str):
            hint = "write an expression over the columns of a row, such as loss[-1] < 0.1 * loss[1]"
            document.fault(path, f"outcomes.{name} must be text, got {shown(text)}", hint)
        elif experiment is None or _is_sound(document, path, text, experiment, recording):
            expressions[name] = text.strip()
    return expressions


def written_kinds(experiment: Experiment, outcomes: Mapping[str, str]) -> dict[str, OutcomeKind]:
    """How the outcomes that a sweep file writes are drawn; none of an experiment that says its columns as it runs.

    Raises:
        ScalarError: an expression cannot be computed.
    """
    if not outcomes or getattr(experiment, "discovers", False):
        return {}
    from swingby.sandbox.scalar import kind_of

    schema = row_schema(experiment)
    return {name: kind_of(text, schema) for name, text in outcomes.items()}


def _taken(document: Document, experiment: Experiment) -> Mapping[str, str]:
    """Names that no outcome may have (lower case), each with what has it."""
    names = dict.fromkeys(TAKEN, "the name of a column that every table has")
    try:
        for detector in registry.detectors_for(experiment.name):
            names |= {name.lower(): f"an outcome of the {detector}" for name in detector.outcomes}
        columns = row_schema(experiment).names
    except SwingbyError as error:
        document.fault(("outcomes",), f"names that are taken are not known: {error}")
        columns = []
    return names | {name.lower(): f"a column of {experiment.name}" for name in columns}


def _is_sound(document: Document, path: Path, text: str, experiment: Experiment, recording: Recording) -> bool:
    """Whether an expression can be computed over rows of the experiment; its fault is noted.

    Where an experiment's columns are known only once it has run, no more than the expression's form is checked.
    """
    # Not at the top: few sweep files write outcomes, and whoever reads one without needs no DuckDB.
    from swingby.sandbox.scalar import ScalarError, columns_of, kind_of

    try:
        if getattr(experiment, "discovers", False):
            columns_of(text)
        else:
            kind_of(text, row_schema(experiment, recording.also))
    except ScalarError as error:
        document.fault(
            path,
            f"{'.'.join(map(str, path))}: {error.message}",
            _recording_hint(error.message, experiment) or error.hint,
        )
        return False
    return True


def _recording_hint(message: str, experiment: Experiment) -> str | None:
    """How to record the column that a message says is unknown, if some recording has it."""
    for name, columns in experiment.recordings.items():
        if any(message == f"unknown column {column!r}" for column in columns):
            return f"it is recorded on request: record: {{also: [{name}]}}"
    return None
