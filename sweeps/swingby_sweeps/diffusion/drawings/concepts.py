"""The parts that drawings of concept space share: options, the division of runs into panels and lines, and notes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import polars as pl
from pydantic import Field

from swingby.model import drawing, registry
from swingby_analysis.charts.style import plasma_colours
from swingby_analysis.grid import axis_title, plain, scalar
from swingby_analysis.report.prose import between, plural
from swingby_analysis.report.query_drawing import Drawn, QueryDrawing
from swingby_analysis.report.selection import along, names_of
from swingby_analysis.report.subject import Subject

from ..detect.path import JUDGES, Judge
from ..detect.runs import Runs, runs_of

ALL_RUNS = "all runs"
SEEDS = 12
"""The largest number of seeds of a line that are drawn singly."""
MOST_COLUMNS = 8
"""The largest number of panels side by side."""


class ConceptOptions(drawing.Options):
    """The options of a drawing of concept space in a sweep file."""

    along: str | None = Field(
        default=None, description="parameter that the lines of one panel differ in; none: that of the first axis"
    )
    judge: Literal["measured", "trained", "both"] = Field(
        default="both", description="judge whose coordinates are drawn; both: every judge that was recorded"
    )
    smoothing: float = Field(
        default=0.0, ge=0, le=20, description="sd of a Gaussian over evaluations; it flattens bumps"
    )
    first: int = Field(default=0, ge=0, le=1000, description="number of evaluations at the start that are left out")

    @property
    def judges(self) -> tuple[Judge, ...]:
        """The judges to draw."""
        return JUDGES if self.judge == "both" else (self.judge,)


class ConceptDrawing(QueryDrawing):
    """A drawing of concept space."""

    experiments = ("diffusion",)
    Options = ConceptOptions
    sql = "paths"
    empty = "no judge could tell where the held-out class lies at two evaluations of a run"

    def draw(self, rows: pl.DataFrame, subject: Subject, options: ConceptOptions) -> Iterable[Drawn]:
        """The charts of the runs that have a place in concept space.

        Raises:
            SwingbyError: none has.
        """
        groups = groups_of(rows, subject, options)
        if groups is None:
            raise subject.cannot(self.name, self.empty)
        return self.of_groups(groups, subject, options)

    @abstractmethod
    def of_groups(self, groups: Groups, subject: Subject, options: ConceptOptions) -> Iterable[Drawn]:
        """The charts of these runs."""

    def check(self, options: ConceptOptions, axis_names: Sequence[str]) -> Sequence[drawing.Wrong]:
        """Wrong options: lines can differ only in a parameter that an axis changes."""
        if options.along is None or names_of(options.along, axis_names):
            return ()
        wrong = f"the lines of a panel cannot differ in {options.along!r}: no axis changes it"
        return [drawing.Wrong("along", wrong, registry.nearest(options.along, list(axis_names)))]


class PointRuns(NamedTuple):
    """The runs of one point of the grid, drawn as one line.

    Attributes:
        point: number of the point.
        name: of the line in the legend.
        runs: as recorded. Fits and tests use these: noise that was smoothed moves evenly, and seems to slow down.
        drawn: smoothed, as they are drawn.
    """

    point: int
    name: str
    runs: Runs
    drawn: Runs


class Group(NamedTuple):
    """The lines of one panel, by one judge; `setting` names the parameters that are the same for all of them."""

    key: str
    judge: Judge
    setting: str
    lines: Sequence[PointRuns]

    @property
    def title(self) -> str:
        """The title of its panel."""
        return f"{self.setting}, {self.judge} judge" if self.setting else f"{self.judge} judge"


class Groups(NamedTuple):
    """The panels of a drawing, the colours of their lines, and the title of the legend."""

    groups: Sequence[Group]
    colours: Mapping[str, str]
    legend: list[str]

    @property
    def last(self) -> float:
        """The last evaluation of any run."""
        return max(float(line.runs.steps[-1]) for group in self.groups for line in group.lines)


def groups_of(table: pl.DataFrame, subject: Subject, options: ConceptOptions) -> Groups | None:
    """The runs of a sweep, one panel for each judge and each setting of the parameters that lines do not differ in.

    None where no run has a place in concept space. `table`: the rows of `paths.sql`.
    """
    rows, first = table.to_dicts(), options.first
    by_judge = list[tuple[Judge, dict[int, Runs], dict[int, Runs]]]()
    for judge in options.judges:
        if runs := runs_of(rows, judge, 0.0, first):
            by_judge.append((judge, runs, runs_of(rows, judge, options.smoothing, first)))
    if not by_judge:
        return None
    varying = next(iter(subject.varying.values()), {})
    if options.along is not None:
        differ = names_of(options.along, varying)
    else:
        x = subject.data.grid.x.name
        differ = [x] if x in varying else list(varying)[:1]
    # Each panel's setting, and its points with the values of the parameters that its lines differ in.
    panels: list[tuple[str, dict[int, tuple[object, ...]]]] = [("", dict.fromkeys(subject.points, ()))]
    if differ:
        axes = [axis["names"] for axis in subject.data.resolved["axes"]]
        panels = [
            (subject.label(lines.points[0], without=differ), dict(zip(lines.points, lines.values, strict=True)))
            for lines in along(differ, axes, subject.varying)
        ]
    values = sorted({value for _, lines in panels for value in lines.values()}, key=_rank)
    names = {value: ", ".join(plain(scalar(part)) for part in value) or ALL_RUNS for value in values}
    groups = [
        Group(
            f"{judge}:{number}",
            judge,
            setting,
            [PointRuns(p, names[value], runs[p], drawn[p]) for p, value in lines.items() if p in runs],
        )
        for judge, runs, drawn in by_judge
        for number, (setting, lines) in enumerate(panels)
    ]
    colours = dict(zip(names.values(), plasma_colours(len(values)), strict=True))
    titles = "; ".join(axis_title(one, subject.data.sweep["experiment"]) for one in differ)
    return Groups([group for group in groups if group.lines], colours, [titles] if titles else [])


def _rank(value: tuple[object, ...]) -> tuple[tuple[bool, float, str], ...]:
    """A key that sorts numbers by size, and after them everything else by name."""
    return tuple((not isinstance(v, int | float), v if isinstance(v, int | float) else 0.0, str(v)) for v in value)


class PanelTable(NamedTuple):
    """A panel for every line: rows by judge and setting, columns by the value of the parameter that lines differ in.

    Attributes:
        columns: panels in a row.
        width: of a panel, in px.
        panels: of every panel, row by row, the group, the title, and the runs; None where the group has none.
    """

    columns: int
    width: int
    panels: Sequence[tuple[Group, str, PointRuns | None]]

    @property
    def compact(self) -> bool:
        """Whether panels are too narrow for axis titles at each."""
        return self.columns > 4


def panel_table(groups: Groups) -> PanelTable:
    """A panel for every line, in rows and columns; in rows of four where there would be more than eight columns."""
    names = list(groups.colours)
    parameters = [text.rsplit("(", 1)[-1].rstrip(")") for text in groups.legend]
    # One parameter that lines differ in is named in their titles; of several the values alone.
    prefix = f"{parameters[0]} = " if parameters and ";" not in parameters[0] else ""
    panels = []
    for group in groups.groups:
        lines = {line.name: line for line in group.lines}
        shown = names if len(names) <= MOST_COLUMNS else lines
        panels += [(group, f"{prefix}{name}", lines.get(name)) for name in shown]
    columns = len(names) if len(names) <= MOST_COLUMNS else 4
    return PanelTable(columns, 230 if columns <= 4 else 150, panels)


def setting_of(group: Group) -> str:
    """The note below the title of a panel: the setting and the judge."""
    return ", ".join(part for part in (group.setting, f"{group.judge} judge") if part)


def seeds_per_line(groups: Groups) -> str:
    """The number of seeds in a line, as text."""
    counts = [len(line.runs.seeds) for group in groups.groups for line in group.lines]
    return f"{between(min(counts), max(counts))} seed{'' if max(counts) == 1 else 's'} a line"


def smoothing_note(options: ConceptOptions) -> str:
    """The sentences of a caption that say how curves were smoothed and cut before they were drawn."""
    if not options.smoothing:
        return "Nothing is smoothed." + left_out(options)
    return (
        f"Smoothed over evaluations by a Gaussian of {options.smoothing:g}, which flattens bumps and bends that take "
        f"few evaluations, and can hide them. Only the lines of runs and means are smoothed: fits, tests and the "
        f"detector's numbers are those of the curves as recorded.{left_out(options)}"
    )


def left_out(options: ConceptOptions) -> str:
    """The sentence of a caption about evaluations left out at the start; empty where there are none."""
    return f" The first {plural(options.first, 'evaluation')} are left out." if options.first else ""
