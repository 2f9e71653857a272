"""The drawing `stages`: Jacobian entries and losses of single runs, over the stages of growth and suppression."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, NamedTuple

import polars as pl
from pydantic import Field

from swingby.model import drawing
from swingby_analysis.charts.curves import Band, Run
from swingby_analysis.query import Query
from swingby_analysis.report.prose import plural
from swingby_analysis.report.query_drawing import Drawn

from ..detect.outcome import outside_cone
from ..detect.stages import HALF, leaves_cone
from ..params import SYMMETRIC_FAMILY
from ..report import OOD_LOSS, TRAINING_LOSS
from .jacobian import EntryQuantiles, EntryValue, StagePanel, entry_name, stage_chart
from .single import (
    COARSE,
    FINE,
    PanelRun,
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
    "band of a minor entry with a random sign straddles 0. The background shows the stages of the thick run, found by "
    "rule and not by hand. Concepts are taken in the order in which their major entries reach 1/2, where eq 4.3 moves "
    "these fastest. A growth (green) turns into a suppression (orange) where the minor entries of the concept just "
    "learned with those still to come, summed by magnitude, are largest before the next major entry reaches 1/2. The "
    "next growth starts where the sum of these minor entries and that major entry is least: from there on the major "
    "entry gains more than they lose. A suppression without length is left out. Minor entries count alike, whatever "
    "their mu; so the loss can rise in green, too. Terminal (blue): every major entry is at least 0.9 to the end. A "
    "run that does not come that far stays in its last stage. The axis starts at a round step before which no thick "
    "line moves by 0.01."
)
CONE = (
    "Dotted: the first recorded step at which W, as iterated by D.2, has a negative eigenvalue beyond rounding. No "
    "U U^T has one, so what follows is an artefact of that iteration."
)
DIVERGED = (
    "Some runs diverge. The bands of entries are over the runs that are still recorded; in the bands of the loss a run "
    "that diverged counts as larger than all others."
)


class StagesOptions(drawing.Options):
    """Contents of the panels."""

    training: bool = Field(default=False, description="the training loss too")
    most_descents: bool = Field(default=False, description="beside each median seed the seed with the most descents")
    common_seed: bool = Field(
        default=False,
        description="one seed for all points of a preset, whose outcome is the most common one at the first point",
    )
    mark_step: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="a line at this step, and how many seeds then have a major entry below 1/2; "
        "the common seed is one of these",
    )


class Plateau(NamedTuple):
    """The runs of one point that wait on a plateau at one step.

    Attributes:
        seeds: those with a major entry of the Jacobian below 1/2.
        recorded: how many seeds recorded the Jacobian.
        diverged: how many of these had diverged before.
    """

    seeds: Collection[int]
    recorded: int
    diverged: int


class Stages(SimDrawing):
    """Figs 5, 8, 9, 10 (left) and 17 of [S]: a panel for each point, of its median seed."""

    name = "stages"
    recordings = ("jacobian",)
    Options = StagesOptions
    title = "Stages of the Jacobian and of the loss"

    def charts(self, subject: Subject, options: StagesOptions) -> Iterator[Drawn]:
        """One chart, with a panel for each run.

        Raises:
            SwingbyError: one seed for several points was asked of a sweep whose seeds are not common.
        """
        if options.common_seed and subject.data.resolved["seed_mode"] != "common":
            raise subject.cannot(self.name, "common_seed is for a sweep whose seeds are common")
        queries, plateaus = list[Query](), dict[int, Plateau]()
        if options.mark_step:
            queries.append(Query("least_major", (subject.sweep_id, options.mark_step), SQL))
            for (point,), table in subject.ask(queries[0]).partition_by("point", as_dict=True).items():
                waiting = table.filter(pl.col("least_major") < HALF)["seed"].to_list()
                plateaus[point] = Plateau(waiting, table.height, table["least_major"].null_count())
        preferred = {point: plateau.seeds for point, plateau in plateaus.items()}
        shown = chosen(subject, options.common_seed, options.most_descents, preferred)
        single = Query("entry_runs", (subject.sweep_id, *pairs_of(shown)), SQL)
        over_seeds = Query("entry_bands", (subject.sweep_id, BAND_STEPS), SQL)
        runs = {(row["point"], row["seed"]): row for row in subject.ask(single).iter_rows(named=True)}
        bands = subject.ask(over_seeds)
        panels = [
            _panel(subject, run, runs[run.point, run.seed], bands, options, plateaus.get(run.point)) for run in shown
        ]
        names = {
            (i, j): entry_name(i, j, run["s"])
            for run in runs.values()
            for i, j in entries_of(run["s"], run["model"] in SYMMETRIC_FAMILY)
        }
        majors = [names[i, j] for i, j in sorted(names) if i == j]
        minors = [names[i, j] for i, j in sorted(names) if i != j]
        chart = stage_chart(panels, majors, minors, 3 if options.common_seed else 2)
        reading = [READING, *([CONE] if any(panel.notes for panel in panels) else [])]
        reading += [DIVERGED] if (subject.cells["status"] == "diverged").any() else []
        queries = [single, over_seeds, *queries, *subject.data.curve_queries, subject.data.queries["cells"]]
        yield Drawn(chart, _caption(subject, options), reading=" ".join([*reading, MEDIAN_RUN]), queries=queries)


def _panel(
    subject: Subject,
    shown: PanelRun,
    run: Mapping[str, Any],
    bands: pl.DataFrame,
    options: StagesOptions,
    plateau: Plateau | None,
) -> StagePanel:
    """The panel of one run; `bands`: quantiles of the entries over the seeds of every point."""
    step, W = curves_of(run)
    places, s, mark = kept_places(step), run["s"], options.mark_step
    entries = {entry_name(i, j, s): (i, j) for i, j in entries_of(s, run["model"] in SYMMETRIC_FAMILY)}
    lines = [
        EntryValue(name, int(step[place]), float(W[place, i, j]))
        for name, (i, j) in entries.items()
        for place in places
    ]
    columns = ("step", "median", "low", "high", "entry", "s")
    rows = bands.filter(pl.col("point") == shown.point).select(columns).iter_rows()
    spreads = [EntryQuantiles(entry_name(k // n, k % n, n), *numbers) for *numbers, k, n in rows]
    curves = {OOD_LOSS: run["ood_loss"], **({TRAINING_LOSS: run["train_loss"]} if options.training else {})}
    losses = [
        Run("", name, shown.seed, int(step[place]), values[place] / run["l_ref"])
        for name, values in curves.items()
        for place in places
    ]
    curve = subject.data.curves[shown.point]
    loss_bands = [
        Band("", name, int(at), float(median), float(low), float(high))
        for name in curves
        for at, median, low, high in zip(curve.step, *curve.values[name], strict=True)
    ]
    left = leaves_cone(W, run["dtype"]) if run["model"] == "w_recurrence" else None
    notes = [] if left is None else [(int(step[left]), f"W leaves the cone: step {int(step[left])}")]
    title = [line for line in (subject.label(shown.point), *shown.why) if line]
    if plateau and mark:
        have = "has" if len(plateau.seeds) == 1 else "have"
        title.append(
            f"At step {mark:,} (dash-dotted): {len(plateau.seeds)} of {plural(plateau.recorded, 'seed')} {have}"
        )
        before = f"; {plateau.diverged} diverged before" if plateau.diverged else ""
        title.append(f"a major entry below 1/2{before}")
    # A symmetric W has each minor entry once.
    spreads = [spread for spread in spreads if spread.entry in entries]
    return StagePanel(title, lines, spreads, losses, loss_bands, shades_of(run), notes, mark)


def _caption(subject: Subject, options: StagesOptions) -> str:
    """The caption: which lines are drawn, and each point's numbers of descents and of runs outside the cone."""
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
    sentences = [
        f"Entries of the Jacobian and {losses} over training, with the stages of section 4.2.1. Thick: {thick}."
    ]
    for point in subject.points:
        runs, label = subject.runs(point), subject.label(point)
        text = f"{_counts(runs['descents'])} of {runs.height} seeds"
        if runs["descents_fine"].null_count() < runs.height:
            text = f"by {COARSE} of L_ref {text}, by {FINE} {_counts(runs['descents_fine'])}"
        if runs["model"][0] == "w_recurrence":
            eigenvalue, trace = (runs[name].cast(pl.Float64).to_numpy() for name in ("smallest_eigenvalue", "trace"))
            left = int(outside_cone(eigenvalue, trace, runs["dtype"].to_numpy()).sum())
            diverged = runs.filter(pl.col("status") == "diverged").height
            text += f"; W leaves the cone of positive semidefinite matrices in {left}, and {diverged} diverge"
        sentences.append(f"{label + ': ' if label else ''}{text}.")
    return " ".join(sentences)


def _counts(descents: pl.Series) -> str:
    """How many runs have each number of descents."""
    counts = descents.drop_nulls().value_counts().sort(descents.name).iter_rows()
    return ", ".join(f"{plural(number, 'descent')} in {k}" for number, k in counts)
