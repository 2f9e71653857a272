"""A chart's spec laid out anew for type of another size: its ticks, titles, panels and legends."""

from __future__ import annotations

import copy
import json
import math
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from swingby_analysis.charts import ticks

CHARACTER, BOLD = 0.5, 0.56
"""The width of a character, in sizes of the type."""

Spec = dict[str, Any]


def relaid(original: Mapping[str, Any], size: float, planned: float, legend: str, columns: int, font: str) -> Spec:
    """The spec with all type of one size, and with the ticks, titles and legends that then have room.

    Args:
        size, planned: of the type in px, and for which it is decided what is wrapped and what is left out.
        legend: right or bottom.
        columns: how many panels stand side by side.
        font: "": that of the spec.
    """
    spec = _copied(original)
    if columns != columns_of(spec):
        _reflowed(spec, columns)
    panel = narrowest(spec)
    total = panel * columns
    for view in views(spec):
        for holder in _holders(view):
            _titled(holder, "title", _side(view, "width"), planned)
            for channel, encoding in holder.get("encoding", {}).items():
                if channel in ("x", "y") and isinstance(encoding.get("axis"), dict):
                    _axis(encoding, channel == "x", _side(view, "width" if channel == "x" else "height"), planned)
                elif isinstance(encoding, dict) and isinstance(encoding.get("legend"), dict):
                    _legend(encoding, legend, total, planned)
    for facet in _facets(spec):
        _header(facet, panel, planned)
    _titled(spec, "title", total, planned)
    if isinstance(spec.get("title"), dict):
        spec["title"].update({"anchor": "start", "fontWeight": "bold", "offset": round(planned / 2)})
    _sized(spec, size)
    return _configured(spec, size, font, legend)


def refitted(spec: Spec, size: float) -> None:
    """Lays the axes of grids out anew, for type of `size` px and the size that their panels have now."""
    for view in views(spec):
        for holder in _holders(view):
            for channel, side in (("x", "width"), ("y", "height")):
                encoding = holder.get("encoding", {}).get(channel)
                known = isinstance(encoding, dict) and ticks.of_axis(encoding.get("axis") or {})
                if known and isinstance(view.get(side), int | float):
                    _axis(encoding, channel == "x", view[side], size)


def narrowest(spec: Mapping[str, Any]) -> float:
    """The width in px of the narrowest panel."""
    return min((_side(view, "width") for view in views(spec)), default=200.0)


def _side(view: Mapping[str, Any], side: str) -> float:
    """The px of a side of a panel; those that Vega-Lite takes where it is not said, or follows from the values."""
    value = view.get(side)
    return float(value) if isinstance(value, int | float) else 200.0


def _copied(value: Any) -> Any:
    """A copy without the rows, which are shared."""
    if isinstance(value, dict):
        return {key: item if key in ("values", "datasets") else _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list | tuple) else copy.copy(value)


def _inner(spec: Mapping[str, Any]) -> list[Spec]:
    """The charts that a spec puts side by side, or repeats."""
    parts = [spec["spec"]] if "spec" in spec else []
    return [*parts, *(part for kind in ("concat", "hconcat", "vconcat") for part in spec.get(kind, ()))]


def views(spec: Mapping[str, Any]) -> Iterator[Spec]:
    """Every chart inside with axes of its own."""
    inner = _inner(spec)
    if not inner:
        yield spec if isinstance(spec, dict) else dict(spec)
    for part in inner:
        yield from views(part)


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


def columns_of(spec: Mapping[str, Any]) -> int:
    """How many panels stand side by side."""
    if "facet" in spec:
        return spec.get("columns") or 1
    if "hconcat" in spec:
        return sum(map(columns_of, spec["hconcat"]))
    if "vconcat" in spec:
        return max(map(columns_of, spec["vconcat"]))
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
                    if columns_of(part) > columns:
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
    encodings = [holder.get("encoding", {}).get(channel, {}) for view in views(panel) for holder in _holders(view)]
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
