"""The experiment `unconstrained`: W H fitted to one-hot labels with weight decay, features being free parameters."""

from __future__ import annotations

from typing import ClassVar

from swingby.model.experiment import Batch, Column
from swingby.model.reported import Curves, Reported
from swingby_sweeps.dynamics.columns import COUNT, LIST, NUMBER, ROWS, Columns, columns_of
from swingby_sweeps.dynamics.shells import BAND, BatchExperiment

from .params import UnconstrainedParams


class Unconstrained(BatchExperiment[UnconstrainedParams]):
    """|W H - Y|^2/(2N) + l_W |W|^2/2 + l_H |H|^2/2 by flow or descent, in directions of points in place of points."""

    name = "unconstrained"
    stream_version = 1
    pinned = True
    Params = UnconstrainedParams
    read_where: ClassVar = {"momentum": "drive == 'gd'"}
    report = Reported(
        companions=("fate", "collapse_time", "rank"),
        curves=Curves(
            titles={"nc1": "NC1", "nc2": "NC2", "kappa_cka": "kappa"},
            axis="distance from collapse",
            title="Collapse over training",
            caption="NC1, NC2 and kappa at single points of the grid",
            reading=f"{BAND}Thin: single seeds. All three are 0 where features have collapsed.",
        ),
    )
    one_thread = "blas"
    counted = "training_steps"
    curves = columns_of(
        LIST,
        loss="|W H - Y|^2/(2N) + l_W |W|^2/2 + l_H |H|^2/2",
        fit_loss="|W H - Y|^2/(2N)",
        strongest="largest singular value of W H",
        weakest="smallest of the C singular values of W H",
        nc1="Tr(Sigma_W Sigma_B^+)/C: what varies within classes, beside what lies between them",
        nc2="|G/|G| - (I - 1/C)/sqrt(C - 1)|: class means beside a simplex",
        nc3="|W/|W| - M/|M||: weights beside class means, both without their mean over classes",
        output_variance="variance of the outputs over that of the labels",
        kappa_cka="1 - evenness x containment; null where the outputs are constant",
        evenness="how alike the intensities of the features inside the learned space are",
        containment="how much of the features lies inside the learned space",
        unbalance="|W^T W - H H^T|",
        predicted_nc1="NC1 of the flow from this start's part that grows, in closed form; null where l_W and l_H "
        "differ, or with fewer features than classes",
        predicted_nc2="NC2 of the same closed form",
    )
    recordings: ClassVar = {"strengths": columns_of(ROWS, strengths="the C singular values of W H, largest first")}
    ends = (
        *("strengths", "loss", "fit_loss", "strongest", "weakest", "nc1", "nc2", "nc3"),
        *("kappa_cka", "evenness", "containment"),
    )
    scalars: ClassVar = {
        "points_total": Column(COUNT, "N", "points"),
        "smallest_class": Column(NUMBER, "points of the smallest class", "points"),
        "time_per_step": Column(NUMBER, "flow time in one step", "flow time"),
        "final_nc3_printed": Column(
            NUMBER, "last recorded |w_c/|w_c| - m_c/|m_c||, mean over classes, w_c with the mean over classes (D.8)"
        ),
    }

    def shape(self, p: UnconstrainedParams) -> str:
        """The drive, the number of steps, and the sizes of W and of H in rotated points."""
        return f"{p.drive} {p.training_steps} {p.classes} {p.width} {p.spread}"

    def work(self, p: UnconstrainedParams) -> float:
        """Microseconds of a cell on the machine where they were measured, with 60 records."""
        products = p.classes * p.width * (p.classes + p.spread)
        evaluations = p.training_steps if p.drive == "gd" else 600 + 0.01 * p.training_steps
        return 6000 + evaluations * (0.5 + products * 1e-3)

    def max_batch(self, params: UnconstrainedParams) -> int:
        """So many that a batch takes some seconds."""
        return 512

    def tolerance(self, p: UnconstrainedParams) -> float:
        """Of the flow, that of its steps, which end at recorded times."""
        return 1e-5 if p.drive == "flow" else 1e-9

    def train(self, batch: Batch[UnconstrainedParams]) -> Columns:
        """Train the batch by compiled kernels."""
        from .engine import train

        return train(batch.cells, batch.recording)
