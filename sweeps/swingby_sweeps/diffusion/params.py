"""The parameters of a diffusion run: images, network, diffusion, training and evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from swingby.model.params import Fault, Params, added

CLASSES = ("red-big", "blue-big", "red-small", "blue-small")
"""The four classes by number: blue + 2 x small, one bit for each concept."""


def _classes(value: Any) -> Any:
    """The names of classes in their own order and one spelling, so that equal choices give equal cells."""
    if not isinstance(value, str):
        return value
    names = {name.strip() for name in value.split(",")} - {""}
    unknown = sorted(names - set(CLASSES))
    if unknown:
        raise ValueError(f"there is no class {unknown[0]!r}; allowed, with commas between: {', '.join(CLASSES)}")
    return ", ".join(name for name in CLASSES if name in names)


Classes = Annotated[str, BeforeValidator(_classes)]


class DiffusionParams(Params):
    """The parameters of a diffusion run. Lengths are in half widths of the image, which spans [-1, 1] x [-1, 1]."""

    pixels: int = Field(32, ge=8, le=256, description="side of an image, in pixels")
    trained: Classes = Field("red-big, blue-big, red-small", description="classes trained on; the others are held out")
    contrast: float = Field(0.5, gt=0, le=0.9, description="difference of the mean colours of red and blue")
    size_mean: float = Field(0.45, gt=0, le=1, description="mean of the mean radii of big and small")
    size_contrast: float = Field(0.4, gt=0, le=1.5, description="difference of the mean radii of big and small")
    radius_jitter: float = Field(0.15, ge=0, le=1, description="radii are uniform within +- this of their mean")
    radius_floor: float = Field(0.1, ge=0, le=1, description="least radius of a circle")
    color_jitter: float = Field(
        0.125, ge=0, le=1, description="channels are uniform within +- this x contrast of their mean"
    )
    centre: float = Field(0.5, ge=0, le=1, description="centres are uniform within +- this")
    background: float = Field(0.8, ge=0, le=1, description="background channels are uniform from this to 1")
    pixel_noise: float = Field(0.001, ge=0, le=1, description="sd of the noise on every pixel and channel")
    blur: float = Field(1.0, gt=0, le=8, description="width of a circle's edge, in pixels")
    circle_edge: Literal["ramp", "gaussian"] = added(
        "ramp",
        description="a circle's edge: a ramp, `blur` wide; or its sharp mask after a Gaussian filter of sd `blur`",
    )
    images: int = Field(2048, ge=1, le=2**20, description="images of each class")
    train_share: float = Field(0.85, gt=0, le=1, description="share of these images that is trained on")
    condition: Literal["image", "class"] = Field(
        "image", description="condition of a training image: its own values, or its class's means"
    )

    width: int = Field(
        64, ge=4, le=1024, title="hidden width", description="channels of the first level; each level has twice as many"
    )
    levels: int = Field(3, ge=1, le=6, description="resolutions of the U-Net")
    layers: int = Field(
        2, ge=1, le=8, title="number of layers", description="ResNet blocks a level, one more on the way up"
    )
    norm_groups: int = Field(8, ge=1, description="groups of the GroupNorm; 1 is the LayerNorm over an image")
    dropout: float = Field(0.1, ge=0, lt=1, description="share of elements dropped in each ResNet block")
    zero_init: bool = Field(default=True, description="the last convolution of each block starts at zero")
    residual: bool = Field(default=True, description="the network's input is added to its output")
    weight_scale: float = added(
        1.0, gt=0, le=100, title="weight scale", description="factor of the network's initial weights and biases"
    )

    gamma_min: float = Field(-5.0, ge=-30, le=30, description="initial -log SNR at the data's end of the schedule")
    gamma_max: float = Field(10.0, ge=-30, le=30, description="initial -log SNR at the noise's end of the schedule")
    schedule: Literal["learned", "fixed"] = Field("learned", description="whether the ends of the schedule are trained")
    data_noise: float = Field(0.001, gt=0, description="sd of the likelihood of an image given its z_0")
    sampling_steps: int = Field(50, ge=1, le=1000, description="steps of the sampler")
    sampler: Literal["ancestral", "ddim"] = added(
        "ancestral", description="ancestral: adds noise at every step; ddim: adds none, and needs fewer steps"
    )

    lr: float = Field(0.001, gt=0, title="learning rate", description="learning rate of AdamW")
    weight_decay: float = Field(0.01, ge=0, description="weight decay of AdamW")
    batch_size: int = Field(64, ge=1, description="images in a step, over all processes")
    training_steps: int = Field(20_000, ge=1, description="steps of AdamW")
    warmup: int = Field(0, ge=0, description="steps over which the learning rate rises linearly")
    decay: Literal["constant", "cosine"] = Field(
        "constant", description="factor on the learning rate; cosine: falls to 0 at the end"
    )
    clip: float | None = Field(None, gt=0, description="largest norm of the gradient in a step; none: not clipped")
    clip_of: Literal["all", "network"] = Field(
        "all",
        description="gradient that is clipped: of all parameters (most of it is the schedule's), or of the network",
    )
    accumulate: int = Field(1, ge=1, description="parts into which a process cuts its share of a batch, to save memory")
    mixed_precision: Literal["no", "bf16", "fp16"] = Field("no", description="precision of the network's arithmetic")

    judged: int = Field(32, ge=1, description="images generated of each held-out class at an evaluation")
    judged_trained: int = Field(8, ge=1, description="images generated of each trained class at an evaluation")
    classifier: Literal["own", "pooled"] = added(
        "own",
        description="images that the classifier learns from: at the run's own contrast, "
        "or at all contrasts from 0.1 to 0.8",
    )

    @property
    def trained_classes(self) -> tuple[int, ...]:
        """The numbers of the classes trained on."""
        names = self.trained.split(", ")
        return tuple(number for number, name in enumerate(CLASSES) if name in names)

    @property
    def radii(self) -> tuple[float, float]:
        """The mean radii of big and of small circles."""
        return self.size_mean + self.size_contrast / 2, self.size_mean - self.size_contrast / 2

    @property
    def judged_of(self) -> tuple[int, ...]:
        """The number of images of each class that are generated at an evaluation."""
        trained = self.trained_classes
        return tuple(self.judged_trained if number in trained else self.judged for number in range(len(CLASSES)))

    @property
    def training_images(self) -> int:
        """The number of images of each trained class that are trained on."""
        return max(1, round(self.images * self.train_share))

    def _faults(self) -> Iterator[Fault]:
        if not self.trained:
            yield "trained", f"no class is trained; allowed, with commas between: {', '.join(CLASSES)}"
        if self.radii[1] < self.radius_floor:
            text = f"small circles have radius size_mean - size_contrast / 2 = {self.radii[1]:.3g} on average; "
            yield "size_mean", text + f"allowed: at least radius_floor = {self.radius_floor:g}"
        if self.pixels % 2 ** (self.levels - 1):
            text = f"pixels = {self.pixels} cannot be halved levels - 1 = {self.levels - 1} times; "
            yield "pixels", text + f"allowed: multiples of {2 ** (self.levels - 1)}"
        if self.width % self.norm_groups:
            text = f"norm_groups = {self.norm_groups} does not divide width = {self.width}"
            yield "norm_groups", f"{text}; allowed: divisors of width"
        if self.gamma_min >= self.gamma_max:
            yield "gamma_min", f"gamma_min = {self.gamma_min:g}; allowed: less than gamma_max = {self.gamma_max:g}"
        if self.dtype != "float32":
            yield "dtype", "dtype: float32 alone; mixed_precision says what is computed in half precision"
