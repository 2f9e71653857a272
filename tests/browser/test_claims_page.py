"""The page of the claims in a browser without a network: nothing complains, nothing is fetched, every link leads on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.statements.claims import write_claims
from tests.browser.conftest import Opened

JUDGED = {"bottleneck-is-structural": "claim-rank", "e-1-minor": "claim-initial-weights"}
"""Claims, and the sweep of each."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with two claims that were judged, and one whose sweep was not run."""
    folder = tmp_path_factory.mktemp("claims")
    seeds = ("seeds.count=3",)
    for name in JUDGED.values():
        run_sweep(Sweep.load(name, seeds), folder / "data", local=True, pilot=False, progress=Progress())
    done = write_claims(folder / "data", folder / "out", overrides=seeds, run=None, only=(*JUDGED, "fig-5-sign"))
    assert done.missing == 1
    return done.page


@pytest.fixture(params=["light", "dark"])
def opened(browser: Browser, path: Path, request: pytest.FixtureRequest) -> Iterator[Opened]:
    """The page in both colour schemes."""
    page = Opened(browser, offline=True, color_scheme=request.param)
    page.page.goto(path.as_uri())
    yield page
    page.close()


def test_nothing_complains_and_nothing_is_fetched(opened: Opened, path: Path) -> None:
    """The console stays empty, the one request is the page itself, and its own style is applied."""
    assert opened.said == []
    assert opened.asked == [path.as_uri()]
    weight = opened.page.eval_on_selector(".badge", "badge => getComputedStyle(badge).fontWeight")
    assert weight == "600"


def test_every_claim_is_reached_and_opens_its_query(opened: Opened) -> None:
    """A claim's link leads to its section; its query is hidden until asked for, and then seen with its result."""
    links = opened.page.locator("table.statements > tbody > tr > td:first-child > a:not([href='#rule'])")
    assert links.count() == 3
    for index in range(3):
        target = links.nth(index).get_attribute("href")
        assert opened.page.locator(f"section.statement{target}").count() == 1
    section = opened.page.locator("#bottleneck-is-structural")
    query = section.locator("pre")
    assert not query.is_visible()
    section.locator("summary").click()
    assert query.is_visible()
    assert "rank0 < s" in query.inner_text()
    assert section.locator("table.result").is_visible()


def test_an_interval_is_drawn_where_it_lies(opened: Opened) -> None:
    """Three of three: the mark stands at the right end, and the bar begins at the interval's lower end."""
    bars = opened.page.locator("#bottleneck-is-structural table.rows svg.bar")
    track, span, mark = (bars.first.locator(name).bounding_box() for name in (".track", ".span", ".share"))
    assert track is not None
    assert span is not None
    assert mark is not None
    right = track["x"] + track["width"]
    assert mark["x"] + mark["width"] / 2 == pytest.approx(right, abs=1)
    assert span["x"] + span["width"] == pytest.approx(right, abs=1)
    assert span["x"] - track["x"] == pytest.approx(0.4385 * track["width"], abs=1)


def test_a_claim_without_its_sweep_has_no_verdict(opened: Opened) -> None:
    """It says what is missing, and shows no share."""
    section = opened.page.locator("#fig-5-sign")
    assert "No verdict: sweep figure-5: 0 of 12 cells" in section.inner_text()
    assert section.locator("svg, table").count() == 0


@pytest.mark.parametrize("width", [1300, 760])
def test_the_page_does_not_run_over(opened: Opened, width: int) -> None:
    """Wide tables scroll by themselves, and the page does not."""
    opened.page.set_viewport_size({"width": width, "height": 900})
    opened.page.evaluate("() => document.querySelectorAll('details').forEach((item) => { item.open = true; })")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
