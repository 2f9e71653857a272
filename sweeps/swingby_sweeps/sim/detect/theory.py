"""The detector `theory`: what theory predicts for a SIM cell from its start, and what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from swingby.model.cell import Cell
from swingby.model.detector import Detector, drawn_as
from swingby.model.experiment import Column

from .. import task, theory
from ..assumptions import Constants, assumptions
from ..init import Start
from ..params import SimParams
from . import arrivals
from .cells import PARAMETERS, cells_of, first_weights, has_theory, ranks
from .curves import lists

Array = np.ndarray
Row = dict[str, Any]
LIST = pa.list_(pa.float64())

CONSTANTS = Constants(K=20.0, C=10.0, P=2.0, kappa=2.0)
"""The most lenient constants that App. D.1 allows.

K and P have their least values, the most lenient ones in D.2, D.3 and D.9; D.10 asks for a large P, and cannot be met
for omega >= 1e-4 with any. C and kappa are the more lenient the larger they are, within kappa <= 1 + K/(2C). This pair
lies on that line: it asks for gaps of alpha/10 between the a_p, and min(kappa - 1, 1 - kappa^(-1/2)) of D.9 is 0.29,
where 1 is its limit for large kappa.
"""

COLUMN_OF: Mapping[str, str] = {
    "bounded": "d_1_bounded",
    "small_step": "d_2_small_step",
    "small_phase": "d_3_small_phase",
    "small_start": "d_4_small_start",
    "log_ascending": "d_5_log_ascending",
    "log_descending": "d_5_log_descending",
    "gap_ascending": "d_5_gap_ascending",
    "gap_descending": "d_5_gap_descending",
    "all_ascending": "all_assumptions",
}
"""The column of each assumption of App. D.1."""

ASSUMPTIONS: dict[str, Column] = {
    **{name: Column(pa.float64(), f"the constant {name} under which the assumptions were judged") for name in
       (field.name for field in fields(Constants))},
    "d_1_bounded": Column(pa.bool_(), "gamma and beta exist: d = s, and no w_ij(0) is 0"),
    "d_2_small_step": Column(pa.bool_(), "K >= 20 and eta <= 1/(9 K gamma alpha)"),
    "d_3_small_phase": Column(pa.bool_(), "P omega beta <= 0.4"),
    "d_4_small_start": Column(pa.bool_(), "D.9 and the bounds on kappa and P: omega is small"),
    "d_5_log_ascending": Column(pa.bool_(), "D.5, first part (D.10), with the a_p ascending"),
    "d_5_log_descending": Column(pa.bool_(), "D.5, first part, with the a_p descending as in the main text"),
    "d_5_gap_ascending": Column(pa.bool_(), "D.5, second part, with the a_p ascending"),
    "d_5_gap_descending": Column(pa.bool_(), "D.5, second part, descending: false for two concepts or more"),
    "all_assumptions": Column(pa.bool_(), "all of D.1 to D.5, the a_p ascending"),
}  # fmt: skip

OUTCOMES: dict[str, Column] = {
    "a_p": Column(
        LIST, "a_p of each concept, as it drives the model; null, like the other predictions, where theory is silent"
    ),
    "predicted_order": Column(pa.list_(pa.int64()), "concepts, counted from 0, by predicted_t90"),
    "predicted_t90": Column(
        LIST,
        "when w_pp first reaches 0.9 (symmetric family), or the final stretch of r_k >= 0.9 starts (one layer)",
        "step",
    ),
    "predicted_alone": Column(LIST, "predicted_t90 by growth alone: from w_pp(0), or (one layer) from 0", "step"),
    "predicted_delay": Column(
        LIST, "delay by the suppression from entries learned before, or (one layer) by the initial noise", "step"
    ),
    "predicted_terminal": Column(LIST, "terminal rates: 2 a_k (null where d > s), or (one layer) a_k", "1/flow time"),
    "predicted_minor": Column(
        LIST, "terminal rates of w_ij, i < j row by row: a_i + a_j; null where d > s", "1/flow time"
    ),
    "measured_t90": Column(
        LIST,
        "measured predicted_t90, interpolated between records; infinite if never (symmetric family: needs jacobian)",
        "step",
    ),
    "measured_order": Column(pa.list_(pa.int64()), "concepts, counted from 0, by measured_t90"),
    "predicted_order_right": Column(pa.bool_(), "concepts arrive in the predicted order; null where that is open"),
    "times_within_tenth": Column(pa.float64(), "share of comparable times within 10 % of their prediction"),
    "rank_enough": Column(pa.bool_(), "rank(U_0) >= s (symmetric family)"),
    "width_enough": Column(pa.bool_(), "narrowest layer >= s (every linear model)"),
    "least_training_loss": Column(
        pa.float64(), "the least L that the start's rank allows: half the sum of the s - rank smallest a_p"
    ),
    "omega": Column(pa.float64(), "smallest |w_ij(0)| (symmetric family)"),
    "largest_start": Column(pa.float64(), "largest |w_ij(0)|, beta omega (symmetric family)"),
    **ASSUMPTIONS,
}


class Theory(Detector):
    """Predicted order, times and rates, App. D's assumptions and the rank law, for every cell with predictions.

    Theory covers the symmetric family (`theory.majors`, eq 4.3, App. D), whatever drives it, and one layer without
    bias (Theorem 4.1), with the a_p of the population: for SGD and for drawn moments, that is the theory of the mean.
    The detector draws the cell's start again. Rows of other models, of truncated sets, of other versions of the
    experiment, and rows that are not results, are null. A run that diverged has predictions and no measured times.
    """

    name: ClassVar[str] = "theory"
    version: ClassVar[str] = "3"
    experiments: ClassVar[tuple[str, ...]] = ("sim",)
    outcomes: ClassVar[Mapping[str, Column]] = OUTCOMES
    kinds = drawn_as(
        outcomes, "predicted_order_right", "times_within_tenth", "rank_enough", "width_enough", "all_assumptions"
    )
    needs: ClassVar[tuple[str, ...]] = (
        *PARAMETERS, "status", "steps", "step", "output", "jacobian", "narrowest",
    )  # fmt: skip

    def detect(self, table: pa.Table) -> pa.Table:
        """`cell_id` and the outcome columns, one row for each row of `table`, in its order."""
        for name in self.needs:
            if name not in table.column_names:
                table = table.append_column(name, pa.nulls(table.num_rows))
        covered = np.flatnonzero(has_theory(table))
        rows = [dict[str, Any]() for _ in range(table.num_rows)]
        for place, row in zip(covered, _rows(table.take(pa.array(covered))), strict=True):
            rows[place] |= row
        # The narrowest layer of every model linear in its input.
        narrowest, s = (table[name].cast(pa.float64()).to_numpy() for name in ("narrowest", "s"))
        linear = table["model"].to_numpy(zero_copy_only=False) != "relu"
        for place in np.flatnonzero(~np.isnan(narrowest) & ~np.isnan(s) & linear):
            rows[place]["width_enough"] = bool(narrowest[place] >= s[place])
        return self.table(table["cell_id"], rows)


@dataclass(frozen=True)
class _PointTheory:
    """The data that all seeds of a point share: parameters, a_p, the test point, and columns that follow from these."""

    p: SimParams
    a: Array
    mu: Array
    columns: Row

    @classmethod
    def of(cls, p: SimParams) -> _PointTheory:
        a = task.signal(p)
        columns: Row = {"a_p": a.tolist(), "predicted_terminal": a.tolist()}
        if p.starts_from_U:
            majors, minors = (rates.tolist() if p.d == p.s else None for rates in theory.terminal_rates(a, p.d))
            columns |= {"predicted_terminal": majors, "predicted_minor": minors}
        return cls(p, a, task.test_point(p), columns)

    def assumptions(self, W0: Array, constants: Constants) -> Row:
        """The columns ASSUMPTIONS for W(0); a step of a cell is 2 time_per_step in D.2's time."""
        eta = 0.0 if self.p.drive == "flow" else 2 * self.p.time_per_step
        holding = assumptions(W0, self.a, constants, eta)
        columns: Row = {field.name: getattr(constants, field.name) for field in fields(Constants)}
        return columns | {column: getattr(holding, name) for name, column in COLUMN_OF.items()}

    def measured(self, steps: Array, output: Array | None, jacobian: Array | None) -> Array | None:
        """Measured arrivals, (s,), to compare with `Arrivals.times`; None where the records do not hold them."""
        if self.p.starts_from_U:
            if jacobian is None:
                return None
            diagonal = jacobian.reshape(len(steps), self.p.s, self.p.s).diagonal(axis1=1, axis2=2)
            return arrivals.first_crossing(steps, diagonal)
        if output is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            return arrivals.final_crossing(steps, output / self.mu)


def _rows(table: pa.Table) -> Iterator[Row]:
    """The columns of each row of a table whose rows all have predictions; no column for a cell of another version."""
    steps, output, jacobian = (lists(table[name]) for name in ("step", "output", "jacobian"))
    ends, statuses = (table[name].to_pylist() for name in ("steps", "status"))
    cells, points = cells_of(table), dict[int, _PointTheory]()
    for row, cell in enumerate(cells):
        if cell is None:
            yield {}
            continue
        p = cell.params
        # The cells of a point share their parameters, which `cells` keeps alive.
        point = points.get(id(p)) or points.setdefault(id(p), _PointTheory.of(p))
        columns, expected = predictions(cell, point)
        measured = None
        if statuses[row] == "ok" and (step := steps.row(row)) is not None:
            measured = point.measured(step[:, 0], output.row(row), jacobian.row(row))
        if measured is not None:
            columns |= {
                "measured_t90": measured.tolist(),
                "measured_order": np.argsort(measured, kind="stable").tolist(),
                "predicted_order_right": arrivals.order_right(expected.times, measured),
                "times_within_tenth": arrivals.within_tenth(arrivals.ratios(expected.times, measured, ends[row])),
            }
        yield columns


def predictions(cell: Cell[SimParams], point: _PointTheory | None = None) -> tuple[Row, arrivals.Arrivals]:
    """The predictions for a cell before it is trained: columns, and its arrivals in steps.

    The cell is of the symmetric family, or of one layer without bias; `point`: that of the cell, if it is made already.
    """
    point, start = point or _PointTheory.of(cell.params), Start.of(cell)
    p, a, W0 = point.p, point.a, first_weights(start)
    columns = dict(point.columns)
    if p.starts_from_U:
        rank, informative = ranks(start)
        expected = arrivals.symmetric(W0, a, p.time_per_step, informative)
        size = np.abs(W0)
        columns |= {
            "rank_enough": rank >= p.s,
            "least_training_loss": theory.least_training_loss(a, rank),
            "omega": float(size.min()),
            "largest_start": float(size.max()),
            **point.assumptions(W0, CONSTANTS),
        }
    else:
        expected = arrivals.one_layer(W0, a, point.mu, p.time_per_step)
    columns |= {
        "predicted_order": expected.order,
        "predicted_t90": expected.times.tolist(),
        "predicted_alone": expected.alone.tolist(),
        "predicted_delay": expected.delay.tolist(),
    }
    return columns, expected


def assumption_columns(cell: Cell[SimParams], constants: Constants) -> Row:
    """The columns ASSUMPTIONS of a cell of the symmetric family."""
    return _PointTheory.of(cell.params).assumptions(first_weights(Start.of(cell)), constants)
