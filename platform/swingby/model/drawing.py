"""The interface of a drawing: what it draws, its options and their check, and `figures`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict


class Options(BaseModel):
    """The options that a sweep file may set of a drawing, as fields; none without fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Wrong(NamedTuple):
    """A fault of an option in a sweep: the option's name, a message, and what is allowed."""

    option: str
    message: str
    hint: str | None = None


class Drawing(ABC):
    """A way of drawing a sweep; offered under the entry-point group `swingby.drawings`, made without arguments.

    Attributes:
        name: as a sweep file writes it, under `drawings`.
        experiments: names of the experiments it can draw.
        recordings: what these must have been asked to record (`record.also`).
        reads_curves: whether it needs curves; without that it draws recorded results, too, whose curves were not kept.
        Options: the options that a sweep file may set.
    """

    name: ClassVar[str]
    experiments: ClassVar[tuple[str, ...]]
    recordings: ClassVar[tuple[str, ...]] = ()
    reads_curves: ClassVar[bool] = True
    Options: ClassVar[type[Options]] = Options

    def check(self, options: Any, axis_names: Sequence[str]) -> Sequence[Wrong]:
        """The faults of options in a sweep over these axes, checked before anything is trained; by default none.

        Args:
            options: an instance of the drawing's own `Options`.
            axis_names: as the sweep file writes them, those that advance together included.
        """
        return ()

    @abstractmethod
    def figures(self, subject: Any, options: Any) -> Sequence[Any]:
        """The figures of one sweep.

        Args:
            subject: the sweep and its results, as the report that draws it gives them.
            options: an instance of the drawing's own `Options`.

        Raises:
            SwingbyError: this sweep cannot be drawn so; says why.
        """
