"""The paper's classifier ([S] G.3): a U-Net, the maximum over its pixels, and an MLP for each of the two concepts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, cast

import torch
from diffusers.models.unets.unet_2d import UNet2DModel, UNet2DOutput
from torch import Tensor, nn

CONCEPTS = ("color", "size")
"""The concepts, in the order of the bits of a class: blue, small."""


@dataclass(frozen=True)
class Settings:
    """How a classifier is built and trained.

    Attributes:
        width: channels of every level.
        levels: resolutions; fewer where the image cannot be halved so often.
        layers: ResNet blocks a level, one more on the way up.
        norm_groups: of every GroupNorm; divides `width`.
        lr: of AdamW.
        decay: of the learning rate over the steps; cosine: to 0.
        weight_decay: of AdamW.
        batch: images a step, a quarter of each class; a multiple of 4.
        steps: each on fresh images.
        held_out: fresh images of each class on which its accuracy is measured.
    """

    width: int = 32
    levels: int = 3
    layers: int = 1
    norm_groups: int = 8
    lr: float = 1e-3
    decay: Literal["constant", "cosine"] = "constant"
    weight_decay: float = 0.01
    batch: int = 64
    steps: int = 10_000
    held_out: int = 1024

    def rate(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        return self.lr * (1.0 if self.decay == "constant" else 0.5 + 0.5 * math.cos(math.pi * step / self.steps))


PAPER = Settings()
"""The numbers of the paper and its authors; blocks a level, norm and weight decay, which they do not give, of Fig 6."""
BRIEF = Settings(decay="cosine", steps=1000)
"""The same network in a tenth of the steps."""
SMALL = Settings(width=16, lr=3e-3, decay="cosine", batch=32, steps=200, held_out=256)
"""For images of 16 x 16 pixels on one CPU core: some ten seconds."""


def settings_of(pixels: int) -> Settings:
    """The default settings of a classifier of images of this side."""
    return SMALL if pixels <= 16 else PAPER


class Classifier(nn.Module):
    """Classifies images as blue or red, and as small or big.

    It is diffusers' U-Net, with attention in the middle; the time that this net takes is always 0.

    Args:
        pixels: side of an image.
        settings: the network's size.
    """

    def __init__(self, pixels: int, settings: Settings) -> None:
        super().__init__()
        levels = next(n for n in range(settings.levels, 0, -1) if pixels % 2 ** (n - 1) == 0)
        width = settings.width
        self.unet = UNet2DModel(
            sample_size=pixels,
            out_channels=width,
            block_out_channels=(width,) * levels,
            down_block_types=("DownBlock2D",) * levels,
            up_block_types=("UpBlock2D",) * levels,
            layers_per_block=settings.layers,
            norm_num_groups=settings.norm_groups,
            act_fn="gelu",
        )
        self.heads = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 2)) for _ in CONCEPTS
        )

    def forward(self, images: Tensor) -> Tensor:
        """Logits of each concept's two values: (N, 3, P, P) to (N, 2 concepts, 2)."""
        # From [0, 1] to [-2, 2]: a weak contrast is learned before the rate has fallen.
        features = cast(UNet2DOutput, self.unet(4 * images - 2, 0)).sample.amax(dim=(2, 3))
        return torch.stack([head(features) for head in self.heads], dim=1)
