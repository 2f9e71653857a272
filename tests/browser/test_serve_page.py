"""The server's pages in a real browser: they keep themselves up to date, run nothing foreign, and fit a telephone."""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from swingby.data.records import Records
from swingby.data.records.headers import ShardHeader
from swingby.store import ingest
from swingby_analysis.serve import reports
from swingby_analysis.serve.queries import Limits
from tests.browser.conftest import Opened
from tests.support import synthetic_sim
from tests.support.server import Served, served

TITLE = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"
PATIENCE = 600_000
"""Milliseconds; a report is written by a process of low priority: on a busy machine it takes minutes."""
SQL = "select 1 + 1 as two, 'a,b' as text"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of 18 cells with a hostile title, half of them done."""
    return half_done(tmp_path_factory.mktemp("serve") / "data")


def half_done(folder: Path) -> Path:
    """Writes it."""
    sweep = synthetic_sim.square("small", 3, 2, TITLE)
    synthetic_sim.write(folder, sweep, lambda cell: "ok" if cell.seed == 0 else None)
    return folder


@pytest.fixture(scope="module")
def site(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Its server."""
    with served(data, tmp_path_factory.mktemp("reports"), Limits(seconds=120.0)) as running:
        yield running


class OfServer(Opened):
    """A page of the server, and what it asked of anybody else."""

    def __init__(self, browser: Browser, site: Served) -> None:
        super().__init__(browser, accept_downloads=True)
        self.site = site

    @property
    def foreign(self) -> list[str]:
        """Addresses elsewhere."""
        return [url for url in self.asked if not url.startswith((self.site.url, "data:", "blob:"))]

    def go(self, path: str) -> Page:
        """The page at a path."""
        self.page.goto(self.site.url + path)
        return self.page


@pytest.fixture
def opened(browser: Browser, site: Served) -> Iterator[OfServer]:
    """A browser's page; whatever was done with it, nothing complained and nothing foreign was asked."""
    found = OfServer(browser, site)
    yield found
    found.close()
    assert (found.said, found.foreign) == ([], [])


def more(data: Path) -> None:
    """The rest of the cells come in."""
    records = Records.open(data)
    sweep = synthetic_sim.square("small", 3, 2, TITLE)
    header, _ = records.read_shard(records.shards()[0])
    rest = [cell for cell in sweep.cells() if cell.seed != 0]
    again = {name: getattr(header, name) for name in ShardHeader.__dataclass_fields__}
    shard = ShardHeader(**{**again, "attempt": 1002, "cells": len(rest)})
    records.write_shard(shard, synthetic_sim.rows(rest, ["ok"] * len(rest)))
    ingest(records)


@pytest.mark.timeout(900)
def test_the_report_is_drawn_and_says_as_of_when(opened: OfServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """It appears by itself and draws itself, its title is text; without news it is not written again."""
    monkeypatch.setattr(reports, "REST", 0.0)
    monkeypatch.setattr(reports, "LEAST_REST", 0.1)
    turns, turn = [0], reports.Reports._turn

    async def counted(self: reports.Reports) -> None:
        await turn(self)
        turns[0] += 1

    monkeypatch.setattr(reports.Reports, "_turn", counted)
    page = opened.go("/sweeps/small")
    assert "9 of 18 cells" in page.locator(".counts").inner_text()
    drawn(page)
    expect(page.frame_locator("#report").locator("h1")).to_have_text(TITLE, timeout=PATIENCE)
    expect(page.locator(".asof")).to_contain_text("9 of 18 cells.", timeout=PATIENCE)
    seen, deadline = turns[0], time.monotonic() + 60
    while turns[0] < seen + 3:  # of which each would write it, were it not as new as it can be
        assert time.monotonic() < deadline, "nobody keeps the report"
        page.wait_for_timeout(50)
    page.reload()
    assert page.locator("#report").get_attribute("data-version") == "1"
    assert "newer" not in page.locator(".asof").inner_text()
    assert page.title().startswith(TITLE)


def drawn(page: Page) -> None:
    """Waits for the report in the frame."""
    expect(page.frame_locator("#report").locator("html[data-drawn]")).to_be_attached(timeout=PATIENCE)


def test_the_list_follows_the_sweeps(opened: OfServer, data: Path, site: Served) -> None:
    """A sweep that comes into the store meanwhile is shown by itself; the cells that another trained are done."""
    page = opened.go("/")
    expect(page.locator(".sweeps li")).to_have_count(1, timeout=PATIENCE)
    synthetic_sim.write(data, synthetic_sim.square("second", 2, 1), lambda cell: None)
    expect(page.locator(".sweeps li")).to_have_count(2, timeout=PATIENCE)
    expect(page.locator(".sweeps li").first).to_contain_text("4 of 4 cells", timeout=PATIENCE)


@pytest.mark.slow
def test_the_report_follows_the_sweep(browser: Browser, tmp_path: Path) -> None:
    """When cells come in it is written again, once, and shown where the reader was."""
    folder = tmp_path / "data"
    half_done(folder)
    with served(folder, tmp_path, Limits()) as site:
        opened = OfServer(browser, site)
        page = opened.go("/sweeps/small")
        drawn(page)
        page.frames[1].evaluate("window.scrollTo(0, 700)")
        more(folder)
        expect(page.locator(".asof")).to_contain_text("18 of 18 cells.", timeout=PATIENCE)
        drawn(page)
        place = "document.getElementById('report').contentWindow.scrollY"
        for _ in range(100):  # `wait_for_function` would evaluate text in the page, which its policy forbids
            if page.evaluate(place) > 600:
                break
            page.wait_for_timeout(200)
        assert page.evaluate(place) > 600
        page.wait_for_timeout(30_000)
        assert page.locator("#report").get_attribute("data-version") == "2"
        assert (opened.said, opened.foreign) == ([], [])
        opened.close()


def test_a_query_is_typed_run_kept_and_linked(opened: OfServer, tmp_path: Path) -> None:
    """What is typed is answered as a table, as a file with the same rows, and again by its link."""
    page = opened.go("/sql")
    page.fill("#q", SQL)
    page.press("#q", "Control+Enter")
    page.wait_for_url("**/sql?q=*")
    assert page.locator("table td").all_inner_texts() == ["2", "a,b"]
    with page.expect_download() as download:
        page.click("text=CSV")
    download.value.save_as(tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open() as file:
        assert list(csv.reader(file)) == [["two", "text"], ["2", "a,b"]]
    opened.go(str(page.get_attribute("#link", "href")))
    assert page.input_value("#q") == SQL
    assert page.locator("table td").all_inner_texts() == ["2", "a,b"]


def test_a_column_is_written_where_the_cursor_is(opened: OfServer) -> None:
    """A click on a column of the list beside the box puts its name into the query."""
    page = opened.go("/sql")
    page.fill("#q", "select ")
    members = page.locator("aside details").filter(has=page.locator("summary code", has_text="members"))
    members.locator("summary").click()
    members.locator("button.column[data-name='point']").click()
    assert page.input_value("#q") == "select point"


def test_a_column_is_found_by_its_meaning(opened: OfServer) -> None:
    """What is typed above the tables leaves the columns that have it in their name, type or meaning."""
    page = opened.go("/sql")
    page.fill("#find", "every sweep as its newest")
    expect(page.locator("#nothing")).to_be_visible()  # the meaning of a table is no column's
    page.fill("#find", "whole sweep as JSON")
    shown = page.locator("aside button.column:visible")
    expect(shown.first).to_have_text("resolved")
    expect(page.locator("#nothing")).to_be_hidden()
    page.fill("#find", "")
    expect(page.locator("aside summary:visible")).not_to_have_count(1)


def test_a_wrong_query_is_told_why(browser: Browser, site: Served) -> None:
    """The fault is seen beside the query, which stays to be mended."""
    opened = OfServer(browser, site)
    page = opened.go("/sql?q=select+*+from+simm")
    assert "did you mean 'sim'?" in page.locator("[role=alert]").inner_text()
    assert page.input_value("#q") == "select * from simm"
    opened.close()


@pytest.mark.parametrize("width", [1300, 400])
def test_the_pages_do_not_run_over(opened: OfServer, width: int) -> None:
    """Wide tables scroll by themselves, and no page does."""
    opened.page.set_viewport_size({"width": width, "height": 900})
    for path in ("/", "/sweeps/small", "/sql", "/sql?q=select+*+from+sim"):
        assert opened.go(path).evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.timeout(900)
def test_sql_in_a_report_is_answered_by_the_server(opened: OfServer) -> None:
    """The box has the query of the phase diagram; its rows are the server's; what the guard refuses is said there."""
    page = opened.go("/sweeps/small")
    drawn(page)
    source = page.locator("#report").get_attribute("src") or page.locator("#report").get_attribute("data-page")
    report = opened.go(f"{source}#sql={quote(SQL)}")
    sql = report.locator("[data-widget=sql]")
    expect(sql.locator("textarea")).to_have_value(SQL)
    sql.locator("button.main").click()
    expect(sql.locator("td")).to_have_text(["2", "a,b"])
    sql.locator("textarea").fill(report.evaluate("swingby.data.then(({ sql }) => sql.query)"))
    sql.locator("textarea").press("Control+Enter")
    expect(sql.locator("tbody tr")).to_have_count(9)
    sql.locator("textarea").fill("drop table sim")
    sql.locator("button.main").click()
    expect(sql.locator(".fault")).to_contain_text("DROP is not allowed")
    opened.said[:] = [text for text in opened.said if "status of 400" not in text]
