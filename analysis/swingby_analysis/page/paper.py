"""Figures as files for a paper: as wide as its column, with text in its font and of one size.

A chart keeps the px of its panels, its type grows until it has the asked size at the asked width, and its ticks,
titles and legends are laid out anew for it.
"""

from __future__ import annotations

import copy
import json
import math
import re
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import vl_convert

from swingby.data.files import write_whole
from swingby.errors import SwingbyError
from swingby.model.registry import nearest
from swingby_analysis.charts import ticks
from swingby_analysis.page import fonts
from swingby_analysis.page.flat import flat
from swingby_analysis.page.html import VEGA_LITE
from swingby_analysis.page.pgf import pgf

FORMATS = ("pdf", "pgf", "svg", "png")
DPI = 600
UNITS = {"in": 72.0, "cm": 72 / 2.54, "mm": 7.2 / 2.54, "pt": 72 / 72.27, "bp": 1.0}
"""Big points of each unit; pt is that of TeX, in which LaTeX prints \\columnwidth."""
PANEL = 7.0
"""The least width of a panel, in sizes of the type."""
SIDE = 0.55
"""The share of the width that the panels keep beside a legend, where its place is left open."""
CHARACTER, BOLD = 0.5, 0.56
"""The width of a character, in sizes of the type."""
ROUNDS = 6
"""Attempts to lay a figure out; each is nearer to the asked size of the type."""
SIZE_OFF = 0.004
"""By which share the type may be larger or smaller than the look says."""

Spec = dict[str, Any]


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
    sheet = _Sheet(shown, font, look)
    best = 0.0
    for legend in (look.legend,) if look.legend else ("right", "bottom"):
        for columns in range(sheet.columns, 0, -1):
            drawn = sheet.drawn(legend, columns, None if look.legend or legend == "bottom" else SIDE)
            if drawn is None:
                if look.legend is None and legend == "right":
                    break
                continue
            scene, laid, scale = drawn
            panel = sheet.panel * scale
            if panel >= PANEL * look.type_size:
                return PaperFigure(name, laid, scene, scale)
            best = max(best, panel)
    least = look.points + PANEL * look.type_size - best
    raise SwingbyError(
        f"figure {name!r} does not fit into {look.width}: its labels of {look.size:g} pt leave no room for a panel; "
        f"take about {math.ceil(10 * least / UNITS[look.unit]) / 10:g}{look.unit}, or a smaller font size"
    )


def refitted(spec: Spec, size: float) -> None:
    """Lays the axes of grids out anew, for type of `size` px and the size that their panels have now."""
    for view in _views(spec):
        for holder in _holders(view):
            for channel, side in (("x", "width"), ("y", "height")):
                encoding = holder.get("encoding", {}).get(channel)
                known = isinstance(encoding, dict) and ticks.of_axis(encoding.get("axis") or {})
                if known and isinstance(view.get(side), int | float):
                    _axis(encoding, channel == "x", view[side], size)


class _Sheet:
    """A spec, and what it is laid out for."""

    def __init__(self, spec: Mapping[str, Any], font: str, look: PaperLook) -> None:
        self.spec, self.font, self.look = spec, font, look
        self.columns = _columns_of(spec)
        self.views = list(_views(spec))
        self.panel = min((view.get("width") or 200 for view in self.views), default=200)

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
            # What is wrapped and left out is decided at first, and stays: else a line more or less would never settle.
            planned = size if attempt < 3 else planned
            laid = self.relaid(size, planned, legend, columns)
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

    def relaid(self, size: float, planned: float, legend: str, columns: int) -> Spec:
        """The spec with all type of one size in px, and with the ticks, titles and legends that then have room."""
        spec = _copied(self.spec)
        if columns != self.columns:
            _reflowed(spec, columns)
        total = self.panel * columns
        for view in [view for view in _views(spec) if "width" not in view]:
            view["width"] = view["height"] = 200
        for view in _views(spec):
            for holder in _holders(view):
                _titled(holder, "title", view["width"], planned)
                for channel, encoding in holder.get("encoding", {}).items():
                    if channel in ("x", "y") and isinstance(encoding.get("axis"), dict):
                        _axis(encoding, channel == "x", view["width" if channel == "x" else "height"], planned)
                    elif isinstance(encoding, dict) and isinstance(encoding.get("legend"), dict):
                        _legend(encoding, legend, total, planned)
        for facet in _facets(spec):
            _header(facet, self.panel, planned)
        _titled(spec, "title", total, planned)
        if isinstance(spec.get("title"), dict):
            spec["title"].update({"anchor": "start", "fontWeight": "bold", "offset": round(planned / 2)})
        _sized(spec, size)
        return _configured(spec, size, self.font, legend)


def _copied(value: Any) -> Any:
    """A copy without the rows, which are shared."""
    if isinstance(value, dict):
        return {key: item if key in ("values", "datasets") else _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list | tuple) else copy.copy(value)


def _inner(spec: Mapping[str, Any]) -> list[Spec]:
    """The charts that a spec puts side by side, or repeats."""
    parts = [spec["spec"]] if "spec" in spec else []
    return [*parts, *(part for kind in ("concat", "hconcat", "vconcat") for part in spec.get(kind, ()))]


def _views(spec: Mapping[str, Any]) -> Iterator[Spec]:
    """Every chart inside with axes of its own."""
    inner = _inner(spec)
    if not inner:
        yield spec if isinstance(spec, dict) else dict(spec)
    for part in inner:
        yield from _views(part)


def _holders(view: Spec) -> Iterator[Spec]:
    """A view and its layers."""
    yield view
    for layer in view.get("layer", ()):
        yield from _holders(layer)


def _facets(spec: Spec) -> Iterator[Spec]:
    if isinstance(spec.get("facet"), dict):
        facet = spec["facet"]
        yield from (facet[key] for key in ("row", "column") if key in facet) if "field" not in facet else [facet]
    for part in _inner(spec):
        yield from _facets(part)


def _columns_of(spec: Mapping[str, Any]) -> int:
    """How many panels stand side by side."""
    if "facet" in spec:
        return spec.get("columns") or 1
    if "hconcat" in spec:
        return sum(map(_columns_of, spec["hconcat"]))
    if "vconcat" in spec:
        return max(map(_columns_of, spec["vconcat"]))
    return min(spec.get("columns") or len(spec["concat"]), len(spec["concat"])) if "concat" in spec else 1


def _reflowed(spec: Spec, columns: int) -> None:
    """Puts fewer panels side by side; each then names what its row or column had named for it."""
    if "facet" in spec:
        spec["columns"] = columns
        spec["resolve"] = {**spec.get("resolve", {}), "axis": {"x": "independent", "y": "independent"}}
        return
    for kind in ("hconcat", "vconcat"):
        if kind in spec:
            if kind == "vconcat":
                for part in spec[kind]:
                    if _columns_of(part) > columns:
                        _reflowed(part, columns)
                return
            spec["concat"] = spec.pop(kind)
            spec["columns"] = len(spec["concat"])
    panels, before = spec["concat"], spec.get("columns") or len(spec["concat"])
    spec["columns"] = columns
    for number, panel in enumerate(panels):
        head = panels[number % before].get("title")
        if not _words(panel.get("title")) and head is not None:
            panel["title"] = _copied(head)
        last = max(range(number % before, len(panels), before))
        for channel, other in (("x", panels[last]), ("y", panels[number - number % before])):
            named = next((axis["title"] for axis in _axes(other, channel) if axis.get("title")), None)
            for axis in _axes(panel, channel):
                if "title" in axis and axis["title"] is None and named is not None:
                    axis["title"] = named


def _axes(panel: Spec, channel: str) -> list[Spec]:
    encodings = [holder.get("encoding", {}).get(channel, {}) for view in _views(panel) for holder in _holders(view)]
    return [encoding["axis"] for encoding in encodings if isinstance(encoding.get("axis"), dict)]


def _words(title: Any) -> str:
    """A title in one line."""
    text = title.get("text", "") if isinstance(title, dict) else title
    return " ".join(text) if isinstance(text, list) else text if isinstance(text, str) else ""


def _wrapped(text: str | list[str], length: float, size: float, wide: float = CHARACTER) -> list[str]:
    """A text in lines of at most `length` px."""
    whole = " ".join(text) if isinstance(text, list) else text
    return textwrap.wrap(whole, max(6, int(length / (wide * size))), break_long_words=False)


def _sentences(title: str | list[str]) -> list[str]:
    """The lines of a title before it was wrapped: one begins with a word and a colon."""
    joined = list[str]()
    for line in [title] if isinstance(title, str) else title:
        if joined and not re.match(r"\w+: ", line):
            joined[-1] += f" {line}"
        else:
            joined.append(line)
    return joined


def _titled(holder: Spec, key: str, length: float, size: float) -> None:
    """Wraps a title, and what stands below it."""
    title = holder.get(key)
    if isinstance(title, str | list) and title:
        holder[key] = {"text": _wrapped(title, length, size, BOLD)}
    elif isinstance(title, dict):
        if title.get("text"):
            title["text"] = _wrapped(title["text"], length, size, BOLD)
        if title.get("subtitle"):
            lines = title["subtitle"] if isinstance(title["subtitle"], list) else [title["subtitle"]]
            title["subtitle"] = [part for line in lines for part in _wrapped(line, length, size)]


def _axis(encoding: Spec, across: bool, length: float, size: float) -> None:
    """Lays out the labels and the title of an axis of `length` px."""
    axis = encoding["axis"]
    if axis.get("title"):
        axis["title"] = _wrapped(axis["title"], length, size)
    known, scale = ticks.of_axis(axis), encoding.get("scale") or {}
    domain = scale.get("domain")
    if known is None or not isinstance(domain, list) or len(domain) != 2:
        axis["labelOverlap"] = "greedy"
        if isinstance(axis.get("tickCount"), int | float):
            axis["tickCount"] = max(2, min(axis["tickCount"], int(length / (size * (4 if across else 2)))))
        return
    positions, texts = known
    ruler = math.log if scale.get("type") == "log" else float
    low, high = (ruler(end) for end in domain)
    at = [(ruler(position) - low) / (high - low) * length for position in positions]
    for key in ("labelAngle", "labelAlign", "labelBaseline"):
        axis.pop(key, None)
    axis.update(ticks.labels(at, texts, across, size).axis(positions))


def _legend(encoding: Spec, side: str, total: float, size: float) -> None:
    """Puts a legend to the right, with short lines, or below, no wider than the panels."""
    legend, beside = encoding["legend"], side == "right"
    room = 11 * size if beside else total
    legend["orient"] = side
    if legend.get("title"):
        legend["title"] = [part for line in _sentences(legend["title"]) for part in _wrapped(line, room, size)]
    domain = (encoding.get("scale") or {}).get("domain")
    names = domain if isinstance(domain, list) and all(isinstance(name, str) for name in domain) else None
    if encoding.get("type") == "quantitative" and "symbolType" not in legend:
        legend.update({"direction": "vertical" if beside else "horizontal", "gradientThickness": round(0.9 * size)})
        legend["gradientLength"] = round(11 * size if beside else min(total, 16 * size))
        return
    legend["direction"] = "vertical" if beside or len(names or ()) == 1 else "horizontal"
    if "symbolSize" in legend:
        legend["symbolSize"] = round(legend["symbolSize"] * (size / 11) ** 2)
    if names:
        most = max(8, int(room / (CHARACTER * size)) - 4)
        lines = {name: textwrap.wrap(name, most, break_long_words=False) or [name] for name in names}
        widest = max(len(line) for parts in lines.values() for line in parts) * CHARACTER * size + 3 * size
        legend["columns"] = 1 if beside else max(1, min(len(names), int(total / widest)))
        legend.update({"labelLimit": 0, "symbolLimit": 0})
        if any(len(parts) > 1 for parts in lines.values()):
            legend["labelExpr"] = f"{json.dumps(lines)}[datum.label]"


def _header(facet: Spec, length: float, size: float) -> None:
    """Wraps the titles of panels, whatever expression makes them."""
    header = facet.setdefault("header", {})
    text = header.get("labelExpr", "datum.label")
    most = max(6, int(length / (BOLD * size)))
    joined = f"(isArray({text}) ? join({text}, '\\n') : {text})"
    broken = f"replace(replace({joined}, /(.{{1,{most}}})(?:\\s+|$)/g, '$1\\n'), /\\n+$/, '')"
    header.update({"labelExpr": f"split({broken}, /\\n+/)", "labelLimit": 0})


def _sized(value: Any, size: float) -> None:
    """Gives all text the size, and lines their distance."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key.lower().endswith("fontsize") and isinstance(item, int | float):
                value[key] = size
            elif key.lower().endswith("lineheight") and isinstance(item, int | float):
                value[key] = 1.2 * size
            elif key.lower().endswith(("labellimit", "titlelimit")) and item:
                value[key] = item * size / 11
            elif key not in ("values", "datasets"):
                _sized(item, size)
    elif isinstance(value, list):
        for item in value:
            _sized(item, size)


def _configured(spec: Spec, size: float, font: str, legend: str) -> Spec:
    """The spec with the look of the paper as its defaults."""
    look = spec.get("config") or {}
    label, title = {"labelFontSize": size}, {"titleFontSize": size, "titleLineHeight": 1.2 * size}
    below = f"{{bottom: {{direction: 'vertical', anchor: 'start', offset: {size:.1f}, margin: {0.7 * size:.1f}}}}}"
    side = {"orient": legend, "titleLimit": 0, "columnPadding": 1.2 * size, "layout": {"expr": below}}
    config = {
        **look,
        "padding": 1,
        "axis": {**look.get("axis", {}), **label, **title},
        "legend": {**look.get("legend", {}), **label, **title, **side},
        "header": {**look.get("header", {}), **label, **title, "labelLineHeight": 1.2 * size},
        "title": {**look.get("title", {}), "fontSize": size, "subtitleFontSize": size, "lineHeight": 1.2 * size},
        "text": {**look.get("text", {}), "fontSize": size},
        **({"font": font} if font else {}),
    }
    if legend == "right":
        config["legend"].pop("layout")
    return {**spec, "config": config}
