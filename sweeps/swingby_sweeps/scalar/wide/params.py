"""Parameters of a wide scalar net, f = (x/Z) sum_j a_j b_j, that learns f* = S x ([T] 6.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from swingby.model.params import Fault, UntypedParams

DIVERGED_AT = 1e6
"""An output coefficient theta beyond this many max(|S|, |S_0|, Sigma_0), or one that is not finite, has diverged."""


class WideParams(UntypedParams):
    """One point of a grid; the defaults are [T] 6.2's net with Z = 1, whose target is as large as its start."""

    dtype: Literal["float64"] = Field("float64", description="arithmetic of the run")
    drive: Literal["closed_form", "flow", "gd"] = Field(
        "closed_form",
        description="closed_form: Theorem 1; flow: the differential equations of the sums of modes, integrated; gd: "
        "full-batch descent, by its exact map of two numbers",
    )
    width: int = Field(100, ge=1, le=1_000_000, title="width", description="number p of pairs a_j, b_j")
    divisor: float = Field(1.0, gt=0, description="Z = divisor x width^divisor_power")
    divisor_power: float = Field(
        0.0, ge=-2, le=4, title="power z of Z = p^z", description="power z of the width in Z; 1/2 is the NTK's"
    )
    target: float = Field(1.0, title="target S", description="S, of either sign")
    second_moment: float = Field(1.0, gt=0, description="E = E[x^2]")
    loss_factor: float = Field(
        1.0, gt=0, description="c of the loss c/2 E (theta - S)^2; with 2 all runs twice as fast"
    )

    init: Literal["normal", "signs", "pairs"] = Field(
        "normal",
        description="normal: a_j and b_j normal; signs: +-sd_a and +-sd_b, each sign a fair coin; pairs: all pairs "
        "alike, with Sigma_0 = start_size and S_0 = start_alignment x start_size",
    )
    sd_a: float = Field(1.0, ge=0, le=1e6, title="size of the initial weights", description="size of a_j(0)")
    sd_b: float = Field(1.0, ge=0, le=1e6, description="size of b_j(0)")
    mirrored: bool = Field(
        False, description="normal, signs: every second pair is (a, -b) of the one before it, so that S_0 = 0"
    )
    start_size: float = Field(1.0, gt=0, title="Sigma_0", description="pairs: Sigma_0 of (6.13)")
    start_alignment: float = Field(
        0.0, ge=-1, le=1, title="S_0 / Sigma_0", description="pairs: S_0/Sigma_0 of (6.13), from -1 to 1"
    )

    lr: float = Field(0.1, gt=0, title="learning rate", description="learning rate, and flow time in a step")
    lr_unit: Literal["absolute", "start", "end"] = Field(
        "absolute",
        description="unit of lr: 1; start: 1 over c E K_0; end: 1 over c E K_inf, the kernel at the end of the flow",
    )
    training_steps: int = Field(400, ge=1, le=10_000_000, description="steps; the flow time of the run is this x lr")

    @property
    def normaliser(self) -> float:
        """Z, by which the output of the net is divided."""
        return self.divisor * float(self.width) ** self.divisor_power

    def _faults(self) -> Iterator[Fault]:
        if self.init != "pairs" and self.sd_a == 0 == self.sd_b:
            yield "sd_a", "sd_a = sd_b = 0: all weights start at 0 and stay there; allowed: one of them above 0"
        if self.init != "pairs" and self.mirrored and self.width % 2:
            yield "width", f"mirrored needs pairs of pairs, and width = {self.width} is odd; allowed: an even width"
        if self.target == 0 and self.lr_unit == "end":
            yield "lr_unit", "lr_unit end with target = 0: the kernel may end at 0; allowed: absolute, start"
