"""The parameters of a curve of the loss over one resource, and the checks on them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from swingby.model.params import Fault, Params

Model = Literal["multilinear", "linear"]
Bottleneck = Literal["time", "data", "width", "compute", "all"]

STREAM_VERSION = 1
"""Raised whenever the numbers of an existing cell change; part of a cell's id."""
MOST_SAMPLES = 10**8
"""The largest training set that is drawn."""


def _no_infinity(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        raise ValueError(f"{value} is no number of skills; allowed: a whole number, or null for infinitely many")
    return value


Skills = Annotated[int | None, BeforeValidator(_no_infinity)]


class ScalingParams(Params):
    """One curve L(x): the loss over one resource, all others unlimited or held ([T] 4.17)."""

    dtype: Literal["float32", "float64"] = Field("float64", description="arithmetic of the run; float64 alone")
    model: Model = Field(
        "multilinear",
        description="multilinear: strengths a_k b_k from R_k(0) = r0 ([T] 4.11); linear: strengths w_k from 0 (C.4)",
    )
    bottleneck: Bottleneck = Field(
        "time",
        description="the resource x. time: T; data: D samples; width: N basis functions; compute: C = T N, N = `width` "
        "or the best one; all: T, of a model of `width` basis functions on `data` samples",
    )
    alpha: float = Field(
        0.6, ge=0.05, le=3, title="alpha", description="skill k comes up with frequency A k^-(alpha + 1) ([T] 4.1)"
    )
    skills: Skills = Field(
        100_000, ge=1, le=10**15, title="number of skills", description="number of skills n_s; null: infinitely many"
    )
    s: float = Field(1.0, gt=0, le=1e3, title="target S", description="scale S of the target ([T] 4.4)")
    r0: float = Field(
        0.01, gt=0, title="start R(0)", description="strength of every skill at the start, below s (multilinear)"
    )
    lr: float = Field(
        1.0, gt=0, le=1e6, title="learning rate", description="learning rate eta, which times T is the time of the flow"
    )
    data: int | None = Field(
        None, ge=1, le=MOST_SAMPLES, title="samples D", description="training samples; null: no limit (all)"
    )
    width: int | None = Field(
        None,
        ge=1,
        le=10**15,
        title="width N",
        description="basis functions, those of the most frequent skills; null: no limit (all), the best (compute)",
    )
    drawn: bool = Field(
        True, description="draw a training set, to which samples are added along the curve; else the mean over sets"
    )
    largest: float = Field(
        1e6, gt=0, le=1e15, title="T, D, N or C at the end", description="the resource at the curve's end"
    )
    decades: float = Field(4.0, gt=0, le=15, description="powers of ten that the curve covers, up to `largest`")
    points: int = Field(100, ge=2, le=1000, description="values of the resource, spaced evenly in its logarithm")

    @property
    def smallest(self) -> float:
        """The resource at the curve's beginning."""
        return self.largest / 10**self.decades

    @property
    def sampled(self) -> int:
        """The largest number of samples that this curve draws; 0 if it draws none."""
        if self.bottleneck == "data":
            return round(self.largest) if self.drawn else 0
        return (self.data or 0) if self.bottleneck == "all" else 0

    def _faults(self) -> Iterator[Fault]:
        if self.dtype != "float64":
            yield "dtype", "the closed form is computed in float64; allowed: float64"
        if self.model == "multilinear" and self.bottleneck != "width" and self.r0 >= self.s:
            yield "r0", f"R(0) = {self.r0:g} does not lie below S; allowed: less than s = {self.s:g}"
        counted = self.bottleneck in ("data", "width")
        if counted and round(self.smallest) < 1:
            text = f"the curve begins at {self.smallest:.3g}; allowed over {self.bottleneck}: from 1 on"
            yield "decades", text
        if self.bottleneck == "data" and self.largest > MOST_SAMPLES:
            yield "largest", f"{self.largest:g} samples; allowed: at most {MOST_SAMPLES:g}"
        if self.skills is not None:
            if self.bottleneck == "width" and self.largest >= self.skills:
                text = f"a width of {self.largest:g} leaves no loss; allowed: less than skills = {self.skills}"
                yield "largest", text
            if self.bottleneck in ("compute", "all") and self.width is not None and self.width > self.skills:
                text = f"{self.width} basis functions; allowed: at most skills = {self.skills}"
                yield "width", text
