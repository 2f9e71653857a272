"""The variational bound of a diffusion model: its three terms in bits per dimension (Kingma et al. 2021, 3.5 and 5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from .schedule import LinearSchedule, alpha_sigma

Predict = Callable[[Tensor, Tensor], Tensor]
"""What the network does: z (N, ...) and gamma (N,) to the noise it thinks is in z, of z's shape."""


class Losses(NamedTuple):
    """Upper bound of -log2 p(x) per dimension, in its three parts, each (N,).

    Attributes:
        diffusion: 1/2 gamma'(t) ||eps - eps_hat||^2, an unbiased estimate from one t and eps a row (eq 17).
        prior: KL(q(z_1 | x) || N(0, I)), exact.
        reconstruction: -log N(x; z_0 / alpha_0, data_noise^2), from one z_0 a row, or exact.
    """

    diffusion: Tensor
    prior: Tensor
    reconstruction: Tensor

    @property
    def total(self) -> Tensor:
        """The bound, (N,)."""
        return self.diffusion + self.prior + self.reconstruction


def losses(
    schedule: LinearSchedule,
    predict: Predict,
    x: Tensor,
    t: Tensor,
    eps: Tensor,
    eps0: Tensor | None,
    data_noise: float,
) -> Losses:
    """The three terms for a batch; all but `predict` is computed in float32 at least, whatever it returns.

    Args:
        schedule: gamma(t); gradients reach its ends if it is learned.
        predict: the network, see `Predict`; it is given z in float32 at least.
        x: data, (N, ...).
        t: a time for each row, (N,) in [0, 1].
        eps: standard normal, of x's shape: the noise in z_t.
        eps0: standard normal, of x's shape: the noise in z_0, as the authors draw it. None gives the reconstruction's
            expectation over it instead, with no noise in the loss or in the gradient of gamma(0).
        data_noise: standard deviation of the likelihood of x given z_0.
    """
    x, eps = wide(x), wide(eps)
    gamma = schedule(t)
    alpha, sigma = (_column(value, x) for value in alpha_sigma(gamma))
    error = eps - wide(predict(alpha * x + sigma * eps, gamma))
    return Losses(
        _bits(schedule.slope / 2 * error.square()),
        _bits(_prior(schedule, x)),
        _bits(_reconstruction(schedule, x, eps0, data_noise)),
    )


def _prior(schedule: LinearSchedule, x: Tensor) -> Tensor:
    """1/2 (sigma_1^2 + alpha_1^2 x^2 - 1 - log sigma_1^2) of every value, its ones cancelled before any is rounded."""
    _, gamma_1 = schedule.ends
    return 0.5 * (torch.sigmoid(-gamma_1) * (x.square() - 1) + torch.nn.functional.softplus(-gamma_1))


def _reconstruction(schedule: LinearSchedule, x: Tensor, eps0: Tensor | None, data_noise: float) -> Tensor:
    """x - z_0 / alpha_0 is -sigma_0 / alpha_0 eps0 whatever x is, and (sigma_0 / alpha_0)^2 = exp(gamma_0)."""
    gamma_0, _ = schedule.ends
    squares = torch.ones_like(x) if eps0 is None else wide(eps0).square()
    return 0.5 * torch.exp(gamma_0 - 2 * math.log(data_noise)) * squares + 0.5 * math.log(2 * math.pi * data_noise**2)


def wide(values: Tensor) -> Tensor:
    """In float32 if narrower: sums over thousands of values in half precision would overflow or drift."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def _column(values: Tensor, like: Tensor) -> Tensor:
    """(N,) so that it meets (N, ...) row by row."""
    return values.view(-1, *(1,) * (like.ndim - 1))


def _bits(nats: Tensor) -> Tensor:
    """Nats of every value, (N, ...), to bits per dimension, (N,)."""
    return nats.flatten(1).mean(1) / math.log(2)
