"""The report's page in a browser without a network: it draws, answers to a pointer and to keys, and stays small."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ViewportSize
from playwright.sync_api import TimeoutError as WaitedTooLong

from swingby_analysis.diff.comparison import compared
from swingby_analysis.diff.page import write_page as write_diff
from swingby_analysis.page.plain_files import rows_of
from swingby_analysis.report import PAGE, write_report
from tests.browser.conftest import Opened
from tests.support import synthetic_sim

TITLE = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"
MAIN = "[data-figure='phase-transient-memorization']"
LIMIT = 10_000_000
"""Bytes of the page for 41 x 41 points of 30 seeds."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a small sweep with a hostile title."""
    folder = tmp_path_factory.mktemp("small")
    synthetic_sim.write(folder / "data", synthetic_sim.square("small", 4, 5, TITLE))
    return write_report("small", folder / "data", folder / "out", kinds=()).page


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of 41 x 41 points of 30 seeds, whose curves are made up."""
    folder = tmp_path_factory.mktemp("large")
    synthetic_sim.write(folder / "data", synthetic_sim.square("large", 41, 30))
    return write_report("large", folder / "data", folder / "out", kinds=()).page


class Drawn(Opened):
    """A page opened from its file with the network off, once it is drawn."""

    def __init__(self, browser: Browser, path: Path, viewport: ViewportSize | None = None) -> None:
        super().__init__(browser, offline=True, **({"viewport": viewport} if viewport else {}))
        self.page.goto(path.as_uri())
        try:
            self.page.wait_for_selector("html[data-drawn]")
        except WaitedTooLong as error:
            raise AssertionError(f"the page was not drawn in 120 s; it said: {self.said}") from error

    def open_all(self) -> None:
        """Opens every section, and waits until all figures are drawn."""
        self.page.evaluate("document.querySelectorAll('details.section').forEach((one) => { one.open = true; })")
        self.page.wait_for_selector("html[data-drawn=all]")

    @property
    def foreign(self) -> list[str]:
        """Addresses that are of no file."""
        return [url for url in self.asked if not url.startswith(("file:", "data:", "blob:"))]

    def curves(self) -> dict[str, list[str]]:
        """The shapes that the curve panels draw."""
        script = """(id) => [...document.querySelectorAll(`#${id} svg .mark-line path, #${id} svg .mark-area path`)]
            .map((shape) => shape.getAttribute('d'))"""
        return {name: self.page.evaluate(script, name) for name in ("losses", "path")}

    def point_at(self, tile: int) -> None:
        """Moves the pointer onto a tile of the main figure, counted in drawing order."""
        tiles = self.page.locator(f"{MAIN} svg .mark-rect path")
        tiles.nth(tile).hover(force=True)


@pytest.fixture
def opened(browser: Browser, small: Path) -> Iterator[Drawn]:
    page = Drawn(browser, small)
    yield page
    page.close()


def test_every_figure_is_drawn_and_nothing_complains(opened: Drawn, small: Path) -> None:
    """Offline, each figure has marks, the console stays empty, and nothing was asked of a network."""
    opened.open_all()
    marks = opened.page.evaluate(
        """() => [...document.querySelectorAll('[data-figure], #losses, #path')].map((figure) =>
            [figure.dataset.figure || figure.id,
             figure.querySelectorAll('svg .role-mark path, svg .role-mark line').length])"""
    )
    figures = set(re.findall(r'<div class="plot" data-figure="([^"]+)"', small.read_text()))
    assert len(figures) >= 6
    assert {name for name, _ in marks} == figures | {"losses", "path"}
    assert [name for name, count in marks if count == 0] == []
    assert opened.said == []
    assert opened.foreign == []


def test_pointing_at_another_point_changes_the_curves(opened: Drawn) -> None:
    """The panel shows the curves, the label and the share of the point under the pointer."""
    opened.point_at(0)
    first, name = opened.curves(), opened.page.inner_text("#at")
    opened.point_at(15)
    second = opened.curves()
    assert name == "mu.1 = 1, init_gain = 0.01"
    assert opened.page.inner_text("#at") == "mu.1 = 3, init_gain = 1"
    assert "of 5 seeds" in opened.page.inner_text("#share")
    for panel in ("losses", "path"):
        assert first[panel]
        assert first[panel] != second[panel]
    opened.point_at(0)
    assert opened.curves() == first
    assert opened.said == []


def test_the_shown_curve_is_the_points_own(opened: Drawn) -> None:
    """A point without a bump has a median that only falls, one with a large bump has one that rises again."""
    script = """(curve) => { const rows = curve.losses[0][0]; let at = 0; return rows.map((step) => (at += step)); }"""
    data = opened.page.evaluate("() => swingby.data")
    rising = {}
    for point in ("0", "15"):
        decoded = opened.page.evaluate(script, data["curves"]["of"][point])
        rising[point] = any(b > a for a, b in pairwise(decoded))
    assert rising == {"0": False, "15": True}


def test_a_click_holds_a_point(opened: Drawn) -> None:
    """After a click other points are passed over; Escape lets go."""
    opened.point_at(3)
    opened.page.mouse.down()
    opened.page.mouse.up()
    held = opened.page.inner_text("#at")
    opened.point_at(9)
    assert opened.page.inner_text("#at") == held
    opened.page.locator(MAIN).press("Escape")
    opened.point_at(10)
    assert opened.page.inner_text("#at") != held


def test_keys_and_menus_reach_every_point(opened: Drawn) -> None:
    """Arrow keys move to the neighbours and stop at the border; the menus choose a value each."""
    figure = opened.page.locator(MAIN)
    opened.point_at(0)
    figure.press("ArrowRight")
    assert opened.page.inner_text("#at").startswith("mu.1 = 1.66667, init_gain = 0.01")
    figure.press("ArrowUp")
    assert "init_gain = 0.0464159" in opened.page.inner_text("#at")
    for _ in range(9):
        figure.press("ArrowLeft")
    assert opened.page.inner_text("#at").startswith("mu.1 = 1,")
    opened.page.locator("#choose select").first.select_option("3")
    assert opened.page.inner_text("#at").startswith("mu.1 = 3,")
    assert opened.said == []


def test_the_outline_follows(opened: Drawn) -> None:
    """The point whose curves are shown is outlined in the diagram."""
    outline = f"{MAIN} svg .mark-rect path[stroke='#d1495b']"
    opened.point_at(2)
    before = opened.page.locator(outline).first.get_attribute("d")
    opened.point_at(7)
    assert opened.page.locator(outline).count() == 1
    assert opened.page.locator(outline).first.get_attribute("d") != before


def test_the_panel_follows_in_every_diagram(opened: Drawn) -> None:
    """In maps of shares, categories and numbers, and on curves, the point that is pointed at is shown and outlined.

    The panel says what that diagram says of the point, draws its single runs, and stays in sight.
    """
    opened.open_all()
    diagrams = ("phase-transient-memorization", "phase-retreat", "map-outcome", "map-bump-height")
    for slug, tile in zip(diagrams, (1, 6, 11, 2), strict=True):
        tiles = opened.page.locator(f"[data-figure='{slug}'] svg .mark-rect path")
        tiles.nth(min(tile, tiles.count() - 2)).hover(force=True)
        assert opened.page.locator("#share").is_visible()
        assert opened.page.locator("aside.curves").bounding_box()["y"] >= 0, slug  # type: ignore[index]
        at, said = opened.page.inner_text("#at"), opened.page.inner_text("#share")
        data = opened.page.evaluate("() => swingby.data")
        rows = {name: rows_of(data["figures"][name]) for name in diagrams}
        (row,) = [one for one in rows[slug] if one.get("label") == at and "point" in one]
        assert slug == diagrams[0] or said.endswith(str(row.get("counts") or row["text"]))
        for other in diagrams:
            there = any(one.get("point") == row["point"] for one in rows[other])
            outline = f"[data-figure='{other}'] svg .mark-rect path[stroke='#d1495b']"
            assert opened.page.locator(outline).count() == there
        assert len(data["runs"]["of"][str(row["point"])]) == 5
        # Of each of the two curves a median; of the five runs each curve.
        assert opened.page.locator("#losses svg .mark-line path").count() == 2 + 5 * 2
    before = opened.page.inner_text("#at")
    opened.page.locator("[data-figure='curves-ood-loss'] svg .mark-line path").first.dispatch_event("mousemove")
    assert opened.page.inner_text("#at") != before
    assert opened.said == []


def test_a_point_that_was_never_trained_shows_its_fitted_share(browser: Browser, tmp_path: Path) -> None:
    """Every fourth point has cells; a faint tile is told in the panel, without curves, and outlined on every map."""
    sweep = synthetic_sim.square("partly", 8, 4)
    synthetic_sim.write(tmp_path / "data", sweep, lambda cell: None if sweep.points.index(cell.point) % 4 else "ok")
    opened = Drawn(browser, write_report("partly", tmp_path / "data", tmp_path / "out", kinds=()).page)
    opened.open_all()
    opened.point_at(16 + 20)  # tiles of points with cells come first
    assert ": no seed; fitted " in opened.page.inner_text("#share")
    assert opened.page.inner_text("#note") == "No curve was recorded at this point."
    for slug in ("phase-transient-memorization", "cells-spent"):
        outline = f"[data-figure='{slug}'] svg .mark-rect path[stroke='#d1495b']"
        assert opened.page.locator(outline).count() == 1
    assert opened.said == []
    opened.close()


def test_the_panel_follows_in_a_map_of_differences(browser: Browser, small: Path) -> None:
    """On the page of a comparison the curves of both sides at the point under the pointer are shown and outlined."""
    folder = small.parents[2]
    with compared("small", "small", folder / "data") as diff:
        opened = Drawn(browser, write_diff(diff, folder / "diff", 3))
    tiles = opened.page.locator("[data-figure='difference-1'] svg .mark-rect path")
    tiles.nth(3).hover(force=True)
    first, name = opened.curves()["losses"], opened.page.inner_text("#at")
    assert len(first) == 2 * 2 * (2 + 5)  # a curve of a side: band, median, and a line a seed
    tiles.nth(9).hover(force=True)
    assert opened.page.inner_text("#at") != name
    assert opened.curves()["losses"] != first
    assert opened.page.locator("[data-figure='difference-1'] svg .mark-rect path[stroke='#d1495b']").count() == 1
    assert (opened.said, opened.foreign) == ([], [])
    opened.close()


SHIFTS = """() => Promise.race([
    new Promise((go) => new PerformanceObserver((list) => go(list.getEntries().reduce((sum, of) => sum + of.value, 0)))
        .observe({ type: 'layout-shift', buffered: true })),
    new Promise((go) => setTimeout(() => go(0), 500))])"""
"""How far what is in sight moved while the page was drawn, as browsers measure it: the cumulative layout shift."""


def test_the_first_screen_has_what_was_found(browser: Browser, small: Path) -> None:
    """On a desk the sentence, the map and the panel beside it are in sight without scrolling, and hardly move while
    they are drawn; on a phone the panel is below the map, and nothing is wider than the screen."""
    opened = Drawn(browser, small, {"width": 1366, "height": 768})
    for selector in (".lead", MAIN, "aside.curves #losses"):
        box = opened.page.locator(selector).bounding_box()
        assert box is not None
        assert 0 <= box["y"] < box["y"] + 0.8 * box["height"] <= 768, selector
    assert opened.page.evaluate(SHIFTS) < 0.1
    opened.close()
    opened = Drawn(browser, small, {"width": 390, "height": 844})
    drawn, panel = (opened.page.locator(selector).bounding_box() for selector in (MAIN, "aside.curves"))
    assert drawn is not None
    assert panel is not None
    assert panel["y"] >= drawn["y"] + drawn["height"]
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    opened.close()


def test_sections_open_by_links_and_for_paper(opened: Drawn) -> None:
    """A link to a figure opens its section; printing shows all sections, and closes those again that were closed."""
    closed = "document.querySelectorAll('details.section:not([open])').length"
    every = opened.page.evaluate(closed)
    opened.page.evaluate("location.hash = '#main-effects'")
    opened.page.wait_for_selector("#main-effects svg .role-mark", state="attached")
    assert opened.page.evaluate(closed) == every - 1
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.page.evaluate(closed) == 0
    opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened.page.evaluate(closed) == every - 1
    assert opened.said == []


def test_marks_of_certainty_have_a_switch(opened: Drawn) -> None:
    """Dots and squares are drawn when they are asked for; the point that is shown stays outlined, and follows on."""
    marks = f"{MAIN} svg .mark-symbol.role-mark path"
    assert opened.page.locator(marks).count() == 0
    opened.page.locator("[data-certainty]").first.check()
    opened.page.wait_for_selector(marks, state="attached")
    opened.point_at(6)
    assert opened.page.locator(f"{MAIN} svg .mark-rect path[stroke='#d1495b']").count() == 1
    assert opened.said == []


def test_a_figure_is_saved_from_the_page(opened: Drawn) -> None:
    """Alone and offline, the page gives its figures as SVG and as PNG."""
    for kind, magic in (("svg", b"<svg"), ("png", b"\x89PNG")):
        with opened.page.expect_download() as download:
            opened.page.locator(f"[data-save='phase-transient-memorization'] button[value={kind}]").click()
        assert download.value.suggested_filename == f"phase-transient-memorization.{kind}"
        assert Path(download.value.path()).read_bytes().startswith(magic)
    assert opened.said == []


def test_a_hostile_title_stays_text(opened: Drawn) -> None:
    """A title that is markup is read as it was written, and runs nothing."""
    assert opened.page.inner_text("h1") == TITLE
    assert opened.page.title().startswith(TITLE)
    assert opened.page.locator("h1 *").count() == 0


@pytest.mark.slow
def test_a_large_grid_stays_small_and_answers(browser: Browser, large: Path) -> None:
    """41 x 41 points of 30 seeds make a page below 10 MB, drawn without complaint, whose points show their curves."""
    assert large.stat().st_size < LIMIT
    opened = Drawn(browser, large)
    opened.point_at(0)
    first = opened.curves()
    opened.point_at(41 * 41 - 1)
    assert opened.page.locator(f"{MAIN} svg .mark-rect path").count() >= 41 * 41
    assert opened.curves()["losses"] != first["losses"]
    assert opened.curves()["path"] != first["path"]
    assert (opened.said, opened.foreign) == ([], [])
    assert large.name == PAGE
    opened.close()
