"""The outcomes of an experiment that can be drawn: those of detectors, then scalars, else the last values of curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from swingby.model import registry
from swingby.model.detector import OutcomeKind
from swingby.model.experiment import Column

FINAL = "final_"
"""What the name of a curve's last value begins with."""
STATUS = Column(pa.string(), "how the run ended", order=("ok", "diverged"))
"""The column that every experiment has."""


@dataclass(frozen=True)
class Outcome:
    """One outcome: its name, how it is drawn, and its column.

    Attributes:
        detected: whether a detector gives it; the experiment itself does otherwise.
    """

    name: str
    kind: OutcomeKind
    column: Column
    detected: bool = True

    @property
    def title(self) -> str:
        """The title in figures and sentences."""
        return self.column.title or spoken(self.name)

    @property
    def unit(self) -> str:
        """Its unit, as it stands behind its title; "" for a pure number."""
        return f" / {self.column.unit}" if self.column.unit else ""


def outcomes_of(experiment: str) -> Mapping[str, Outcome]:
    """Every outcome of an experiment that a detector gives and a diagram can show, by name."""
    return {
        name: Outcome(name, kind, detector.outcomes[name])
        for detector in registry.detectors_for(experiment)
        for name, kind in detector.kinds.items()
    }


def drawable(experiment: str, final: Sequence[str] = ()) -> dict[str, Outcome]:
    """Every column of a cell that a report can draw, by name: outcomes of detectors, scalars, and the status.

    Args:
        experiment: its name.
        final: the curves whose last values are among the columns; they stand before the status.
    """
    offered = registry.experiment(experiment)
    own = dict(offered.scalars)
    for name in final:
        curve = offered.curves[name]
        title = f"final {curve.title or spoken(name)}"
        own[f"{FINAL}{name}"] = Column(
            pa.float64(), f"last recorded value of {name}: {curve.meaning}", curve.unit, title=title
        )
    scalars = {name: Outcome(name, kind, column, False) for name, column in own.items() for kind in kind_of(column)}
    ended = {"status": Outcome("status", "category", STATUS, False)}
    detected = outcomes_of(experiment)
    return {**detected, **{name: one for name, one in (scalars | ended).items() if name not in detected}}


def kind_of(column: Column) -> list[OutcomeKind]:
    """How a scalar is drawn; [] for one that cannot be, such as a text with free content."""
    kind = column.type
    if pa.types.is_boolean(kind):
        return ["yes_no"]
    if column.order:
        return ["category"]
    return ["number"] if pa.types.is_floating(kind) or pa.types.is_integer(kind) else []


def spoken(name: str) -> str:
    """The name of a column as words."""
    return name.replace("_", " ")
