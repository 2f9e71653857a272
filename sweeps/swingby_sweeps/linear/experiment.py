"""The experiment `linear`: regression on fixed features, in closed form."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.experiment import Column, Recording
from swingby_sweeps.dynamics.columns import COUNT, LIST, NUMBER, ROWS, Trained, columns_of
from swingby_sweeps.dynamics.shells import CellExperiment, preset

from .params import STREAM_VERSION, LinearParams
from .report import REPORT


class Linear(CellExperiment[LinearParams]):
    """f = sum_k w_k sqrt(rho_k) e_k fitted to n noisy points by gradient flow, descent or ridge ([T] 1.5, 1.6)."""

    name = "linear"
    stream_version = STREAM_VERSION
    Params = LinearParams
    presets: ClassVar = {
        "thesis": preset(
            "The losses of [T] 1.11, with their factor 1/2, and the defaults of the parameters; sigma is a standard "
            "deviation."
        )
    }
    pinned = True
    one_thread = "blas"
    numbered = "number of the point along the curve", "points"
    read_where: ClassVar = {
        "p": "features != 'kernel'",
        "spectrum": "features != 'kernel'",
        "alpha": "features != 'kernel' and spectrum == 'power'",
        "d": "features != 'kernel' and spectrum == 'two_level'",
        "tail": "features != 'kernel' and spectrum == 'two_level'",
        "rho": "features != 'kernel' and spectrum == 'explicit'",
        "kernel": "features == 'kernel'",
        "bandwidth": "features == 'kernel' and kernel != 'polynomial'",
        "degree": "features == 'kernel' and kernel == 'polynomial'",
        "offset": "features == 'kernel' and kernel == 'polynomial'",
        "pool": "features == 'kernel'",
        "mode": "target == 'mode'",
        "amplitude": "target == 'mode' or target == 'power'",
        "beta": "target == 'power'",
        "coefficients": "target == 'explicit'",
        "eta": "drive == 'descent'",
    }
    report = REPORT
    curves = columns_of(
        LIST,
        eta_t="eta t, of gradient descent at whole steps",
        test_loss="1/2 E |f^ - f*|^2 over the whole distribution, without noise ([T] 1.11)",
        signal_loss="this loss of the fit to labels without noise",
        noise_loss="1/2 E f^^2 of the fit to the noise alone",
        train_loss="1/(2n) sum (f^ - y)^2 over the training points",
        signal_left="share of the squared labels without noise that is left on the training points",
        noise_left="share of the squared noise that is left on the training points",
        aligned="<f^|f*>/<f*|f*> of the fit to labels without noise",
        population="this share by flow on infinitely many points, without a ridge ([T] 1.26)",
    )
    recordings: ClassVar = {
        "modes": {
            "learned": Column(ROWS, "<e_k|f^>/<e_k|f*> of the first 8 modes that the target has"),
            "utilised": Column(LIST, "D_eff of the utilization <e_k|f^>^2/<f^|f^> ([T] 1.16, 1.31); null where f^ = 0"),
        },
    }
    scalars: ClassVar = {
        "kappa": Column(NUMBER, "kappa of [T] 1.35, with the ridge"),
        "e_0": Column(NUMBER, "E_0 = n/(n - sum L^2); null where as many modes as points are learned"),
        "learned_modes": Column(NUMBER, "sum of L_k by theory", "modes"),
        "missed": Column(NUMBER, "sum (1 - L_k)^2 c_k^2 / sum c_k^2 by theory"),
        "target_power": Column(NUMBER, "<f*|f*>, the sum of c_k^2"),
        "listed_modes": Column(pa.list_(COUNT), "modes k whose learnabilities are kept, counted from 1"),
        "learnability": Column(LIST, "L_k = rho_k/(rho_k + kappa) of these modes ([T] 1.35)"),
        "sample_learnability": Column(LIST, "L_k(D) = rho_k e_k^T (K + delta)^-1 e_k, mean over `draws` samples"),
        "learnability_error": Column(LIST, "standard error of this mean; null of a single sample"),
        "sample_learned_modes": Column(NUMBER, "sum of L_k(D) over all modes, of the first sample", "modes"),
        "target_ratio": Column(
            LIST,
            "<f^|e_k>/<f*|e_k> of these modes, without noise; null where the target has none",
        ),
        "rank": Column(COUNT, "eigenvalues of the sample's kernel above rounding"),
        "full_rank": Column(pa.bool_(), "these are as many as there can be, the lesser of points and modes"),
        "largest_rate": Column(NUMBER, "l_max, largest eigenvalue of K/n; descent diverges beyond eta l_max = 2"),
        "final_test_loss": Column(NUMBER, "test loss of the fit that is judged; null of a cell that diverged"),
        "final_train_loss": Column(NUMBER, "its training loss"),
        "signal_error": Column(NUMBER, "B, its |signal fit - f*|^2/|f*|^2"),
        "noise_gain": Column(NUMBER, "V, its |noise fit|^2 over the noise's variance, for the noise drawn"),
        "mean_noise_gain": Column(NUMBER, "V in the mean over noise, for the points drawn"),
        "final_aligned": Column(NUMBER, "its <f^|f*>/<f*|f*>, without noise"),
        "final_noise_left": Column(NUMBER, "share of the squared noise that it leaves on the training points"),
        "label_power": Column(NUMBER, "mean of y^2 over the training points"),
        "unseen_loss": Column(NUMBER, "1/2 of its mean squared error over the images outside the sample (kernel)"),
    }

    def shape(self, p: LinearParams) -> str:
        """The sizes, on which the cost hangs; cells share a batch and no arrays."""
        return f"{'kernel' if p.features == 'kernel' else 'drawn'} n{p.n} p{p.modes} t{p.points} x{p.draws}"

    def steps(self, p: LinearParams) -> int:
        """The number of the last point of the curve, counted from 0."""
        return p.points - 1

    def work(self, p: LinearParams) -> float:
        """Seconds of a cell on the machine where they were measured, to a factor of 2."""
        sample = 2e-4 + p.n * p.modes * (2e-8 + 1e-10 * p.n) + 3e-9 * p.n**3
        return sample * p.draws + p.points * p.modes * (2e-8 + 1e-10 * p.n)

    def max_batch(self, params: LinearParams) -> int:
        """Cells of a minute or so: they are solved one after another, and a batch is the unit that is handed out."""
        return int(np.clip(60 / self.work(params), 1, 4096))

    def train(self, cell: Cell[LinearParams], recording: Recording) -> Trained:
        """Solve a cell.

        Raises:
            SwingbyError: images are asked for, and scikit-learn is not installed.
        """
        from .engine import fit

        return fit(cell, recording)
