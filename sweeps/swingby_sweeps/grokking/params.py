"""The parameters of a cell of `mlp_regimes`, and the checks on them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

from pydantic import Field

from swingby.model.params import Fault, Params

CLASSES = 10
MOST_POINTS = {"digits": 1597, "mnist": 60_000}
"""The most training points: of scikit-learn's 1,797 digits at least 200 stay for the test."""


class MlpParams(Params):
    """One point of a grid ([T] 6.4.3): a net f of tanh layers learns images, by Adam on the mean squared error.

    The defaults are the grokking net of [T] Table 6.1 (a), of the size of the preset `digits`.
    """

    images: Literal["digits", "mnist"] = Field(
        "digits",
        description="digits: scikit-learn's 1,797 of 8 x 8; mnist: those of torchvision, where its files are there",
    )
    points: int = Field(256, ge=16, title="training points", description="training points, drawn for each seed")
    random_labels: float = Field(
        0.0,
        ge=0,
        le=1,
        title="share of random labels",
        description="share of the training points whose label is drawn anew, all ten being equally likely",
    )
    target: Literal["classes", "number"] = Field(
        "classes", description="one-hot vector of the ten classes, or the number digit / 4.5 - 1"
    )
    target_scale: float = Field(3.0, gt=0, title="target scale", description="factor of the target")

    layers: int = Field(4, ge=2, le=8, title="number of layers", description="weight matrices; tanh between them")
    width: int = Field(100, ge=2, le=4096, title="hidden width", description="units of each hidden layer")
    weight_scale: float = Field(
        5.0,
        gt=0,
        title="weight scale",
        description="initial weights are normal, sd weight_scale/sqrt(fan in); biases uniform on +-1/sqrt(fan in)",
    )
    input_scale: float = Field(1.0, gt=0, title="input scale", description="factor of the pixels, which lie in [0, 1]")
    output_scale: float = Field(1.0, gt=0, title="output scale", description="factor of the net's output")
    subtract_start: bool = Field(
        False, description="train f - f_0, f_0 being the net at its start, so that the start is 0 ([T] 6.2.2)"
    )
    trained: Literal["all", "last"] = Field("all", description="the layers that are trained: all, or the last alone")

    lr: float = Field(1e-3, gt=0, title="learning rate", description="learning rate of Adam")
    schedule: Literal["constant", "cosine"] = Field(
        "constant", description="of the learning rate; cosine: from lr to 0 over the run"
    )
    l2: float = Field(1e-3, ge=0, title="L2", description="factor of the weights that is added to their gradient")
    batch_size: int = Field(128, ge=1, description="points in a mini-batch; the last one of an epoch may be smaller")
    epochs: int = Field(4000, ge=1, description="passes over the training points, each in a new order")

    def _faults(self) -> Iterator[Fault]:
        most = MOST_POINTS[self.images]
        if self.points > most:
            text = f"points = {self.points}, but images: {self.images} have at most {most} for training; allowed: "
            yield "points", f"{text}16 to {most}"

    @property
    def outputs(self) -> int:
        """Entries of the target."""
        return CLASSES if self.target == "classes" else 1

    @property
    def inputs(self) -> int:
        """Pixels of an image."""
        return 64 if self.images == "digits" else 784

    @property
    def layer_shapes(self) -> list[tuple[int, int]]:
        """Fan-in and fan-out of each layer, from the input on."""
        sizes = [self.inputs, *[self.width] * (self.layers - 1), self.outputs]
        return list(pairwise(sizes))

    @property
    def weights(self) -> int:
        """Numbers that the net consists of, biases included."""
        return sum((fan_in + 1) * fan_out for fan_in, fan_out in self.layer_shapes)

    @property
    def steps_per_epoch(self) -> int:
        """Mini-batches in one pass, the smaller last one included."""
        return -(-self.points // self.batch_size)

    @property
    def total_steps(self) -> int:
        """Steps of the whole run."""
        return self.epochs * self.steps_per_epoch
