"""The interface of a detector: the tables it reads, the outcomes it computes, and `detect`."""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

import pyarrow as pa

from swingby.model.experiment import Column, Experiment

OutcomeKind = Literal["yes_no", "category", "number"]

OUTCOME_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
"""Names that a sweep file may give to outcomes of its own."""

EXPRESSION_TABLE = re.compile(r"outcomes_x_[0-9a-f]{12}")
"""Tables with the values of outcomes that sweep files write: see `expression_table`."""


class Detector(ABC):
    """Turns curves into outcomes; offered under the entry-point group `swingby.detectors`, made without arguments.

    Attributes:
        name: also part of the name of its derived table, `outcomes_<name>`.
        version: stored with every outcome; raised whenever an outcome of an existing curve can change.
        experiments: names of the experiments whose tables it reads.
        columns: of a general detector: it reads every experiment whose results have all of these columns, a user's
            function, too. Empty: it reads `experiments` and no other.
        outcomes: the columns it adds to a cell.
        kinds: for each outcome that a sweep file may name in its diagram: how it is drawn; `drawn_as` makes it.
        needs: the columns of the experiment's table that `detect` reads, beside `cell_id`; one that the table lacks
            arrives as nulls.
        compared: of a yes/no outcome that compares a column of a cell with a constant: the SQL that gives it, such as
            "final_error < 0.1" (see `swingby.sandbox.thresholds`). Readers of a page can move the constant.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    experiments: ClassVar[tuple[str, ...]]
    columns: ClassVar[tuple[str, ...]] = ()
    outcomes: ClassVar[Mapping[str, Column]]
    kinds: ClassVar[Mapping[str, OutcomeKind]] = {}
    needs: ClassVar[tuple[str, ...]]
    compared: ClassVar[Mapping[str, str]] = {}

    def __str__(self) -> str:
        return f"detector {self.name!r}"

    def needs_results(self, experiment: Experiment) -> bool:
        """Whether it reads anything that runs give; where it does not, parameters alone decide its outcomes."""
        return not set(self.needs) <= set(experiment.Params.model_fields)

    @abstractmethod
    def detect(self, table: pa.Table) -> pa.Table:
        """`cell_id` and the outcome columns, one row for each row of `table`, in its order."""

    def table(self, ids: pa.ChunkedArray, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
        """What `detect` returns for these cells and their outcomes; an outcome that a row leaves out is null."""
        rows = list(rows)
        columns = {
            name: pa.array([row.get(name) for row in rows], column.type) for name, column in self.outcomes.items()
        }
        return pa.table({"cell_id": ids.cast(pa.string()), **columns})


def outcome_kind(type_: pa.DataType) -> OutcomeKind | None:
    """How a column of this type is drawn as an outcome; None: not at all."""
    if pa.types.is_boolean(type_):
        return "yes_no"
    if pa.types.is_integer(type_) or pa.types.is_floating(type_):
        return "number"
    return "category" if pa.types.is_string(type_) or pa.types.is_large_string(type_) else None


def drawn_as(outcomes: Mapping[str, Column], *names: str) -> dict[str, OutcomeKind]:
    """`Detector.kinds` of the outcomes that are drawn, in this order: yes/no, numbers and categories by their types.

    Raises:
        TypeError: an outcome is of another type.
    """
    kinds: dict[str, OutcomeKind] = {}
    for name in names:
        type_ = outcomes[name].type
        kind = outcome_kind(type_)
        if kind is None:
            raise TypeError(f"outcome {name!r} of type {type_} cannot be drawn; allowed: bool, numbers, text")
        kinds[name] = kind
    return kinds


def expression_table(experiment: str, expression: str) -> str:
    """The derived table of an outcome that a sweep file writes as an expression: columns `cell_id` and `value`.

    The name has a hash of the experiment and the text, so that an expression is computed once however many sweeps
    have it under whatever names, and anew when it is edited.
    """
    content = f"{experiment}\n{expression.strip()}".encode()
    return f"outcomes_x_{hashlib.sha256(content).hexdigest()[:12]}"
