"""Denoisers of a mixture: CPU time of a step by vectors of sixteen cells, beside the plain loop of torch."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

import torch

from swingby.model.cell import Point
from swingby_sweeps.memorization import presets
from swingby_sweeps.memorization.denoisers import Denoisers
from swingby_sweeps.memorization.params import MixtureParams
from tests.benchmarks.tables import Benchmark, alone, seconds

COLUMNS = ("net", "sixteen cells, us a step and cell", "plain loop, us a step", "ratio", "cells/s")
SHAPES: Mapping[str, tuple[str, dict[str, Any], int]] = {
    "tiny, one block of 16": ("tiny", {}, 2000),
    "small, blocks of 32": ("small", {"width": 32}, 1000),
    "small, blocks of 64": ("small", {}, 300),
}
"""Preset, values and steps of a turn."""


def table(quick: bool) -> list[tuple[str, ...]]:
    """Each shape by both loops in turn, medians of the turns; cells/s are those of 20,000 steps without evaluations."""
    rows = []
    for name, (preset, values, steps) in SHAPES.items():
        p = MixtureParams.model_validate({**getattr(presets, preset)(values), **values})
        nets, plain = Denoisers(list(Point("memorization_mixture", 1, p).cells(range(16)))), Plain(p)
        nets.advance(2)
        plain.advance(2)
        took: tuple[list[float], list[float]] = ([], [])
        for _ in range(1 if quick else 5):
            took[0].append(seconds(lambda nets=nets, steps=steps: nets.advance(nets.step + steps)) / steps / 16)
            took[1].append(seconds(lambda plain=plain: plain.advance(100)) / 100)
        own, loop = (statistics.median(turns) for turns in took)
        cells = 1 / (own * 20_000)
        rows.append((name, f"{1e6 * own:.1f}", f"{1e6 * loop:.0f}", f"{loop / own:.0f}", f"{cells:.3g}"))
    return rows


class Plain:
    """The loop that anyone would write: modules, autograd, torch's Adam, float32, one thread, one net."""

    def __init__(self, p: MixtureParams) -> None:
        torch.set_num_threads(1)
        self.p = p
        linear, self._points = torch.nn.Linear, torch.randn(p.points, p.d)
        self._first, self._last = linear(p.d + 5, p.width), linear(p.width, p.d)
        self._blocks = torch.nn.ModuleList(
            torch.nn.Sequential(linear(p.width, p.width), torch.nn.ReLU(), linear(p.width, p.width))
            for _ in range(p.blocks)
        )
        modules = torch.nn.ModuleList([self._first, *self._blocks, self._last])
        self._optimizer = torch.optim.Adam(modules.parameters(), lr=p.lr)

    def advance(self, steps: int) -> None:
        """Take that many steps."""
        p = self.p
        for _ in range(steps):
            clean = self._points[torch.randint(p.points, (p.batch_size,))]
            c = p.noise_mean + p.noise_spread * torch.randn(p.batch_size, 1)
            ratio = c.exp()
            root = (1 + ratio**2).sqrt()
            noisy = clean + p.scale * ratio * torch.randn_like(clean)
            waves = [c, c.sin(), c.cos(), (2 * c).sin(), (2 * c).cos()]
            h = self._first(torch.cat([noisy / (p.scale * root), *waves], 1))
            for block in self._blocks:
                h = h + block(h)
            target = (clean - noisy / root**2) * root / (p.scale * ratio)
            self._optimizer.zero_grad()
            (self._last(h) - target).square().mean().backward()
            self._optimizer.step()


TABLES = (Benchmark("A denoiser of a mixture of two Gaussians, float32: CPU time of a step, median", COLUMNS, table),)

if __name__ == "__main__":
    alone(TABLES)
