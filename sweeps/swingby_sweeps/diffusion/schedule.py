"""The noise of variational diffusion: how much at which time, by a linear log-SNR schedule that may be learned.

t = 0 is data, t = 1 is noise; gamma = -log SNR grows with t; z_t = alpha_t x + sigma_t eps (Kingma et al. 2021, 3.1).
"""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor, nn

Gamma = TypeVar("Gamma", float, Tensor)


def alpha_sigma(gamma: Tensor) -> tuple[Tensor, Tensor]:
    """alpha_t and sigma_t, each of gamma's shape: sigma_t^2 = sigmoid(gamma), alpha_t^2 = 1 - sigma_t^2 (3.2)."""
    return torch.sigmoid(-gamma).sqrt(), torch.sigmoid(gamma).sqrt()


def network_time(gamma: Gamma, gamma_min: float, gamma_max: float) -> Gamma:
    """The time that the network is given: the place of gamma between the initial ends of the schedule.

    It does not change as the ends learn: equal noise always has an equal time, which may leave [0, 1].
    """
    return (gamma - gamma_min) / (gamma_max - gamma_min)


class LinearSchedule(nn.Module):
    """gamma(t) = b + |w| t, which begins as the line from gamma_min to gamma_max.

    Args:
        gamma_min: gamma(0), at first.
        gamma_max: gamma(1), at first; above gamma_min.
        learned: whether b and w are trained; else they are buffers, which a checkpoint holds too.

    Raises:
        ValueError: the ends are not in order.
    """

    b: Tensor
    w: Tensor

    def __init__(self, gamma_min: float, gamma_max: float, learned: bool) -> None:
        super().__init__()
        if not gamma_min < gamma_max:
            raise ValueError(f"gamma_min = {gamma_min:g}; allowed: less than gamma_max = {gamma_max:g}")
        for name, value in (("b", gamma_min), ("w", gamma_max - gamma_min)):
            start = torch.tensor(float(value), dtype=torch.float32)
            if learned:
                self.register_parameter(name, nn.Parameter(start))
            else:
                self.register_buffer(name, start)

    def forward(self, t: Tensor) -> Tensor:
        """gamma(t), of the shape of t; in float32 at least."""
        return self.b.float() + self.slope * t

    @property
    def slope(self) -> Tensor:
        """gamma'(t) = |w|, the same at every t; a scalar."""
        return self.w.float().abs()

    @property
    def ends(self) -> tuple[Tensor, Tensor]:
        """gamma(0) and gamma(1) as they are now; scalars."""
        return self.b.float(), self.b.float() + self.slope


def antithetic_times(offset: float, batch: int, low: int = 0, high: int | None = None) -> Tensor:
    """Rows `low` to `high` of the times of a batch: (offset + j / batch) mod 1 for j in 0 ... batch - 1.

    Equally spaced, so that the mean over a batch varies less than over independent times; each is uniform if offset is.

    Args:
        offset: uniform on [0, 1), one a batch.
        batch: rows of the whole batch, over all processes.
        low: the first row wanted.
        high: the row after the last one wanted; all if None.

    Returns:
        (high - low,) float32 in [0, 1]; the time of a row does not depend on the other rows.
    """
    rows = torch.arange(low, batch if high is None else high, dtype=torch.float64)
    return ((offset + rows / batch) % 1.0).to(torch.float32)
