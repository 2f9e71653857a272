"""The diffusion model of a run: network and noise schedule in one module, the loss, and the generation of images."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from .bound import losses
from .initial import initialise
from .params import DiffusionParams
from .schedule import LinearSchedule, network_time
from .unet import ConceptUNet
from .vdm import VDMScheduler, sample

Conditioned = Callable[[Tensor, Tensor, Tensor], Tensor]
"""What a conditional network does: z (n, 3, P, P), gamma (n,) and conditions (n, 4) to the noise that it sees in z."""


class Diffusion(nn.Module):
    """A conditional variational diffusion model ([S] G.2): the U-Net predicts the noise, the schedule is learned.

    Args:
        params: of the run.
        key: of the stream of the initial weights, see `Cell.key`; None: torch's own draws.
    """

    def __init__(self, params: DiffusionParams, key: bytes | None = None) -> None:
        super().__init__()
        self.params = params
        self.unet = ConceptUNet.of(params)
        if key is not None:
            initialise(self.unet, key, params.weight_scale)
        self.schedule = LinearSchedule(params.gamma_min, params.gamma_max, learned=params.schedule == "learned")

    def predict(self, z: Tensor, gamma: Tensor, conditions: Tensor, keys: Tensor | None = None) -> Tensor:
        """The noise in z (n, 3, P, P) at log SNR -gamma (n,), given conditions (n, 4)."""
        time = network_time(gamma, self.params.gamma_min, self.params.gamma_max)
        return self.unet(z, time, conditions, keys)

    def forward(self, images: Tensor, conditions: Tensor, times: Tensor, noise: Tensor, keys: Tensor) -> Tensor:
        """The three terms of the bound for each image, (n, 3): diffusion, prior, reconstruction, in bits a dimension.

        The reconstruction term is its expectation over the noise of z_0, which has a closed form.
        """
        terms = losses(
            self.schedule,
            lambda z, gamma: self.predict(z, gamma, conditions, keys),
            images,
            times,
            noise,
            None,
            self.params.data_noise,
        )
        return torch.stack([terms.diffusion, terms.prior, terms.reconstruction], dim=1)

    @torch.no_grad()
    def sample(
        self,
        conditions: Tensor,
        noise: Tensor,
        predict: Conditioned | None = None,
    ) -> Tensor:
        """Images (n, 3, P, P) in [0, 1] by the run's sampler, in its number of steps.

        Args:
            conditions: (n, 4).
            noise: (n, K, 3, P, P): z_1, then what each step adds, if the sampler is ancestral.
            predict: what predicts the noise; `self.predict` if None.
        """
        predict = predict or self.predict
        scheduler = VDMScheduler.of(self.schedule, self.params.sampling_steps, sampler=self.params.sampler)
        images = sample(scheduler, lambda z, gamma: predict(z, gamma, conditions), noise.unbind(1))
        return images.clamp(0, 1)
