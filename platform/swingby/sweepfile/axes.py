"""The axes of a grid: lists, linspace, logspace and range, exact in decimal arithmetic; counted, then written out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from swingby.model.registry import nearest
from swingby.sweepfile.elsewhere import hint_of, seeds_hint
from swingby.sweepfile.parameters import Parameters, split
from swingby.sweepfile.yaml import Document, Path, dotted, shown

ALLOWED = "allowed: a list [1, 2], linspace or logspace ({from, to, points}), range ({from, to, step})"
ZIP = "such as axes: {zip: [{d: [2, 64], width: [4, 64]}]}"
_PRECISE = Context(prec=40)


class _Ends(BaseModel):
    """The two ends of an axis, both included, as the decimal fractions that were written."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
    first: float = Field(alias="from")
    last: float = Field(alias="to")

    @cached_property
    def ends(self) -> tuple[Fraction, Fraction]:
        return Fraction(repr(self.first)), Fraction(repr(self.last))

    def count(self) -> int:
        """How many values there are."""
        raise NotImplementedError

    def values(self) -> list[Fraction]:
        """The values as exact fractions."""
        raise NotImplementedError

    def wrong(self) -> tuple[str, str] | None:
        """The fault of these numbers, and a hint; None for none."""
        return None if self.first != self.last else ("both ends are the same", "write a list of one value")


class _Points(_Ends):
    points: int = Field(ge=2)

    def count(self) -> int:
        return self.points


class Linspace(_Points):
    """Evenly spaced values."""

    def values(self) -> list[Fraction]:
        first, last = self.ends
        return [first + (last - first) * Fraction(index, self.points - 1) for index in range(self.points)]


class Logspace(_Points):
    """Values with even ratios: the ends exact, others to 40 digits, so that 1 to 1000 in 4 points has 10 and 100."""

    def values(self) -> list[Fraction]:
        first, last = (Decimal(repr(end)) for end in (self.first, self.last))
        log, gaps = _PRECISE.ln(_PRECISE.divide(last, first)), Decimal(self.points - 1)
        factors = (_PRECISE.exp(_PRECISE.divide(_PRECISE.multiply(log, k), gaps)) for k in range(1, self.points - 1))
        inner = (Fraction(float(_PRECISE.multiply(first, factor))) for factor in factors)
        return [self.ends[0], *inner, self.ends[1]]

    def wrong(self) -> tuple[str, str] | None:
        if self.first <= 0 or self.last <= 0:
            return "a logarithmic axis needs both ends above 0", "use linspace or a list"
        return super().wrong()


class Range(_Ends):
    """Values a step apart, both ends included."""

    step: float

    def count(self) -> int:
        first, last = self.ends
        return int((last - first) / Fraction(repr(self.step))) + 1

    def values(self) -> list[Fraction]:
        first, step = self.ends[0], Fraction(repr(self.step))
        return [first + index * step for index in range(self.count())]

    def wrong(self) -> tuple[str, str] | None:
        first, last = self.ends
        step = Fraction(repr(self.step))
        if step == 0 or (last - first) / step < 0:
            return f"step {self.step} never leads from {self.first} to {self.last}", "allowed: a step toward the end"
        if (last - first) % step == 0:
            return None
        below = first + (last - first) // step * step
        reached = f"{float(below):.12g} or {float(below + step):.12g}"
        return f"step {self.step} passes the end {self.last} by", f"both ends belong to the axis: end it at {reached}"


FORMS: dict[str, type[_Ends]] = {"linspace": Linspace, "logspace": Logspace, "range": Range}


def written_out(form: _Ends, integer: bool) -> list[int | float]:
    """The values as floats; for an integer parameter as integers, those of `logspace` rounded, duplicates dropped."""
    values = form.values()
    if not integer:
        return [float(value) for value in values]
    if isinstance(form, Logspace):
        return list(dict.fromkeys(round(value) for value in values))
    return [int(value) if value.denominator == 1 else float(value) for value in values]


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
    """One parameter's values on an axis, counted and not yet written out."""

    name: str
    path: Path
    count: int
    write: Callable[[], list[Any]]

    def values(self, document: Document, parameters: Parameters) -> list[Any]:
        """The values in their parameter's type; faults are noted."""
        values = []
        for index, raw in enumerate(self.write()):
            value, problems = parameters.check(self.name, raw)
            values.append(value)
            for place, message, hint in problems:
                fault = f"axis {self.name!r}: value {dotted((index + 1, *place))} {message}"
                document.fault((*self.path, index, *place), fault, hint)
        return values


@dataclass(frozen=True)
class Draft:
    """An axis that was read and counted, and is written out by `axis`."""

    path: Path
    columns: tuple[Column, ...]

    @property
    def count(self) -> int:
        """How many places it has at most: rounding may make two values one."""
        return max(column.count for column in self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters of the axis."""
        return tuple(column.name for column in self.columns)

    def axis(self, document: Document, parameters: Parameters) -> Axis | None:
        """The axis with every value checked against its parameter's type, or None with the faults noted."""
        faults = document.count
        columns = [column.values(document, parameters) for column in self.columns]
        lengths = dict(zip(self.names, (len(values) for values in columns), strict=True))
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            document.fault(
                self.path, f"lists that advance together differ in length: {listed}", "allowed: equal lengths"
            )
        if document.count > faults:
            return None
        axis = Axis(self.names, tuple(zip(*columns, strict=True)))
        first: dict[Any, int] = {}
        for index, value in enumerate(axis.values):
            earlier = first.setdefault(rounded(value), index)
            if earlier != index:
                before, now = (levels[0] if len(levels) == 1 else levels for levels in (axis.values[earlier], value))
                what = "is given twice" if before == now else f"and {before!r} differ in their last bits alone"
                text = f"axis {', '.join(axis.names)}: {shown(now)} {what}"
                message = f"{text}, as values {earlier + 1} and {index + 1}"
                document.fault((*self.columns[0].path, index), message, "take one of them out")
        return axis if document.count == faults else None


def rounded(value: Any) -> Any:
    """A value, or values in tuples, in which numbers that differ in their last bits alone are one."""
    if isinstance(value, tuple):
        return tuple(map(rounded, value))
    return float(f"{value:.14g}") if isinstance(value, float) else value


def read_axes(document: Document, parameters: Parameters | None) -> list[Draft]:
    """Every axis under the key `axes`, counted but not written out; faults are noted.

    Without `parameters` (the experiment is not known) only the forms are checked.
    """
    axes = document.value.get("axes")
    if axes is None:
        return []
    if not isinstance(axes, dict):
        wrong = f"axes must be a mapping of parameters to values, got {shown(axes)}"
        document.fault(("axes",), wrong, "such as axes: {width: [2, 4, 8]}")
        return []
    drafts: list[Draft | None] = []
    for name, spec in axes.items():
        if name != "zip":
            drafts.append(_draft(document, ("axes",), {name: spec}, parameters))
        elif not isinstance(spec, list) or not spec or not all(isinstance(item, dict) and item for item in spec):
            document.fault(("axes", "zip"), "axes.zip must be a list of mappings", ZIP)
        else:
            drafts += [_draft(document, ("axes", "zip", k), item, parameters) for k, item in enumerate(spec)]
    read = [draft for draft in drafts if draft is not None]
    seen: list[Column] = []
    for column in (column for draft in read for column in draft.columns):
        for other in seen:
            whole = column.name == split(other.name)[0] or other.name == split(column.name)[0]
            if whole or column.name == other.name:
                document.fault(column.path, f"{column.name!r} is on two axes", f"also set by {dotted(other.path)}")
        seen.append(column)
    return read


def _draft(document: Document, path: Path, specs: dict[str, Any], parameters: Parameters | None) -> Draft | None:
    columns = [_column(document, (*path, name), spec, parameters) for name, spec in specs.items()]
    whole = tuple(column for column in columns if column is not None)
    return Draft(path if len(specs) > 1 else (*path, *specs), whole) if len(whole) == len(columns) else None


def _column(document: Document, path: Path, spec: Any, parameters: Parameters | None) -> Column | None:
    name = str(path[-1])
    wrong = None if parameters is None else parameters.unknown(name)
    seeds = None if wrong is None else seeds_hint(name, spec)
    if wrong is not None:
        document.fault(path, wrong[0], seeds or wrong[1])
    if seeds is not None:
        return None
    if isinstance(spec, list):
        if not spec:
            document.fault(path, f"axis {name!r} is empty", "give at least one value, or leave the axis out")
        return Column(name, path, len(spec), lambda: spec) if spec and not wrong else None
    form = _form(document, path, spec)
    if form is None or wrong is not None:
        return None
    integer = parameters is not None and parameters.is_integer(name)
    return Column(name, path, form.count(), lambda: written_out(form, integer))


def _form(document: Document, path: Path, spec: Any) -> _Ends | None:
    name = str(path[-1])
    other = hint_of(name, spec)
    if other is not None:
        document.fault(path, f"axis {name!r} is written as for another tool: {shown(spec)}", other)
        return None
    if not isinstance(spec, dict) or len(spec) != 1:
        one = f"; a single value belongs under base: {name}: {spec}" if isinstance(spec, str | int | float) else ""
        document.fault(path, f"axis {name!r} cannot be {shown(spec)}{one}", ALLOWED)
        return None
    kind = next(iter(spec))
    inner = (*path, kind)
    if kind == "zip":
        document.fault(inner, "zip stands under axes itself and names its parameters", ZIP)
        return None
    if kind not in FORMS:
        document.fault(inner, f"unknown kind of axis {kind!r}", nearest(kind, list(FORMS)))
        return None
    form = document.read(inner, spec[kind], FORMS[kind])
    wrong = None if form is None else form.wrong()
    if wrong is not None:
        document.fault(inner, f"{dotted(inner)}: {wrong[0]}", wrong[1])
        return None
    return form
