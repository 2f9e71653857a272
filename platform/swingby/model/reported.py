"""Declarations by which an experiment says what every report of its sweeps draws and says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Curves:
    """Curves of numbers that a report draws over the steps, on one logarithmic axis and in one unit.

    Attributes:
        titles: column of the curve -> what figures call it, in the order of the legend; single runs are drawn of the
            first one.
        axis: title of the axis of values.
        unit: the scalar of a cell, or its parameter, that the curves are divided by; "" for none.
        of_unit: how a sentence writes the unit behind a number, such as " of the start".
        level: where a dashed line lies; None for none.
        numbered: what steps number where they are none of a training, such as "record, even in log t"; they are spaced
            evenly then. "": steps of a training, spaced as log(1 + step).
        title, caption, reading: of the figure at example points; the caption goes on with the points.
    """

    titles: Mapping[str, str]
    axis: str
    unit: str = ""
    of_unit: str = ""
    level: float | None = None
    numbered: str = ""
    title: str = "Curves over training"
    caption: str = "Curves at single points of the grid"
    reading: str = ""


@dataclass(frozen=True, slots=True)
class Landmark:
    """A place in a plane that paths are drawn beside, in units of the plane.

    Attributes:
        name: what is written beside it.
        target: whether paths should lead there; such a place is drawn as a diamond, any other as a square.
        where: the parameter that is true of all cells where there is such a place; "" if there always is.
    """

    name: str
    x: float
    y: float
    target: bool = False
    where: str = ""


@dataclass(frozen=True, slots=True)
class Plane:
    """A pair of entries of a curve of vectors, which a report draws as a path.

    Attributes:
        curve: column of the vectors.
        entries: the integer parameter that says how many entries can span a plane.
        unit: the parameter, a vector, whose entries the curve's are divided by; "" for none.
        entry: what one entry is called, such as "direction".
        axis: title of an axis; {} is replaced by the number of the entry, counted from 1.
        landmarks: places beside the paths.
        title, caption, reading: of the figure at example points; {} and {} of the caption are the two entries.
    """

    curve: str
    entries: str
    unit: str = ""
    entry: str = "entry"
    axis: str = "entry {}"
    landmarks: tuple[Landmark, ...] = ()
    title: str = "Paths"
    caption: str = "Entries {} and {} over training"
    reading: str = ""


@dataclass(frozen=True, slots=True)
class Reported:
    """How the sweeps over one experiment are reported.

    Attributes:
        companions: outcomes that are drawn beside the diagram that a sweep asks for; None: every outcome.
        drawings: what is drawn of a sweep that names no drawings.
        titles: outcome -> the title of its map, where that is not made of the outcome's own title.
        curves: the curves of the point that is pointed at, and of example points; None: none are shown.
        plane: the paths beside these curves; None: none are shown.
        decides: the number whose larger median makes the more telling example of points that are otherwise equal.
        among: number -> the outcome that has to be known of a run for it to count, and the words for what is left out.
        doubted: outcome -> the yes/no outcome that says of which runs it is certain.
        summary: "module:function" that is given the report's data and the store and returns sentences for the summary;
            imported only where a report is written. "" for none.
        summed: outcomes in these sentences, so that the summary does not mention them again.
    """

    companions: tuple[str, ...] | None = None
    drawings: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    curves: Curves | None = None
    plane: Plane | None = None
    decides: str = ""
    among: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    doubted: Mapping[str, str] = field(default_factory=dict)
    summary: str = ""
    summed: tuple[str, ...] = ()
