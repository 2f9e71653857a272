"""The drawing `hypercube`: the loss at every test point of the hierarchy at given times, on the graph of a cube."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from swingby.model import drawing
from swingby_analysis.query import Query
from swingby_analysis.report.prose import percent, plural
from swingby_analysis.report.query_drawing import Drawn
from swingby_analysis.signals.extrema import Floats

from ..detect import order
from .charts.hypercube import Cube, hypercube_chart
from .subject import SQL, SimDrawing, Subject, parameters_of

SHARES = ("B.2 broken by", "without the origin:")
TITLE = "The loss over the hierarchy of test points"
MOST = 5
"""The most concepts whose 2^s nodes can still be read."""


class HypercubeOptions(drawing.Options):
    """Times of the panels."""

    epochs: list[Annotated[int, Field(ge=0)]] = Field(
        [1, 3, 5],
        min_length=1,
        max_length=6,
        description="passes over the training points, each of ceil(points / batch_size) steps, that have a panel",
    )
    steps: list[Annotated[int, Field(ge=0)]] = Field(
        default=[],
        max_length=6,
        description="steps that have a panel in a figure of their own, for changes within the first epoch",
    )


class Hypercube(SimDrawing):
    """Fig 7 of [S]: a row of panels for each point, one panel a time."""

    name = "hypercube"
    recordings = ("hierarchy",)
    Options = HypercubeOptions
    reading = (
        "Each circle is a test point x^(v) of B.1, with v_1 ... v_s printed on it, the concepts that it combines, and "
        "below that its loss 1/2 ||f(x) - x||^2: the median over the seeds, in units of the data and not over L_ref. "
        "The colour shows that loss too; as in the source all losses of 1 and more have one colour. A column holds the "
        "points that combine equally many concepts, from none (the origin) to all; lines join points that differ in "
        "one. B.2 says that the loss never falls along a line from left to right. Lines along which the median falls, "
        "by more than 2 % and 0.001, are thick and pink. The share above each panel is counted in each run on its own, "
        "over all comparable pairs u <= v and not only over the lines: median, and in brackets the 10 % and 90 % "
        "quantiles of the seeds. The origin is a test point too: a net with a bias starts with a loss there. Where all "
        "losses of all seeds are below 0.001, the slack of B.2, no pair can break it, and the panel says so instead."
    )

    def charts(self, subject: Subject, options: HypercubeOptions) -> Iterable[Drawn]:
        """One chart over the epochs, and one over the steps if there are any.

        Raises:
            SwingbyError: its points have different numbers of concepts, or too many to draw.
        """
        concepts = subject.cells["s"].unique().to_list()
        if len(concepts) != 1 or concepts[0] > MOST:
            numbers = ", ".join(map(str, sorted(concepts)))
            raise subject.cannot(self.name, f"s is {numbers}; allowed: the same s at all points, at most {MOST}")
        times = {"epoch": options.epochs, "step": options.steps}
        return [_chart(subject, unit, after, concepts[0]) for unit, after in times.items() if after]


def _chart(subject: Subject, unit: str, times: Sequence[int], concepts: int) -> Drawn:
    """A row of panels for each point, one panel for each time, in epochs or in steps."""
    steps_of = {point: parameters_of(subject.runs(point)).steps_per_epoch for point in subject.points}
    pairs = [(point, after) for point in subject.points for after in times]
    steps = [after * (steps_of[point] if unit == "epoch" else 1) for point, after in pairs]
    query = Query("hypercube", (subject.sweep_id, *map(tuple, zip(*pairs, strict=True)), tuple(steps)), SQL)
    tables = subject.ask(query).partition_by("point", "after", as_dict=True)
    cubes: list[Cube] = []
    for point, after in pairs:
        losses, recorded = losses_of(tables[point, after], concepts), sorted({*tables[point, after]["step"].to_list()})
        at = f"step {recorded[0]:,}" if len(recorded) == 1 else f"steps {recorded[0]:,} to {recorded[-1]:,}"
        title = [subject.label(point), f"after {plural(after, unit)} ({at})", *broken_shares(losses, concepts)]
        cubes.append(Cube([line for line in title if line], np.median(losses, axis=0).tolist()))
    when = "the end of each epoch" if unit == "epoch" else f"each of the steps {', '.join(map(str, times))}"
    caption = (
        f"The loss at the {2**concepts} test points x^(v), v in {{0, 1}}^{concepts}, at the recorded step nearest to "
        f"{when}, and where it breaks the order of u <= v (B.2); {len(order.comparable_pairs(concepts))} pairs."
    )
    slug, title = ("hypercube", TITLE) if unit == "epoch" else ("hypercube-steps", f"{TITLE}, in the first steps")
    return Drawn(hypercube_chart(cubes, len(times)), caption, title, slug=slug, queries=[query])


def losses_of(runs: pl.DataFrame, concepts: int) -> Floats:
    """Loss at every test point of every run, (R, 2^s); infinite where the run diverged before that time."""
    never = [float("inf")] * 2**concepts
    return np.array([never if loss is None else loss for loss in runs["loss"].to_list()], dtype=float)


def broken_shares(hierarchy: Floats, concepts: int) -> list[str]:
    """Lines with the share of comparable pairs that break B.2 over the seeds, with and without the origin (if s > 1).

    Where every loss of every seed, (R, 2^s), is below the slack, no pair can break it, and one line says so instead.
    """
    if (hierarchy < order.SLACK).all():
        return [f"all losses below {order.SLACK:g}: no order to see"]
    lines: list[str] = []
    for name, shares in zip(SHARES, order.violations(hierarchy[:, None], concepts), strict=True):
        if np.isfinite(shares).all():
            low, middle, high = map(percent, np.quantile(shares, [0.1, 0.5, 0.9]))
            lines.append(f"{name} {middle} of pairs (10-90 % of seeds: {low} to {high})")
    return lines
