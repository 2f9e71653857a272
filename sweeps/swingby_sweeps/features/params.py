"""The parameters of a cell of `features`, and the checks on them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Literal

from pydantic import Field

from swingby.model.params import Fault, Params

DIGITS = tuple(accumulate((178, 182, 177, 183, 181, 182, 181, 179, 174, 180)))
"""How many of scikit-learn's images show one of the digits 0 to k."""
POOLED = 7000
"""Points of mnist1d that are trained on at most: 8,000 are made, and 1,000 are the test."""
MOST_STEPS = 10_000_000
SIDES = {"mnist": 32, "cifar10": 32, "cifar100": 32, "digits": 8}
"""Pixels along a side of the images; those of MNIST are padded with background ([T] 2.4)."""
CHANNELS = {"mnist": 1, "cifar10": 3, "cifar100": 3, "digits": 1}
VISION = ("resnet18", "vgg16_bn")
"""Nets of torchvision."""


class FeaturesParams(Params):
    """One point of a grid ([T] 2.4, 7): a net learns classes by SGD. The defaults are an MLP on handwritten digits."""

    data: Literal["digits", "mnist1d", "mixture", "step", "mnist", "cifar10", "cifar100"] = Field(
        "digits",
        title="data",
        description="digits: scikit-learn's images of 8 x 8; mnist1d: 8,000 made series of 40 points; mixture: "
        "Gaussian classes; step: f* is 0 below 0 and 1 above, on an even grid of [-1, 1]; mnist, cifar10, cifar100: "
        "those of torchvision, where their files are there",
    )
    n: int = Field(1000, ge=2, le=60_000, title="training points", description="training points, drawn for each seed")
    classes: int | None = Field(
        None,
        ge=2,
        le=1000,
        title="number of classes",
        description="the first so many classes are kept; null: all of them, 4 of a mixture",
    )
    label_noise: float = Field(
        0.0,
        ge=0,
        le=1,
        title="label noise",
        description="share of the training points whose label is drawn anew, all classes being equally likely",
    )
    dims: int = Field(16, ge=1, le=4096, title="dimensions", description="dimensions of a mixture")
    separation: float = Field(
        2.0, ge=0, le=1000, title="separation", description="norm of the class means of a mixture, whose noise is 1"
    )

    net: Literal["mlp", "cnn1d", "resnet18", "vgg16_bn"] = Field(
        "mlp",
        title="net",
        description="mlp: dense layers; cnn1d: three convolutions (5, 3 and 3 taps, stride 2), then dense layers; "
        "resnet18, vgg16_bn: those of torchvision, in the form for images of 32 x 32",
    )
    layers: int = Field(4, ge=1, le=16, title="number of layers", description="dense layers, the output included")
    width: int = Field(64, ge=1, le=8192, title="hidden width", description="units of each hidden dense layer")
    channels: int = Field(16, ge=1, le=1024, title="channels", description="channels of each convolution")
    activation: Literal["relu", "tanh", "linear"] = Field(
        "relu", title="activation", description="of every layer but the last"
    )
    batch_norm: bool = Field(
        False,
        title="batch norm",
        description="before the activation; evaluated with running moments, at first those of the training points",
    )
    bias: bool = Field(
        True, title="biases", description="whether layers have biases; batch norm has a shift of its own"
    )
    gain: float = Field(
        1.0,
        gt=0,
        le=1e4,
        title="gain",
        description="initial weights and biases are uniform on +- gain/sqrt(fan in); 1: torch's own",
    )

    loss: Literal["mse", "cross_entropy"] = Field(
        "mse", title="loss", description="mse: squared error of a one-hot target; cross_entropy: of the labels"
    )
    reduction: Literal["half_sum", "mean"] = Field(
        "half_sum",
        title="reduction",
        description="of the squares over the outputs: half of their sum ([T] eq 1.11), or their mean (torch)",
    )
    target_scale: float = Field(1.0, gt=0, le=1e6, title="target scale 1/a", description="factor of the one-hot target")
    centre_output: bool = Field(
        False, title="centred output", description="train f - f_0, f_0 being the net at its start"
    )
    trained: Literal["all", "last"] = Field(
        "all",
        title="trained layers",
        description="the layers that are trained; last: batch norm keeps the moments of the training points",
    )
    lr: float = Field(0.05, gt=0, le=1e4, title="learning rate", description="learning rate of SGD at the start")
    momentum: float = Field(0.9, ge=0, lt=1, title="momentum", description="momentum of SGD")
    weight_decay: float = Field(
        1e-3, ge=0, le=100, title="weight decay", description="times each parameter, added to its gradient"
    )
    batch_size: int = Field(
        64,
        ge=1,
        title="batch size",
        description="points in a mini-batch; a short last one is dropped",
    )
    drop_every: int | None = Field(
        None, ge=1, description="epochs after which the learning rate is multiplied by drop_factor; null: it stays"
    )
    drop_factor: float = Field(0.2, gt=0, le=1, description="factor of the learning rate at each drop")
    epochs: int = Field(200, ge=1, title="epochs", description="passes over the training points, each in a new order")
    time: float | None = Field(
        None, gt=0, title="training time", description="learning rate x steps, in place of epochs; null: epochs count"
    )
    augment: bool = Field(
        False, description="random crops of images padded by 4 pixels, and mirrored ones (not of digits), as [T] 2.4"
    )

    def _faults(self) -> Iterator[Fault]:
        there = {"digits": 10, "mnist1d": 10, "mnist": 10, "cifar10": 10, "cifar100": 100}.get(self.data)
        if self.classes is not None and there is not None and self.classes > there:
            yield "classes", f"{self.classes} classes of data: {self.data}; allowed: 2 to {there}"
        elif self.data != "step" and self.n < self.labels:
            yield "n", f"{self.n} training points of {self.labels} classes; allowed: {self.labels} or more"
        most = self._most
        if self.n > most:
            yield "n", f"{self.n} training points of data: {self.data}; allowed: {self.labels} to {most}"
        if self.net in VISION and self.data not in SIDES:
            yield "net", f"{self.net} takes images; allowed with data: {self.data}: mlp, cnn1d"
        if self.net == "cnn1d" and self.inputs < 8:
            yield "net", f"cnn1d takes 8 inputs or more, not {self.inputs}; allowed here: mlp"
        if self.data == "step" and self.loss == "cross_entropy":
            yield "loss", "data: step has a number as its target; allowed: mse"
        if self.centre_output and self.normed and self.trained == "all":
            reason = "f_0 of a net with batch norm hangs on the mini-batch; allowed with batch norm: false"
            yield "centre_output", reason
        if self.normed and min(self.n, self.batch_size) < 2:
            yield "batch_size", "batch norm has no variance of one point; allowed: 2 or more"
        if self.time is not None and not self.time <= MOST_STEPS * self.lr:
            yield "time", f"{self.time:g} are {self.time / self.lr:.3g} steps; allowed: {MOST_STEPS} steps or fewer"

    @property
    def labels(self) -> int:
        """C, the number of classes; 2 of a step."""
        if self.data == "step":
            return 2
        return self.classes or {"mixture": 4, "cifar100": 100}.get(self.data, 10)

    @property
    def outputs(self) -> int:
        """Entries of the target: one a class, one number of a step."""
        return 1 if self.data == "step" else self.labels

    @property
    def inputs(self) -> int:
        """Numbers of an input."""
        if self.data in SIDES:
            return CHANNELS[self.data] * SIDES[self.data] ** 2
        return {"mnist1d": 40, "mixture": self.dims, "step": 1}[self.data]

    @property
    def _most(self) -> int:
        """The most training points."""
        if self.data == "digits":
            return DIGITS[min(self.labels, 10) - 1] - self.test_points
        if self.data == "mnist1d":
            return POOLED * self.labels // 10
        return 50_000 if self.data in ("cifar10", "cifar100") else 60_000

    @property
    def test_points(self) -> int:
        """The number of test points; of images whose classes are dropped, about."""
        if self.data == "digits":
            pool = DIGITS[min(self.labels, 10) - 1]
            return round(pool * 797 / 1797)
        if self.data == "mnist1d":
            return 100 * self.labels
        return 1000 if self.data in ("mixture", "step") else 10_000

    @property
    def normed(self) -> bool:
        """Whether the net has batch norm."""
        return self.net in VISION or (self.batch_norm and (self.layers > 1 or self.net == "cnn1d"))

    @property
    def batch(self) -> int:
        """Points in a mini-batch."""
        return min(self.batch_size, self.n)

    @property
    def steps_per_epoch(self) -> int:
        """Mini-batches in one pass."""
        return self.n // self.batch

    @property
    def total_steps(self) -> int:
        """Steps of the whole run."""
        if self.time is not None:
            return max(1, round(self.time / self.lr))
        return self.epochs * self.steps_per_epoch
