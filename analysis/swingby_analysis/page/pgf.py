"""Figures as PGF, the drawing language of LaTeX: marks as paths, and text as text of the paper's own font.

What is drawn is the scene graph of Vega, the marks of a chart with their places in px. A document needs
`\\usepackage{pgf}` and `\\input{figure.pgf}`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from swingby.errors import SwingbyError
from swingby.options import option
from swingby_analysis.page.tex import escaped

Item = Mapping[str, Any]
Point = tuple[float, float]
DEFINITIONS = r"""\def\sbM#1#2{\pgfpathmoveto{\pgfqpoint{#1bp}{#2bp}}}%
\def\sbL#1#2{\pgfpathlineto{\pgfqpoint{#1bp}{#2bp}}}%
\def\sbC#1#2#3#4#5#6{\pgfpathcurveto{\pgfqpoint{#1bp}{#2bp}}{\pgfqpoint{#3bp}{#4bp}}{\pgfqpoint{#5bp}{#6bp}}}%
\def\sbR#1#2#3#4{\pgfpathrectangle{\pgfqpoint{#1bp}{#2bp}}{\pgfqpoint{#3bp}{#4bp}}}%
\def\sbO#1#2#3{\pgfpathcircle{\pgfqpoint{#1bp}{#2bp}}{#3bp}}%
\def\sbf#1{\definecolor{sbfill}{rgb}{#1}\pgfsetfillcolor{sbfill}}%
\def\sbs#1{\definecolor{sbstroke}{rgb}{#1}\pgfsetstrokecolor{sbstroke}}%
"""
STEPS = 100
"""Strips that a gradient is drawn with."""
CLOSE = 0.08
"""Points of a path that lie nearer to the one before, in bp, are left out."""
NAMED = {"white": "#ffffff", "black": "#000000", "gray": "#808080", "grey": "#808080", "red": "#ff0000"}
NONE = (None, "none", "transparent", "")
BASELINES = {"top": 0.79, "middle": 0.3, "bottom": -0.21, "line-top": 0.29, "line-bottom": -0.29, "alphabetic": 0.0}
"""How far below its place a text's base line lies, in sizes of its type, as Vega has it."""
SHAPES: Mapping[str, Sequence[Point]] = {
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "diamond": ((-1, 0), (0, -1), (1, 0), (0, 1)),
    "triangle-up": ((0, -math.sqrt(3) / 2), (-1, math.sqrt(3) / 2), (1, math.sqrt(3) / 2)),
    "triangle-down": ((0, math.sqrt(3) / 2), (-1, -math.sqrt(3) / 2), (1, -math.sqrt(3) / 2)),
    "triangle-right": ((math.sqrt(3) / 2, 0), (-math.sqrt(3) / 2, -1), (-math.sqrt(3) / 2, 1)),
    "triangle-left": ((-math.sqrt(3) / 2, 0), (math.sqrt(3) / 2, -1), (math.sqrt(3) / 2, 1)),
    "cross": tuple(
        (x * a, y * b)
        for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))
        for a, b in (((1.0, 0.4), (0.4, 0.4), (0.4, 1.0)) if x * y < 0 else ((0.4, 1.0), (0.4, 0.4), (1.0, 0.4)))
    ),
}
"""Corners of symbols that have straight edges, in halves of the root of their size."""
_COLOUR = re.compile(r"rgba?\(\s*([\d.]+),\s*([\d.]+),\s*([\d.]+)(?:,\s*([\d.]+))?\s*\)")
_PATH = re.compile(r"([MmLlHhVvCcZz])|(-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|[\s,]+|(.)")


def pgf(scene: Mapping[str, Any], scale: float, name: str) -> str:
    """A scene graph as a pgfpicture.

    Args:
        scene: what `vl_convert.vegalite_to_scenegraph` returns.
        scale: big points (1/72 inch) for each px.
        name: of the figure, for errors and for the first line.

    Raises:
        SwingbyError: it has a mark, a colour or a character that is not known here; names it.
    """
    width, height = scale * scene["width"], scale * scene["height"]
    picture = _Picture(scale, height, name)
    picture.group([scene["scenegraph"]], scene["origin"], (scene["width"], scene["height"]))
    return (
        f"% {re.sub(r'[^ -~]', '?', name)}: \\usepackage{{pgf}} and \\input this file\n"
        f"\\begingroup\\begin{{pgfpicture}}%\n{DEFINITIONS}"
        f"\\pgfpathrectangle{{\\pgfpointorigin}}{{\\pgfqpoint{{{width:.3f}bp}}{{{height:.3f}bp}}}}"
        f"\\pgfusepath{{use as bounding box}}%\n\\pgfsetroundjoin%\n"
        + "".join(f"{line}%\n" for line in picture.lines)
        + "\\end{pgfpicture}\\endgroup\n"
    )


class _Picture:
    """The lines of a picture, and what colours, widths and opacities are set at the moment."""

    def __init__(self, scale: float, height: float, name: str) -> None:
        self.scale, self.height, self.name = scale, height, name
        self.lines, self._set = list[str](), dict[str, str]()

    def fault(self, what: str) -> SwingbyError:
        return SwingbyError(
            f"figure {self.name!r} has {what}, which PGF output cannot draw; {option('formats', 'pdf')} can"
        )

    def group(self, marks: Sequence[Item], origin: Sequence[float], size: Point) -> None:
        """Marks of a group in their order, those of a higher zindex above the others."""
        for mark in sorted(marks, key=lambda one: one.get("zindex") or 0):
            if mark.get("clip") and mark["items"]:
                self.lines.append(
                    "\\begin{pgfscope}" + self._box(origin[0], origin[1], size[0], size[1]) + "\\pgfusepath{clip}"
                )
                outer, self._set = self._set, dict(self._set)
                self._mark(mark, origin)
                self.lines.append("\\end{pgfscope}")
                self._set = outer
            else:
                self._mark(mark, origin)

    def _mark(self, mark: Item, origin: Sequence[float]) -> None:
        kind, items = mark["marktype"], mark["items"]
        draw: Mapping[str, Callable[[Item, Sequence[float]], None]] = {
            "group": self._group, "rect": self._rect, "rule": self._rule, "symbol": self._symbol,
            "text": self._text, "path": self._svg_path,
        }  # fmt: skip
        if kind in ("line", "area"):
            self._run(items, origin, filled=kind == "area")
        elif kind in draw:
            for item in items:
                draw[kind](item, origin)
        elif items:
            raise self.fault(f"the mark {kind!r}")

    def _group(self, item: Item, origin: Sequence[float]) -> None:
        at = (origin[0] + (item.get("x") or 0), origin[1] + (item.get("y") or 0))
        size = (item.get("width") or 0.0, item.get("height") or 0.0)
        if size[0] and size[1]:
            self._rect({**item, "x": 0, "y": 0}, at)
        self.group(item.get("items", ()), at, size)

    def _rect(self, item: Item, origin: Sequence[float]) -> None:
        if any(item.get(key) for key in item if key.startswith("cornerRadius")):
            raise self.fault("a rectangle with round corners")
        box = (origin[0] + item["x"], origin[1] + item["y"], item.get("width") or 0, item.get("height") or 0)
        fill = item.get("fill")
        if isinstance(fill, Mapping):
            self._gradient(fill, box)
            item = {**item, "fill": None}
        self._paint(item, self._box(*box))

    def _rule(self, item: Item, origin: Sequence[float]) -> None:
        x, y = item.get("x") or 0, item.get("y") or 0
        ends = [(x, y), (item.get("x2", x), item.get("y2", y))]
        self._paint({**item, "fill": None}, self._corners(ends, origin))

    def _run(self, items: Sequence[Item], origin: Sequence[float], filled: bool) -> None:
        """A line through its items, or the area between two lines; broken where it is not defined."""
        for defined, run in groupby(items, lambda one: one.get("defined", True) is not False):
            points = list(run)
            look = points[0]
            if look.get("interpolate") not in (None, "linear"):
                raise self.fault(f"a line of the interpolation {look['interpolate']!r}")
            if not defined:
                continue
            there = [(one.get("x") or 0.0, one.get("y") or 0.0) for one in points]
            if not filled:
                self._paint({**look, "fill": None}, self._corners(there, origin))
                continue
            back = [(one.get("x2", x), one.get("y2", y)) for one, (x, y) in zip(points, there, strict=True)]
            self._paint(look, self._corners([*there, *back[::-1]], origin, closed=True))

    def _symbol(self, item: Item, origin: Sequence[float]) -> None:
        shape, side = item.get("shape") or "circle", math.sqrt(item.get("size") or 0) / 2
        middle = (origin[0] + (item.get("x") or 0), origin[1] + (item.get("y") or 0))
        if shape == "circle":
            x, y = self._at(middle)
            path = f"\\sbO{{{x}}}{{{y}}}{{{_short(side * self.scale)}}}"
        elif shape == "stroke":
            path = self._corners([(-side, 0), (side, 0)], middle)
        elif shape in SHAPES:
            angle = math.radians(item.get("angle") or 0)
            turned = [
                (side * (x * math.cos(angle) - y * math.sin(angle)), side * (x * math.sin(angle) + y * math.cos(angle)))
                for x, y in SHAPES[shape]
            ]
            path = self._corners(turned, middle, closed=True)
        else:
            raise self.fault(f"a symbol of the shape {shape[:40]!r}")
        self._paint(item, path)

    def _svg_path(self, item: Item, origin: Sequence[float]) -> None:
        place = (origin[0] + (item.get("x") or 0), origin[1] + (item.get("y") or 0))
        self._paint(item, "".join(self._pieces(item.get("path") or "", place)))

    def _pieces(self, path: str, origin: Sequence[float]) -> Iterator[str]:
        """The commands of an SVG path of straight and cubic pieces."""
        command, numbers, here = "", list[float](), (0.0, 0.0)
        counts = dict(zip("MLHVCZ", (2, 2, 1, 1, 6, 0), strict=True))
        for letter, number, other in _PATH.findall(path):
            if other:
                raise self.fault(f"a path with {other!r}")
            if letter:
                command = letter
                if letter in "Zz":
                    yield "\\pgfpathclose"
                continue
            numbers += [float(number)] if number else []
            if not command or not numbers or len(numbers) < counts[command.upper()]:
                continue
            if command.upper() in "HV":
                along = numbers[0] + (here[command.upper() == "V"] if command.islower() else 0.0)
                points = [(along, here[1]) if command.upper() == "H" else (here[0], along)]
            else:
                by = here if command.islower() else (0.0, 0.0)
                points = [(x + by[0], y + by[1]) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
            here, numbers = points[-1], []
            places = "".join(
                f"{{{x}}}{{{y}}}" for x, y in (self._at((a + origin[0], b + origin[1])) for a, b in points)
            )
            yield f"\\sb{'L' if command.upper() in 'HV' else command.upper()}{places}"
            command = {"M": "L", "m": "l"}.get(command, command)

    def _text(self, item: Item, origin: Sequence[float]) -> None:
        written, size = item.get("text"), item.get("fontSize") or 11
        lines = [str(line) for line in (written if isinstance(written, list) else [written]) if line is not None]
        if not "".join(lines).strip() or item.get("opacity") == 0:
            return
        limit = item.get("limit") or 0
        most = int(limit / (0.5 * size)) if limit else 0
        lines = [line if not most or len(line) <= most else f"{line[: most - 1]}\u2026" for line in lines]
        points, apart = (_short(factor * size * self.scale * 72.27 / 72, 1) for factor in (1.0, 1.2))
        look = f"\\fontsize{{{points}}}{{{apart}}}\\selectfont"
        weight = str(item.get("fontWeight") or "normal")
        look += "\\bfseries" if weight == "bold" or (weight.isdigit() and int(weight) >= 600) else ""
        look += "\\itshape" if item.get("fontStyle") == "italic" else ""
        leading = item.get("lineHeight") or size + 2
        below = BASELINES[item.get("baseline") or "alphabetic"] * size + (item.get("dy") or 0)
        above = {"middle": 0.5, "bottom": 1.0, "line-bottom": 1.0}.get(item.get("baseline") or "", 0.0)
        below -= above * leading * (len(lines) - 1)
        align = {"left": "left,", "right": "right,"}.get(item.get("align") or "left", "")
        halo = (item.get("strokeWidth") or 1) / 2 if item.get("stroke") not in NONE else 0.0
        around = (
            [(halo * math.cos(k * math.pi / 4), halo * math.sin(k * math.pi / 4)) for k in range(8)] if halo else []
        )
        paints = [("stroke", shift) for shift in around] + (
            [("fill", (0.0, 0.0))] if item.get("fill") not in NONE else []
        )
        angle = math.radians(item.get("angle") or 0)
        for paint, shift in paints:
            colour = self._rgb(item[paint])
            for number, line in enumerate(lines):
                if not line.strip("\u200b "):
                    continue
                right, down = (item.get("dx") or 0) + shift[0], below + number * leading + shift[1]
                x, y = self._at((
                    origin[0] + (item.get("x") or 0) + right * math.cos(angle) - down * math.sin(angle),
                    origin[1] + (item.get("y") or 0) + right * math.sin(angle) + down * math.cos(angle),
                ))  # fmt: skip
                turned = f",rotate={_short(-math.degrees(angle))}" if angle else ""
                words = f"\\color[rgb]{{{colour}}}{look} {escaped(line, self.name)}"
                self._opacity("fill", item)
                self.lines.append(f"\\pgftext[{align}base,x={x}bp,y={y}bp{turned}]{{{words}}}")

    def _gradient(self, fill: Mapping[str, Any], box: Sequence[float]) -> None:
        """Strips that each reach to the far end, so that no hairline of the ground shows between them."""
        x, y, width, height = box
        across = fill.get("x1") != fill.get("x2")
        ends = (fill["x1"], fill["x2"]) if across else (fill["y1"], fill["y2"])
        stops = [
            (stop["offset"], [float(part) for part in self._rgb(stop["color"]).split(",")]) for stop in fill["stops"]
        ]
        stops = stops if ends[0] < ends[1] else [(1 - at, colour) for at, colour in stops[::-1]]
        for step in range(STEPS):
            at = (step + 0.5) / STEPS
            low = max((stop for stop in stops if stop[0] <= at), key=lambda stop: stop[0], default=stops[0])
            high = min((stop for stop in stops if stop[0] >= at), key=lambda stop: stop[0], default=stops[-1])
            share = 0.0 if high[0] == low[0] else (at - low[0]) / (high[0] - low[0])
            self._colour("fill", ",".join(_short(a + share * (b - a), 3) for a, b in zip(low[1], high[1], strict=True)))
            done = step / STEPS
            part = (x + done * width, y, (1 - done) * width, height)
            part = part if across else (x, y + done * height, width, (1 - done) * height)
            self.lines.append(f"{self._box(*part)}\\pgfusepath{{fill}}")

    def _paint(self, item: Item, path: str) -> None:
        """Fills and strokes a path as an item says."""
        fills = item.get("fill") not in NONE
        strokes = item.get("stroke") not in NONE and item.get("strokeWidth", 1) > 0
        if not path or not (fills or strokes) or item.get("opacity") == 0:
            return
        if fills:
            self._colour("fill", self._rgb(item["fill"]))
            self._opacity("fill", item)
        if strokes:
            self._colour("stroke", self._rgb(item["stroke"]))
            self._opacity("stroke", item)
            self._once("width", f"\\pgfsetlinewidth{{{_short(item.get('strokeWidth', 1) * self.scale, 3)}bp}}")
            dashes = "".join(f"{{{_short(part * self.scale)}bp}}" for part in item.get("strokeDash") or ())
            self._once("dash", f"\\pgfsetdash{{{dashes}}}{{0bp}}")
            cap = item.get("strokeCap") or "butt"
            self._once("cap", {"round": "\\pgfsetroundcap", "square": "\\pgfsetrectcap"}.get(cap, "\\pgfsetbuttcap"))
        use = ",".join(["fill"] * fills + ["stroke"] * strokes)
        self.lines.append(f"{path}\\pgfusepath{{{use}}}")

    def _colour(self, paint: str, colour: str) -> None:
        self._once(paint, f"\\sb{paint[0]}{{{colour}}}")

    def _opacity(self, paint: str, item: Item) -> None:
        opacity = float(item.get("opacity", 1)) * float(item.get(f"{paint}Opacity", 1))
        match = _COLOUR.fullmatch(str(item.get(paint)))
        opacity *= float(match[4]) if match is not None and match[4] else 1.0
        self._once(f"{paint} opacity", f"\\pgfset{paint}opacity{{{_short(opacity, 3)}}}")

    def _once(self, what: str, command: str) -> None:
        if self._set.get(what) != command:
            self._set[what] = command
            self.lines.append(command)

    def _rgb(self, colour: Any) -> str:
        """A colour of CSS as three numbers from 0 to 1."""
        text = NAMED.get(str(colour), str(colour))
        match = _COLOUR.fullmatch(text)
        if match is not None:
            parts = [float(part) / 255 for part in match.groups()[:3]]
        elif re.fullmatch(r"#(?:[0-9a-fA-F]{3}){1,2}", text):
            digits = text[1:] if len(text) == 7 else "".join(2 * digit for digit in text[1:])
            parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        else:
            raise self.fault(f"the colour {text[:40]!r}")
        return ",".join(_short(part, 3) for part in parts)

    def _at(self, point: Point) -> tuple[str, str]:
        """A place in px from the upper left corner, in bp from the lower left one."""
        return _short(self.scale * point[0]), _short(self.height - self.scale * point[1])

    def _box(self, x: float, y: float, width: float, height: float) -> str:
        left, low = self._at((x, y + height))
        return f"\\sbR{{{left}}}{{{low}}}{{{_short(self.scale * width)}}}{{{_short(self.scale * height)}}}"

    def _corners(self, points: Sequence[Point], origin: Sequence[float], closed: bool = False) -> str:
        """A path of straight lines; a point that lies at the one before it is left out."""
        kept = list[Point]()
        near = CLOSE / self.scale
        for number, point in enumerate(points):
            ends = number in (0, len(points) - 1)
            if ends or math.hypot(point[0] - kept[-1][0], point[1] - kept[-1][1]) >= near:
                kept.append(point)
        places = [self._at((x + origin[0], y + origin[1])) for x, y in kept]
        path = "".join(f"\\sb{'L' if number else 'M'}{{{x}}}{{{y}}}" for number, (x, y) in enumerate(places))
        return path + ("\\pgfpathclose" if closed else "")


def _short(value: float, digits: int = 2) -> str:
    """A number for TeX, within the lengths that it knows."""
    text = f"{min(max(value, -9999.0), 9999.0):.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text in ("", "-0") else text
