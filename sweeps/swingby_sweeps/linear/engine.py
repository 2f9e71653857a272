"""One cell: the curves of the fit over time, its end, and theory's numbers beside the learnabilities of the sample."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby_sweeps.dynamics.columns import Trained

from . import features, solve, theory
from .params import LinearParams

Array = np.ndarray
FIRST = 8
"""Modes of the target whose learning is recorded on request."""
LISTED = 40
"""Modes, about evenly spaced in the logarithm of k, whose learnabilities are kept."""
DIVERGED_AT = 1e6
"""Coefficients beyond this many times the labels' size have diverged."""


def fit(cell: Cell[LinearParams], recording: Recording) -> Trained:
    """Solve one cell at the recorded steps."""
    p = cell.params
    rho, c = features.intensities(p), features.target(p)
    random = cell.stream("points")
    E = features.matrix(p, random)
    sample = solve.Sample.of(E, rho)
    noise = cell.stream("noise").standard_normal(p.n)

    steps, modes = recording.at(p.points - 1), "modes" in recording.also
    times = np.geomspace(p.end_time / 10**p.decades, p.end_time, p.points)[steps]
    filters, times = _filters(p, sample.rates, times)
    end = filters[-1] if p.stopped else solve.limit(sample.rates, p.ridge / p.n)
    curves, ends = _errors(p, sample, E, noise, c, np.vstack([filters, end]), modes)
    message, kept = _divergence(p, sample, curves["test_loss"], c)
    curves = {"step": steps, "eta_t": times, **curves, "population": theory.population(rho, c, times)}
    if kept < len(steps) or (message and not p.stopped):
        ends = dict.fromkeys(ends)
    learned = _learnabilities(p, sample, rho, random)
    scalars = {
        **_theory(p, rho, c),
        **learned,
        **ends,
        "rank": len(sample.rates),
        "largest_rate": float(sample.rates[-1]),
    }
    return Trained({name: curve[:kept] for name, curve in curves.items()}, scalars, message)


def _filters(p: LinearParams, rates: Array, times: Array) -> tuple[Array, Array]:
    """The filters at the recorded times, (t, m), and these times, which descent has at whole steps only."""
    if p.drive == "flow":
        return solve.flow(rates, p.ridge / p.n, times), times
    taken = np.rint(times / p.eta)
    return solve.descent(rates, p.ridge / p.n, p.eta, taken), taken * p.eta


def _errors(
    p: LinearParams, sample: solve.Sample, E: Array, noise: Array, c: Array, filters: Array, modes: bool
) -> tuple[dict[str, Array], dict[str, Any]]:
    """The curves, and the scalars of the end, which is the last row of the filters.

    Labels are linear in what they consist of, so that the fits to the signal E c and to unit noise are kept apart.
    """
    power, sd, target = float(c @ c), math.sqrt(p.variance), E @ c
    signal, unit = sample.coefficients(filters, target, noise)
    away = signal - c
    signal_error, noise_gain, cross = (
        np.einsum("tk,tk->t", one, other) for one, other in ((away, away), (unit, unit), (away, unit))
    )
    error = signal_error + 2 * sd * cross + p.variance * noise_gain
    aligned = signal @ c / power
    labels = target + sd * noise
    train = sample.left(filters, labels) * float(labels @ labels) / p.n
    curves = {
        "test_loss": error / 2,
        "signal_loss": signal_error / 2,
        "noise_loss": p.variance * noise_gain / 2,
        "train_loss": train / 2,
        "signal_left": sample.left(filters, target),
        "noise_left": sample.left(filters, noise),
        "aligned": aligned,
    }
    ends = {
        "final_test_loss": error[-1] / 2,
        "final_train_loss": train[-1] / 2,
        "signal_error": signal_error[-1] / power,
        "noise_gain": noise_gain[-1],
        "mean_noise_gain": sample.mean_noise(filters[-1]),
        "final_aligned": aligned[-1],
        "final_noise_left": curves["noise_left"][-1],
        "label_power": float(labels @ labels) / p.n,
    }
    if p.features == "kernel" and p.n < p.pool:
        squares = p.pool * error[-1] - float(((E @ (away[-1] + sd * unit[-1])) ** 2).sum())
        ends["unseen_loss"] = squares / (p.pool - p.n) / 2
    listed = _listed(len(c))
    there = c[listed] != 0
    ends["target_ratio"] = np.divide(signal[-1, listed], c[listed], where=there, out=np.full(len(listed), np.nan))
    if modes:
        whole, first = signal + sd * unit, np.flatnonzero(c)[:FIRST]
        curves["learned"] = whole[:, first] / c[first]
        curves["utilised"] = theory.effective_dimension(whole**2)
    return {name: curve[:-1] for name, curve in curves.items()}, ends


def _divergence(p: LinearParams, sample: solve.Sample, test_loss: Array, c: Array) -> tuple[str | None, int]:
    """Why the cell diverged, None if it did not, and how many recorded steps are kept."""
    if p.drive == "flow":
        return None, len(test_loss)
    rate = p.eta * (float(sample.rates[-1]) + p.ridge / p.n)
    if rate <= 2:  # it is stable, however large the fit of much noise to few points
        return None, len(test_loss)
    beyond = np.flatnonzero(~(test_loss < DIVERGED_AT**2 * (float(c @ c) + p.variance) / 2))
    kept = max(int(beyond[0]), 1) if len(beyond) else len(test_loss)
    if p.stopped and not len(beyond):
        return None, kept
    return f"eta l_max = {rate:.3g} is above 2: descent diverges; {kept} recorded steps kept", kept


def _theory(p: LinearParams, rho: Array, c: Array) -> dict[str, Any]:
    """Numbers of theory for unlimited time, which hang on the parameters alone."""
    kappa = theory.kappa(rho, p.n, p.ridge)
    L = theory.learnability(rho, kappa)
    e0 = theory.overfitting(p.n, L)
    listed = _listed(len(c))
    return {
        "kappa": kappa,
        "e_0": e0 if math.isfinite(e0) else None,
        "learned_modes": float(L.sum()),
        "missed": theory.missed(L, c),
        "target_power": float(c @ c),
        "listed_modes": listed + 1,
        "learnability": L[listed],
    }


def _learnabilities(p: LinearParams, sample: solve.Sample, rho: Array, random: np.random.Generator) -> dict[str, Any]:
    """Learnabilities of the listed modes over training sets, of which the first one is `sample`."""
    first = sample.learnability(p.ridge)
    listed = _listed(len(rho))
    others = (solve.Sample.of(features.matrix(p, random), rho).learnability(p.ridge) for _ in range(p.draws - 1))
    sets = [of[listed] for of in (first, *others)]
    error = np.std(sets, axis=0, ddof=1) / math.sqrt(p.draws) if p.draws > 1 else np.full(len(listed), np.nan)
    return {
        "sample_learnability": np.mean(sets, axis=0),
        "learnability_error": error,
        "sample_learned_modes": float(first.sum()),
        "full_rank": len(sample.rates) == min(p.n, int(np.count_nonzero(rho))),
    }


def _listed(modes: int) -> Array:
    """Indices of the modes whose learnabilities are kept, from 0, rising."""
    return np.unique(np.geomspace(1, modes, LISTED).round().astype(np.int64)) - 1
