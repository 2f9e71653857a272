"""The parameters of a denoiser of a mixture of two Gaussians, and the checks on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from swingby.model.params import Fault, UntypedParams


class MixtureParams(UntypedParams):
    """One point of a grid: a residual net learns to denoise n points of a mixture of two Gaussians in d dimensions.

    The defaults are those of the preset `small`.
    """

    d: int = Field(8, ge=1, le=64, title="dimension", description="coordinates of a point")
    mean: float = Field(
        2.0, ge=0, le=100, description="the components lie at +mean and -mean in every coordinate, with unit covariance"
    )
    rare: float = Field(
        0.5,
        gt=0,
        lt=1,
        title="share of the rare component",
        description="share of points of the one at -mean",
    )
    points: int = Field(32, ge=2, le=100_000, title="training points", description="n, the training points")
    condition: Literal["none", "component", "random"] = Field(
        "none",
        title="condition",
        description="what the net is told of a point: nothing, its component, or one of `labels` drawn at random",
    )
    labels: int = Field(10, ge=2, le=1000, description="random conditions")

    width: int = Field(64, ge=2, le=512, description="units of each hidden layer")
    blocks: int = Field(2, ge=1, le=8, description="residual blocks h + U relu(V h + v) + u")
    weight_scale: float = Field(
        1.0, gt=0, title="weight scale", description="factor of the initial weights, which are normal: He et al. 2015"
    )

    batch_size: int = Field(
        32,
        ge=4,
        le=4096,
        multiple_of=4,
        title="batch size",
        description="noisy points a step, in passes through the training set",
    )
    optimizer: Literal["adam", "sgd"] = Field("adam", description="Adam (0.9, 0.999, 1e-8), or gradient descent")
    lr: float = Field(1e-3, gt=0, title="learning rate", description="learning rate")
    momentum: float = Field(0.0, ge=0, lt=1, description="momentum of gradient descent")
    weight_decay: float = Field(
        0.0, ge=0, title="weight decay", description="lr x weight_decay x each number is taken away at every step"
    )
    average: float = Field(
        0.0, ge=0, lt=1, title="decay of the average", description="decay of the running mean of the net that is asked"
    )
    noise_mean: float = Field(
        -0.5, description="mean of ln(sigma / sigma_data) over the noise levels of training, which are log-normal"
    )
    noise_spread: float = Field(1.2, gt=0, le=5, description="standard deviation of ln(sigma / sigma_data)")
    training_steps: int = Field(20_000, ge=1, le=10_000_000, description="steps")

    samples: int = Field(256, ge=16, le=65_536, multiple_of=4, description="samples of an evaluation")
    sampler_steps: int = Field(24, ge=2, le=1000, description="noise levels of the sampler")
    test_points: int = Field(64, ge=4, le=65_536, multiple_of=4, description="points of each loss, at each level")
    dtype: Literal["float32"] = Field("float32", description="arithmetic of the training")

    def _faults(self) -> Iterator[Fault]:
        if self.momentum and self.optimizer != "sgd":
            yield "momentum", f"{self.momentum} where optimizer is adam; allowed: 0"

    @property
    def conditions(self) -> int:
        """How many conditions there are; 0 where the net is told nothing."""
        return {"none": 0, "component": 2, "random": self.labels}[self.condition]

    @property
    def scale(self) -> float:
        """sigma_data: the root mean square of a coordinate."""
        return (1 + self.mean**2) ** 0.5

    @property
    def layer_shapes(self) -> list[tuple[int, int]]:
        """Inputs and outputs of each weight, in the order of the kernels."""
        from .kernels import FEATURES

        w = self.width
        return [(self.d + FEATURES + self.conditions, w), *[(w, w)] * (2 * self.blocks), (w, self.d)]

    @property
    def weights(self) -> int:
        """Numbers that the net consists of, offsets included."""
        return sum((fan_in + 1) * fan_out for fan_in, fan_out in self.layer_shapes)
