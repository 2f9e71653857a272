"""The parameters of `modes` and of `linear_net`, and the checks on them. [T] is the thesis (`__init__`)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

import numpy as np
from pydantic import Field

from swingby.model.params import Fault, UntypedParams, Vector

Array = np.ndarray
Drive = Literal["closed_form", "flow", "gd"]

STREAM_VERSION = 1
"""Raised whenever the numbers of an existing cell change; part of a cell's id."""
SMALLEST = 1e-290
"""The least product of a mode's weights at the start, with two layers or more: below, its closed forms underflow."""
DIVERGED_AT = 1e6
"""A value beyond this many times its scale is a divergence."""


class LayerwiseParams(UntypedParams):
    """What both experiments share: how time passes."""

    drive: Drive = Field(
        "closed_form", description="closed_form: exact in time; flow: the gradient flow, integrated; gd: in steps of lr"
    )
    lr: float = Field(
        0.05, gt=0, title="learning rate", description="learning rate; of closed_form and flow: the time of one step"
    )
    training_steps: int = Field(1000, ge=1, le=10_000_000, description="steps; the time of the run is this x lr")
    rtol: float = Field(1e-9, gt=0, le=1e-3, description="flow: relative error allowed in one adaptive step")
    dtype: Literal["float64"] = Field("float64", description="arithmetic of the run")

    @property
    def time(self) -> float:
        """Time of the gradient flow in the whole run."""
        return self.training_steps * self.lr


class ModesParams(LayerwiseParams):
    """Modes that learn by themselves: u_i = product of the weights w_1 .. w_L of mode i, target S ([T] 3.3, 3.4)."""

    system: Literal["diagonal", "parity3", "parity3_printed"] = Field(
        "diagonal",
        description="diagonal: w_l' = E_i (S - u_i) u_i / w_l; parity3: the gradient flow of the net (C.9) of [T] C.4, "
        "whose modes are alpha^2, beta^2, gamma^2; parity3_printed: (C.15-18) as printed, which are not its gradient",
    )
    layers: int = Field(2, ge=1, le=10, title="number of layers", description="weights of each mode; 1: linear model")
    modes: int = Field(5, ge=1, le=200, title="number of modes", description="modes of the diagonal net")
    alpha: float = Field(
        0.6, gt=-1, le=10, title="exponent alpha", description="second moments E_i = i^-(alpha + 1) / sum, i from 1"
    )
    second_moments: Vector | None = Field(
        None, title="second moment of input {}", description="E_i = E[x_i^2] of each mode, in place of alpha"
    )
    target: float = Field(1.0, gt=0, title="target", description="target scale S of every mode")
    start: float = Field(
        1e-2, ge=0, title="start of the weights", description="every weight at the start, before imbalance and spread"
    )
    imbalance: float = Field(
        0.0,
        ge=0,
        title="imbalance of the layers",
        description="w_L^2 - w_1^2 at the start, which the flow conserves: w_L = sqrt(start^2 + imbalance)",
    )
    spread: float = Field(
        0.0,
        ge=0,
        le=3,
        title="spread of the start",
        description="each weight starts at its value x exp(spread x N(0, 1)), drawn anew for each seed",
    )

    def _faults(self) -> Iterator[Fault]:
        if self.system != "diagonal":
            if self.drive == "closed_form":
                yield "drive", f"drive closed_form is not for system {self.system}; allowed: flow, gd"
            if self.start == 0:
                yield "start", "start = 0 is a saddle, which no weight leaves; allowed: more than 0"
            return
        if self.second_moments is not None:
            if len(self.second_moments) != self.modes:
                message = f"second_moments has {len(self.second_moments)} entries; allowed: modes = {self.modes}"
                yield "second_moments", message
            for index, value in enumerate(self.second_moments):
                if value <= 0:
                    yield f"second_moments.{index}", f"second_moments.{index} = {value!r}; allowed: more than 0"
        if self.layers > 1 and self.start == 0:
            yield "start", "start = 0 is a saddle with two layers or more; allowed: more than 0 (0 with layers: 1)"
        elif self.layers > 1 and self.start < SMALLEST ** (1 / self.layers):
            message = f"start = {self.start:g}: start^layers is lost to rounding; "
            yield "start", message + f"allowed: {SMALLEST ** (1 / self.layers):.3g} or more with layers: {self.layers}"
        if self.start**self.layers >= self.target:
            message = f"start^layers = {self.start**self.layers:g} is not below target = {self.target:g}; "
            yield "start", message + f"allowed: below {self.target ** (1 / self.layers):g}"
        if self.layers == 1 and self.imbalance:
            yield "imbalance", f"imbalance = {self.imbalance:g} with layers: 1; allowed: 0"
        if self.layers > 2 and self.drive == "closed_form" and (self.imbalance or self.spread):
            message = f"drive closed_form with layers = {self.layers} is for equal weights (imbalance: 0, spread: 0); "
            yield "drive", message + "allowed: flow, gd"

    @property
    def count(self) -> int:
        """Number of modes."""
        return self.modes if self.system == "diagonal" else 3

    @property
    def moments(self) -> Array:
        """E_i of the diagonal net, shape (modes,)."""
        if self.second_moments is not None:
            return np.array(self.second_moments)
        powers = np.arange(1.0, self.modes + 1) ** -(self.alpha + 1)
        return powers / powers.sum()


class LinearNetParams(LayerwiseParams):
    """A linear net f(x) = x^T W_1 W_2 with W_1 (d, width) and W_2 (width, c) ([T] 3.5, A.2)."""

    # Of the usual start, normal weights, there is no closed form.
    drive: Drive = Field(
        "flow", description="closed_form: exact in time; flow: the gradient flow, integrated; gd: in steps of lr"
    )
    d: int = Field(8, ge=1, le=256, title="number of inputs", description="inputs")
    width: int = Field(20, ge=1, le=1024, title="hidden width", description="hidden units p")
    c: int = Field(3, ge=1, le=256, title="number of outputs", description="outputs")
    rho: Vector = Field(
        (3.0, 2.0, 1.0),
        title="correlation {}",
        description="singular values of the correlation E[x f*(x)^T], falling; at most min(d, c), the others are 0; "
        "its singular vectors are random",
    )
    input_spectrum: float = Field(
        1.0,
        gt=0,
        le=1,
        title="least second moment of the inputs",
        description="least second moment of the inputs; the largest is 1, between them they fall evenly in the "
        "logarithm; 1: white inputs",
    )
    init: Literal["normal", "balanced", "lambda"] = Field(
        "normal",
        description="normal: independent, of sd sigma; balanced: W_1 = U D R^T, W_2 = R D V^T with random orthonormal "
        "columns and D = sigma |N(0, 1)|; lambda: the same, with the larger D so that W_2 W_2^T - W_1^T W_1 = "
        "imbalance x I",
    )
    sigma: float = Field(1e-3, ge=1e-6, le=1, title="scale of the start", description="scale of the initial weights")
    imbalance: float = Field(
        0.0, title="imbalance of the layers", description="init lambda: W_2 W_2^T - W_1^T W_1 = imbalance x I"
    )

    def _faults(self) -> Iterator[Fault]:
        most = min(self.d, self.c)
        if not 1 <= len(self.rho) <= most:
            yield "rho", f"rho has {len(self.rho)} entries; allowed: 1 to min(d, c) = {most}"
        for index, value in enumerate(self.rho):
            if value <= 0:
                yield f"rho.{index}", f"rho.{index} = {value!r}; allowed: more than 0 (leave out those that are 0)"
        if any(later > former for former, later in pairwise(self.rho)):
            yield "rho", f"rho = {list(self.rho)} rises; allowed: falling or equal entries"
        if self.init == "lambda" and not self.d == self.width == self.c:
            message = f"init lambda with d = {self.d}, width = {self.width}, c = {self.c}; allowed: three equal sizes"
            yield "init", message
        if self.drive == "closed_form" and (self.init == "normal" or self.input_spectrum != 1):
            message = f"drive closed_form with init {self.init} and input_spectrum = {self.input_spectrum:g}; allowed: "
            yield "drive", message + "init balanced or lambda on white inputs (input_spectrum: 1); else flow, gd"

    @property
    def input_moments(self) -> Array:
        """Second moments of the inputs, which are independent: shape (d,)."""
        return np.geomspace(1.0, self.input_spectrum, self.d) if self.input_spectrum != 1 else np.ones(self.d)
