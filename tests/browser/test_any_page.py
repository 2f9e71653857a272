"""Laws of every kind of page, in Chromium and in Firefox without a network: it fits each screen, is read by everybody,
and is worked by the keyboard alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from swingby_analysis.diff.comparison import compared
from swingby_analysis.diff.page import write_page as write_diff
from swingby_analysis.publish.site import write_site
from swingby_analysis.report import write_report
from tests.browser.conftest import Opened
from tests.browser.firefox import Firefox
from tests.support import synthetic_sim

SIZES = {"desk": (1366, 768), "tablet": (820, 1180), "phone": (390, 844)}
DRAWN = "document.documentElement.dataset.drawn || document.querySelector('script') === null"
OPEN_ALL = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
TOO_WIDE = """(() => {
  const limit = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= limit) return [];
  return [...document.body.querySelectorAll("*")]
    .filter((one) => one.getBoundingClientRect().right > limit + 1)
    .map((one) => `${one.tagName} ${one.id} ${one.className?.baseVal ?? one.className}`).slice(0, 5)
    .concat(`${document.documentElement.scrollWidth} > ${limit}`);
})()"""
REACHED = """() => {
  const element = document.activeElement;
  return element === null || element === document.body ? "" : element.tagName;
}"""
"""The kind of element that has the focus."""


def wait_until_drawn(page: Page) -> None:
    """A page without a script is drawn as soon as it is there."""
    if page.locator("script").count():
        page.wait_for_selector("html[data-drawn]")


def report(folder: Path) -> Path:
    """The report of a sweep over two axes, with its panel of curves."""
    synthetic_sim.write(folder / "data", synthetic_sim.square("small", 4, 5, "A small sweep"))
    return write_report("small", folder / "data", folder / "out", kinds=()).page


def diff(folder: Path) -> Path:
    """Two data folders of one sweep, in the second of which a point has no result, side by side."""
    sweep = synthetic_sim.square("small", 4, 5, "A small sweep")
    synthetic_sim.write(folder / "one", sweep)
    synthetic_sim.write(folder / "other", sweep, lambda cell: "ok" if cell.seed else "diverged")
    with compared("small", "small", folder / "one", folder / "other") as both:
        return write_diff(both, folder / "out", 3)


def site(folder: Path) -> Path:
    """The index of all reports of a data folder."""
    synthetic_sim.write(folder / "data", synthetic_sim.square("small", 4, 5, "A small sweep"))
    return write_site(folder / "out", folder / "data")


PAGES: dict[str, Callable[[Path], Path]] = {"report": report, "diff": diff, "site": site}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: write(tmp_path_factory.mktemp(name)) for name, write in PAGES.items()}


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """Without Firefox these tests fail, they are not skipped."""
    started = Firefox(tmp_path_factory.mktemp("firefox"))
    yield started
    started.close()


@pytest.mark.parametrize("kind", PAGES)
@pytest.mark.parametrize("size", SIZES)
def test_chromium_shows_it_without_a_fault(browser: Browser, pages: dict[str, Path], kind: str, size: str) -> None:
    """At each size, all sections open: no wider than the screen, nothing complains, and axe-core has no complaint."""
    width, height = SIZES[size]
    opened = Opened(browser, offline=True, viewport={"width": width, "height": height})
    page = opened.page
    page.goto(pages[kind].as_uri())
    wait_until_drawn(page)
    page.evaluate(OPEN_ALL)
    if page.locator("[data-figure]").count():
        page.wait_for_selector("html[data-drawn=all]")
    assert page.evaluate(TOO_WIDE) == []
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    faults = page.evaluate("axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))")
    assert faults == []
    assert opened.said == []
    assert [url for url in opened.asked if not url.startswith(("file:", "data:", "blob:"))] == []
    opened.close()


@pytest.mark.parametrize("kind", PAGES)
def test_firefox_shows_it_without_a_fault(firefox: Firefox, pages: dict[str, Path], kind: str) -> None:
    """At each size, all sections open: no wider than the screen, every figure drawn, and nothing complains."""
    for width, height in SIZES.values():
        firefox.open(pages[kind], width, height)
        firefox.wait(DRAWN)
        firefox.ask(OPEN_ALL)
        firefox.wait("[...document.querySelectorAll('[data-figure]')].every((one) => one.querySelector('svg'))")
        assert firefox.ask(f"return {TOO_WIDE}") == []
        assert firefox.ask("return performance.getEntriesByType('resource').map(({ name }) => name)") == []
        assert firefox.complaints() == []


@pytest.mark.parametrize("kind", PAGES)
def test_every_section_is_opened_by_the_keyboard_alone(browser: Browser, pages: dict[str, Path], kind: str) -> None:
    """Tab reaches every section that opens, Enter opens it, and the focus is seen."""
    opened = Opened(browser, offline=True)
    page = opened.page
    page.goto(pages[kind].as_uri())
    wait_until_drawn(page)
    closed = page.locator("details:not([open]) > summary").count()
    shut = "!document.activeElement.parentElement.open && document.activeElement.parentElement.tagName === 'DETAILS'"
    page.keyboard.press("Tab")
    tabs = 0
    while (reached := page.evaluate(REACHED)) and tabs < 2_000:
        tabs += 1
        if reached == "SUMMARY" and page.evaluate(shut):
            style = "(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle; })()"
            assert page.evaluate(style) != "none"
            page.keyboard.press("Enter")
        page.keyboard.press("Tab")
    assert page.locator("details:not([open])").count() == 0, f"of {closed} closed ones, after {tabs} tabs"
    opened.close()
