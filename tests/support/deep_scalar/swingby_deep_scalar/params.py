"""Parameters of two scalar layers that start balanced, w_1 = w_2."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from swingby.model.params import Params


class ScalarParams(Params):
    """One point of a grid; points x are normal with mean 0 and second moment `a`."""

    drive: Literal["flow", "sgd"] = Field("flow", description="gradient flow on E[x^2] = a, or mini-batch SGD")
    a: float = Field(1.0, gt=0, description="second moment of the input")
    start: float = Field(0.1, gt=0, lt=1, description="w_1 = w_2 at the start")
    lr: float = Field(0.05, gt=0, description="learning rate; the time of the flow in one step")
    training_steps: int = Field(200, ge=1, description="steps; of SGD whole epochs are usual")
    n: int = Field(64, ge=1, description="training points (sgd)")
    batch_size: int = Field(16, ge=1, description="points a mini-batch (sgd)")
