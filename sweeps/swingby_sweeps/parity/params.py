"""The parameters of a two-layer ReLU net on multitask sparse parity, and the checks on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from swingby.model.params import Fault, UntypedParams

DIVERGED_AT = 1e6
"""A mean square error of a batch above this many S^2, or one that is not finite, is a divergence."""


class ParityParams(UntypedParams):
    """One point of a grid of parity nets ([T] 4.2.1, 5.2, C.3). The defaults are those of the preset `fast`."""

    bottleneck: Literal["time", "data", "width"] = Field(
        "time",
        description="the resource that is scarce: presets choose the training for it, and a detector asks its law",
    )
    skills: int = Field(5, ge=1, le=64, description="number of skills, each one control bit of the input")
    m: int = Field(3, ge=2, le=5, title="bits a skill", description="bits whose parity is a skill; disjoint")
    bits: int = Field(16, ge=2, le=52, description="fair bits of the input; the first m x skills belong to skills")
    alpha: float = Field(0.6, ge=0.05, le=3, description="skill k has frequency p_k = A k^-(alpha + 1)")
    target: float = Field(5.0, gt=0, description="S: the label is S for an even parity, -S for an odd one")
    width: int = Field(100, ge=1, le=10_000, description="hidden units")
    sigma: float = Field(0.01, gt=0, le=10, description="standard deviation of all weights and biases at the start")
    samples: int | None = Field(
        None, ge=1, le=10_000_000, description="D, the size of the training set; null: fresh points at every step"
    )
    batch_size: int = Field(200, ge=1, le=100_000, description="points a step; with fewer samples, all of them")
    optimizer: Literal["sgd", "adam"] = Field("sgd", description="plain gradient steps, or Adam (0.9, 0.999, 1e-8)")
    lr: float = Field(0.02, gt=0, description="learning rate at the start")
    schedule: Literal["constant", "halved", "cosine"] = Field(
        "constant",
        description="the rate stays, is halved every `halve_every` steps, or falls to 0 as a cosine",
    )
    halve_every: int = Field(10_000, ge=1, description="steps after which the learning rate is halved")
    l2: float = Field(0.0, ge=0, description="times each parameter, added to its gradient")
    loss_factor: float = Field(2.0, gt=0, description="c of the loss c/2 E(f - y)^2; 2 is the mean square error")
    stop_at: float | None = Field(
        None, gt=0, lt=1, description="mean square error on the training set, over S^2, below which training stops"
    )
    training_steps: int = Field(20_000, ge=1, le=10_000_000, description="steps, at most")
    test_samples: int = Field(
        2000, ge=2, le=1_000_000, description="fresh points of each skill on which its strength is measured"
    )
    dtype: Literal["float64"] = Field("float64", description="arithmetic of the run")

    def _faults(self) -> Iterator[Fault]:
        least = self.m * self.skills
        if self.bits < least:
            yield "bits", f"{self.bits} bits for {self.skills} skills of {self.m} bits; allowed: {least} or more"
        if self.bottleneck == "data" and self.samples is None:
            yield "samples", "null where bottleneck is data; allowed: a number"
        if self.bottleneck != "data" and self.samples is not None:
            yield "samples", f"{self.samples} where bottleneck is {self.bottleneck}; allowed: null"
        if self.stop_at is not None and self.bottleneck != "data":
            yield "stop_at", f"a number where bottleneck is {self.bottleneck}, which has no training set; allowed: null"
