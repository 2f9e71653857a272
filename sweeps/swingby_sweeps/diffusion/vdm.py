"""Variational diffusion as a diffusers-style scheduler, and two samplers.

The ancestral one draws from the reverse process (Kingma et al. 2021, 3.3 and A); the other one is deterministic: DDIM
(Song et al. 2021, eq 12 with sigma = 0).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, cast

import torch
from diffusers.configuration_utils import ConfigMixin, register_to_config
from diffusers.schedulers.scheduling_utils import SchedulerMixin
from diffusers.utils.outputs import BaseOutput
from torch import Tensor

from .bound import Predict, wide
from .schedule import LinearSchedule, alpha_sigma

Time = float | Tensor
"""A time in [0, 1]: a number, a scalar, or one for each row, (N,)."""
Sampler = Literal["ancestral", "ddim"]
"""Ancestral: a draw from the reverse process at every step. DDIM: a step of the flow that has the same marginals."""


@dataclass
class VDMSchedulerOutput(BaseOutput):
    """What `VDMScheduler.step` gives.

    Attributes:
        prev_sample: z_s.
        pred_original_sample: x_hat, the data that the predicted noise points to.
    """

    prev_sample: Tensor
    pred_original_sample: Tensor


class VDMScheduler(SchedulerMixin, ConfigMixin):
    """The forward process z_t = alpha_t x + sigma_t eps and its reverse, for a network that predicts eps.

    Unlike most schedulers of diffusers its times are real, from 1 (noise) to 0 (data), and `step` is given its noise:
    every sample has a stream of its own, and torch's generators are never asked.

    Args:
        gamma_0: -log SNR of the data's end, t = 0.
        gamma_1: -log SNR of the noise's end, t = 1; gamma is linear between them.
        clip_sample: whether x_hat is clipped to [0, 1] before a step is taken toward it. The authors do not; nor does
            the sampler whose steps make up the bound.
        sampler: ancestral, or ddim.

    Raises:
        ValueError: the ends are not in order.
    """

    order = 1
    init_noise_sigma = 1.0
    """Standard deviation of z_1, where sampling begins."""

    @register_to_config
    def __init__(
        self,
        gamma_0: float = -5.0,
        gamma_1: float = 10.0,
        clip_sample: bool = False,
        sampler: Sampler = "ancestral",
    ) -> None:
        if not gamma_0 < gamma_1:
            raise ValueError(f"gamma_0 = {gamma_0:g}; allowed: less than gamma_1 = {gamma_1:g}")
        self.num_inference_steps: int | None = None
        self.timesteps = torch.empty(0, dtype=torch.float64)

    @classmethod
    def of(
        cls, schedule: LinearSchedule, steps: int, clip_sample: bool = False, sampler: Sampler = "ancestral"
    ) -> VDMScheduler:
        """One that samples in so many steps, with a schedule's ends as they are now."""
        gamma_0, gamma_1 = schedule.ends
        scheduler = cls(gamma_0=gamma_0.item(), gamma_1=gamma_1.item(), clip_sample=clip_sample, sampler=sampler)
        scheduler.set_timesteps(steps)
        return scheduler

    def set_timesteps(self, num_inference_steps: int, device: str | torch.device | None = None) -> None:
        """Samples in so many equal steps: `timesteps` are where each begins, 1 first, the last one ending at 0.

        Raises:
            ValueError: fewer than one step.
        """
        if num_inference_steps < 1:
            raise ValueError(f"num_inference_steps = {num_inference_steps}; allowed: 1 or more")
        self.num_inference_steps = num_inference_steps
        grid = torch.arange(num_inference_steps, 0, -1, dtype=torch.float64, device=device)
        self.timesteps = grid / num_inference_steps

    def gamma(self, timestep: Time) -> Tensor:
        """gamma(t) in float64, of t's shape."""
        start, end = cast(Any, self.config).gamma_0, cast(Any, self.config).gamma_1
        return start + (end - start) * torch.as_tensor(timestep, dtype=torch.float64)

    def scale_model_input(self, sample: Tensor, timestep: Time | None = None) -> Tensor:
        """z_t as it is: its variance stays near that of data and noise."""
        return sample

    def add_noise(self, original_samples: Tensor, noise: Tensor, timesteps: Time) -> Tensor:
        """z_t of x, eps and t, in x's dtype; q(z_t | x)."""
        alpha, sigma = (_like(value, original_samples) for value in alpha_sigma(self.gamma(timesteps)))
        return (alpha * wide(original_samples) + sigma * wide(noise)).to(original_samples.dtype)

    def step(
        self,
        model_output: Tensor,
        timestep: Time,
        sample: Tensor,
        noise: Tensor | None = None,
        prev_timestep: Time | None = None,
        return_dict: bool = True,
    ) -> VDMSchedulerOutput | tuple[Tensor, Tensor]:
        """z_s from z_t, computed in float32 at least, given in z_t's dtype.

        Ancestral: a draw from q(z_s | z_t, x_hat) (eq 34). DDIM: alpha_s x_hat + sigma_s eps_hat.

        Args:
            model_output: eps_hat, of z_t's shape.
            timestep: t.
            sample: z_t, (N, ...).
            noise: standard normal, of z_t's shape; the last step, which ends at z_0, needs it like the others. None for
                ddim, which has no use for it.
            prev_timestep: s; the next of the steps of `set_timesteps` if None.
            return_dict: a `VDMSchedulerOutput`; else the tuple of its values.

        Raises:
            ValueError: s is after t, or is neither given nor set; an ancestral step without noise.
        """
        gamma_t, gamma_s = self.gamma(timestep), self.gamma(self._after(timestep, prev_timestep))
        if bool((gamma_s > gamma_t).any()):
            raise ValueError(f"prev_timestep = {prev_timestep} is after timestep = {timestep}; allowed: at most that")
        c = _like(-torch.expm1(gamma_s - gamma_t), sample)
        alpha_t, sigma_t = (_like(value, sample) for value in alpha_sigma(gamma_t))
        alpha_s, sigma_s = (_like(value, sample) for value in alpha_sigma(gamma_s))
        z, eps_hat = wide(sample), wide(model_output)
        x_hat = (z - sigma_t * eps_hat) / alpha_t
        if cast(Any, self.config).clip_sample:
            x_hat = x_hat.clamp(0.0, 1.0)
            eps_hat = (z - alpha_t * x_hat) / sigma_t
        # In eps_hat, not x_hat: near t = 1, x_hat is a difference of large numbers.
        if cast(Any, self.config).sampler == "ddim":
            after = alpha_s / alpha_t * z + (sigma_s - alpha_s / alpha_t * sigma_t) * eps_hat
        elif noise is None:
            raise ValueError("an ancestral step adds noise; needed: noise, a standard normal of the sample's shape")
        else:
            after = alpha_s / alpha_t * (z - c * sigma_t * eps_hat) + sigma_s * c.sqrt() * wide(noise)
        result = (after.to(sample.dtype), x_hat.to(sample.dtype))
        return VDMSchedulerOutput(*result) if return_dict else result

    def decode(self, z_0: Tensor) -> Tensor:
        """The mean of x given z_0, z_0 / alpha_0; not clipped. (The authors look at z_0 itself.)"""
        alpha, _ = alpha_sigma(self.gamma(0.0))
        return (wide(z_0) / alpha).to(z_0.dtype)

    def _after(self, timestep: Time, prev_timestep: Time | None) -> Time:
        if prev_timestep is not None:
            return prev_timestep
        if self.num_inference_steps is None:
            raise ValueError("where the step ends is not known: call set_timesteps, or give prev_timestep")
        return (torch.as_tensor(timestep, dtype=torch.float64) - 1 / self.num_inference_steps).clamp(min=0)


@torch.no_grad()
def sample(scheduler: VDMScheduler, predict: Predict, noise: Iterable[Tensor]) -> Tensor:
    """The scheduler's sampler: from z_1 down `scheduler.timesteps` to z_0, then the mean of x given it.

    Args:
        scheduler: with `set_timesteps` done.
        predict: the network, see `Predict`.
        noise: one standard normal (N, ...) for z_1, then one for each ancestral step; taken as they are needed.

    Returns:
        Images, (N, ...), not clipped.

    Raises:
        ValueError: there is less noise than that.
    """
    draws = iter(noise)
    adds = cast(Any, scheduler.config).sampler == "ancestral"
    z = _next(draws, scheduler) * scheduler.init_noise_sigma
    for t in scheduler.timesteps:
        gamma = scheduler.gamma(t).to(z.device, torch.float32).expand(len(z))
        eps_hat = predict(scheduler.scale_model_input(z, t), gamma)
        drawn = _next(draws, scheduler) if adds else None
        z, _ = cast("tuple[Tensor, Tensor]", scheduler.step(eps_hat, t, z, drawn, return_dict=False))
    return scheduler.decode(z)


def _next(draws: Any, scheduler: VDMScheduler) -> Tensor:
    drawn = next(draws, None)
    if drawn is None:
        raise ValueError(f"too little noise; needed: one for z_1 and one for each of {len(scheduler.timesteps)} steps")
    return drawn


def _like(values: Tensor, sample: Tensor) -> Tensor:
    """A scalar or (N,) in float64, so that it meets (N, ...) row by row without widening it."""
    rows = values.to(sample.device, torch.promote_types(sample.dtype, torch.float32))
    return rows.view(-1, *(1,) * (sample.ndim - 1)) if rows.ndim else rows
