"""Figures as files for a paper: as wide as its column, with text in its font and of one size.

A chart keeps the px of its panels, its type grows until it has the asked size at the asked width, and its ticks,
titles and legends are laid out anew for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import vl_convert

from swingby.data.files import write_whole
from swingby.errors import SwingbyError
from swingby.model.registry import nearest
from swingby_analysis.page import fonts
from swingby_analysis.page.flat import flat
from swingby_analysis.page.html import VEGA_LITE
from swingby_analysis.page.pgf import pgf
from swingby_analysis.page.relaid import Spec, columns_of, narrowest, relaid

FORMATS = ("pdf", "pgf", "svg", "png")
DPI = 600
UNITS = {"in": 72.0, "cm": 72 / 2.54, "mm": 7.2 / 2.54, "pt": 72 / 72.27, "bp": 1.0}
"""Big points of each unit; pt is that of TeX, in which LaTeX prints \\columnwidth."""
PANEL = 7.0
"""The least width of a panel, in sizes of the type."""
SIDE = 0.55
"""The share of the width that the panels keep beside a legend, where its place is left open."""
WIDER = (1.15, 1.3, 1.5, 1.75, 2, 2.5, 3, 4, 6)
"""Times the width that are tried for an error to say what is wide enough."""
ROUNDS, CROWDED = 9, 1.1
"""Attempts to lay a figure out, each nearer to the size of the type, and times that for which labels have room."""
SIZE_OFF = 0.004
"""By which share the type may be larger or smaller than the look says."""


@dataclass(frozen=True)
class PaperLook:
    """How figures of a paper look.

    Attributes:
        width: with its unit, such as "3.3in", "8.4cm", "84mm", or LaTeX's \\columnwidth as "241pt".
        font: a family, or the path of a font file; "": the sans-serif font of the page. PGF has the font of its paper.
        size: of all text, in pt.
        title: whether the figure's title stands in it.
        legend: right or bottom; None: right where it leaves the panels their room.
        formats: of `FORMATS`.
        dpi: of PNG.
    """

    width: str = "3.3in"
    font: str = ""
    size: float = 8.0
    title: bool = False
    legend: Literal["right", "bottom"] | None = None
    formats: Sequence[str] = ("pdf",)
    dpi: int = DPI

    def __post_init__(self) -> None:
        """Checks every part.

        Raises:
            SwingbyError: names what is allowed.
        """
        if not 1 <= self.size <= 100:
            raise SwingbyError(f"a font size of {self.size:g} pt; allowed: 1 to 100")
        if self.legend not in (None, "right", "bottom"):
            raise SwingbyError(f"no legend {self.legend!r}; allowed: right, bottom")
        for name in self.formats:
            if name not in FORMATS:
                raise SwingbyError(f"no format {name!r}; {nearest(name, list(FORMATS))}")
        if not self.formats:
            raise SwingbyError(f"no format is asked for; allowed: {', '.join(FORMATS)}")
        if not 36 <= self.dpi <= 2400:
            raise SwingbyError(f"{self.dpi} dpi; allowed: 36 to 2400")
        if not 36 <= self.points <= 7200:
            raise SwingbyError(f"a width of {self.width}; allowed: 0.5in to 100in")

    @cached_property
    def unit(self) -> str:
        """That of the width."""
        return self._parts[1]

    @cached_property
    def points(self) -> float:
        """The width in big points."""
        return self._parts[0] * UNITS[self.unit]

    @property
    def type_size(self) -> float:
        """The size of the type in big points."""
        return self.size * UNITS["pt"]

    @property
    def _parts(self) -> tuple[float, str]:
        match = re.fullmatch(r"\s*(\d{1,5}(?:\.\d{0,6})?|\.\d{1,6})\s*([a-z]*)\s*", self.width)
        if match is None or match[2] not in UNITS:
            raise SwingbyError(f"no width {self.width!r}; write a number and one of {', '.join(UNITS)}, such as 3.3in")
        return float(match[1]), match[2]


class PaperFigure(NamedTuple):
    """A figure that is laid out: its spec and scene graph, the big points of each px, and its size in big points."""

    name: str
    spec: Spec
    scene: Mapping[str, Any]
    scale: float

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in big points."""
        return self.scale * self.scene["width"], self.scale * self.scene["height"]

    def files(self, formats: Collection[str], dpi: int = DPI) -> dict[str, bytes]:
        """The content of each format.

        Raises:
            SwingbyError: PGF cannot draw a mark of it.
        """
        contents = dict[str, bytes]()
        svg = vl_convert.vegalite_to_svg(self.spec, vl_version=VEGA_LITE) if {*formats} - {"pgf"} else ""
        for name in formats:
            if name == "pgf":
                contents[name] = pgf(self.scene, self.scale, self.name).encode()
            elif name == "pdf":
                contents[name] = vl_convert.svg_to_pdf(self._sized(svg, 1.0, ""))
            elif name == "png":
                contents[name] = vl_convert.svg_to_png(flat(svg), scale=self.scale, ppi=dpi)
            else:
                contents[name] = self._sized(svg, 1 / 72, "in").encode()
        return contents

    def _sized(self, svg: str, factor: float, unit: str) -> str:
        """The SVG with its size in a unit of which a big point has so many."""
        width, height = (f"{side * factor:.6g}{unit}" for side in self.size)
        return re.sub(r'width="[\d.]+" height="[\d.]+"', f'width="{width}" height="{height}"', svg, count=1)


def save(chart: Any, path: str | Path, **look: Any) -> Path:
    """Writes an Altair chart, such as those of `results.chart()`, as a figure of a paper.

    Args:
        path: its ending is the format: .pdf, .pgf, .svg or .png.
        look: fields of `PaperLook`: width, font, size, title, legend, dpi.

    Raises:
        SwingbyError: a field that is not allowed, a font that is not installed, or a width that is too small.
    """
    target = Path(path)
    form = target.suffix.removeprefix(".")
    wish = PaperLook(**{**look, "formats": (form,)})
    spec = chart.to_dict()
    content = laid_out(target.stem, spec, wish, spec.get("title")).files(wish.formats, wish.dpi)[form]
    write_whole(target.expanduser().absolute(), lambda file: file.write_bytes(content))
    return target


def laid_out(name: str, spec: Mapping[str, Any], look: PaperLook, title: Any = None) -> PaperFigure:
    """A figure at the width, in the font and of the size that are asked for.

    Args:
        title: stands above it if the look says so; a text, or a title of Vega-Lite.

    Raises:
        SwingbyError: the font is not installed, or the labels leave the panels no room; says which width does.
    """
    font = fonts.use(look.font) if look.font else ""
    shown = {**spec, "title": title} if look.title and title else {k: v for k, v in spec.items() if k != "title"}
    fitting = _fitting(name, shown, font, look)
    if fitting is not None:
        return fitting
    wider = (replace(look, width=f"{factor * look.points / UNITS[look.unit]:.1f}{look.unit}") for factor in WIDER)
    enough = next((one.width for one in wider if _fitting(name, shown, font, one) is not None), "")
    raise SwingbyError(
        f"figure {name!r} does not fit into {look.width}: its labels of {look.size:g} pt leave no room for a panel; "
        f"{f'{enough} is enough; ' if enough else ''}or take a smaller font size"
    )


def _fitting(name: str, spec: Mapping[str, Any], font: str, look: PaperLook) -> PaperFigure | None:
    """The figure with its legend to the right and all panels in a row if these have room; else below, and fewer."""
    sheet = _Sheet(spec, font, look)
    for legend in (look.legend,) if look.legend else ("right", "bottom"):
        optional = look.legend is None and legend == "right"
        for columns in [sheet.columns] if optional else range(sheet.columns, 0, -1):
            drawn = sheet.drawn(legend, columns, SIDE if optional else None)
            if drawn is not None and sheet.panel * drawn[2] >= PANEL * look.type_size:
                return PaperFigure(name, drawn[1], drawn[0], drawn[2])
    return None


class _Sheet:
    """A spec, and what it is laid out for."""

    def __init__(self, spec: Mapping[str, Any], font: str, look: PaperLook) -> None:
        self.spec, self.font, self.look = spec, font, look
        self.columns = columns_of(spec)
        self.panel = narrowest(spec)

    def drawn(self, legend: str, columns: int, share: float | None) -> tuple[Mapping[str, Any], Spec, float] | None:
        """The scene graph, the spec and the scale; None where the type would be too large for the panels.

        Args:
            share: of the width that the panels have to keep.
        """
        target, wish = self.look.points, self.look.type_size
        widest = self.panel * columns
        size = planned = wish * (1.15 * widest + 40) / target
        known = list[tuple[float, float]]()
        for attempt in range(ROUNDS):
            if size > self.panel / 3:
                return None
            # What is wrapped and left out is decided for one size: else a line more or less would never settle.
            if attempt < 2 or (size > CROWDED * planned and attempt < ROUNDS - 3):
                planned, known = size, []
            laid = relaid(self.spec, size, planned, legend, columns, self.font)
            scene = vl_convert.vegalite_to_scenegraph(laid, vl_version=VEGA_LITE)
            width = scene["width"]
            if share is not None and widest / width < share:
                return None
            if abs(size * target / width / wish - 1) <= SIZE_OFF:
                return scene, laid, target / width
            known.append((size, width))
            size = self._next(known)
        return None

    def _next(self, known: Sequence[tuple[float, float]]) -> float:
        """The size of the type at which the width would fit it, along the line through the last two attempts."""
        target, wish = self.look.points, self.look.type_size
        (size, width) = known[-1]
        slope = 0.0
        if len(known) > 1 and known[-2][0] != size:
            slope = (width - known[-2][1]) / (size - known[-2][0])
        rest = target - wish * slope
        return wish * (width - slope * size) / rest if rest > 0.2 * target else wish * width / target
