"""The experiment `memorization_mixture`: what the platform asks of it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from swingby.model.experiment import Batch, Column
from swingby.model.reported import Curves, Reported
from swingby_sweeps.dynamics.columns import LIST, NUMBER, ROWS, Columns, columns_of
from swingby_sweeps.dynamics.kernels import LANES
from swingby_sweeps.dynamics.shells import BAND, BatchExperiment, presets_of

from . import presets
from .params import MixtureParams

_RECORDED = 40
"""Recorded steps of a usual run."""
_UNITS = "mean square over coordinates and noise levels, in units of c_out, in which each level counts the same"


class MemorizationMixture(BatchExperiment[MixtureParams]):
    """Denoisers of a mixture of two Gaussians, trained on n points: when are samples good, and when are they copies?"""

    name = "memorization_mixture"
    stream_version = 1
    pinned = True
    Params = MixtureParams
    presets = presets_of(presets.small, presets.tiny)
    counted = "training_steps"
    ends = "memorized", "energy_distance", "train_loss", "test_loss"
    read_where: ClassVar = {
        "labels": "condition == 'random'",
        "momentum": "optimizer == 'sgd'",
    }
    curves: ClassVar = {
        **columns_of(
            LIST,
            train_loss=f"denoising loss on training points, with the noise of test_loss: {_UNITS}",
            test_loss=f"denoising loss on new points: {_UNITS}",
            from_exact=f"distance on new points from the best denoiser of the mixture: {_UNITS}",
            from_empirical=f"distance on new points from the best denoiser of the training set: {_UNITS}",
            memorized="share of samples whose nearest training point is nearer than a third of the way to the second "
            "nearest ([B]); not less the share of fresh points, see null_memorized",
            memorized_frequent="the same of samples on the side of the frequent component; null where there is none",
            memorized_rare="the same of samples on the side of the rare component; null where there is none",
            rare_share="share of samples on the side of the rare component",
            nearest="mean distance of a sample to the nearest training point",
            energy_distance="energy distance of samples from as many fresh points: 2 E|x - y| - E|x - x'| - E|y - y'|, "
            "without bias: 0 in the mean where the samples are good",
        ),
        "ratio": Column(
            ROWS, "distance to the nearest over that to the second nearest: quantiles .05, .25, .5, .75, .95 of samples"
        ),
    }
    scalars: ClassVar = {
        "null_memorized": Column(NUMBER, "share of 2,048 fresh points that look memorized"),
        "null_nearest": Column(NUMBER, "mean distance of a fresh point to the nearest training point"),
        "gaussian_distance": Column(
            NUMBER, "energy distance from fresh points of a Gaussian with the mixture's mean and covariance"
        ),
    }
    report = Reported(
        drawings=("memorization_map",),
        companions=("fate", "tau_mem", "tau_gen", "window", "final_memorized"),
        curves=Curves(
            titles={"test_loss": "test loss", "train_loss": "training loss"},
            axis="denoising loss",
            title="Losses over training",
            caption="Denoising losses on training points and on new ones, at single points of the grid",
            reading=f"{BAND}The gap between the two is what the net knows of its training points alone.",
        ),
        decides="tau_mem",
    )

    def shape(self, params: MixtureParams) -> str:
        """What has to agree among the nets that are trained side by side; data and rates may differ."""
        p = params
        net = f"d{p.d}-w{p.width}-b{p.blocks}-c{p.conditions}-{p.condition}"
        return f"{net}-{p.optimizer}-B{p.batch_size}-s{p.training_steps}-m{p.samples}-{p.sampler_steps}-{p.test_points}"

    def work(self, params: MixtureParams) -> float:
        """Products of the steps and of the samples, in seconds on one core of 2024."""
        p = params
        step = p.batch_size * (1.2e-10 * p.weights + 7e-9 * (p.d + 2))
        drawn = p.samples * (2 * p.sampler_steps * (4e-11 * p.weights + 2e-8 * p.d))
        compared = 1.5e-9 * p.d * p.samples * (p.points + 2 * p.samples)
        return p.training_steps * step + _RECORDED * (drawn + compared)

    def max_batch(self, params: MixtureParams) -> int:
        """Vectors of cells, of a minute or two together."""
        return LANES * int(np.clip(100 / (LANES * self.work(params)), 1, 16))

    def tolerance(self, params: MixtureParams) -> float:
        """Nothing but rounding where rows are summed: each lane of a vector is computed as if it were alone."""
        return 1e-9

    def lanes(self, params: MixtureParams) -> int:
        """A vector of cells."""
        return LANES

    def together(self, params: MixtureParams) -> int:
        """One vector at a time, so that a run that is to stop does so soon."""
        return LANES

    def train(self, batch: Batch[MixtureParams]) -> Columns:
        """Train up to sixteen cells side by side."""
        from .engine import train

        return train(batch.cells, batch.recording)
