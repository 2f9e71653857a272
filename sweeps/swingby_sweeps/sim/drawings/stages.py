"""The drawing `stages`: Jacobian entries and losses of single runs, over the stages of growth and suppression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import polars as pl
from pydantic import Field

from swingby.model import drawing
from swingby_analysis.charts.curves import Band, Run
from swingby_analysis.page import Figure
from swingby_analysis.query import Query
from swingby_analysis.report.prose import plural

from ..detect.outcome import NEGATIVE
from ..detect.stages import leaves_cone
from ..report import OOD_LOSS, TRAINING_LOSS
from .charts.jacobian import Line, Panel, Spread, entry_name, stage_chart
from .plateaus import Plateau, least_major, plateaus_at
from .single import (
    COARSE,
    FINE,
    SYMMETRIC,
    Shown,
    chosen,
    curves_of,
    entries_of,
    kept_places,
    pairs_of,
    shades_of,
)
from .subject import MEDIAN_RUN, SQL, SimDrawing, Subject

BAND_STEPS = 60
READING = (
    "Thick lines are one run: above, the major entries (diagonal) of its Jacobian at the test point; below these, on a "
    "scale of their own, the minor entries (off the diagonal); at the bottom its loss over L_ref. Thin lines and faint "
    "bands are all seeds of that point: median, and 10 % to 90 % quantile. Entries keep their sign there, so that the "
    "band of a minor entry whose sign is left to chance straddles 0. The ground shows the stages of the run drawn "
    "thick, and no time of them is set by hand. Concepts are taken in the order in which their major entries reach "
    "1/2, where eq 4.3 moves these fastest. A growth (green) turns into a suppression (orange) where the minor entries "
    "of the concept just learned with those still to come, summed by magnitude, are largest before the next major "
    "entry reaches 1/2. The next growth starts where their sum with that major entry is least: from there on it gains "
    "more than they lose. A suppression without length is left out, and minor entries count alike "
    "there, whatever their mu; so the loss can rise in green, too. Terminal (blue): every major entry is at least 0.9 "
    "to the end. A run that does not come that far stays in its last stage. The axis starts at a round step before "
    "which nothing that is drawn thick moves by 0.01."
)
CONE = (
    "Dotted: the first recorded step at which W, as iterated by D.2, has a negative eigenvalue beyond rounding. No "
    "U U^T has one, so what follows is an artefact of that iteration."
)
DIVERGED = (
    "Some runs diverge. The bands of entries are of the runs still recorded; in those of the loss a run that diverged "
    "counts as larger than all others."
)


class StagesOptions(drawing.Options):
    """`training`: the training loss too; `most_descents`: beside each median seed the seed with the most descents;
    `common_seed`: one seed for all points of a preset, at the first of which it does what most seeds do; `mark_step`:
    a line at this step, and how many seeds then have a major entry below 1/2, of which the common seed is one."""

    training: bool = False
    most_descents: bool = False
    common_seed: bool = False
    mark_step: Annotated[int, Field(ge=1)] | None = None


class Stages(SimDrawing):
    """Figs 5, 8, 9, 10 (left) and 17 of [S]: a panel for each point, of its median seed."""

    name: ClassVar[str] = "stages"
    recordings: ClassVar[tuple[str, ...]] = ("jacobian",)
    Options: ClassVar[type[drawing.Options]] = StagesOptions

    def draw(self, subject: Subject, options: StagesOptions) -> Sequence[Figure]:
        """One figure, with a panel a run.

        Raises:
            SwingbyError: one seed for several points was asked of a sweep whose seeds are not common.
        """
        if options.common_seed and subject.data.resolved["seed_mode"] != "common":
            raise subject.cannot(self.name, "common_seed is for a sweep whose seeds are common")
        plateaus = plateaus_at(subject, options.mark_step)
        waiting = {point: plateau.seeds for point, plateau in plateaus.items()}
        shown = chosen(subject, options.common_seed, options.most_descents, waiting)
        asked = Query("entry_runs", (subject.sweep_id, *pairs_of(shown)), SQL)
        over = Query("entry_bands", (subject.sweep_id, BAND_STEPS), SQL)
        runs = {(row["point"], row["seed"]): row for row in subject.ask(asked).iter_rows(named=True)}
        spreads = _spreads(subject.ask(over))
        panels = [
            _panel(subject, one, runs[one.point, one.seed], spreads, options, plateaus.get(one.point)) for one in shown
        ]
        majors, minors = _names(runs.values())
        columns = 3 if options.common_seed else 2
        spec = stage_chart(panels, majors, minors, columns).to_dict()
        caption = _caption(subject, options)
        more = [CONE] if any(panel.notes for panel in panels) else []
        more += [DIVERGED] if (subject.cells["status"] == "diverged").any() else []
        more += [MEDIAN_RUN]
        queries = [
            asked,
            over,
            *(least_major(subject, step) for step in [options.mark_step] if step),
            *subject.data.curve_queries,
            subject.data.queries["cells"],
        ]
        return [
            subject.figure(
                "stages", "Stages of the Jacobian and of the loss", caption, " ".join([READING, *more]), spec, queries
            )
        ]


def _names(runs: Any) -> tuple[list[str], list[str]]:
    """Names of the major and of the minor entries that occur, for the legend."""
    every = {
        (i, j): entry_name(i, j, run["s"]) for run in runs for i, j in entries_of(run["s"], run["model"] in SYMMETRIC)
    }
    return [every[e] for e in sorted(every) if e[0] == e[1]], [every[e] for e in sorted(every) if e[0] != e[1]]


def _panel(
    subject: Subject,
    one: Shown,
    run: Mapping[str, Any],
    spreads: Mapping[int, list[Spread]],
    options: StagesOptions,
    plateau: Plateau | None,
) -> Panel:
    step, W = curves_of(run)
    places, s = kept_places(step), run["s"]
    lines = [
        Line(entry_name(i, j, s), int(step[place]), float(W[place, i, j]))
        for i, j in entries_of(s, run["model"] in SYMMETRIC)
        for place in places
    ]
    curves = {OOD_LOSS: run["ood_loss"], **({TRAINING_LOSS: run["train_loss"]} if options.training else {})}
    losses = [
        Run("", name, one.seed, int(step[place]), values[place] / run["l_ref"])
        for name, values in curves.items()
        for place in places
    ]
    outside = _outside(run)
    notes = [] if outside is None else [(outside, f"W leaves the cone: step {outside}")]
    title = [line for line in (subject.label(one.point), *one.why) if line]
    mark = options.mark_step
    title += plateau.told(mark) if plateau and mark else []
    known = {line.entry for line in lines}
    spread = [row for row in spreads.get(one.point, []) if row.entry in known]
    return Panel(title, lines, spread, losses, _bands(subject, one.point, list(curves)), shades_of(run), notes, mark)


def _spreads(table: pl.DataFrame) -> dict[int, list[Spread]]:
    found: dict[int, list[Spread]] = {}
    for point, s, step, entry, median, low, high in table.select(
        "point", "s", "step", "entry", "median", "low", "high"
    ).iter_rows():
        found.setdefault(point, []).append(Spread(entry_name(entry // s, entry % s, s), step, median, low, high))
    return found


def _bands(subject: Subject, point: int, curves: Sequence[str]) -> list[Band]:
    curve = subject.data.curves[point]
    return [
        Band("", name, int(step), float(median), float(low), float(high))
        for name in curves
        for step, median, low, high in zip(curve.step, *curve.values[name], strict=True)
    ]


def _outside(run: Mapping[str, Any]) -> int | None:
    """The recorded step by which W has left the cone of positive semidefinite matrices; None if it never does."""
    if run["model"] != "w_recurrence":
        return None
    step, W = curves_of(run)
    place = leaves_cone(W, run["dtype"])
    return None if place is None else int(step[place])


def _caption(subject: Subject, options: StagesOptions) -> str:
    """What is drawn, and how often each number of descents occurs at each point."""
    losses = "OOD loss and training loss" if options.training else "OOD loss"
    thick = "the median seed of each point"
    if options.common_seed:
        thick = "one seed, and so the same draws, for all points of a preset: of the runs at the first of them that "
        thick += "show the most common outcome there, the median one"
    if options.mark_step:
        thick += ", chosen, where there are such seeds, among those with a major entry below 1/2 at step "
        thick += f"{options.mark_step:,} (dash-dotted) at as many points as possible"
    if options.most_descents:
        thick += (
            f", and the seed with the most descents by {FINE} of L_ref, since the source chose its seed for them (E.1)"
        )
    counted = " ".join(_counted(subject, point) for point in subject.points)
    drawn = f"Entries of the Jacobian and {losses} over training, with the stages of section 4.2.1."
    return f"{drawn} Thick: {thick}. {counted}"


def _counted(subject: Subject, point: int) -> str:
    """Descents over the seeds of a point; of the recurrence also, in how many W leaves the cone."""
    runs, label = subject.runs(point), subject.label(point)
    told = f"{_counts(runs['descents'])} of {runs.height} seeds"
    if runs["descents_fine"].null_count() < runs.height:
        told = f"by {COARSE} of L_ref {told}, by {FINE} {_counts(runs['descents_fine'])}"
    if runs["model"][0] == "w_recurrence":
        limit = pl.col("dtype").replace_strict(NEGATIVE) * pl.col("trace")
        left = runs.filter(pl.col("smallest_eigenvalue") < -limit).height
        diverged = runs.filter(pl.col("status") == "diverged").height
        told += f"; W leaves the cone of positive semidefinite matrices in {left}, and {diverged} diverge"
    return f"{label + ': ' if label else ''}{told}."


def _counts(descents: pl.Series) -> str:
    """How many runs have each number of descents."""
    counts = descents.drop_nulls().value_counts().sort(descents.name).iter_rows()
    return ", ".join(f"{plural(number, 'descent')} in {k}" for number, k in counts)
