"""The experiment `unconstrained`: W H fitted to one-hot labels with weight decay, features being free parameters."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import ClassVar

import pyarrow as pa

from swingby.model.experiment import Batch, Column, Experiment
from swingby.model.reported import Curves, Reported

from .params import UnconstrainedParams

_LIST, _NUMBER = pa.list_(pa.float64()), pa.float64()


class Unconstrained(Experiment[UnconstrainedParams]):
    """|W H - Y|^2/(2N) + l_W |W|^2/2 + l_H |H|^2/2 by flow or descent, in directions of points in place of points."""

    name: ClassVar[str] = "unconstrained"
    stream_version: ClassVar[int] = 1
    pinned: ClassVar[bool] = True
    Params: ClassVar[type[UnconstrainedParams]] = UnconstrainedParams
    read_where: ClassVar[Mapping[str, str]] = {"momentum": "drive == 'gd'"}
    report: ClassVar[Reported] = Reported(
        companions=("fate", "collapse_time", "rank"),
        curves=Curves(
            titles={"nc1": "NC1", "nc2": "NC2", "kappa_cka": "kappa"},
            axis="distance from collapse",
            title="Collapse over training",
            caption="NC1, NC2 and kappa at single points of the grid",
            reading="Thick: the median over the seeds at each step. Shaded: from the 10 % to the 90 % quantile of the "
            "seeds, which is their spread and not a confidence interval. Thin: single seeds. All three are 0 where "
            "features have collapsed.",
        ),
    )
    curves: ClassVar[Mapping[str, Column]] = {
        "step": Column(pa.list_(pa.int64()), "recorded steps", "steps"),
        "loss": Column(_LIST, "|W H - Y|^2/(2N) + l_W |W|^2/2 + l_H |H|^2/2"),
        "fit_loss": Column(_LIST, "|W H - Y|^2/(2N)"),
        "strongest": Column(_LIST, "largest singular value of W H"),
        "weakest": Column(_LIST, "smallest of the C singular values of W H"),
        "nc1": Column(_LIST, "Tr(Sigma_W Sigma_B^+)/C: what varies within classes, beside what lies between them"),
        "nc2": Column(_LIST, "|G/|G| - (I - 1/C)/sqrt(C - 1)|: class means beside a simplex"),
        "nc3": Column(_LIST, "|W/|W| - M/|M||: weights beside class means, both without their mean over classes"),
        "output_variance": Column(_LIST, "variance of the outputs over that of the labels"),
        "kappa_cka": Column(_LIST, "1 - evenness x containment; null where the outputs are constant"),
        "evenness": Column(_LIST, "how alike the intensities of the features inside the learned space are"),
        "containment": Column(_LIST, "how much of the features lies inside the learned space"),
        "unbalance": Column(_LIST, "|W^T W - H H^T|"),
        "predicted_nc1": Column(
            _LIST, "NC1 of the flow from this start's part that grows, in closed form; null where l_W and l_H differ, "
            "or with fewer features than classes",
        ),
        "predicted_nc2": Column(_LIST, "NC2 of the same closed form"),
    }  # fmt: skip
    recordings: ClassVar[Mapping[str, Mapping[str, Column]]] = {
        "strengths": {"strengths": Column(pa.list_(_LIST), "the C singular values of W H, largest first")},
    }
    scalars: ClassVar[Mapping[str, Column]] = {
        "points_total": Column(pa.int64(), "N", "points"),
        "smallest_class": Column(_NUMBER, "points of the smallest class", "points"),
        "time_per_step": Column(_NUMBER, "flow time in one step", "flow time"),
        "final_strengths": Column(_LIST, "last recorded singular values of W H, largest first"),
        "final_loss": Column(_NUMBER, "last recorded loss"),
        "final_fit_loss": Column(_NUMBER, "last recorded |W H - Y|^2/(2N)"),
        "final_strongest": Column(_NUMBER, "last recorded largest singular value of W H"),
        "final_weakest": Column(_NUMBER, "last recorded smallest singular value of W H"),
        "final_nc1": Column(_NUMBER, "last recorded NC1"),
        "final_nc2": Column(_NUMBER, "last recorded NC2"),
        "final_nc3": Column(_NUMBER, "last recorded NC3"),
        "final_nc3_printed": Column(
            _NUMBER, "last recorded |w_c/|w_c| - m_c/|m_c||, mean over classes, w_c with the mean over classes (D.8)"
        ),
        "final_kappa_cka": Column(_NUMBER, "last recorded kappa"),
        "final_evenness": Column(_NUMBER, "last recorded evenness"),
        "final_containment": Column(_NUMBER, "last recorded containment"),
        "seconds": Column(_NUMBER, "this cell's share of its batch's time", "s"),
    }

    def shape(self, p: UnconstrainedParams) -> str:
        """The drive, the number of steps, and the sizes of W and of H in rotated points."""
        return f"{p.drive} {p.training_steps} {p.classes} {p.width} {p.spread}"

    def steps(self, p: UnconstrainedParams) -> int:
        """Steps of the whole run."""
        return p.training_steps

    def length(self, params: UnconstrainedParams) -> str:
        """The number of steps."""
        return "training_steps"

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

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        """Train the batch; one table, one final row a cell, in the order of the batch."""
        import numpy as np

        from swingby_sweeps.dynamics.columns import table

        from .engine import train

        began = time.perf_counter()
        columns = train(batch.cells, batch.recording)
        columns["seconds"] = pa.array(np.full(len(batch.cells), (time.perf_counter() - began) / len(batch.cells)))
        yield table(columns, self.schema(batch.recording))
