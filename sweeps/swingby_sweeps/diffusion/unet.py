"""The network of concept-space diffusion ([S] G.2): diffusers' U-Net, with time and condition in every ResNet block.

This class changes what that of diffusers fixes: GELU before the output (there SiLU); in each ResNet block one two-layer
MLP for the time and one for the condition, whose outputs are added (there one linear layer for their sum); dropout
whose masks belong to samples; zero-initialised last convolutions; output = h + x.

As the authors have it, where the paper is silent: 4 heads of self-attention, the output of which does not start at
zero; a GELU after the second layer of each MLP too; sinusoids of 1000 t pass one MLP that all blocks share before
they reach a block's own; norms have epsilon 1e-6; every ResNet block is norm, GELU, convolution, + time and
condition, norm, GELU, dropout, convolution, + input.

Deviations that remain, all of them diffusers' blocks:
- a skip connection after every ResNet block, downsampling and the first convolution, not one a level: so `layers` + 1
  blocks a level on the way up, each with its own skip;
- downsampling by a 3 x 3 convolution of stride 2 (the authors: 2 x 2), upsampling by nearest neighbours and a 3 x 3
  convolution that keeps the channels (the authors: a transposed 2 x 2 convolution that halves them);
- the paper says that the condition is added after every downsampling layer; here, as with the authors, in every block;
- the paper's LayerNorm is read as one group of GroupNorm: over channels and pixels of an image.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self, cast

import torch
from diffusers.configuration_utils import register_to_config
from diffusers.models.embeddings import TimestepEmbedding
from diffusers.models.resnet import ResnetBlock2D
from diffusers.models.unets.unet_2d import UNet2DModel, UNet2DOutput
from torch import Tensor, nn
from torch.nn import functional

from .dropout import SampleDropout, give_keys
from .initial import start_at_zero
from .params import DiffusionParams

CONDITION = 4
"""Length of a condition: radius, red, green, blue."""
TIMESCALE = 1000
"""The sinusoids see this times the network's time, as in Kingma et al. 2021."""


class Placed(nn.Module):
    """Features with zeros before and after them: the sum of two such vectors holds one behind the other."""

    def __init__(self, features: nn.Module, before: int, after: int) -> None:
        super().__init__()
        self.features = features
        self.around = (before, after)

    def forward(self, x: Tensor) -> Tensor:
        """(N, k) to (N, before + features + after)."""
        return functional.pad(self.features(x), self.around)


class TimeAndCondition(nn.Module):
    """The vector that a ResNet block adds: a two-layer MLP of the time's features plus one of the condition.

    Args:
        features: of the time, the first columns; the rest is the condition.
        channels: of the block.
    """

    def __init__(self, features: int, channels: int) -> None:
        super().__init__()
        self.features = features
        self.time = _mlp(features, channels)
        self.condition = _mlp(CONDITION, channels)

    def forward(self, x: Tensor) -> Tensor:
        """(N, features + 4) to (N, channels)."""
        return self.time(x[:, : self.features]) + self.condition(x[:, self.features :])


def _mlp(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, outputs), nn.GELU(), nn.Linear(outputs, outputs), nn.GELU())


class ConceptUNet(UNet2DModel):
    """Predicts the noise in z, given time and condition.

    The weights are torch's until `initial.initialise` draws them. `save_pretrained` and `from_pretrained` work.

    Args:
        pixels: side of an image.
        width: channels of the first level; each level has twice as many as the one before.
        levels: resolutions.
        layers: ResNet blocks a level, one more on the way up.
        norm_groups: of every GroupNorm; 1 is the LayerNorm over an image. Divides `width`.
        dropout: share of elements dropped before the last convolution of each ResNet block.
        zero_init: the last convolution of each ResNet block, and of the network, starts at zero.
        residual: the input is added to the output.
    """

    @register_to_config
    def __init__(
        self,
        pixels: int = 32,
        width: int = 64,
        levels: int = 3,
        layers: int = 2,
        norm_groups: int = 8,
        dropout: float = 0.1,
        zero_init: bool = True,
        residual: bool = True,
    ) -> None:
        channels = tuple(width * 2**level for level in range(levels))
        features = 4 * width
        ours = dict(self.config)
        super().__init__(
            sample_size=pixels,
            block_out_channels=channels,
            layers_per_block=layers,
            down_block_types=("DownBlock2D",) * levels,
            up_block_types=("UpBlock2D",) * levels,
            attention_head_dim=channels[-1] // math.gcd(channels[-1], 4),
            norm_num_groups=norm_groups,
            norm_eps=1e-6,
            act_fn="gelu",
            time_embedding_dim=features + CONDITION,
            freq_shift=1,
            flip_sin_to_cos=False,
            class_embed_type="identity",
        )
        # The base class has registered its own settings over ours; a saved network keeps all of ours, defaults too.
        self.register_to_config(**ours | {"_use_default_values": []})
        embedding = TimestepEmbedding(width, features, act_fn="gelu", post_act_fn="gelu")
        self.time_embedding = Placed(embedding, 0, CONDITION)
        self.class_embedding = Placed(nn.Identity(), features, 0)
        self.conv_act = nn.GELU()
        self._dropouts = tuple(SampleDropout(dropout, number) for number in range(len(self.resnets)))
        for block, dropped in zip(self.resnets, self._dropouts, strict=True):
            block.skip_time_act = True
            block.time_emb_proj = cast(nn.Linear, TimeAndCondition(features, block.out_channels))
            block.dropout = cast(nn.Dropout, dropped)
        if zero_init:
            for last in (*(block.conv2 for block in self.resnets), self.conv_out):
                start_at_zero(last)

    @classmethod
    def of(cls, params: DiffusionParams) -> Self:
        """The network of a run."""
        names = ("pixels", "width", "levels", "layers", "norm_groups", "dropout", "zero_init", "residual")
        return cls(**{name: getattr(params, name) for name in names})

    @classmethod
    def extract_init_dict(cls, config_dict: Mapping[str, Any], **kwargs: Any) -> tuple[dict, dict, dict]:
        """The constructor's arguments in a saved configuration; the settings of the base class follow from them."""
        ours = cls._get_init_keys(cls)
        kept = {name: value for name, value in config_dict.items() if name in ours or name.startswith("_")}
        return super().extract_init_dict(kept, **kwargs)

    @property
    def resnets(self) -> list[ResnetBlock2D]:
        """Every ResNet block, from the input to the output."""
        parts = nn.ModuleList([*self.down_blocks, cast(nn.Module, self.mid_block), *self.up_blocks])
        return [block for block in parts.modules() if isinstance(block, ResnetBlock2D)]

    @property
    def dtype(self) -> torch.dtype:
        """The type of the parameters; the base class searches all modules for it, four times a forward."""
        return self.conv_in.weight.dtype

    def forward(self, z: Tensor, time: Tensor, condition: Tensor, keys: Tensor | None = None) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The noise predicted in `z`, as `z` is shaped and typed.

        Args:
            z: (N, 3, P, P).
            time: (N,), 0 is data and 1 is noise; it may leave [0, 1].
            condition: (N, 4): radius, red, green, blue.
            keys: (N,) int64, of the samples' dropout masks; needed in training with dropout.
        """
        give_keys(self._dropouts, keys)
        # Sinusoids of up to 1000 need float32: half precision would not tell neighbouring times apart.
        out = super().forward(z.to(self.dtype), TIMESCALE * time.float(), condition)
        h = cast(UNet2DOutput, out).sample.to(z.dtype)
        return h + z if self.config["residual"] else h
