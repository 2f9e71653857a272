"""Parts that the drawings of paths share: options, panels, their places in the figure, and notes about their seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field, field_validator

from swingby.model import drawing
from swingby_analysis.charts import plane_rows, style
from swingby_analysis.charts.paths import Runs
from swingby_analysis.charts.planes import Panel, Spot
from swingby_analysis.report.prose import between, plural

from ..report import LANDMARKS
from .subject import Subject

BAND, MEDIAN, MEDIAN_SEED, SEEDS = "central half of the seeds", "median over the seeds", "median seed", "single seeds"
BUMP_SEED = "median seed of those with a bump"
PARTS = {BAND: "#bcd3e6", SEEDS: "#8593a3", MEDIAN: style.INK, MEDIAN_SEED: style.RED, BUMP_SEED: style.VIOLET}
"""The colours of the lines and bands of one point."""
PLACES = (
    "The output at the test point, each concept in units of its own mu, so that the right answer is (1, 1) in every "
    "panel (diamond); the centres of the training clusters are squares. "
)
BANDS = (
    "Shaded: the region of the paths of the central half of the seeds, whose paths lie nearest to all others, whatever "
    "the times; it is their spread and not a confidence interval, and gaps below 0.16 are filled. "
)

MARKS = (
    "equal intervals of training steps: marks far apart mean fast, dense marks slow. Some are left out where they "
    "would touch others of their line, and arrowheads where a line has no direction because it rests, or jitters with "
    "the noise of training. "
)


class PlaneOptions(drawing.Options):
    """Which concepts span the panels."""

    plane: Annotated[
        tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=1)]] | None,
        BeforeValidator(lambda v: tuple(v) if isinstance(v, list) else v),
    ] = Field(
        default=None,
        description="two concepts, counted from 1; without it every two neighbours, or with along the first two",
    )

    @field_validator("plane")
    @classmethod
    def _a_plane(cls, value: tuple[int, int] | None) -> tuple[int, int] | None:
        if value is not None and value[0] == value[1]:
            raise ValueError("names one concept twice; allowed: two different ones")
        return value

    def planes(self, subject: Subject, name: str) -> list[tuple[int, int]]:
        """The planes that are drawn.

        Raises:
            SwingbyError: the sweep has no such plane.
        """
        concepts = min(subject.cells["s"].to_list())
        pairs = [self.plane] if self.plane else [(k, k + 1) for k in range(1, concepts)]
        if not pairs or not all(k <= concepts for k in pairs[0]):
            raise subject.cannot(name, f"a plane takes two different concepts from 1 to {concepts}")
        return pairs


def has_origin(subject: Subject, point: int) -> bool:
    """Whether a training cluster is drawn at the origin of a plane: one lies there, or projects there (s > 2)."""
    run = subject.runs(point).row(0, named=True)
    return bool(run["zero_cluster"]) or run["s"] > 2


def panel(key: str, title: str, notes: Sequence[str], concepts: tuple[int, int], shown: tuple[float, float]) -> Panel:
    """A panel in units of mu."""
    x, y = (f"output along concept {k}, over mu_{k}" for k in concepts)
    return Panel(key, title, tuple(notes), x, y, shown, shown)


def spots(key: str, origin: bool) -> list[Spot]:
    """The landmarks of a plane in units of mu; `origin`: whether a cluster is drawn there (`has_origin`)."""
    return [
        Spot(key, "target" if mark.target else "centre", mark.name, mark.x, mark.y)
        for mark in LANDMARKS
        if origin or not mark.where
    ]


def columns_of(subject: Subject) -> int:
    """Number of panels in a row: the values of the sweep's last axis side by side, if there are at most three."""
    counts = [len(axis["values"]) for axis in subject.data.resolved["axes"] if len(axis["values"]) > 1] or [1]
    return counts[-1] if counts[-1] <= 3 else (2 if counts == [4] else 3 + (counts[-1] % 4 == 0))


def in_rows(
    points: Sequence[int], pairs: Sequence[tuple[int, int]], columns: int
) -> Iterator[tuple[int, tuple[int, int]]]:
    """Pairs of a point and a plane, row by row: points side by side, and below them their further planes."""
    for start in range(0, len(points), columns):
        for plane in pairs:
            yield from ((point, plane) for point in points[start : start + columns])


def spoken_planes(pairs: Sequence[tuple[int, int]]) -> str:
    """Planes as text."""
    texts = [f"{a} and {b}" for a, b in pairs]
    return f"the plane{'s' if len(texts) > 1 else ''} of concepts {'; '.join(texts)}"


def counted(runs: dict[int, Runs]) -> str:
    """The number of seeds of a point, or its range over points, as text."""
    counts = [len(point_runs.seeds) for point_runs in runs.values()]
    return between(min(counts), max(counts))


def seeds_drawn(runs: dict[int, Runs]) -> str:
    """The number of seeds of a panel, and how many of them are drawn as thin lines, as text."""
    most = max(len(point_runs.seeds) for point_runs in runs.values())
    thin = f", the first {plane_rows.MOST_SEEDS} of them drawn singly" if most > plane_rows.MOST_SEEDS else ""
    return f"{counted(runs)} seeds a panel{thin}"


def ended(subject: Subject, point: int) -> list[str]:
    """Lines that count the runs of a point that diverged, and those that ended on a plateau, if there are any."""
    runs = subject.runs(point)
    diverged, resting = int((runs["status"] == "diverged").sum()), int((runs["outcome"] == "plateau").sum())
    of, others = f"of {plural(runs.height, 'seed')}", runs.height - diverged
    left = f"; median seed of the {others} that ended" if others else ""
    lines = [f"{diverged} {of} diverged{left}"] if diverged else []
    return [*lines, *([f"{resting} {of} on a plateau at the end"] if resting else [])]


def ended_along(subject: Subject, points: Sequence[int]) -> list[str]:
    """Lines that count the runs that diverged or ended on a plateau, as the range over the lines of a panel."""
    notes: list[str] = []
    for column, value, words in (("status", "diverged", "diverged"), ("outcome", "plateau", "on a plateau at the end")):
        counts = [int((subject.runs(point)[column] == value).sum()) for point in points]
        if any(counts):
            seeds = plural(max(subject.runs(point).height for point in points), "seed")
            notes.append(f"{between(min(counts), max(counts))} of {seeds} a line {words}")
    return notes


def plural_steps(every: float) -> str:
    """An interval of steps as text."""
    return plural(round(every), "step")
