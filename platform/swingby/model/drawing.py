"""What a drawing must offer: what it draws, its options and their check, and figures(subject, options)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict


class Options(BaseModel):
    """What a sweep file may set of a drawing; one with no fields takes none."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Wrong(NamedTuple):
    """An option that does not fit the sweep: its name, what is wrong with it, and what is allowed."""

    option: str
    message: str
    hint: str | None = None


class Drawing(ABC):
    """A way of drawing a sweep; offered under the entry-point group `swingby.drawings`, made without arguments.

    Attributes:
        name: as a sweep file writes it, under `drawings`.
        experiments: names of the experiments it can draw.
        recordings: what these must have been asked to record (`record.also`).
        Options: what a sweep file may set of it.
    """

    name: ClassVar[str]
    experiments: ClassVar[tuple[str, ...]]
    recordings: ClassVar[tuple[str, ...]] = ()
    Options: ClassVar[type[Options]] = Options

    def check(self, options: Any, axis_names: Sequence[str]) -> Sequence[Wrong]:
        """What is wrong with options in a sweep over these axes, told before anything is trained; by default nothing.

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
