"""The outcomes of an experiment that can be drawn, as the installed detectors declare them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from swingby.model import registry
from swingby.model.detector import OutcomeKind
from swingby.model.experiment import Column


@dataclass(frozen=True)
class Outcome:
    """One outcome: its name, how it is drawn, and the detector's column."""

    name: str
    kind: OutcomeKind
    column: Column

    @property
    def title(self) -> str:
        """The title in figures and sentences."""
        return self.column.title or spoken(self.name)

    @property
    def unit(self) -> str:
        """Its unit, as it stands behind its title; "" for a pure number."""
        return f" / {self.column.unit}" if self.column.unit else ""


def outcomes_of(experiment: str) -> Mapping[str, Outcome]:
    """Every outcome of an experiment that a diagram can show, by name."""
    return {
        name: Outcome(name, kind, detector.outcomes[name])
        for detector in registry.detectors_for(experiment)
        for name, kind in detector.kinds.items()
    }


def spoken(name: str) -> str:
    """The name of a column as words."""
    return name.replace("_", " ")
