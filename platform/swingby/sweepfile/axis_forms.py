"""The short ways to write the values of an axis: linspace, logspace and range, exact in decimal arithmetic."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property

from pydantic import BaseModel, ConfigDict, Field

_PRECISE = Context(prec=40)


class _Ends(BaseModel):
    """Both ends belong to the axis; they are taken as the decimal fractions that were written."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
    first: float = Field(alias="from")
    last: float = Field(alias="to")

    @cached_property
    def ends(self) -> tuple[Fraction, Fraction]:
        return Fraction(repr(self.first)), Fraction(repr(self.last))

    def same(self) -> tuple[str, str] | None:
        return None if self.first != self.last else ("both ends are the same", "write a list of one value")


class Linspace(_Ends):
    """Evenly spaced values."""

    points: int = Field(ge=2)

    def count(self) -> int:
        """How many values, without writing them out."""
        return self.points

    def values(self) -> list[Fraction]:
        """The values, exact."""
        first, last = self.ends
        return [first + (last - first) * Fraction(index, self.points - 1) for index in range(self.points)]

    def wrong(self) -> tuple[str, str] | None:
        """What makes no sense, and what is allowed."""
        return self.same()


class Logspace(_Ends):
    """Values with even ratios."""

    points: int = Field(ge=2)

    def count(self) -> int:
        """How many values, without writing them out."""
        return self.points

    def values(self) -> list[Fraction]:
        """The values: the ends exact, the others to 40 digits: 1 to 1000 in 4 has 10 and 100 in it."""
        first, last = (Decimal(repr(end)) for end in (self.first, self.last))
        log, gaps = _PRECISE.ln(_PRECISE.divide(last, first)), Decimal(self.points - 1)
        factors = (_PRECISE.exp(_PRECISE.divide(_PRECISE.multiply(log, k), gaps)) for k in range(1, self.points - 1))
        inner = (Fraction(float(_PRECISE.multiply(first, factor))) for factor in factors)
        return [self.ends[0], *inner, self.ends[1]]

    def wrong(self) -> tuple[str, str] | None:
        """What makes no sense, and what is allowed."""
        if self.first <= 0 or self.last <= 0:
            return "a logarithmic axis needs both ends above 0", "use linspace or a list"
        return self.same()


class Range(_Ends):
    """Values a step apart, both ends included."""

    step: float

    def count(self) -> int:
        """How many values, without writing them out."""
        first, last = self.ends
        return int((last - first) / Fraction(repr(self.step))) + 1

    def values(self) -> list[Fraction]:
        """The values, exact."""
        first, step = self.ends[0], Fraction(repr(self.step))
        return [first + index * step for index in range(self.count())]

    def wrong(self) -> tuple[str, str] | None:
        """What makes no sense, and what is allowed."""
        first, last = self.ends
        step = Fraction(repr(self.step))
        if step == 0 or (last - first) / step < 0:
            return f"step {self.step} never leads from {self.first} to {self.last}", "allowed: a step toward the end"
        if (last - first) % step == 0:
            return None
        below = first + (last - first) // step * step
        reached = f"{float(below):.12g} or {float(below + step):.12g}"
        return f"step {self.step} passes the end {self.last} by", f"both ends belong to the axis: end it at {reached}"


FORMS: dict[str, type[Linspace] | type[Logspace] | type[Range]] = {
    "linspace": Linspace,
    "logspace": Logspace,
    "range": Range,
}


def written_out(form: Linspace | Logspace | Range, integer: bool) -> list[int | float]:
    """The values as floats; for an integer parameter as integers, those of `logspace` rounded, duplicates dropped."""
    values = form.values()
    if not integer:
        return [float(value) for value in values]
    if isinstance(form, Logspace):
        return list(dict.fromkeys(round(value) for value in values))
    return [int(value) if value.denominator == 1 else float(value) for value in values]
