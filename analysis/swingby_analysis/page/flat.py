"""SVG that is fast to turn into a PNG: without what makes the renderer paint a layer as large as the picture."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

Point = tuple[float, float]

_MARK = re.compile(r'<(?:path|line|rect|circle) [^<>]*? opacity="([^"]*)"[^<>]*>')
_CLIP = re.compile(r'<clipPath id="([^"]+)"><rect x="0" y="0" width="([\d.]+)" height="([\d.]+)"/></clipPath>')
_CLIPPED = re.compile(r'(<g [^<>]*?) clip-path="url\(#([^")]+)\)"([^<>]*>)((?:<path [^<>]*/>)*)</g>')
_PATH = re.compile(r' d="([^"]*)"')
_STRAIGHT = re.compile(r"(?:M[\d.,L-]*Z?)*")
_POINT = re.compile(r"(-?[\d.]+),(-?[\d.]+)")


def flat(svg: str) -> str:
    """The picture of a Vega chart without layers that it can do without.

    The opacity of a mark that has a stroke alone, or a fill alone, becomes that of its paint; and straight paths that a
    rectangle clips are cut there. The picture is equal, but for half the width of a line at the edge of its panel.
    """
    sizes = {name: (float(width), float(height)) for name, width, height in _CLIP.findall(svg)}

    def unclipped(match: re.Match[str]) -> str:
        head, name, tail, paths = match.groups()
        cut = _cut(paths, *sizes[name]) if name in sizes else None
        return match[0] if cut is None else f"{head}{tail}{cut}</g>"

    return _MARK.sub(_painted, _CLIPPED.sub(unclipped, svg))


def _paints(mark: str) -> list[str]:
    """What a mark is painted with: stroke, fill, or both."""
    return [kind for kind in ("stroke", "fill") if re.search(rf' {kind}="(?!none"|transparent")', mark)]


def _painted(match: re.Match[str]) -> str:
    """A mark with its opacity in its paint; as it is, if it has a stroke and a fill, or its paint has an opacity."""
    mark, opacity = match[0], match[1]
    if opacity == "1":
        return mark.replace(' opacity="1"', "", 1)
    paints = _paints(mark)
    if len(paints) != 1 or "-opacity=" in mark:
        return mark
    return mark.replace(f' opacity="{opacity}"', f' {paints[0]}-opacity="{opacity}"', 1)


def _cut(paths: str, width: float, height: float) -> str | None:
    """Paths cut at a rectangle from the origin; None if one is moved, not straight, or painted twice."""
    marks = []
    for mark in (f"{each}/>" for each in paths.split("/>")[:-1]):
        path, paints = _PATH.search(mark), _paints(mark)
        if path is None or " transform=" in mark or len(paints) != 1 or not _STRAIGHT.fullmatch(path[1]):
            return None
        cut = _cut_path(path[1], paints == ["fill"], width, height)
        marks.append(mark.replace(path[0], f' d="{cut}"', 1))
    return "".join(marks)


def _cut_path(path: str, filled: bool, width: float, height: float) -> str:
    """The pieces of a path within the rectangle, which are closed where they are filled."""
    pieces = list[str]()
    for piece in path.split("M")[1:]:
        points = [(float(x), float(y)) for x, y in _POINT.findall(piece)]
        if filled:
            parts = [_polygon(points, width, height)]
        else:
            parts = _lines([*points, points[0]] if piece.endswith("Z") else points, width, height)
        end = "Z" if filled else ""
        pieces += [f"M{'L'.join(f'{x:g},{y:g}' for x, y in part)}{end}" for part in parts if part]
    return "".join(pieces)


def _polygon(points: Sequence[Point], width: float, height: float) -> list[Point]:
    """The part of a polygon within the rectangle, side by side (Sutherland and Hodgman)."""
    kept = list(points)
    for axis, limit, sign in ((0, 0.0, 1), (0, width, -1), (1, 0.0, 1), (1, height, -1)):
        before, kept = kept, []
        for start, end in zip([before[-1], *before[:-1]] if before else [], before, strict=True):
            inside = [sign * (point[axis] - limit) >= 0 for point in (start, end)]
            if inside[0] != inside[1]:
                share = (limit - start[axis]) / (end[axis] - start[axis])
                kept.append(_between(start, end, share))
            if inside[1]:
                kept.append(end)
    return kept


def _lines(points: Sequence[Point], width: float, height: float) -> list[list[Point]]:
    """The parts of a line within the rectangle (Liang and Barsky)."""
    parts: list[list[Point]] = []
    for start, end in pairwise(points):
        low, high = 0.0, 1.0
        for axis, most in ((0, width), (1, height)):
            step = end[axis] - start[axis]
            if step == 0:
                low, high = (low, high) if 0 <= start[axis] <= most else (1.0, 0.0)
                continue
            near, far = sorted((-start[axis] / step, (most - start[axis]) / step))
            low, high = max(low, near), min(high, far)
        if low > high:
            continue
        first = start if low == 0 else _between(start, end, low)
        last = end if high == 1 else _between(start, end, high)
        if not parts or parts[-1][-1] != first:
            parts.append([first])
        parts[-1].append(last)
    return parts


def _between(start: Point, end: Point, share: float) -> Point:
    """The point at a share of the way from one to another."""
    return (start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1]))
