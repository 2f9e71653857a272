"""The detector `descents`: outcomes of SIM runs from their curves, with sizes, times and certainty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from swingby.model.detector import Detector, drawn_as
from swingby.model.experiment import Column
from swingby_analysis.signals.bumps import descend, fine_descents, tallest
from swingby_analysis.signals.extrema import Floats
from swingby_analysis.signals.final_stretch import arrival_times, arrived_at
from swingby_analysis.signals.groups import OutcomeColumns, Partial
from swingby_analysis.signals.kernels import compiled

from ..params import SYMMETRIC_FAMILY
from . import order, slowdown
from . import outcome as verdict
from .curves import Group, Runs, Twins

Mask = NDArray[np.bool_]
Columns = dict[str, Partial]
CURVES = ("step", "ood_loss", "train_loss", "output", "jacobian", "hierarchy_loss")
TWINS = ("twin_gd", "twin_flow")
"""Recordings of twins."""
OF_TWINS = ("ood_loss", "train_loss", "output")
LEAST_STEPS = 5
"""Steps of descent that a rise has to last: the swings of a step that is too long take one or two."""
CERTIFICATES = ("gradient_norm", "growth_rate", "smallest_eigenvalue", "trace", "rank0", "narrowest")
STABLE = 2.0
"""Length of a step times curvature up to which descent settles."""
NOISY = "sgd"
"""The drive by mini-batches; runs of other drives have no sampling noise."""
LIST = pa.list_(pa.float64())

OUTCOMES: dict[str, Column] = {
    "noise_sd": Column(pa.float64(), "median of the noise's local standard deviation, where the run lives", "L_ref"),
    "tau": Column(
        pa.float64(), "largest threshold of a descent where the run lives: a smaller bump may be missed", "L_ref"
    ),
    "descents": Column(pa.int64(), "drops of the OOD loss by more than the threshold there, which is at most tau"),
    "descents_fine": Column(
        pa.int64(), "drops by more than 0.1 % of L_ref, where there is no sampling noise; null for sgd"
    ),
    "non_monotone": Column(pa.bool_(), "two descents or more"),
    "transient_memorization": Column(
        pa.bool_(),
        "non-monotone, and over a rise of at least 5 steps the output nears a training centre while the training loss "
        "nowhere rises; a step is short enough for a solution to be stable, or the twin by flow is non-monotone, too; "
        "never of one layer",
    ),
    "retreat": Column(pa.bool_(), "some r_k = f_k / mu_k rises, falls, and exceeds its old peak"),
    "bump_height": Column(
        pa.float64(), "largest rise between two descents; 0 if there is none", "L_ref", absent="bump"
    ),
    "bump_start": Column(pa.int64(), "step of the trough before that rise", "step"),
    "bump_peak": Column(pa.int64(), "step of the peak of that rise", "step"),
    "bump_end": Column(
        pa.int64(),
        "first recorded step after the peak that is back at the level of the trough (else the lowest after)",
        "step",
    ),
    "outcome": Column(
        pa.string(), "the first category that applies, of " + ", ".join(verdict.OUTCOMES), order=verdict.ORDER
    ),
    "certain": Column(pa.bool_(), "the records suffice to tell that outcome from the others"),
    "learning_order": Column(pa.list_(pa.int64()), "concepts, counted from 0, by t90; equal ones by number"),
    "t90": Column(LIST, "start of the final stretch with r_k >= 0.9; infinite if r_k ends below", "step"),
    "order_follows_a": Column(pa.bool_(), "the order by t90 is that of falling a_p; null where ties leave it open"),
    "terminal_rate": Column(LIST, "exponential rate of the terminal slow-down of each concept", "1/flow time"),
    "terminal_r2": Column(LIST, "R^2 of the fit of terminal_rate"),
    "terminal_predicted": Column(
        LIST, "predicted terminal_rate, where there is a prediction (symmetric: d = s)", "1/flow time"
    ),
    "minor_rate": Column(LIST, "rate of |w_ij|, i < j row by row (symmetric model with jacobian)", "1/flow time"),
    "minor_r2": Column(LIST, "R^2 of the fit of minor_rate"),
    "minor_predicted": Column(LIST, "predicted minor_rate, a_i + a_j; null where d > s", "1/flow time"),
    **{
        f"{name}_{outcome}": Column(type_, f"{outcome} of the twin, of the recording {name}", unit)
        for name in TWINS
        for outcome, type_, unit in (
            ("non_monotone", pa.bool_(), ""),
            ("transient_memorization", pa.bool_(), ""),
            ("retreat", pa.bool_(), ""),
            ("bump_height", pa.float64(), "L_ref"),
            ("descents_fine", pa.int64(), ""),
        )
    },
    "found_of_twin": Column(
        pa.bool_(),
        "whether the run is seen to be non-monotone where its twin by full-batch descent shows transient "
        "memorization; null where the twin shows none",
    ),
    "order_violations": Column(pa.float64(), "share of comparable pairs that break B.2, mean over records"),
    "order_violations_worst": Column(pa.float64(), "largest share of comparable pairs that break B.2 at one record"),
    "order_violations_inner": Column(pa.float64(), "order_violations without the pairs of the origin"),
}


class Descents(Detector):
    """Descents, bumps, transient memorization, retreat, outcome, learning order, terminal rates and B.2 of SIM runs.

    The unit of loss is L_ref = ||x^||^2 / 2. Curves count up to the first record that is not finite or exceeds
    1e6 L_ref. Rates are in the time of eq 4.3 for the symmetric family (twice that of the flow of L), else in that of
    the flow of L. Rows that are not results (status failed or running) have nulls.
    """

    name: ClassVar[str] = "descents"
    version: ClassVar[str] = "4"
    experiments: ClassVar[tuple[str, ...]] = ("sim",)
    outcomes: ClassVar[Mapping[str, Column]] = OUTCOMES
    kinds = drawn_as(
        OUTCOMES, "transient_memorization", "non_monotone", "retreat", "order_follows_a", "outcome", "bump_height",
        "descents", "descents_fine", "order_violations",
        *(f"{name}_{outcome}" for name in TWINS for outcome in ("transient_memorization", "retreat")),
        *(f"{name}_bump_height" for name in TWINS), "found_of_twin",
    )  # fmt: skip
    compared: ClassVar[Mapping[str, str]] = {
        "non_monotone": "descents >= 2",
        "transient_memorization": "transient_memorization and bump_height >= 0",
    }
    needs: ClassVar[tuple[str, ...]] = (
        "status", "model", "drive", "layers", "d", "mu", "sigma", "sigma_is", "zero_cluster", "bias", "dtype",
        *CURVES, "a", "time_per_step", *CERTIFICATES, *(f"{twin}_{curve}" for twin in TWINS for curve in OF_TWINS),
    )  # fmt: skip

    def detect(self, table: pa.Table) -> pa.Table:
        """`cell_id` and the outcome columns, one row for each row of `table`, in its order.

        Raises:
            SwingbyError: the curves of a cell do not fit each other.
        """
        for name in self.needs:
            if name not in table.column_names:
                table = table.append_column(name, pa.nulls(table.num_rows))
        runs = Runs(table, CURVES)
        outcomes = OutcomeColumns(len(runs.ids))
        flow = _of_twin(Twins(table, "twin_flow", "flow"), outcomes, None)
        descent = _of_twin(Twins(table, "twin_gd", "gd"), outcomes, flow)
        final_loss, largest_a = np.full((2, len(runs.ids)), np.nan)
        for group in runs.groups():
            final_loss[group.rows] = group.curve("ood_loss")[:, -1] / group.l_ref
            largest_a[group.rows] = group.a.max(axis=1)
            columns = _group_columns(group, flow.non_monotone[group.rows])
            shown = descent.transient[group.rows]
            columns["found_of_twin"] = columns["non_monotone"][0], shown & columns["non_monotone"][1]
            outcomes.put(group.rows, columns)
        place, certain = verdict.judge(
            runs.diverged,
            final_loss,
            runs.words("model"),
            runs.words("dtype"),
            runs.mu.count,
            runs.l_ref,
            largest_a,
            {name: runs.numbers(name) for name in CERTIFICATES},
        )
        words = np.array(verdict.OUTCOMES, dtype=object)[place]
        outcomes.put(np.arange(len(runs.ids)), {"outcome": (words, runs.final), "certain": (certain, runs.final)})
        values = {name: outcomes.column(name, column.type) for name, column in OUTCOMES.items()}
        return pa.table({"cell_id": table["cell_id"].cast(pa.string()), **values})


class _Seen(NamedTuple):
    """What twins show, each (R,), False where there is no twin."""

    non_monotone: Mask
    transient: Mask


def _of_twin(runs: Twins, outcomes: OutcomeColumns, flow: _Seen | None) -> _Seen:
    """Puts the outcomes of the twins of R runs, those of one recording; `flow`: what the twins by flow show."""
    seen = _Seen(*np.zeros((2, len(runs.ids)), dtype=bool))
    for group in runs.groups():
        output, quiet = group.vectors("output", group.mu.shape[1]), np.zeros(len(group.rows), dtype=bool)
        columns = _bumps(group, quiet, output, quiet if flow is None else flow.non_monotone[group.rows])
        columns["retreat"] = _retreat(group, output, quiet)
        names = ("non_monotone", "transient_memorization", "retreat", "bump_height", "descents_fine")
        outcomes.put(group.rows, {f"{runs.name}_{name}": columns[name] for name in names})
        seen.non_monotone[group.rows] = columns["descents_fine"][0] >= 2
        seen.transient[group.rows] = columns["transient_memorization"][0]
    return seen


def _finite(values: Floats) -> Mask:
    """Rows without a number that is missing or infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()
    if np.isfinite(total):  # only where every number is finite
        return np.ones(len(values), dtype=bool)
    return np.asarray(np.isfinite(values).reshape(len(values), -1).all(axis=1), dtype=bool)


def _retreat(group: Group, output: Floats, noisy: Mask) -> Partial:
    """The column `retreat`."""
    progress, known = _progress(group, output), _finite(output)
    # r_k does not exist where mu_k = 0: such a concept is never learned and never retreats.
    if not (known.all() and _finite(progress).all()):
        progress = np.where(known[:, None, None], np.nan_to_num(progress, nan=0, posinf=0, neginf=0), 0)
    return order.retreats(progress, group.steps, noisy), known


def _progress(group: Group, output: Floats) -> Floats:
    """r_k = f_k / mu_k, (C, T, s)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return output / group.mu[:, None, :]


def _group_columns(group: Group, flow_rises: Mask) -> Columns:
    """Every column that follows from the curves of one group; `flow_rises` (C,): of the twins by flow."""
    concepts, noisy = group.mu.shape[1], group.words("drive") == NOISY
    output = group.vectors("output", concepts)
    progress, known = _progress(group, output), _finite(output)
    at = arrived_at(progress, order.LEARNED)
    # A run that diverged ends nowhere near the answer, whatever its last record before that.
    at[group.runs.diverged[group.rows]] = len(group.steps)
    times = arrival_times(at, group.steps)
    follows, comparable = order.follows_a(at, len(group.steps), group.a)
    columns: Columns = {
        **_bumps(group, noisy, output, flow_rises),
        "retreat": _retreat(group, output, noisy),
        "t90": (times, known),
        "learning_order": (np.argsort(times, axis=1, kind="stable"), known),
        "order_follows_a": (follows, comparable & known),
        **_rates(group, progress),
    }
    recorded = np.flatnonzero(group.has("hierarchy_loss"))
    if len(recorded):
        shares = np.full((3, len(group.rows)), np.nan)
        every, inner = order.violations(group.vectors("hierarchy_loss", 2**concepts)[recorded], concepts)
        shares[:, recorded] = every.mean(axis=1), every.max(axis=1), inner.mean(axis=1)
        names = ("order_violations", "order_violations_worst", "order_violations_inner")
        columns |= {name: (values, ~np.isnan(values)) for name, values in zip(names, shares, strict=True)}
    return columns


def _bumps(group: Group, noisy: Mask, output: Floats, flow_rises: Mask) -> Columns:
    """The columns about descents, and about the highest bump between two of them."""
    loss = group.curve("ood_loss") / group.l_ref[:, None]
    train = group.curve("train_loss") / group.l_ref[:, None]
    distance = nearest_centre(output, group.mu, group.flags("zero_cluster"))
    known = _finite(train) & _finite(distance)
    if not known.all():
        train, distance = np.where(known[:, None], train, 0), np.where(known[:, None], distance, 0)
    descent = descend(loss, train, distance, group.steps, noisy)
    count, rises = len(loss), descent.rises
    several, always, transient = descent.drops >= 2, np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
    # The steps of a flow are marks in time, and none of them can be too long.
    by_steps = group.words("drive") != "flow"
    lasting = ~by_steps[rises.curve] | (group.steps[rises.peak] - group.steps[rises.start] >= LEAST_STEPS)
    settles = (~by_steps | stable(group) | flow_rises) & ~one_layer(group)
    shown = (rises.nearer < 0) & (rises.unlearned <= 0) & lasting & settles[rises.curve]
    transient[rises.curve[shown]] = True
    top, steps = tallest(rises), group.steps.astype(np.int64)
    height, bumped = np.zeros(count), np.zeros(count, dtype=bool)
    height[top.curve], bumped[top.curve] = top.height, True
    columns: Columns = {
        "noise_sd": (descent.sd, always),
        "tau": (descent.threshold, always),
        "descents": (descent.drops, always),
        "descents_fine": (fine_descents(loss) if not noisy.all() else descent.drops, ~noisy),
        "non_monotone": (several, always),
        "transient_memorization": (transient & several, known | ~several),
        "bump_height": (height, always),
    }
    for name, record in (("bump_start", top.start), ("bump_peak", top.peak), ("bump_end", top.end)):
        step = np.zeros(count, dtype=np.int64)
        step[top.curve] = steps[record]
        columns[name] = step, bumped
    return columns


def one_layer(group: Group) -> Mask:
    """Nets of a single layer, (C,): what makes their OOD loss rise is a bias, the start or the step (section 4.1)."""
    deep = np.isin(group.words("model"), ("linear", "relu"))
    return (group.words("model") == "one_layer") | (deep & (group.runs.numbers("layers")[group.rows] == 1))


def stable(group: Group) -> Mask:
    """Whether a solution can be stable under steps as long as the run's, (C,); yes where that is not known.

    The curvature of L at a solution of L layers is at least L a_max (`theory.steepest_rate`; of ReLU nets it is that of
    the linear net), and of the symmetric model, where w = u^2, 4 a_max.
    """
    layers = np.where(np.isin(group.words("model"), SYMMETRIC_FAMILY), 4, group.runs.numbers("layers")[group.rows])
    step = group.runs.numbers("time_per_step")[group.rows]
    return ~(step * layers * group.a.max(axis=1) >= STABLE)


@compiled
def nearest_centre(output: Floats, mu: Floats, origin: NDArray[np.bool_]) -> Floats:
    """Distance of the output to the nearest training centre mu_p e_p (or the origin, if a cluster is there), (C, T).

    Args:
        output: (C, T, s).
        mu: (C, s).
        origin: (C,), whether a cluster sits at the origin.
    """
    curves, times, concepts = output.shape
    result = np.empty((curves, times))
    for row in range(curves):
        for t in range(times):
            square = 0.0
            for p in range(concepts):
                square += output[row, t, p] * output[row, t, p]
            nearest = square if origin[row] else np.inf
            for p in range(concepts):
                centre = mu[row, p]
                away = square - 2 * centre * output[row, t, p] + centre * centre
                # An unknown distance must not be passed over for the nearest known one.
                nearest = away if away < nearest or np.isnan(away) else nearest
            result[row, t] = np.sqrt(nearest) if nearest > 0 or np.isnan(nearest) else 0.0
    return result


def _rates(group: Group, progress: Floats) -> Columns:
    """The columns about the terminal slow-down."""
    model, a, concepts = group.words("model"), group.a, group.mu.shape[1]
    least = np.where(group.words("dtype") == "float32", 1e-6, 1e-12)
    time = group.runs.numbers("time_per_step")[group.rows, None] * group.steps
    rates = slowdown.outputs(progress, time)
    minors = slowdown.Rates(*(np.full((len(a), concepts * (concepts - 1) // 2), np.nan) for _ in range(3)))
    if group.has("jacobian").any():
        jacobian = group.vectors("jacobian", concepts**2).reshape(*progress.shape, concepts)
        two = np.flatnonzero(group.has("jacobian") & np.isin(model, SYMMETRIC_FAMILY))
        d = group.runs.numbers("d")[group.rows]
        _put(rates, two, slowdown.symmetric_majors(jacobian[two], time[two], a[two], d[two]))
        _put(minors, two, slowdown.symmetric_minors(jacobian[two], time[two], a[two], d[two], least[two]))
        one = np.flatnonzero(
            group.has("jacobian") & (model == "one_layer") & ~group.flags("bias") & (group.steps[0] == 0)
        )
        _put(rates, one, slowdown.one_layer(progress[one], jacobian[one, 0], group.mu[one], time[one], a[one]))
    return {
        f"{kind}_{name}": (values, np.asarray(~np.isnan(values).all(axis=1)))
        for kind, part in (("terminal", rates), ("minor", minors))
        for name, values in zip(("rate", "r2", "predicted"), part, strict=True)
    }


def _put(whole: slowdown.Rates, rows: NDArray[np.int64], part: slowdown.Rates) -> None:
    for target, values in zip(whole, part, strict=True):
        target[rows] = values
