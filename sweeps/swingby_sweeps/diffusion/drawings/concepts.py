"""What the drawings of concept space share: their options, which lines share a panel, and words about both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import Field

from swingby.model import drawing, registry
from swingby_analysis.charts.planes import ordered_colours
from swingby_analysis.grid import axis_title, plain, scalar
from swingby_analysis.query import Query
from swingby_analysis.report.prose import between, plural
from swingby_analysis.report.selection import along, names_of
from swingby_analysis.report.subject import Subject

from ..detect.path import JUDGES, Judge
from ..detect.runs import Runs, runs_of
from . import SQL

ALL_RUNS = "all runs"
SEEDS = 12
"""At most this many seeds of a line are drawn singly."""
MOST_COLUMNS = 8
"""At most so many panels stand side by side."""


class ConceptOptions(drawing.Options):
    """What a sweep file may set."""

    along: str | None = Field(None, description="the lines of one panel differ in this; else in the first axis")
    judge: Literal["measured", "trained", "both"] = Field("both", description="whose coordinates; both: as recorded")
    smoothing: float = Field(0.0, ge=0, le=20, description="Gaussian over evaluations, its sd; it flattens bumps")
    first: int = Field(0, ge=0, le=1000, description="evaluations at the start that are left out")

    @property
    def judges(self) -> tuple[Judge, ...]:
        """The judges that are drawn."""
        return JUDGES if self.judge == "both" else (self.judge,)


class ConceptDrawing(drawing.Drawing):
    """A drawing of concept space."""

    experiments = ("diffusion",)
    Options = ConceptOptions

    def check(self, options: ConceptOptions, axis_names: Sequence[str]) -> Sequence[drawing.Wrong]:
        """Lines can differ only in what an axis changes."""
        if options.along is None or names_of(options.along, axis_names):
            return ()
        wrong = f"the lines of a panel cannot differ in {options.along!r}: no axis changes it"
        return [drawing.Wrong("along", wrong, registry.nearest(options.along, list(axis_names)))]


class Line(NamedTuple):
    """One point of the grid as a line: what the legend calls it, its runs as recorded, and smoothed as they are drawn.

    Fits and tests take the runs as recorded: what smoothing leaves of noise moves evenly, and seems to slow down.
    """

    point: int
    name: str
    runs: Runs
    drawn: Runs


class Group(NamedTuple):
    """The lines of one panel, by one judge; `setting` says what they have in common."""

    key: str
    judge: Judge
    setting: str
    lines: Sequence[Line]

    @property
    def title(self) -> str:
        """What stands above its panel, where there are several."""
        return f"{self.setting}, {self.judge} judge" if self.setting else f"{self.judge} judge"


class Groups(NamedTuple):
    """The panels of a drawing, the colours of their lines, the title of the legend, and the query."""

    groups: Sequence[Group]
    colours: Mapping[str, str]
    legend: list[str]
    query: Query


def groups_of(subject: Subject, options: ConceptOptions, name: str) -> Groups:
    """The runs of a sweep, one panel a judge and a setting of all but the axis that lines differ in.

    Raises:
        SwingbyError: no run has a place in concept space.
    """
    query = Query("paths", (subject.sweep_id,), SQL)
    rows = subject.ask(query).to_dicts()
    first, by_judge = options.first, list[tuple[Judge, dict[int, Runs], dict[int, Runs]]]()
    for judge in options.judges:
        if runs := runs_of(rows, judge, 0.0, first):
            by_judge.append((judge, runs, runs_of(rows, judge, options.smoothing, first)))
    if not by_judge:
        why = "no judge could tell where the held-out class lies at two evaluations of a run"
        raise subject.cannot(name, why)
    chosen = _chosen(subject, options)
    panels = _panels(subject, chosen)
    values = sorted({value for _, lines in panels for value in lines.values()}, key=_rank)
    names = {value: _said(value) for value in values}
    found = [
        Group(
            f"{judge}:{number}",
            judge,
            setting,
            [Line(p, names[value], runs[p], drawn[p]) for p, value in lines.items() if p in runs],
        )
        for judge, runs, drawn in by_judge
        for number, (setting, lines) in enumerate(panels)
    ]
    colours = dict(zip(names.values(), ordered_colours(len(values)), strict=True))
    titles = "; ".join(axis_title(one, subject.data.sweep["experiment"]) for one in chosen)
    return Groups([group for group in found if group.lines], colours, [titles] if titles else [], query)


def _chosen(subject: Subject, options: ConceptOptions) -> list[str]:
    varying = next(iter(subject.varying.values()), {})
    if options.along is not None:
        return names_of(options.along, varying)
    x = subject.data.grid.x.name
    return [x] if x in varying else list(varying)[:1]


def _panels(subject: Subject, chosen: Sequence[str]) -> list[tuple[str, dict[int, tuple[object, ...]]]]:
    """Each panel's setting, and its points with the values that they differ in."""
    if not chosen:
        return [("", dict.fromkeys(subject.points, ()))]
    axes = [axis["names"] for axis in subject.data.resolved["axes"]]
    found = along(chosen, axes, subject.varying)
    return [
        (subject.label(lines.points[0], without=chosen), dict(zip(lines.points, lines.values, strict=True)))
        for lines in found
    ]


def _rank(value: tuple[object, ...]) -> tuple[tuple[bool, float, str], ...]:
    """Numbers by size, then everything else by name."""
    return tuple((not isinstance(v, int | float), v if isinstance(v, int | float) else 0.0, str(v)) for v in value)


def _said(value: tuple[object, ...]) -> str:
    return ", ".join(plain(scalar(part)) for part in value) or ALL_RUNS


def _titled(groups: Groups, name: str) -> str:
    """A line by the parameter that it differs in."""
    names = [text.rsplit("(", 1)[-1].rstrip(")") for text in groups.legend]
    return f"{names[0]} = {name}" if names and ";" not in names[0] else name


class Cells(NamedTuple):
    """Panels in rows by judge and setting, and columns by what lines differ in; `width` of a panel in px.

    Attributes:
        cells: of each row its group, and of each of its columns the title and the line, or None where there is none.
    """

    columns: int
    width: int
    cells: Sequence[tuple[Group, str, Line | None]]

    @property
    def compact(self) -> bool:
        """Whether panels stand too near for axis titles at each."""
        return self.columns > 4


def cells_of(groups: Groups) -> Cells:
    """A panel for every line, in rows and columns; in rows of four where there would be more than eight columns."""
    names = list(groups.colours)
    found = []
    for group in groups.groups:
        lines = {line.name: line for line in group.lines}
        for name in names if len(names) <= MOST_COLUMNS else lines:
            line = lines.get(name)
            title = _titled(groups, name)
            found.append((group, title, line))
    columns = len(names) if len(names) <= MOST_COLUMNS else 4
    return Cells(columns, 230 if columns <= 4 else 150, found)


def setting_of(group: Group) -> str:
    """What a panel says below its title of the setting, and of the judge where that is the trained one."""
    return ", ".join(part for part in (group.setting, f"{group.judge} judge") if part)


def counted(groups: Groups) -> str:
    """How many seeds a line is over."""
    counts = [len(line.runs.seeds) for group in groups.groups for line in group.lines]
    return f"{between(min(counts), max(counts))} seed{'' if max(counts) == 1 else 's'} a line"


def smoothing_told(options: ConceptOptions) -> str:
    """What was done to the curves before they were drawn."""
    if not options.smoothing:
        return "Nothing is smoothed." + left_out(options)
    return (
        f"Smoothed over evaluations by a Gaussian of {options.smoothing:g}, which flattens bumps and bends that take "
        f"few evaluations, and can hide them: what is drawn of runs and means, and nothing else. Fits, tests and the "
        f"detector's numbers are those of the curves as recorded.{left_out(options)}"
    )


def left_out(options: ConceptOptions) -> str:
    """Whether evaluations are missing at the start."""
    return f" The first {plural(options.first, 'evaluation')} are left out." if options.first else ""
