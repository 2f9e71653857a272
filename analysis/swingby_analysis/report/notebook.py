"""Figures as charts for notebooks: Altair's own classes, on which its methods work, in the look of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import vl_convert

from swingby_analysis.charts import style
from swingby_analysis.page.html import VEGA_LITE
from swingby_analysis.page.relaid import refitted

VEGA_LITE_MIME = (
    f"application/vnd.vegalite.{alt.SCHEMA_VERSION.partition('.')[0]}+json"  # nbformat has objects in +json alone
)
COMPOSED = {"concat": alt.ConcatChart, "hconcat": alt.HConcatChart, "vconcat": alt.VConcatChart}


class Looked:
    """A chart whose look is added when it is written: Altair composes only charts that have no `config` of their own.

    What is configured by a method goes before the look. The labels of a grid's axes follow the width of the panels.
    """

    _look: Mapping[str, Any] = style.LOOK

    def copy(self, *args: Any, **options: Any) -> Any:
        """A copy with the same look."""
        return looked(super().copy(*args, **options), self._look)  # type: ignore[misc]

    def to_dict(self, *args: Any, **options: Any) -> dict[str, Any]:
        """The chart as Vega-Lite, with its look if it is no part of another chart."""
        chart: dict[str, Any] = super().to_dict(*args, **options)  # type: ignore[misc]
        if (options.get("context") or {}).get("top_level", True) and options.get("format", "vega-lite") == "vega-lite":
            chart["config"] = merged(self._look, chart.get("config", {}))
            refitted(chart, style.SIZE)
        return chart

    def _repr_mimebundle_(self, *args: Any, **options: Any) -> Any:
        """The chart for a notebook: Vega-Lite, and a picture for what cannot draw that, such as a page that nbconvert
        makes. Neither needs a network; Altair's own form does. A renderer that the user has chosen is used instead."""
        if alt.renderers.active != "default":
            return super()._repr_mimebundle_(*args, **options)  # type: ignore[misc]
        spec = self.to_dict()
        picture = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)
        return {
            VEGA_LITE_MIME: spec,
            "image/svg+xml": picture,
            "text/plain": f"<a chart: {spec.get('title', {}).get('text', '')}>",
        }

    def __or__(self, other: Any) -> Any:
        return looked(super().__or__(other), self._look)  # type: ignore[misc]

    def __and__(self, other: Any) -> Any:
        return looked(super().__and__(other), self._look)  # type: ignore[misc]

    def __add__(self, other: Any) -> Any:
        return looked(super().__add__(other), self._look)  # type: ignore[misc]


class _Panels(Looked):
    """Several panels: their size and their encodings are those of each."""

    def properties(self, **options: Any) -> Any:
        """The chart with these properties; a width or height is that of each panel."""
        sizes = {name: options.pop(name) for name in ("width", "height") if name in options}
        chart = super().properties(**options)  # type: ignore[misc]
        return chart._of_each("properties", sizes) if sizes else chart

    def encode(self, *args: Any, **options: Any) -> Any:
        """The chart with these encodings in each panel."""
        return self.copy()._of_each("encode", options, args)

    def _of_each(self, method: str, options: Mapping[str, Any], args: tuple[Any, ...] = ()) -> Any:
        for name in ("spec", *COMPOSED):
            inner = getattr(self, name, alt.Undefined)
            if isinstance(inner, list):
                setattr(self, name, [getattr(part, method)(*args, **options) for part in inner])
            elif inner is not alt.Undefined:
                setattr(self, name, getattr(inner, method)(*args, **options))
        return self


CLASSES: Mapping[type, type] = {
    **{base: type(base.__name__, (Looked, base), {}) for base in (alt.Chart, alt.LayerChart)},
    **{base: type(base.__name__, (_Panels, base), {}) for base in (alt.FacetChart, *COMPOSED.values())},
}
"""Altair's classes of charts, and what each is here."""


def looked(chart: Any, look: Mapping[str, Any]) -> Any:
    """A chart of Altair with a look."""
    # Plain attributes would be taken for parts of the chart.
    if type(chart) in CLASSES:
        object.__setattr__(chart, "__class__", CLASSES[type(chart)])
    if isinstance(chart, Looked):
        object.__setattr__(chart, "_look", look)
    return chart


def chart_of(spec: Mapping[str, Any]) -> Any:
    """A figure's spec as a chart; without the outline of the point that a page has picked."""
    chart = looked(_chart(spec), spec.get("config", style.LOOK))
    sets, data = dict(spec.get("datasets", {})), spec.get("data", alt.Undefined)
    # Rows last, and as a plain dict: Altair checks every part of a chart that it reads, and rows are many.
    chart.data = {"values": sets.pop(data["name"])} if isinstance(data, Mapping) and data.get("name") in sets else data
    if sets:
        chart.datasets = sets
    return chart


def _chart(spec: Mapping[str, Any]) -> Any:
    """The chart without its rows and its look, and with all charts inside."""
    rest = {key: value for key, value in spec.items() if key not in ("config", "$schema", "data", "datasets", "params")}
    if "facet" in rest and "spec" in rest:
        inner = looked(_chart(rest.pop("spec")), style.LOOK)
        return alt.FacetChart(spec=inner, **rest)
    if "layer" in rest:
        layers = [layer for layer in rest.pop("layer") if not _outlines(layer)]
        return alt.LayerChart(layer=[_chart(layer) for layer in layers], **rest)
    for kind, composed in COMPOSED.items():
        if kind in rest:
            return composed(**{kind: [looked(_chart(part), style.LOOK) for part in rest.pop(kind)]}, **rest)
    chart = alt.Chart.from_dict({"data": {"name": "none"}, **rest}, validate=False)
    chart.data = spec.get("data", alt.Undefined)
    return chart


def _outlines(layer: Mapping[str, Any]) -> bool:
    return any("picked" in str(step.get("filter", "")) for step in layer.get("transform", ()))


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Two configurations, the second one before the first wherever both say something."""
    both = {
        key: merged(below[key], value) if isinstance(value, Mapping) and isinstance(below.get(key), Mapping) else value
        for key, value in above.items()
    }
    return {**below, **both}
