"""Figures for a paper: their width, the size of their type, their fonts, and LaTeX that takes them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import altair as alt
import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby.errors import SwingbyError
from swingby_analysis.charts import style
from swingby_analysis.charts.curves import Axes, Band, CurvePanel, Level, LogAxes, curve_panels, log_curves
from swingby_analysis.charts.maps import number_map, share_map
from swingby_analysis.charts.summaries import Share, Spread
from swingby_analysis.grid import Grid, GridAxis
from swingby_analysis.page import fonts
from swingby_analysis.page.html import VEGA_LITE
from swingby_analysis.page.paper import UNITS, PaperLook, laid_out, save
from swingby_analysis.page.pgf import pgf
from swingby_analysis.page.tex import LETTERS, SPECIAL, escaped
from swingby_analysis.report.notebook import chart_of
from swingby_analysis.stats.shares import wilson

HOSTILE = r"100% of a_b & {c} #1 \input{x} $y$ ~ ^ <z> | é × ≤ µ"
"""A text that is code to TeX."""
LATEX = (
    shutil.which("pdflatex") and shutil.which("pdffonts") and shutil.which("pdftotext") and shutil.which("pdftohtml")
)


def grid(x: list[Any], y: list[Any] | None, facets: int = 1) -> Grid:
    """A full grid with a point a tile."""
    axis = None if y is None else GridAxis.of("width", "hidden width", y)
    places = [(i, j, f) for f in range(facets) for j in range(len(y or [0])) for i in range(len(x))]
    labels = tuple(f"layers = {f + 1}" for f in range(facets)) if facets > 1 else ("",)
    return Grid(GridAxis.of("mu.1", "distance of the second cluster", x), axis, labels, dict(enumerate(places)))


def shares(shape: Grid) -> list[Share]:
    """A share of five seeds for each point."""
    ends = [[float(end) for end in wilson(k, 5)] for k in range(6)]
    return [Share(point, point % 6, 5, point % 6 / 5, *ends[point % 6]) for point in shape.places]


def share_spec(facets: int = 1, outcome: str = "the network has learned the rule") -> dict[str, Any]:
    """A map of shares."""
    shape = grid([0, 0.5, 0.9, 0.99], [2, 4, 8, 16], facets)
    return share_map(shape, shares(shape), None, outcome).to_dict()


def curve_spec(panels: int = 3) -> dict[str, Any]:
    """Curves of two names in panels side by side."""
    names = ["training loss", "loss out of distribution"]
    bands = [
        Band(
            f"mu.1 = {group}, width = 64, layers = 2", name, step, 0.5 / (step + 1), 0.4 / (step + 1), 0.9 / (step + 1)
        )
        for group in range(panels)
        for name in names
        for step in (0, 1, 10, 100)
    ]
    return log_curves(bands, [], names, LogAxes(last=100, top=2.0, title="loss / J", level=0.01)).to_dict()


def panel_spec() -> dict[str, Any]:
    """Panels of which only those at the edges name their axes."""
    rows = [Level(str(panel), "line", "width 64", 0, step, step / 100) for panel in range(2) for step in (0, 50, 100)]
    panels = [CurvePanel(str(panel), f"panel {panel}") for panel in range(2)]
    axes = Axes(0, 100, 0, 1, "value of it")
    return curve_panels(panels, rows, axes, {"width 64": style.BLUE}, 2, compact=True).to_dict()


def number_spec() -> dict[str, Any]:
    """Medians along one parameter."""
    shape = grid([1, 2, 3, 4, 5], None)
    return number_map(shape, [Spread(p, 9, p, p - 0.5, p + 0.5, p - 0.2, p + 0.2) for p in range(5)], "time").to_dict()


SPECS = {
    "map": share_spec,
    "facets": lambda: share_spec(4),
    "curves": curve_spec,
    "panels": panel_spec,
    "along": number_spec,
}


def texts(scene: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every text that is drawn."""
    for item in scene.get("items", ()):
        if item.get("marktype") == "text":
            yield from (one for one in item["items"] if one.get("text") and one.get("opacity") != 0)
        else:
            yield from texts(item)


@pytest.mark.parametrize(
    ("name", "width", "size"),
    [("map", "3.3in", 8), ("map", "176mm", 9), ("facets", "241pt", 7), ("curves", "8.4cm", 8), ("along", "300bp", 10)],
)
def test_all_text_has_one_size_at_the_width(name: str, width: str, size: float) -> None:
    """A figure is as wide as it is asked to be, and all of its text is of the asked size, whatever it shows."""
    look = PaperLook(width=width, size=size)
    laid = laid_out(name, SPECS[name](), look)
    assert laid.size[0] == pytest.approx(look.points)
    sizes = {one["fontSize"] * laid.scale / UNITS["pt"] for one in texts({"items": [laid.scene["scenegraph"]]})}
    assert sizes
    assert all(abs(one - size) <= 0.005 * size for one in sizes)


@pytest.mark.parametrize("legend", ["right", "bottom"])
def test_a_legend_stands_where_it_is_asked_to(legend: Any) -> None:
    """With the legend to the right a map is lower, and narrower, than with the legend below it."""
    laid = laid_out("map", share_spec(), PaperLook(width="5in", legend=legend))
    other = laid_out("map", share_spec(), PaperLook(width="5in", legend="bottom" if legend == "right" else "right"))
    assert (laid.size[1] < other.size[1]) == (legend == "right")


def test_a_title_is_there_if_it_is_asked_for() -> None:
    """Neither title nor ids stand in a figure that is not asked to have one."""
    for title in (True, False):
        laid = laid_out("map", share_spec(), PaperLook(title=title), "A title of the map")
        words = [one["text"] for one in texts({"items": [laid.scene["scenegraph"]]})]
        assert any("A title" in str(one) for one in words) == title


def test_panels_that_are_put_below_each_other_keep_their_names() -> None:
    """Where fewer panels stand side by side, each names the axes that its neighbour had named for it."""
    laid = laid_out("panels", panel_spec(), PaperLook(width="1.4in"))
    words = [
        " ".join(one["text"]) for one in texts({"items": [laid.scene["scenegraph"]]}) if isinstance(one["text"], list)
    ]
    assert laid.spec["columns"] == 1
    assert words.count("value of it") == words.count("step (spaced as its root)") == 2


def test_what_cannot_be_is_said() -> None:
    """A wrong part of a look, and a width that labels do not fit into, are errors that name what is allowed."""
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"width": "3"}, "such as 3.3in"), ({"width": "wide"}, "such as 3.3in"), ({"width": "3ft"}, "in, cm, mm, pt"),
        ({"width": "0.1in"}, "allowed: 0.5in"), ({"size": 0.0}, "allowed: 1 to 100"), ({"dpi": 3}, "allowed: 36"),
        ({"formats": ("pfd",)}, "did you mean 'pgf'"), ({"formats": ()}, "allowed: pdf"), ({"legend": "top"}, "right,"),
    ]  # fmt: skip
    for fields, part in wrong:
        with pytest.raises(SwingbyError, match=re.escape(part)):
            PaperLook(**fields)
    with pytest.raises(SwingbyError, match=r"'map' does not fit into 1in: .* [\d.]+in is enough; or take a smaller"):
        laid_out("map", share_spec(4), PaperLook(width="1in", size=12))


def test_the_width_that_an_error_names_is_enough() -> None:
    """At the width that the error names the figure fits."""
    with pytest.raises(SwingbyError) as caught:
        laid_out("map", share_spec(), PaperLook(width="2.5cm", size=9))
    width = re.search(r"([\d.]+cm) is enough", str(caught.value))
    assert width is not None
    assert laid_out("map", share_spec(), PaperLook(width=width[1], size=9)).size[0] > 0


def test_a_font_is_found_or_missed(tmp_path: Path) -> None:
    """A font is a family that is installed or a file; of any other name the error says which are near."""
    every = fonts.installed()
    if not every:
        pytest.skip("no font is installed")
    family, folders = next(iter(every.items()))
    assert fonts.use(family) == family
    file = next(path for path in sorted(next(iter(folders)).iterdir()) if fonts.family_of(path) == family)
    assert fonts.use(str(file)) == family
    with pytest.raises(SwingbyError, match=re.escape(f"did you mean {family!r}")):
        fonts.use(f"{family}s")
    (tmp_path / "no.ttf").write_bytes(b"\0\1\0\0" + b"\xff" * 40)
    with pytest.raises(SwingbyError, match="no file with an OpenType"):
        fonts.use(str(tmp_path / "no.ttf"))


# PGF


@given(st.text(st.sampled_from([*map(chr, range(32, 127)), *SPECIAL, "é", "ß", "ł"])))
def test_text_is_no_code_to_tex(text: str) -> None:
    """What stands in a figure runs no command, opens no group and starts no comment."""
    written = escaped(text, "map")
    left = written
    for code in sorted({code for code in SPECIAL.values() if len(code) > 1}, key=len, reverse=True):
        left = left.replace(code, "")
    assert not set(left) & set("\\{}$&#%_^\n")


@given(st.characters())
def test_a_character_is_set_or_named(character: str) -> None:
    """A character that LaTeX does not know everywhere is an error that names it."""
    if character in SPECIAL or " " <= character <= "~" or LETTERS[0] <= character <= LETTERS[1]:
        assert escaped(character, "map")
    else:
        with pytest.raises(SwingbyError, match=re.escape(f"figure 'map' has the character {character!r}")):
            escaped(character, "map")


@settings(max_examples=3, deadline=None)
@given(st.integers(1, 5), st.integers(1, 5))
def test_every_tile_is_drawn(x: int, y: int) -> None:
    """PGF has a rectangle for each tile and a text for each line of text."""
    shape = grid([float(i) for i in range(x)], list(range(y)))
    laid = laid_out("map", share_map(shape, shares(shape), None, "it").to_dict(), PaperLook(width="4in"))
    drawn = pgf(laid.scene, laid.scale, "map")
    assert drawn.count("\\pgfusepath{fill}") >= x * y + 100  # the strips of the legend
    lines = [line for one in texts({"items": [laid.scene["scenegraph"]]})
             for line in (one["text"] if isinstance(one["text"], list) else [one["text"]])]  # fmt: skip
    assert drawn.count("\\pgftext") == len(lines)
    assert drawn.count("{") == drawn.count("}")


def test_what_pgf_cannot_draw_is_named() -> None:
    """A mark, a symbol, a colour or an interpolation that is not known is an error with its name and the figure's."""
    rows = alt.Data(values=[{"x": 1, "y": 2, "url": "data:image/png;base64,"}, {"x": 2, "y": 3, "url": "data:,"}])
    base = alt.Chart(rows).encode(x="x:Q", y="y:Q")
    for chart, part in (
        (base.mark_image().encode(url="url:N"), "'image'"),
        (base.mark_line(interpolate="monotone"), "'monotone'"),
        (base.mark_bar(cornerRadius=3), "round corners"),
        (base.mark_point(shape="M0,0L1,1"), "'M0,0L1,1'"),
        (base.mark_line(color="rebeccapurple"), "'rebeccapurple'"),
    ):
        scene = vl_convert.vegalite_to_scenegraph(chart.to_dict(), vl_version=VEGA_LITE)
        with pytest.raises(SwingbyError, match=rf"figure 'mine' has .*{re.escape(part)}.* formats='pdf' can"):
            pgf(scene, 1.0, "mine")


@pytest.mark.skipif(not LATEX, reason="needs pdflatex, pdffonts and pdftotext")
def test_latex_takes_the_figures(tmp_path: Path) -> None:
    """A paper of two columns includes PDF and PGF: fonts are embedded, widths are the column's, and type is of 8 pt."""
    font = "Latin Modern Roman"
    if font not in fonts.installed():
        pytest.skip(f"needs the font {font}")
    look = PaperLook(font=font, formats=("pdf", "pgf"))
    body = ""
    specs = {"map": share_spec(4), "curves": curve_spec(), "hostile": share_spec(1, HOSTILE)}
    for name, spec in specs.items():
        laid = laid_out(name, spec, look)
        for form, content in laid.files(look.formats).items():
            (tmp_path / f"{name}.{form}").write_bytes(content)
        body += f"\\includegraphics{{{name}.pdf}}\\par\n"
        body += f"\\sbox0{{\\input{{{name}.pgf}}}}\\typeout{{WIDTH \\the\\wd0}}\\usebox0\\par\n"
        page = run("pdfinfo", f"{name}.pdf", at=tmp_path)
        assert re.search(rf"Page size: +{look.points:g} x", page), page
        assert all(
            line.split()[-5:-2] == ["yes"] * 3 for line in run("pdffonts", f"{name}.pdf", at=tmp_path).splitlines()[2:]
        )
    head = "\\documentclass[twocolumn]{article}\\usepackage[T1]{fontenc}\\usepackage{lmodern,graphicx,pgf}"
    (tmp_path / "paper.tex").write_text(f"{head}\\begin{{document}}\\noindent\n{body}\\end{{document}}\n")
    said = run("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex", at=tmp_path)
    widths = re.findall(r"WIDTH ([\d.]+)pt", said)
    assert [float(width) for width in widths] == pytest.approx([look.points / UNITS["pt"]] * len(specs), abs=0.1)
    assert all(
        line.split()[-5:-3] == ["yes"] * 2 for line in run("pdffonts", "paper.pdf", at=tmp_path).splitlines()[2:]
    )
    # Type 1 fonts of 8 pt: those of this optical size.
    assert {"LMRoman8-Regular", "LMRoman8-Bold"} <= set(
        re.findall(r"\+(\S+)", run("pdffonts", "paper.pdf", at=tmp_path))
    )
    for name in specs:  # at three times its size, since sizes are printed without decimals
        shown = run("pdftohtml", "-xml", "-i", "-stdout", "-zoom", "3", f"{name}.pdf", at=tmp_path)
        assert set(re.findall(r'<fontspec id="\d+" size="(\d+)"', shown)) == {"24"}
    assert "100% of a_b" in " ".join(run("pdftotext", "-raw", "paper.pdf", "-", at=tmp_path).split())


def run(*command: str, at: Path) -> str:
    """What a program prints."""
    done = subprocess.run(command, cwd=at, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return done.stdout


# charts for notebooks


@pytest.mark.parametrize("name", ["map", "facets", "panels"])
def test_methods_of_altair_work_on_a_figure(name: str, tmp_path: Path) -> None:
    """A figure is a chart of Altair's own class; a width reaches its panels, and its parts can be composed."""
    spec = SPECS[name]()
    chart = chart_of(spec)
    kinds: dict[str, type] = {"facets": alt.FacetChart, "curves": alt.FacetChart, "panels": alt.ConcatChart}
    assert isinstance(chart, kinds.get(name, alt.LayerChart))
    assert chart.to_dict()["config"]["axis"] == {**spec["config"]["axis"], **chart.to_dict()["config"]["axis"]}
    narrow = chart.properties(width=90).to_dict()
    assert [view["width"] for view in views(narrow)] == [90] * len(list(views(spec)))
    config = chart.configure_axis(labelFontSize=20).to_dict()["config"]
    assert config["axis"]["labelFontSize"] == 20
    assert config["axis"]["tickColor"] == style.FAINT
    both = (chart | chart).to_dict()
    assert both["config"]["font"] == style.FONT
    assert vl_convert.vegalite_to_vega(both, vl_version=VEGA_LITE)["marks"]
    assert alt.hconcat(chart, chart).to_dict()["hconcat"]
    assert (chart & chart).configure_view(stroke="red").to_dict()["config"]["view"]["stroke"] == "red"
    save(chart.properties(width=300), tmp_path / "chart.pgf", width="5in", size=9)
    assert "\\pgftext" in (tmp_path / "chart.pgf").read_text()


def views(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every panel of a spec."""
    if "width" in spec:
        yield spec
    for part in [spec["spec"]] if "spec" in spec else spec.get("concat", ()):
        yield from views(part)


def test_labels_follow_the_width_of_a_chart() -> None:
    """The labels of a grid's axis are laid out for the width that a chart has, in rows where it is narrow."""
    chart = chart_of(share_spec())
    for width, rows in ((1000, False), (120, True)):
        axis = chart.properties(width=width).to_dict()["layer"][0]["encoding"]["x"]["axis"]
        assert len(axis["values"]) == 4
        assert ('"0.99"]' in axis["labelExpr"].partition("[indexof")[0].removesuffix("]")) == rows
