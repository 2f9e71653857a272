"""Laws of the SVG that PNGs are made of: its layers are fewer, and its picture is the same."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
import vl_convert
from PIL import Image

from swingby_analysis.page.flat import flat
from swingby_analysis.page.html import VEGA_LITE

ROWS = [{"x": x, "y": 10 * (x % 3) - 5, "line": line} for line in range(3) for x in range(12)]
X, Y = ({"field": name, "type": "quantitative"} for name in "xy")
CUT = {**Y, "scale": {"domain": [-2, 9], "zero": False}}


def drawn(mark: dict[str, Any], y: dict[str, Any]) -> str:
    """A chart of three lines, or their areas, as SVG."""
    spec = {"data": {"values": ROWS}, "mark": mark, "encoding": {"x": X, "y": y, "detail": {"field": "line"}}}
    return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)


def pixels(svg: str) -> np.ndarray:
    """The picture of an SVG, int (height, width, 4)."""
    return np.asarray(Image.open(io.BytesIO(vl_convert.svg_to_png(svg, scale=2))).convert("RGBA")).astype(int)


@pytest.mark.parametrize("y", [Y, CUT], ids=["whole", "cut"])
@pytest.mark.parametrize("kind", ["line", "area", "point", "square", "rule"])
def test_the_picture_is_the_same(kind: str, y: dict[str, Any]) -> None:
    """Marks with an opacity, cut by their panel or not, look as before, but for ends of lines at the panel's edge."""
    before = drawn({"type": kind, "opacity": 0.4, "clip": True}, y)
    after = flat(before)
    gap = np.abs(pixels(before) - pixels(after)).max(axis=2)
    assert (gap > 16).mean() < 1e-3
    if kind in ("line", "area"):
        assert "clip-path=" in before
        assert "clip-path=" not in after
        assert ' opacity="0.4"' not in after


def test_what_has_two_paints_keeps_its_opacity() -> None:
    """A mark with a stroke and a fill is one layer, and a path with curves is clipped by its rectangle, as before."""
    both = drawn({"type": "square", "fill": "red", "stroke": "blue", "opacity": 0.4}, Y)
    assert flat(both).count(' opacity="0.4"') == both.count(' opacity="0.4"') == len(ROWS)
    curved = drawn({"type": "line", "interpolate": "monotone", "clip": True}, CUT)
    assert "clip-path=" in flat(curved)
