"""A small experiment and its detector, offered by entry point as somebody else's package would offer them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, Self

import pyarrow as pa
from pydantic import Field, field_validator, model_validator

from swingby.model.detector import Detector, OutcomeKind
from swingby.model.drawing import Drawing, Options
from swingby.model.experiment import Batch, Column, Experiment
from swingby.model.params import Matrix, Params, Vector, added


class ToyParams(Params):
    """One parameter of every kind that a sweep file can set."""

    kind: Literal["linear", "relu"] = "linear"
    s: int = Field(2, ge=1)
    d: int = Field(2, ge=1)
    mu: Vector = (1.0, 2.0)
    width: int = Field(64, ge=1)
    gain: float = Field(1.0, gt=0)
    bias: bool = False
    weights: Matrix | None = None
    note: str = ""
    later: float = added(0.5)

    @field_validator("note")
    @classmethod
    def _small(cls, note: str) -> str:
        return note.lower()

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.s > self.d:
            raise ValueError(f"s = {self.s} does not fit into d = {self.d}; allowed: s <= d")
        if len(self.mu) != self.s:
            raise ValueError(f"mu has {len(self.mu)} entries; allowed: s = {self.s}")
        return self


def counted(values: Mapping[str, Any]) -> dict[str, Any]:
    """A preset whose defaults follow from what is set: mu = (1, ..., s), and width = 10 x the last mu."""
    s = values.get("s", 2)
    mu = values.get("mu", tuple(float(index + 1) for index in range(s)))
    return {"s": s, "d": s, "mu": mu, "width": int(10 * mu[-1]), "gain": 2.0}


class Toy(Experiment):
    """Trains nothing."""

    name: ClassVar[str] = "toy"
    stream_version: ClassVar[int] = 3
    Params: ClassVar[type[Params]] = ToyParams
    presets: ClassVar[Mapping[str, Any]] = {"plain": lambda values: {}, "counted": counted}
    default_preset: ClassVar[str | None] = "plain"
    recordings: ClassVar[Mapping[str, Mapping[str, Column]]] = {"jacobian": {}, "weights": {}}

    def shape(self, params: Any) -> str:
        """All cells alike."""
        return "toy"

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        """No rows."""
        yield from ()


class Heights(Detector):
    """Knows two outcomes."""

    name: ClassVar[str] = "toy"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("toy",)
    outcomes: ClassVar[Mapping[str, Column]] = {"bumped": Column(pa.bool_(), "bumped")}
    kinds: ClassVar[Mapping[str, OutcomeKind]] = {"bumped": "yes_no", "height": "number"}
    needs: ClassVar[tuple[str, ...]] = ()

    def detect(self, table: pa.Table) -> pa.Table:
        """No bump anywhere."""
        return table.select(["cell_id"])


class Sketch(Drawing):
    """Draws nothing of what it is asked for."""

    name: ClassVar[str] = "sketch"
    experiments: ClassVar[tuple[str, ...]] = ("toy",)
    recordings: ClassVar[tuple[str, ...]] = ("jacobian",)

    class Options(Options):
        """One setting."""

        size: int = Field(3, ge=1)

    def figures(self, subject: Any, options: Any) -> list[Any]:
        """None."""
        return []
