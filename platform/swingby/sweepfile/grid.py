"""The points of a grid: preset, base and axes resolved into parameters, filtered by `where`, checked one by one."""

from __future__ import annotations

import gc
import itertools
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from swingby.errors import SwingbyError
from swingby.model.cell import SeedMode
from swingby.model.experiment import Experiment
from swingby.model.expression import Expression, ExpressionError
from swingby.model.params import reads_of
from swingby.model.points import Points, PointWriter
from swingby.sweepfile.axes import Axis
from swingby.sweepfile.fast_path import FastPath, Memo
from swingby.sweepfile.parameters import PRESET, Parameters, split
from swingby.sweepfile.yaml import Document, Path, dotted, plain_message, shown

_INNER = (SwingbyError, ValueError, TypeError, LookupError, ArithmeticError)


@dataclass
class _GridFault:
    """One distinct fault of the grid: where, what, the first point that shows it, and how many points do."""

    path: Path
    message: str
    example: str
    points: int = 0


@dataclass
class Grid:
    """The points of a sweep, to be written out.

    Attributes:
        experiment: the experiment whose parameters they are.
        preset: the bundle of defaults of all points; None where an axis says which, or there is none.
        base: values every point has, as their parameters' types have them.
        axes: what varies; the last axis fastest.
        paths: for each name that is set, where in the sweep file.
        parameters: what a file may set of the experiment.
        certain: where other parts of the file have faults: the parameters that are set, without a fault; only faults
            about these are noted. None: all are.
        faults: those found so far, by place and message.
        presets: of each point that is left, its bundle of defaults.
        places: of each point that is left, its place in the product of the axes.
        shared: how many points were left out, since they differ from another one in nothing that is read.
    """

    experiment: Experiment
    preset: str | None
    base: Mapping[str, Any]
    axes: Sequence[Axis]
    where: Expression | None
    seed_mode: SeedMode
    paths: Mapping[str, Path]
    parameters: Parameters
    certain: frozenset[str] | None = None
    faults: dict[tuple[Path, str], _GridFault] = field(default_factory=dict)
    presets: list[str | None] = field(default_factory=list)
    places: array[int] = field(default_factory=lambda: array("q"))
    shared: int = 0
    _memos: dict[str, Memo] = field(default_factory=dict, init=False)

    def points(self, document: Document) -> Points:
        """Every point for which `where` holds; faults are noted once each, with the first point that shows them."""
        writer = PointWriter(
            self.experiment.name, self.experiment.stream_version, self.experiment.Params, self.seed_mode
        )
        fast = FastPath(self.experiment.Params, self.where, frozenset(map(_stem, self._names)))
        kept = False
        with _uncollected():
            for place, values in enumerate(itertools.product(*(axis.values for axis in self.axes))):
                chosen = dict(zip(self._names, itertools.chain.from_iterable(values), strict=True))
                params = self._resolved(chosen, fast)
                kept = kept or params is not False
                if isinstance(params, Mapping):
                    writer.add(params)
                    self.places.append(place)
                    self.presets.append(chosen.get(PRESET, self.preset))
            points = writer.points()
        duplicates = points.duplicates()
        if reads_of(self.experiment.Params).conditions:
            duplicates, points = [], self._distinct(points, [later for _, later in duplicates])
        for earlier, later in duplicates:
            twin, chosen = self.choice(self.places[earlier]), self.choice(self.places[later])
            self._note(("axes",), f"this point is the same, once resolved, as {place_of(twin)}", chosen)
        for fault in self.faults.values():
            more = f" (and at {fault.points - 1:,} more)" if fault.points > 1 else ""
            at = f"; at {fault.example}{more}" if fault.example else ""
            document.fault(fault.path, f"{fault.message}{at}")
        if not kept and not self.faults:
            document.fault(("where",), "no point of the grid is left by `where`", "loosen it, or widen the axes")
        return points

    def _distinct(self, points: Points, later: Sequence[int]) -> Points:
        """The points but those that come again, which are counted."""
        again = set(later)
        self.shared = len(again)
        self.places = array("q", (at for k, at in enumerate(self.places) if k not in again))
        self.presets = [preset for k, preset in enumerate(self.presets) if k not in again]
        return points.without(later) if later else points

    @cached_property
    def _names(self) -> list[str]:
        return [name for axis in self.axes for name in axis.names]

    @cached_property
    def _entries(self) -> list[str]:
        """The names that are entries of vectors, those of base first."""
        return [name for name in dict.fromkeys([*self.base, *self._names]) if split(name)[1] is not None]

    @cached_property
    def _stems(self) -> list[str]:
        """The vectors that entries are put into."""
        return list(dict.fromkeys(map(_stem, self._entries)))

    @property
    def looked_up(self) -> set[str]:
        """The names that presets looked up so far: other parameters may follow from them."""
        return {name for memo in self._memos.values() for name in memo.used}

    def choice(self, place: int) -> dict[str, Any]:
        """The values of the axes at a place of the grid, the last axis fastest."""
        values: list[Any] = []
        for axis in reversed(self.axes):
            place, at = divmod(place, len(axis.values))
            values[:0] = axis.values[at]
        return dict(zip(self._names, values, strict=True))

    def _resolved(self, chosen: dict[str, Any], fast: FastPath) -> Mapping[str, Any] | bool | None:
        """The parameters of a point, False where `where` leaves it out, None where it has a fault."""
        try:
            defaults, changes, again = self._merged({**self.base, **chosen})
        except _EntryError as error:
            return self._note(self.paths[error.name], str(error), chosen, [split(error.name)[0]])
        except _INNER as error:
            reason = f"{type(error).__name__}: {error}" if isinstance(error, LookupError) else str(error)
            return self._note(("preset",), f"the preset cannot fill this in: {reason}", chosen, self.parameters.names)
        known = fast.values(defaults, changes) if again else None
        if known is not None:
            return known
        values = {**defaults, **changes}
        written = {**self.parameters.defaults, PRESET: self.preset, **values}
        try:
            if self.where is not None and not self.where.holds(written):
                return False
        except ExpressionError as error:
            return self._note(("where",), f"where: {error}", chosen)
        try:
            params = self.experiment.Params.model_validate({n: v for n, v in values.items() if n != PRESET})
        except ValidationError as error:
            for detail in error.errors():
                self._note_invalid(detail, chosen)
            return None
        if again:
            fast.learn(defaults, changes, written, params)
        return dict(params)

    def _merged(self, values: dict[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any], bool]:
        """The preset's defaults, the given values with entries put into their vectors, and whether the defaults come
        again as the same object.

        Raises:
            _EntryError: a vector does not have an entry that is set.
        """
        entries = [(name, values.pop(name)) for name in self._entries]
        if not all(stem in values for stem in self._stems):
            # The preset gives the vector, and is then called again, since it may depend on the completed vector.
            below = {**self.parameters.defaults, **self._defaults(values)[0], **values}
            values |= {stem: below.get(stem) for stem in self._stems}
        for name, value in entries:
            stem, index = split(name)
            vector = values[stem]
            assert index is not None
            if not isinstance(vector, list | tuple):
                raise _EntryError(name, f"{name!r} needs {stem} itself, under base or from the preset")
            if index >= len(vector):
                has = f"{stem} has {len(vector)} entries, counted from 0"
                raise _EntryError(name, f"{name!r} is out of range: {has}")
            values[stem] = (*vector[:index], value, *vector[index + 1 :])
        defaults, again = self._defaults(values)
        return defaults, values, again

    def _defaults(self, values: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
        """The defaults of the point's preset for the values that are set, and whether they come again; see `Memo`."""
        name = values.get(PRESET, self.preset) or ""
        if name not in self._memos:
            preset = self.experiment.presets.get(name)
            nothing: dict[str, Any] = {}
            ask = (lambda values: nothing) if preset is None else preset
            self._memos[name] = Memo(ask, frozenset(map(_stem, [*self._names, *self._entries])))
        return self._memos[name]({n: v for n, v in values.items() if n != PRESET} if PRESET in values else values)

    def _note_invalid(self, detail: Any, chosen: Mapping[str, Any]) -> None:
        message = plain_message(detail)
        words = [*(str(part) for part in detail["loc"][:1]), *re.findall(r"[A-Za-z_]\w*", message)]
        names = [word for word in words if word in self.parameters.names]
        path = next((self._path(name) for name in names if self._path(name)), None) or ("experiment",)
        if detail["type"] == "missing":
            message = f"parameter {names[0]!r} is not set by base, axes or preset"
        elif message.startswith("must be "):
            message = f"{dotted(detail['loc'])} {message}"
        self._note(path, message, chosen, names)

    def _path(self, name: str) -> Path | None:
        """Where a parameter, or an entry of it, is set: on an axis rather than in base, as that is what varies."""
        paths = [path for known, path in self.paths.items() if split(known)[0] == name]
        return max(paths, key=lambda path: path[0] == "axes", default=None)

    def _note(self, path: Path, message: str, chosen: Mapping[str, Any], names: Sequence[str] = ()) -> None:
        """Note a fault about these parameters at one point; faults that differ in numbers only are one."""
        if self.certain is None or self.certain.issuperset(names):
            pattern = re.sub(r"[-+]?\d[\d.eE+-]*", "#", message)
            fault = self.faults.setdefault((path, pattern), _GridFault(path, message, place_of(chosen)))
            fault.points += 1


@contextmanager
def _uncollected() -> Iterator[None]:
    """While inside, garbage is not collected: each search would go through millions of values."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


class _EntryError(ValueError):
    """An entry that its vector does not have."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def _stem(name: str) -> str:
    """The parameter of an entry of it."""
    return split(name)[0]


def place_of(chosen: Mapping[str, Any]) -> str:
    """The values of the axes at a point, as text."""
    return ", ".join(f"{name}={shown(value)}" for name, value in chosen.items())
