"""Parameters of unconstrained features: min |W H - Y|^2/(2N) + l_W |W|^2/2 + l_H |H|^2/2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from pydantic import Field

from swingby.model.params import Fault, UntypedParams

DIVERGED_AT = 1e6
"""A residual |W H - Y| beyond this many max(|Y|, its own start), or one that is not finite, has diverged."""


class UnconstrainedParams(UntypedParams):
    """One point of a grid; the defaults are four classes of 100 points whose features collapse from a small start."""

    dtype: Literal["float64"] = Field("float64", description="arithmetic of the run")
    drive: Literal["flow", "gd"] = Field("flow", description="flow: gradient flow, integrated; gd: full-batch descent")
    classes: int = Field(4, ge=2, le=64, title="classes", description="number C of classes")
    points_per_class: int = Field(
        100, ge=1, le=1_000_000, title="points of a class", description="m; of the largest class, if they differ"
    )
    imbalance: float = Field(
        1.0, ge=1, le=1e6, description="points of the largest class over those of the smallest; geometric in between"
    )
    width: int = Field(16, ge=1, le=256, title="width", description="number p of features")
    decay_w: float = Field(0.005, ge=0, le=1e3, title="weight decay", description="l_W")
    decay_h: float | None = Field(None, ge=0, le=1e3, title="weight decay of H", description="l_H; null: that of W")

    init: Literal["normal", "aligned"] = Field(
        "normal",
        description="normal: all entries normal; aligned: every class has a direction of W and H of its own, and its "
        "points are alike",
    )
    start: float = Field(
        0.1,
        gt=0,
        le=1e3,
        title="size of the start",
        description="size of W and H at the start, over their size where W H = Y is fitted by W and H of equal size",
    )

    lr: float = Field(0.05, gt=0, title="learning rate", description="learning rate, and flow time in a step")
    lr_unit: Literal["absolute", "growth"] = Field(
        "growth", description="unit of lr: 1; growth: N / sqrt(m), in which a small start grows by e without decay"
    )
    momentum: float = Field(
        0.0, ge=0, lt=1, description="gd: momentum; a step is then lr / (1 - momentum) of flow time"
    )
    training_steps: int = Field(2000, ge=1, le=10_000_000, description="steps")

    @property
    def decays(self) -> tuple[float, float]:
        """The weight decays l_W and l_H."""
        return self.decay_w, self.decay_w if self.decay_h is None else self.decay_h

    @property
    def sizes(self) -> np.ndarray:
        """Points m_c of each class, (C,), largest first: m imbalance^(-c/(C - 1)), rounded."""
        powers = np.arange(self.classes) / (self.classes - 1)
        return np.rint(self.points_per_class * self.imbalance**-powers)

    @property
    def total(self) -> int:
        """Number N of points."""
        return int(self.sizes.sum())

    @property
    def spread(self) -> int:
        """Directions r of the space of points in which classes spread: min(p, N - C)."""
        return min(self.width, self.total - self.classes)

    @property
    def time_per_step(self) -> float:
        """Flow time in a step."""
        unit = self.total / float(self.points_per_class) ** 0.5 if self.lr_unit == "growth" else 1.0
        return self.lr * unit / (1 - self.momentum if self.drive == "gd" else 1)

    def _faults(self) -> Iterator[Fault]:
        if self.init == "aligned" and self.width < self.classes:
            text = f"init aligned needs a direction for each class, and width = {self.width} is below "
            yield "width", text + f"classes = {self.classes}; allowed: width >= classes, or init normal"
        if self.sizes[-1] < 1:
            text = f"imbalance = {self.imbalance:g} leaves the smallest class without a point; allowed: up to "
            yield "imbalance", text + f"2 x points_per_class = {2 * self.points_per_class}"
