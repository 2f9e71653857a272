"""Charts: what is drawn is what the tables say, whatever the grid."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby.model.reported import Landmark
from swingby_analysis.charts import style, ticks
from swingby_analysis.charts.bands import scale_of
from swingby_analysis.charts.curves import FLOOR, Band, LogAxes, Run, log_curves, log_panel
from swingby_analysis.charts.lines import Line, LinesLook, line_panels
from swingby_analysis.charts.maps import HUES, PALETTE, number_map, outcome_map, share_map
from swingby_analysis.charts.summaries import MostCommon, Share, Spread
from swingby_analysis.charts.trajectories import (
    Place,
    PlaneView,
    even_time,
    landmark_rows,
    moves_until,
    time_marks,
    trajectories,
)
from swingby_analysis.grid import Grid, GridAxis, axis_kind
from swingby_analysis.page.html import VEGA_LITE
from swingby_analysis.page.plain_files import rows_of
from swingby_analysis.report.phases import Phases
from swingby_analysis.stats import shares as phase

OUTCOMES = ["generalized", "plateau", "failed", "structural", "artefact", "diverged"]
FEW = settings(max_examples=12, deadline=None)
numbers = st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=12, unique=True).filter(
    lambda values: all(b > a * 1.001 for a, b in pairwise(sorted(values)))
)

NAMES = ["outside", "inside"]
AXES = LogAxes(last=100, top=2.0, title="loss", level=0.01)


def seen(origin: bool) -> PlaneView:
    """A plane with two centres, perhaps one at the origin, and a target."""
    centres = [Landmark("training", 1, 0), Landmark("training", 0, 1)]
    centres += [Landmark("training", 0, 0)] if origin else []
    return PlaneView("x", "y", [*centres, Landmark("test point", 1, 1, target=True)])


def grid(x: list[Any], y: list[Any] | None, facets: int = 1) -> Grid:
    """A full grid with a point a tile."""
    axis_x, axis_y = GridAxis.of("mu.1", "signal", x), None if y is None else GridAxis.of("width", "width", y)
    places = [(i, j, f) for f in range(facets) for j in range(len(y or [0])) for i in range(len(x))]
    labels = tuple(f"layers = {f + 1}" for f in range(facets)) if facets > 1 else ("",)
    return Grid(axis_x, axis_y, labels, dict(enumerate(places)))


def share(point: int, k: int, n: int) -> Share:
    low, high = phase.wilson(k, n)
    return Share(point, k, n, k / n, float(low), float(high))


def items(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every mark that Vega draws, with the kind of its group."""

    def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for item in node.get("items", []):
            if item.get("marktype", "group") != "group" and item.get("role") == "mark":
                yield from ({"marktype": item["marktype"], **leaf} for leaf in item.get("items", []))
            yield from walk(item)

    scene = vl_convert.vegalite_to_scenegraph(spec, vl_version=VEGA_LITE)["scenegraph"]
    yield from walk({"items": [scene]})


# axes


@given(numbers)
def test_tiles_touch_and_hold_their_value(values: list[float]) -> None:
    """The tiles of an axis leave no gap, do not overlap, and each holds its own value."""
    axis = GridAxis.of("x", "x", values)
    assert all(a < b for a, b in pairwise(axis.edges))
    assert all(low < at < high for low, at, high in zip(axis.edges, axis.positions, axis.edges[1:], strict=False))
    assert len(axis.edges) == len(values) + 1
    assert 0 < axis.narrowest <= 1 / len(values) + 1e-9


@given(numbers, st.floats(1e-3, 1e3))
def test_the_unit_of_a_parameter_changes_nothing(values: list[float], factor: float) -> None:
    """An axis is logarithmic or not whatever unit its parameter is in."""
    spacing = sorted(values)
    ratios = [math.log(b / a) for a, b in pairwise(spacing)]
    steps = [b - a for a, b in pairwise(spacing)]
    if abs((max(ratios) / min(ratios)) / (max(steps) / min(steps)) - 1) < 1e-6:
        return  # both spacings are equally even: rounding decides
    assert axis_kind(spacing) == axis_kind([value * factor for value in spacing])


@given(st.floats(1e-3, 1e3), st.floats(1.2, 10), st.integers(3, 12))
def test_spacing_decides_the_scale(first: float, ratio: float, count: int) -> None:
    """Equal ratios make a logarithmic axis, equal steps a linear one; text and yes/no have ranks."""
    assert axis_kind([first * ratio**i for i in range(count)]) == "log"
    assert axis_kind([first + ratio * i for i in range(count)]) == "linear"
    assert axis_kind(["relu", "linear"]) == "ordinal" == axis_kind([False, True])
    assert axis_kind([0.0, *(first * 3.0**i for i in range(count))]) == ("ordinal" if count > 3 else "linear")
    assert axis_kind([ratio * i for i in range(count)]) == "linear"


places = st.lists(st.floats(0, 1000), min_size=1, max_size=80, unique=True).map(sorted)
words = st.text("abcdefghijklmnop-", min_size=1, max_size=40)


@given(places, st.floats(5, 60))
def test_labels_keep_their_distance(at: list[float], room: float) -> None:
    """Labels of a thinned axis lie at least the asked distance apart, the first and the last value among them."""
    kept = ticks.thinned(at, room)
    assert kept[0] == 0
    assert kept[-1] == len(at) - 1 or at[-1] - at[0] < room
    assert all(at[b] - at[a] >= room - 1e-6 for a, b in pairwise(kept))


@given(st.data(), st.booleans(), st.booleans(), st.floats(6, 24))
def test_no_label_lies_over_another(data: st.DataObject, named: bool, across: bool, size: float) -> None:
    """Up to `EVERY` values, and names that have a line each, are all labelled; labels never overlap."""
    at = data.draw(places)
    count = len(at)
    texts = data.draw(st.lists(words, min_size=count, max_size=count)) if named else [f"{x:.3g}" for x in at]
    shown = ticks.labels(at, texts, across, size)
    a_line_each = named and all(b - a >= ticks.CLOSE * size for a, b in pairwise(at))
    if count <= ticks.EVERY or a_line_each:
        assert shown.kept == list(range(count))
    boxes = []
    for rank in shown.kept:
        text = shown.texts[rank]
        assert all(line and line == line.strip() for line in (text if isinstance(text, list) else [text]))
        line = text[-1] if isinstance(text, list) else text.rstrip(ticks.PAD + ticks.HOLD)
        row = len(text) - 1 if isinstance(text, list) else len(text) - len(line)
        assert line == texts[rank] or (len(line) == ticks.LONGEST and texts[rank].startswith(line[:-1]))
        wide = ticks.CHARACTER * size * len(line) if across and not shown.upright else 0.99 * ticks.CLOSE * size
        boxes.append((row, at[rank] - wide / 2, at[rank] + wide / 2))
    for row in {box[0] for box in boxes}:
        alone = [box[1:] for box in boxes if box[0] == row]
        assert all(right[0] >= left[1] - 1e-6 for left, right in pairwise(alone))


@given(places, st.booleans())
def test_an_axis_holds_every_value(at: list[float], across: bool) -> None:
    """An axis holds the values that it leaves out, too, so that it can be laid out anew for another size."""
    texts = [f"{x:.6g}" for x in at]
    assert ticks.of_axis(ticks.labels(at, texts, across, 11).axis(at)) == (at, texts)


@pytest.mark.parametrize("values", [[0, 0.5, 0.9, 0.99], [0, 0.9, 0.99, 0.999, 0.9999], [1, 2, 1000]])
def test_values_that_lie_close_have_their_labels(values: list[float]) -> None:
    """Every value of a small grid is written on both of its axes, however close it lies to the next one."""
    shares = [share(point, 1, 4) for point in range(len(values) ** 2)]
    svg = vl_convert.vegalite_to_svg(share_map(grid(values, values), shares, None, "x").to_dict(), VEGA_LITE)
    assert [value for value in values if len(re.findall(rf">{value:.6g}[\u00a0\u200b]*<", svg)) != 2] == []


def test_sixty_names_are_read() -> None:
    """Sixty names stand on an axis in a line each; sixty outcomes share the colours that there are, the rest a grey."""
    names = [f"network-{a}{b}" for a in "abcdef" for b in "ghijklmnop"]
    shares = [share(point, 1, 4) for point in range(120)]
    for shape in (grid(names, [1, 2]), grid([1, 2], names), grid(names, None)):
        of_points = shares[: len(shape.places)]
        svg = vl_convert.vegalite_to_svg(share_map(shape, of_points, None, "x").to_dict(), VEGA_LITE)
        assert [name for name in names if f">{name}<" not in svg] == []
    rows = [MostCommon(point, name, 3, 5, "") for point, name in enumerate(names)]
    spec = outcome_map(grid(list(range(10)), list(range(6))), rows, names, "outcome").to_dict()
    (scale,) = [layer["encoding"]["color"]["scale"] for layer in spec["layer"] if "color" in layer["encoding"]]
    assert len(set(scale["range"])) == len(scale["domain"]) == len(HUES)
    drawn = vl_convert.vegalite_to_scenegraph(spec, VEGA_LITE)
    assert drawn["width"] <= style.across(grid(list(range(10)), list(range(6)))) + 80


@settings(max_examples=5, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.integers(1, 12))
def test_legends_are_as_wide_as_their_map(x: int, y: int, facets: int, words: int) -> None:
    """However small a map and however long the title, the picture is as wide as the map and its axis."""
    shape = grid([float(i) for i in range(x)], list(range(y)), facets)
    shares = [share(point, 1, 4) for point in range(x * y * facets)]
    spec = share_map(shape, shares, None, " ".join(["concept"] * words)).to_dict()
    assert vl_convert.vegalite_to_scenegraph(spec, VEGA_LITE)["width"] <= style.across(shape) + 110


def test_values_of_an_axis_stay_text() -> None:
    """A value that looks like code is written on the axis as it is, and is not run."""
    hostile = ['"]; throw 1 //', "<b>", "a' + b"]
    shares = [share(point, 1, 4) for point in range(6)]
    svg = vl_convert.vegalite_to_svg(share_map(grid(hostile, [1, 2]), shares, None, "x").to_dict(), VEGA_LITE)
    for value in ("&quot;]; throw 1 //", "&lt;b&gt;"):
        assert value in svg or value.replace("&quot;", '"') in svg


def test_every_tick_has_its_label() -> None:
    """A tick shows its value, however small or large, as people write it."""
    values = [10.0**power / 3 for power in (-9, -6, -5, -4, 0, 6, 7)]
    shares = [share(point, 1, 4) for point in range(14)]
    spec = share_map(grid([1.0, 2.0], values), shares, None, "x").to_dict()
    svg = vl_convert.vegalite_to_svg(spec, VEGA_LITE)
    assert [value for value in values if f">{value:.3g}<" not in svg] == []


# the phase diagram


@FEW
@given(st.lists(st.integers(0, 8), min_size=12, max_size=12), st.integers(1, 2))
def test_a_tile_a_point_and_a_dot_where_half_is_inside(counts: list[int], facets: int) -> None:
    """Every point has one tile and one inset; exactly those whose interval contains one half have a dot."""
    shape = grid([1.0, 2.0, 3.0], [4, 8] if facets == 2 else [2, 4, 8, 16], facets)
    shares = [share(point, k, 8) for point, k in enumerate(counts)]
    drawn = list(items(share_map(shape, shares, None, "x").to_dict()))
    tiles = [item for item in drawn if item["marktype"] == "rect"]
    symbols = Counter(item.get("shape", "circle") for item in drawn if item["marktype"] == "symbol")
    assert len(tiles) == len(counts) == symbols["square"]
    assert symbols["circle"] == sum(item.low <= 0.5 <= item.high for item in shares)


@FEW
@given(st.integers(1, 40), st.data())
def test_the_inset_is_as_wide_as_the_interval(n: int, data: st.DataObject) -> None:
    """An inset's side is to the tile's as the half-width is to one half: knowing nothing fills the tile."""
    k = data.draw(st.integers(0, n))
    shape = grid([1.0, 2.0], [1, 2])
    spec = share_map(shape, [share(0, k, n)], None, "x").to_dict()
    sizes = [layer["encoding"]["size"] for layer in spec["layer"] if "size" in layer["encoding"]]
    side = style.smallest_tile(shape)
    for size in sizes:
        (low, high), (none, full) = size["scale"]["domain"], size["scale"]["range"]
        area = none + (full - none) * ((share(0, k, n).half_width - low) / (high - low)) ** size["scale"]["exponent"]
        assert math.sqrt(area) / side == pytest.approx(share(0, k, n).half_width / 0.5)


@FEW
@given(st.lists(st.integers(0, 5), min_size=4, max_size=4))
def test_colour_means_the_same_in_every_diagram(counts: list[int]) -> None:
    """The colour scale runs from 0 to 1 whatever the shares are."""
    shares = [share(point, k, 5) for point, k in enumerate(counts)]
    spec = share_map(grid([1.0, 2.0], [1, 2]), shares, None, "x").to_dict()
    scales = [layer["encoding"]["color"]["scale"] for layer in spec["layer"] if "color" in layer["encoding"]]
    assert [scale["domain"] for scale in scales] == [[0, 1]]


def test_along_one_parameter_intervals_are_drawn() -> None:
    """Without a y axis every point has a mark and the bar of its interval, between 0 and 1."""
    shares = [share(point, point, 4) for point in range(5)]
    drawn = list(items(share_map(grid([1, 2, 3, 4, 5], None), shares, None, "x").to_dict()))
    kinds = Counter(item["marktype"] for item in drawn)
    assert kinds["symbol"] == 5
    assert kinds["rule"] == 5 + 1  # the line at one half


def test_missing_points_are_blank() -> None:
    """A point without a result has no tile."""
    shares = [share(point, 1, 4) for point in (0, 3)]
    drawn = list(items(share_map(grid([1.0, 2.0], [1, 2]), shares, None, "x").to_dict()))
    assert sum(item["marktype"] == "rect" for item in drawn) == 2


# maps


@FEW
@given(st.lists(st.sampled_from(OUTCOMES), min_size=4, max_size=4))
def test_the_legend_lists_what_is_drawn_in_colours_of_its_own(found: list[str]) -> None:
    """The outcomes that occurred stand in the legend, in the fixed order, each in the colour that it has everywhere."""
    rows = [MostCommon(point, outcome, 3, 5, "") for point, outcome in enumerate(found)]
    spec = outcome_map(grid([1.0, 2.0], [1, 2]), rows, OUTCOMES, "outcome").to_dict()
    scales = [layer["encoding"]["color"]["scale"] for layer in spec["layer"] if "color" in layer["encoding"]]
    drawn = [name for name in OUTCOMES if any(row.outcome == name for row in rows)]
    assert [scale["domain"] for scale in scales] == [drawn]
    assert scales[0]["range"] == [PALETTE[OUTCOMES.index(name)] for name in drawn]


def test_outcomes_fill_their_tiles_the_stronger_the_more_seeds() -> None:
    """On an uneven grid the tiles leave no gap, and the strength of a colour grows with the share of the seeds."""
    rows = [MostCommon(point, "failed", k, 8, "") for point, k in enumerate((3, 8, 5, 4))]
    spec = outcome_map(grid([1.0, 2.0, 30.0, 31.0], [1]), rows, OUTCOMES, "outcome").to_dict()
    tiles = sorted((item for item in items(spec) if item["marktype"] == "rect"), key=lambda item: item["x"])
    assert all(right["x"] <= left["x"] + left["width"] + 1e-6 for left, right in pairwise(tiles))
    strengths = [item["opacity"] for item in tiles]
    assert strengths[0] < strengths[3] < strengths[2] < strengths[1] == 1


def test_numbers_over_decades_stand_on_a_log_scale() -> None:
    """Along one parameter medians over decades have a log axis that holds every interval; close ones begin at zero."""
    for values, kind in ((10.0 ** np.arange(-2.0, 3.0), "log"), (np.array([0.5, 1.0, 2.0, 1.0, 0.7]), None)):
        rows = [Spread(point, 5, value, 0.9 * value, 1.2 * value, value, value) for point, value in enumerate(values)]
        spec = number_map(grid([1, 2, 3, 4, 5], None), rows, "time").to_dict()
        (scale, *_) = [layer["encoding"]["y"]["scale"] for layer in spec["layer"] if "scale" in layer["encoding"]["y"]]
        assert scale.get("type") == kind
        assert scale["domain"][0] <= 0.9 * min(values)
        assert scale["domain"][1] >= 1.2 * max(values) * (1 - 1e-9)
        assert ("log scale" in str(spec)) == (kind == "log")


def test_rounding_lies_below_the_axis() -> None:
    """The axis of a curve reaches from its start down to what is more than rounding, however many runs have arrived."""
    falling = np.concatenate([10.0 ** -np.arange(9.0), np.full(100, 3e-31)])
    scale = scale_of([falling], start=1.0)
    assert scale.log
    assert 1e-9 <= scale.low <= 1e-8
    assert scale.high >= 1
    assert scale.near[0] < scale.low


def test_numbers_keep_their_order_as_colours() -> None:
    """The scale of a number begins at zero if all are positive, and reaches the largest."""
    rows = [Spread(point, 5, value, value, value, value, value) for point, value in enumerate([0.2, 0.4, 0.1, 0.3])]
    spec = number_map(grid([1.0, 2.0], [1, 2]), rows, "height").to_dict()
    (scale,) = [layer["encoding"]["color"]["scale"] for layer in spec["layer"] if "color" in layer["encoding"]]
    assert scale["domain"] == [0, 0.4]


# counting


def test_ties_go_by_the_order_of_the_legend() -> None:
    """Of two equally common outcomes the one named first in the legend is drawn."""
    cells = pl.DataFrame(
        {"point": [0, 0, 1, 1, 1], "outcome": ["plateau", "generalized", "failed", "failed", "plateau"]}
    )
    found = {row.point: (row.outcome, row.k, row.n) for row in Phases(cells).most_common("outcome")}
    assert found == {0: ("generalized", 1, 2), 1: ("failed", 2, 3)}


# curves and paths


def bands(last: int) -> list[Band]:
    steps = [0, 1, 10, last]
    return [Band("here", name, step, 0.5, 0.4, 0.6) for name in NAMES for step in steps]


def test_step_zero_has_its_place() -> None:
    """Step 0 is drawn at the left end of the axis, and later steps to its right in order."""
    runs = [Run("here", NAMES[0], 0, step, 0.5) for step in (0, 1, 10, 100)]
    spec = log_curves(bands(100), runs, NAMES, AXES).to_dict()
    lines = [item for item in items(spec) if item["marktype"] == "line"]
    xs = {item["x"] for item in lines}
    assert min(xs) == 0
    assert len(xs) == 4
    assert np.isfinite(list(xs)).all()


def test_losses_beyond_the_axis_are_cut_off() -> None:
    """A loss of zero lies below the panel and a diverged one above it, both finite, and every mark is cut off there."""
    runs = [Run("here", NAMES[0], 0, step, loss) for step, loss in ((0, 0.0), (1, 1e300), (10, FLOOR / 5))]
    spec = log_curves(bands(10), runs, NAMES, replace(AXES, last=10)).to_dict()
    ys = {item["y"] for item in items(spec) if item["marktype"] == "line"}
    assert np.isfinite(list(ys)).all()
    assert min(ys) < 0
    assert max(ys) > 210
    marks = [layer["mark"] for layer in spec["spec"]["layer"]]
    assert all(mark.get("clip") for mark in marks if mark["type"] in ("line", "area"))


def test_the_panels_of_the_page_wait_for_data() -> None:
    """The empty panel has its named data and draws no line yet."""
    spec = log_panel(NAMES, AXES).to_dict()
    assert spec["data"]["name"] == "curve"
    assert not [item for item in items(spec) if item["marktype"] == "line"]


paths = st.lists(st.tuples(st.floats(-1, 2), st.floats(-1, 2)), min_size=3, max_size=30)


def path_of(corners: list[tuple[float, float]]) -> list[Place]:
    return [Place("here", None, float(step * step), x, y) for step, (x, y) in enumerate(corners)]


@given(paths)
def test_marks_are_at_equal_times(corners: list[tuple[float, float]]) -> None:
    """Marks come at 0, every, 2 every, ...; `every` is round, and they are neither too few nor too many."""
    path = path_of(corners)
    every = even_time(path)
    marks = time_marks(path, every)
    assert re.fullmatch(r"[125]0*(\.0)?", f"{every:.0f}")
    assert [mark.step for mark in marks] == [i * every for i in range(len(marks))]
    assert len(marks) <= 17
    assert every == 1 or len(marks) * every > moves_until(path) - every


@given(paths)
def test_marks_lie_on_the_path(corners: list[tuple[float, float]]) -> None:
    """A mark at a recorded step is the recorded place; every mark lies between its two neighbours."""
    path = path_of(corners)
    for mark in time_marks(path, even_time(path)):
        before = max((p for p in path if p.step <= mark.step), key=lambda p: p.step)
        after = min((p for p in path if p.step >= mark.step), key=lambda p: p.step, default=path[-1])
        for at, a, b in ((mark.x, before.x, after.x), (mark.y, before.y, after.y)):
            assert min(a, b) - 1e-9 <= at <= max(a, b) + 1e-9


def test_a_steady_output_has_evenly_spaced_marks() -> None:
    """An output that moves at constant speed has marks at constant distance."""
    path = [Place("here", None, float(step), step / 100, 0.5) for step in (0, 7, 30, 100)]
    gaps = np.diff([mark.x for mark in time_marks(path, 10)])
    assert gaps == pytest.approx(0.1)


def test_lines_across_a_panel_are_drawn_once() -> None:
    """The line of generalization is one mark a panel, however many rows there are."""
    drawn = list(items(log_curves(bands(100), [], NAMES, AXES).to_dict()))
    assert sum(item["marktype"] == "rule" for item in drawn) == 1


@pytest.mark.parametrize("origin", [False, True])
def test_the_plane_shows_what_was_trained_and_what_is_tested(origin: bool) -> None:
    """Every training centre, the origin's only if there is one, and the test point are drawn in each panel."""
    plane = seen(origin)
    path = [Place(group, None, float(step), step / 10, step / 10) for group in ("a", "b") for step in range(11)]
    drawn = list(items(trajectories(path, [], plane).to_dict()))
    shapes = Counter(item.get("shape") for item in drawn if item["marktype"] == "symbol")
    assert shapes["diamond"] == 2
    assert shapes["square"] == 2 * (2 + origin)
    assert len(landmark_rows(plane)) == 3 + origin


def test_a_run_of_a_group_without_a_path_has_no_panel() -> None:
    """Where every run of a point diverged at once there is no median path: its runs are left out, the others drawn."""
    plane, path = seen(True), [Place("a", None, float(step), step / 10, 0.0) for step in range(11)]
    runs = [Place(group, 1, 0.0, 0.0, 0.0) for group in "ab"]
    assert trajectories(path, runs, plane).to_dict() == trajectories(path, runs[:1], plane).to_dict()


def test_measured_lines_set_the_axes_of_panels_of_lines() -> None:
    """Panels stand in the order of their first lines; a law beyond what was measured is cut, and has no band."""
    look = LinesLook({"measured": (1, 0), "law": (6, 4)}, 200, "~g", 0.2, 4, lambda panels: panels)
    lines = [
        Line("b", "one", "measured", [1.0, 10.0], [0.1, 1.0], [0.05, 0.9], [0.2, 1.1]),
        Line("a", "one", "law", [1.0, 10.0, 100.0], [0.2, 0.9, 5.0]),
    ]
    spec = line_panels(lines, ["one"], ("time", "loss"), "log", look).to_dict()
    rows = rows_of(spec)
    assert [(row["panel"], row["kind"]) for row in rows] == [(0, "measured")] * 2 + [(1, "law")] * 2
    assert [(row["low"], row["high"]) for row in rows] == [(0.1, 0.2), (0.9, 1.1), (0.2, 0.2), (0.9, 0.9)]
    band, line = spec["spec"]["layer"]
    assert line["encoding"]["x"]["scale"]["domain"] == [1.0, 10.0]
    assert band["encoding"]["y"]["scale"]["domain"] == line["encoding"]["y"]["scale"]["domain"] == [0.1, 1.0]
    assert spec["facet"]["header"]["labelExpr"] == '["b", "a"][datum.value]'
