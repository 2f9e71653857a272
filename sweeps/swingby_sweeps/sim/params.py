"""The parameters of a SIM cell, one for each convention that the sources leave open, and the checks on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from swingby.model.params import Fault, Matrix, Params, Vector
from swingby_sweeps.dynamics.shapes import Batching, NetShape

Model = Literal["linear", "relu", "symmetric", "one_layer", "w_recurrence"]
Drive = Literal["sgd", "gd", "flow", "closed_form"]
Reduction = Literal["half_sum", "mean", "quarter_sum"]

STREAM_VERSION = 1
"""Raised whenever the numbers of an existing cell change; part of a cell's id."""
SYMMETRIC_FAMILY = ("symmetric", "w_recurrence")
"""Models whose start is one matrix U; eq 4.3 and App. D speak of them."""
DIVERGED_AT = 1e6
"""A loss above this many L_ref, or one that is not finite, is a divergence."""


class SimParams(Params):
    """One point of a SIM grid ([S] 2.1, 3, 4 and F.1). The defaults are those of the paper's text."""

    model: Model = Field(
        "linear",
        description="linear or relu net of `layers` layers; symmetric U U^T; one_layer W; w_recurrence: W(0) = U U^T, "
        "then W iterated by D.2 (or D.1), which is not gradient descent",
    )
    drive: Drive = Field(
        "sgd",
        description="sgd: mini-batches; gd: full-batch descent on moments; flow: gradient flow; closed_form: Thm 4.1",
    )

    s: int = Field(
        2, ge=1, le=16, title="number of concepts", description="number of concepts, and of informative directions"
    )
    d: int = Field(
        64, ge=1, le=4096, title="dimension of the space", description="dimension of the input and of the output"
    )
    mu: Vector = Field(
        (1.0, 2.0),
        title="distance of cluster {}",
        description="distance of each cluster's centre from the origin; length s",
    )
    sigma: Vector = Field(
        (0.05, 0.05), title="spread of concept {}", description="spread along each informative direction; length s"
    )
    sigma_is: Literal["sd", "variance"] = Field("sd", description="what `sigma` is: standard deviation or variance")
    n: int = Field(5000, ge=1, description="training points in each cluster")
    zero_cluster: bool = Field(False, description="one more cluster of n points, centred at the origin")
    truncate: bool = Field(False, description="redraw points closer to the test point than min(mu)/2 ([S] F.3)")
    rotate: bool = Field(True, description="one random rotation of all points, training and test")

    layers: int = Field(
        2, ge=1, le=64, title="number of layers", description="number of weight matrices of a linear or relu net"
    )
    width: int = Field(
        64, ge=1, le=8192, title="hidden width", description="hidden width; d' (columns of U) for the symmetric family"
    )
    bias: bool = Field(False, description="every layer has a bias")

    init: Literal["default", "normal", "uniform", "explicit"] = Field(
        "default",
        description="default: as torch.nn.Linear; normal: sd init_gain/sqrt(fan in); uniform: on [0, init_high); "
        "explicit: init_weights",
    )
    init_gain: float = Field(1.0, ge=0, title="gain of the initialisation", description="gain of init: normal")
    init_high: float = Field(
        0.1, ge=0, title="upper end of the initialisation", description="upper end of init: uniform"
    )
    init_weights: Matrix | None = Field(
        None,
        description="init: explicit. Rows of all layers' weight matrices, from the input on, each ending in its bias",
    )

    reduction: Reduction = Field(
        "half_sum",
        description="loss that a step descends: half_sum: L, 1/2 sum over coordinates; mean: L x 2/d; "
        "quarter_sum: L/2, whose flow is eq 4.3",
    )
    lr: float = Field(0.1, gt=0, title="learning rate", description="learning rate")
    epochs: int = Field(40, ge=1, description="passes over the training points (sgd)")
    batch_size: int = Field(
        128, ge=1, description="points in a mini-batch (sgd); the last one of an epoch may be smaller"
    )
    shuffle: Literal["once", "every_epoch"] = Field(
        "once", description="sgd: one order of the points for all epochs, or a new one for each"
    )
    gd_steps: int = Field(
        4000, ge=1, description="steps of gd; for flow and closed_form the time is gd_steps x time_per_step"
    )
    moments: Literal["sample", "population"] = Field(
        "sample", description="gd, flow, closed_form: moments of the drawn points, or diag(a) of the population"
    )
    moment_power: int = Field(
        1, ge=1, le=2, description="gd or flow of the symmetric family: driven by A, or by A squared"
    )
    rtol: float = Field(1e-8, gt=0, le=1e-2, description="flow: relative error allowed in one adaptive step")

    def _faults(self) -> Iterator[Fault]:
        yield from _task_faults(self)
        yield from _training_faults(self)

    @property
    def clusters(self) -> int:
        """Number of clusters, the one at the origin included."""
        return self.s + self.zero_cluster

    @property
    def points(self) -> int:
        """Number of training points."""
        return self.clusters * self.n

    @property
    def steps_per_epoch(self) -> int:
        """Mini-batches in one pass, the smaller last one included."""
        return -(-self.points // self.batch_size)

    @property
    def total_steps(self) -> int:
        """Steps of the whole run."""
        return self.epochs * self.steps_per_epoch if self.drive == "sgd" else self.gd_steps

    @property
    def time_per_step(self) -> float:
        """Time of the flow of L (eq 4.1) in one step: lr times 1, 2/d or 1/2. The time of eq 4.3 is twice this."""
        factor = {"half_sum": 1.0, "mean": 2.0 / self.d, "quarter_sum": 0.5}[self.reduction]
        return self.lr * factor

    @property
    def time(self) -> float:
        """Time of the flow of L in the whole run."""
        return self.total_steps * self.time_per_step

    @property
    def depth(self) -> int:
        """Number of weight matrices: 1 for one_layer and the symmetric family (U appears twice, and is one)."""
        return self.layers if self.model in ("linear", "relu") else 1

    @property
    def starts_from_U(self) -> bool:
        """Whether the weights drawn are one U, shape (d, d'): the symmetric family, `symmetric` and `w_recurrence`."""
        return self.model in SYMMETRIC_FAMILY

    @property
    def layer_shapes(self) -> list[tuple[int, int]]:
        """(out, in) of every weight matrix that is drawn, from the input on; U is (d, d')."""
        if self.starts_from_U:
            return [(self.d, self.width)]
        sizes = [self.d, *[self.width] * (self.depth - 1), self.d]
        return list(zip(sizes[1:], sizes[:-1], strict=True))

    @property
    def net_shape(self) -> NetShape:
        """Shape of the trained net in the informative frame (`init`); for w_recurrence, of the net that starts it."""
        if self.starts_from_U:
            return NetShape("symmetric", self.s, self.d, (self.width,))
        kind = "relu" if self.model == "relu" else "linear"
        return NetShape(kind, self.s, self.d, (self.width,) * (self.depth - 1), self.bias)

    @property
    def batching(self) -> Batching:
        """How SGD cuts the training points into mini-batches."""
        return Batching(self.batch_size, self.shuffle == "every_epoch")

    @property
    def compiled(self) -> bool:
        """Whether compiled kernels train such cells on a CPU; the others would gain little from them."""
        return self.drive != "closed_form" and self.model != "w_recurrence"

    @property
    def narrowest(self) -> int:
        """The narrowest layer that the output passes through."""
        return self.width if self.starts_from_U else min(out for out, _ in self.layer_shapes)


def _task_faults(p: SimParams) -> Iterator[Fault]:
    if p.s > p.d:
        yield "s", f"s = {p.s} concepts do not fit into d = {p.d} dimensions; allowed: s <= d"
    for name, vector in (("mu", p.mu), ("sigma", p.sigma)):
        if len(vector) != p.s:
            yield name, f"{name} has {len(vector)} entries; allowed: s = {p.s}"
        for index, value in enumerate(vector):
            if value < 0:
                yield f"{name}.{index}", f"{name}.{index} = {value!r} is negative; allowed: 0 or more"
    if not any(p.mu):
        yield "mu", "every entry of mu is 0, so the test point is the origin; allowed: at least one positive entry"
    if p.truncate and p.s == 1:
        yield "truncate", "with s = 1 the test point is the only centre; truncate is allowed for s >= 2"


def _training_faults(p: SimParams) -> Iterator[Fault]:
    """Faults of the model, of its drive, and of its initial weights."""
    if p.model == "one_layer" and p.layers != 1:
        yield "layers", f"model one_layer has layers = {p.layers}; allowed: 1 (model linear takes any)"
    if p.starts_from_U and p.bias:
        yield "bias", f"model {p.model} has no bias; allowed: false"
    if p.model == "relu" and p.drive != "sgd":
        yield "drive", f"drive {p.drive} needs a model linear in x, not relu; allowed: sgd"
    if p.model == "w_recurrence" and p.drive != "gd":
        yield "drive", f"drive {p.drive} is not for model w_recurrence, an iteration on moments; allowed: gd"
    else:
        if p.drive == "closed_form" and p.model != "one_layer":
            yield "drive", f"drive closed_form (Theorem 4.1) is not for model {p.model}; allowed: one_layer"
        if p.drive == "closed_form" and p.bias:
            yield "bias", "drive closed_form (Theorem 4.1) is for nets without bias; allowed: false"
        if p.moment_power != 1 and not (p.starts_from_U and p.drive in ("gd", "flow")):
            message = f"moment_power = {p.moment_power} with model {p.model}, drive {p.drive}; allowed: 1 "
            message += "(2 is for models symmetric and w_recurrence with drive gd or flow)"
            yield "moment_power", message
        if p.moments == "population" and p.truncate and p.drive != "sgd":
            message = "the population moments of truncated clusters are not known; allowed with truncate: sample"
            yield "moments", message
    if (p.init == "explicit") != (p.init_weights is not None):
        state = "missing" if p.init_weights is None else "given"
        message = f"init_weights is {state} with init: {p.init}; allowed: given exactly if init is explicit"
        yield "init_weights", message
    elif p.init_weights is not None:
        lengths = [len(row) for row in p.init_weights]
        if lengths != [fan_in + p.bias for out, fan_in in p.layer_shapes for _ in range(out)]:
            shapes = ", ".join(f"{out} rows of {fan_in + p.bias}" for out, fan_in in p.layer_shapes)
            message = f"init_weights has {len(lengths)} rows of lengths {sorted(set(lengths))}; allowed: {shapes}"
            yield "init_weights", message
