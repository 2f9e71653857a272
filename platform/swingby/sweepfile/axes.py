"""The axes of a grid: lists, linspace, logspace, range, and lists that advance together; counted, then written out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from swingby.model.registry import nearest
from swingby.sweepfile.axis_forms import FORMS, Linspace, Logspace, Range, written_out
from swingby.sweepfile.parameters import Parameters, split
from swingby.sweepfile.yaml import Lined, Path, dotted, shown

ALLOWED = "allowed: a list [1, 2], linspace or logspace ({from, to, points}), range ({from, to, step})"
ZIP = "such as axes: {zip: [{d: [2, 64], width: [4, 64]}]}"


@dataclass(frozen=True)
class Axis:
    """Values that one parameter takes, or that several take together.

    Attributes:
        names: the parameters: one, or several that advance together.
        values: a tuple a place on the axis, one entry a name.
    """

    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Column:
    """One parameter's values on an axis, counted but perhaps not yet written out."""

    name: str
    path: Path
    count: int
    write: Callable[[], list[Any]]

    def values(self, lined: Lined, parameters: Parameters) -> list[Any]:
        """The values as their parameter's type has them; faults are noted."""
        values = []
        for index, raw in enumerate(self.write()):
            value, problems = parameters.check(self.name, raw)
            values.append(value)
            for place, message, hint in problems:
                told = f"axis {self.name!r}: value {dotted((index + 1, *place))} {message}"
                lined.fault((*self.path, index, *place), told, hint)
        return values


@dataclass(frozen=True)
class Draft:
    """An axis that was read and counted, and is written out by `axis`."""

    path: Path
    columns: tuple[Column, ...]

    @property
    def count(self) -> int:
        """How many places it has at most: rounding may make some of them one."""
        return max(column.count for column in self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters of the axis."""
        return tuple(column.name for column in self.columns)

    def axis(self, lined: Lined, parameters: Parameters) -> Axis | None:
        """The axis with every value checked against its parameter's type, or None with the faults noted."""
        before = lined.count
        columns = [column.values(lined, parameters) for column in self.columns]
        lengths = dict(zip(self.names, (len(values) for values in columns), strict=True))
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            lined.fault(self.path, f"lists that advance together differ in length: {listed}", "allowed: equal lengths")
        if lined.count > before:
            return None
        axis = Axis(self.names, tuple(zip(*columns, strict=True)))
        self._twice(lined, axis)
        return axis if lined.count == before else None

    def _twice(self, lined: Lined, axis: Axis) -> None:
        first: dict[tuple[Any, ...], int] = {}
        for index, value in enumerate(axis.values):
            earlier = first.setdefault(value, index)
            if earlier != index:
                told = shown(value[0] if len(value) == 1 else value)
                message = (
                    f"axis {', '.join(axis.names)}: {told} is given twice, as values {earlier + 1} and {index + 1}"
                )
                lined.fault((*self.columns[0].path, index), message, "take one of them out")


def read_axes(lined: Lined, parameters: Parameters | None) -> list[Draft]:
    """Every axis under the key `axes`, counted but not written out; faults are noted.

    Without `parameters` (the experiment is not known) only the forms are checked.
    """
    axes = lined.value.get("axes")
    if axes is None:
        return []
    if not isinstance(axes, dict):
        wrong = f"axes must be a mapping of parameters to values, got {shown(axes)}"
        lined.fault(("axes",), wrong, "such as axes: {width: [2, 4, 8]}")
        return []
    drafts: list[Draft | None] = []
    for name, spec in axes.items():
        if name == "zip":
            drafts.extend(_zips(lined, spec, parameters))
        else:
            drafts.append(_draft(lined, ("axes",), {name: spec}, parameters))
    read = [draft for draft in drafts if draft is not None]
    _overlaps(lined, read)
    return read


def _zips(lined: Lined, spec: Any, parameters: Parameters | None) -> list[Draft | None]:
    path: Path = ("axes", "zip")
    if not isinstance(spec, list) or not spec or not all(isinstance(item, dict) and item for item in spec):
        lined.fault(path, "axes.zip must be a list of mappings", ZIP)
        return []
    return [_draft(lined, (*path, index), item, parameters) for index, item in enumerate(spec)]


def _draft(lined: Lined, path: Path, specs: dict[str, Any], parameters: Parameters | None) -> Draft | None:
    columns = [_column(lined, (*path, name), spec, parameters) for name, spec in specs.items()]
    whole = tuple(column for column in columns if column is not None)
    return Draft(path if len(specs) > 1 else (*path, *specs), whole) if len(whole) == len(columns) else None


def _column(lined: Lined, path: Path, spec: Any, parameters: Parameters | None) -> Column | None:
    name = str(path[-1])
    wrong = None if parameters is None else parameters.unknown(name)
    if wrong is not None:
        lined.fault(path, *wrong)
    if isinstance(spec, list):
        if not spec:
            lined.fault(path, f"axis {name!r} is empty", "give at least one value, or leave the axis out")
        return Column(name, path, len(spec), lambda: spec) if spec and not wrong else None
    form = _form(lined, path, spec)
    if form is None or wrong is not None:
        return None
    integer = parameters is not None and parameters.is_integer(name)
    return Column(name, path, form.count(), lambda: written_out(form, integer))


def _form(lined: Lined, path: Path, spec: Any) -> Linspace | Logspace | Range | None:
    name = str(path[-1])
    if not isinstance(spec, dict) or len(spec) != 1:
        one = f"; a single value belongs under base: {name}: {spec}" if isinstance(spec, str | int | float) else ""
        lined.fault(path, f"axis {name!r} cannot be {shown(spec)}{one}", ALLOWED)
        return None
    kind = next(iter(spec))
    inner = (*path, kind)
    if kind == "zip":
        lined.fault(inner, "zip stands under axes itself and names its parameters", ZIP)
        return None
    if kind not in FORMS:
        lined.fault(inner, f"unknown kind of axis {kind!r}", nearest(kind, list(FORMS)))
        return None
    form = lined.read(inner, spec[kind], FORMS[kind])
    wrong = None if form is None else form.wrong()
    if wrong is not None:
        lined.fault(inner, f"{dotted(inner)}: {wrong[0]}", wrong[1])
        return None
    return form


def _overlaps(lined: Lined, drafts: list[Draft]) -> None:
    """No parameter on two axes, and no vector beside an entry of it."""
    seen: list[Column] = []
    for column in (column for draft in drafts for column in draft.columns):
        for other in seen:
            whole = column.name == split(other.name)[0] or other.name == split(column.name)[0]
            if whole or column.name == other.name:
                lined.fault(column.path, f"{column.name!r} is on two axes", f"also set by {dotted(other.path)}")
        seen.append(column)
