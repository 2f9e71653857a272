"""The points of a grid: preset, base and axes resolved into parameters, filtered by `where`, checked one by one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from swingby.cells import Point, SeedMode
from swingby.errors import SwingbyError
from swingby.experiment import Experiment, Params
from swingby.sweepfile.axes import Axis
from swingby.sweepfile.expression import Expression, ExpressionError
from swingby.sweepfile.parameters import PRESET, Parameters, split
from swingby.sweepfile.yaml_lines import Lined, Path, dotted, plain_message, shown

_INNER = (SwingbyError, ValueError, TypeError, LookupError, ArithmeticError)


@dataclass
class _Told:
    """One distinct fault of the grid, the first point that shows it, and how many do."""

    path: Path
    message: str
    example: str
    points: int = 0


@dataclass
class Grid:
    """What is needed to write out the points of a sweep.

    Attributes:
        experiment: the experiment whose parameters they are.
        preset: the bundle of defaults of all points; None where an axis says which, or there is none.
        base: values every point has, as their parameters' types have them.
        axes: what varies; the last axis fastest.
        paths: for each name that is set, where in the sweep file.
        parameters: what may be set of the experiment.
        certain: where other parts of the file have faults: the parameters that have none, and are set; only faults
            that speak of no other are told.
        told: the faults found so far.
        presets: of each point that was left, its bundle of defaults.
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
    told: dict[tuple[Path, str], _Told] = field(default_factory=dict)
    presets: list[str | None] = field(default_factory=list)

    def points(self, lined: Lined) -> tuple[Point, ...]:
        """Every point for which `where` holds; faults are noted once each, with the first point that shows them."""
        first: dict[str, dict[str, Any]] = {}
        points: list[Point] = []
        kept = False
        for chosen in self._choices():
            params = self._resolved(chosen)
            kept = kept or params is not False
            if not isinstance(params, Params):
                continue
            point = Point(self.experiment.name, self.experiment.stream_version, params, self.seed_mode)
            twin = first.setdefault(point.point_id, chosen)
            if twin is not chosen:
                self._tell(("axes",), f"this point is the same, once resolved, as {_place(twin)}", chosen)
            points.append(point)
            self.presets.append(chosen.get(PRESET, self.preset))
        for told in self.told.values():
            more = f" (and at {told.points - 1:,} more)" if told.points > 1 else ""
            place = f"; at {told.example}{more}" if told.example else ""
            lined.fault(told.path, f"{told.message}{place}")
        if not kept and not self.told:
            lined.fault(("where",), "no point of the grid is left by `where`", "loosen it, or widen the axes")
        return tuple(points)

    def _choices(self) -> Iterator[dict[str, Any]]:
        names = [name for axis in self.axes for name in axis.names]
        for values in itertools.product(*(axis.values for axis in self.axes)):
            yield dict(zip(names, itertools.chain.from_iterable(values), strict=True))

    def _resolved(self, chosen: dict[str, Any]) -> Params | bool | None:
        """The parameters of a point, False where `where` leaves it out, None where it has a fault."""
        try:
            values = self._merged({**self.base, **chosen})
        except _EntryError as error:
            return self._tell(self.paths[error.name], str(error), chosen, [split(error.name)[0]])
        except _INNER as error:
            reason = f"the preset cannot fill this in: {_reason(error)}"
            return self._tell(("preset",), reason, chosen, self.parameters.names)
        try:
            if self.where is not None and not self.where.holds(
                {**self.parameters.defaults, PRESET: self.preset, **values}
            ):
                return False
        except ExpressionError as error:
            return self._tell(("where",), f"where: {error}", chosen)
        try:
            return self.experiment.Params.model_validate({n: v for n, v in values.items() if n != PRESET})
        except ValidationError as error:
            for detail in error.errors():
                self._tell_invalid(detail, chosen)
            return None

    def _merged(self, given: dict[str, Any]) -> dict[str, Any]:
        """Preset defaults below the values given; entries of vectors put into the vector they belong to."""
        values = {name: value for name, value in given.items() if "." not in name}
        entries = {name: value for name, value in given.items() if "." in name}
        if all(split(name)[0] in values for name in entries):
            values = _placed(values, entries, values)
            return {**self._defaults(values), **values}
        # The preset gives the vector; then it is asked again, as it may look at the vector that was just completed.
        below = {**self.parameters.defaults, **self._defaults(values), **values}
        values = _placed(values, entries, below)
        return {**self._defaults(values), **values}

    def _defaults(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the point's preset gives for all parameters, from the values that are set."""
        preset = self.experiment.presets.get(values.get(PRESET, self.preset) or "")
        return {} if preset is None else preset({name: value for name, value in values.items() if name != PRESET})

    def _tell_invalid(self, detail: Any, chosen: Mapping[str, Any]) -> None:
        message = plain_message(detail)
        words = [*(str(part) for part in detail["loc"][:1]), *re.findall(r"[A-Za-z_]\w*", message)]
        names = [word for word in words if word in self.parameters.names]
        path = next((self._path(name) for name in names if self._path(name)), None) or ("experiment",)
        if detail["type"] == "missing":
            message = f"parameter {names[0]!r} is not set by base, axes or preset"
        elif message.startswith("must be "):
            message = f"{dotted(detail['loc'])} {message}"
        self._tell(path, message, chosen, names)

    def _path(self, name: str) -> Path | None:
        """Where a parameter, or an entry of it, is set: on an axis rather than in base, as that is what varies."""
        paths = [path for known, path in self.paths.items() if split(known)[0] == name]
        return max(paths, key=lambda path: path[0] == "axes", default=None)

    def _tell(self, path: Path, message: str, chosen: Mapping[str, Any], names: Sequence[str] = ()) -> None:
        """Note a fault that speaks of these parameters."""
        if self.certain is None or self.certain.issuperset(names):
            told = self.told.setdefault((path, _pattern(message)), _Told(path, message, _place(chosen)))
            told.points += 1


class _EntryError(ValueError):
    """An entry that its vector does not have."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def _placed(values: Mapping[str, Any], entries: Mapping[str, Any], below: Mapping[str, Any]) -> dict[str, Any]:
    """The values with each entry put into its vector, which is taken from `below`."""
    placed, below = dict(values), dict(below)
    for name, value in entries.items():
        parameter, entry = split(name)
        placed[parameter] = below[parameter] = _replaced(name, below.get(parameter), value, entry or 0)
    return placed


def _replaced(name: str, vector: Any, value: Any, entry: int) -> tuple[Any, ...]:
    parameter = split(name)[0]
    if not isinstance(vector, list | tuple):
        raise _EntryError(name, f"{name!r} needs {parameter} itself, under base or from the preset")
    if entry >= len(vector):
        has = f"{parameter} has {len(vector)} entries, counted from 0"
        raise _EntryError(name, f"{name!r} is out of range: {has}")
    return (*vector[:entry], value, *vector[entry + 1 :])


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if isinstance(error, LookupError) else str(error)


def _pattern(message: str) -> str:
    """A message without its numbers: the same fault at many points is one fault."""
    return re.sub(r"[-+]?\d[\d.eE+-]*", "#", message)


def _place(chosen: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={shown(value)}" for name, value in chosen.items())
