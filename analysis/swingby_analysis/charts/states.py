"""Points without a value, as marks of their own on a map: where all runs failed, and where they diverged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from swingby_analysis.charts import style
from swingby_analysis.grid import Grid

FAILED, DIVERGED, BEYOND = "all runs failed", "all runs diverged", "the median is beyond any scale"
COLOURS = {FAILED: "#8c1c3a", DIVERGED: "#f08ca0", BEYOND: "#ffd0d8"}
"""Colours that neither viridis nor cividis has; told apart by how light they are."""
KEYS = {FAILED: "failed", DIVERGED: "diverged", BEYOND: "beyond"}
"""The glyphs of a page for them."""
OTHERS = {"filter": "datum.kind != 'state' && datum.kind != 'blank'"}


class State(NamedTuple):
    """Why a point has no value: one of `COLOURS`, and the same in words with its counts."""

    point: int
    state: str
    text: str


def with_states(spec: Mapping[str, Any], grid: Grid, states: Sequence[State]) -> dict[str, Any]:
    """The map with the points that have no value in the colour of their state, and with every panel of the grid.

    Args:
        spec: of a map over the grid, or of marks along its one parameter.
    """
    name, rows = _rows(spec)
    added = [{"kind": "state", **style.tile(grid, one.point), "state": one.state, "text": one.text} for one in states]
    there = {row.get("facet") for row in (*rows, *added)}
    added += [{"kind": "blank", "facet": facet} for facet in grid.facets if facet not in there]
    if not added:
        return dict(spec)
    layers = spec.get("spec", spec)["layer"]
    others = [one if _of_picked(one) else {**one, "transform": [OTHERS, *one.get("transform", ())]} for one in layers]
    marks = {"layer": [*([_layer(layers, grid, states)] if states else []), *others]}
    data = [*rows, *({key: style.short(value) for key, value in row.items()} for row in added)]
    whole = {**spec, **({"spec": {**spec["spec"], **marks}} if "spec" in spec else marks)}
    return {**whole, "datasets": {**spec["datasets"], name: data}} if name else {**whole, "data": {"values": data}}


def _rows(spec: Mapping[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """The name of the data set of a map, "" where it has none, and its rows."""
    name = spec["data"].get("name", "")
    return (name, spec["datasets"][name]) if name else ("", spec["data"]["values"])


def _of_picked(layer: Mapping[str, Any]) -> bool:
    return any("picked" in str(one.get("filter")) for one in layer.get("transform", ()))


def _layer(layers: Sequence[Mapping[str, Any]], grid: Grid, states: Sequence[State]) -> dict[str, Any]:
    """Tiles where the map has tiles; crosses on the axis where it has marks along one parameter."""
    seen = [name for name in COLOURS if any(one.state == name for one in states)]
    colour = {
        "field": "state",
        "type": "nominal",
        "scale": {"domain": seen, "range": [COLOURS[name] for name in seen]},
        "legend": {"title": "no value", "orient": "bottom", "direction": "horizontal", "columns": 1,
                   "symbolType": "square", "symbolSize": 110, "labelLimit": 0},
    }  # fmt: skip
    tip = [{"field": field, "title": title, "type": "nominal"} for field, title in (("label", "at"), ("text", "runs"))]
    if any("fill" in one.get("encoding", {}) for one in layers):  # whose scale of numbers has no room for names
        cases = [f"datum.state == '{name}' ? '{COLOURS[name]}'" for name in seen]
        colour = {"value": {"expr": f"{' : '.join(cases)} : '{COLOURS[FAILED]}'"}}
    common = {"transform": [{"filter": "datum.kind == 'state'"}]}
    if grid.y is None:
        places = next(one["encoding"]["x"] for one in layers if "x" in one.get("encoding", {}))
        mark = {"type": "point", "shape": "cross", "filled": True, "opacity": 1, "size": 90}
        encoding = {"x": places, "y": {"value": style.panel_size(grid)[1]}, "fill": colour, "tooltip": tip}
        return {**common, "mark": mark, "encoding": encoding}
    area = next(one["encoding"] for one in layers if "x2" in one.get("encoding", {}))
    area = {name: area[name] for name in ("x", "x2", "y", "y2")}
    return {**common, "mark": {"type": "rect", **style.OVERLAP}, "encoding": {**area, "fill": colour, "tooltip": tip}}
