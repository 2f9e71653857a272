"""Explore and SQL on a report's page, in a browser without a network: what they show is what SQL gives."""

from __future__ import annotations

import csv
import itertools
import json
import math
import random
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import polars as pl
import pyarrow as pa
import pytest
from playwright.sync_api import Browser, expect

from swingby.sandbox.scalar import evaluate
from swingby.sandbox.thresholds import threshold_of
from swingby.select.intervals import wilson
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.page.engine import is_there
from swingby_analysis.report import data as report_data
from swingby_analysis.report import write_report
from swingby_analysis.report.explore import explored
from tests.browser.conftest import Opened
from tests.support import synthetic_sim

MARKUP = "<img src=x onerror=\"document.title = 'taken'\">"
OUTCOMES = {
    "learned": "ood_loss[32] < 0.1",
    "fallen": "0.1 * ood_loss[1] >= ood_loss[32]",
    "kind": f"if(mu[2] > 2, '{MARKUP.replace(chr(39), chr(39) * 2)}', 'plain')",
    "fall": "ood_loss[1] - ood_loss[32]",
}
WIDGET = "[data-widget=explore]"
EVALUATED = """([place, thresholds]) => swingby.data.then(async ({ explore }) => {
  const table = swingby.explore.tableOf(explore, await swingby.attachment("rows"));
  return thresholds.map((threshold) => swingby.explore.recomputed(table, explore.thresholds[place], threshold));
})"""


class Made:
    """A data folder with a sweep, its pages, and what its report was made from."""

    def __init__(self, folder: Path) -> None:
        text = synthetic_sim.SQUARE.format(name="small", title=json.dumps(MARKUP), points=5, seeds=6)
        self.sweep = Sweep.parse(f"{text}outcomes: {json.dumps(OUTCOMES)}\n", "small.yaml", confirm_above=None)
        self.data_folder = folder / "data"
        synthetic_sim.write(self.data_folder, self.sweep, lambda cell: "diverged" if cell.seed == 3 else "ok")
        self.page = write_report("small", self.data_folder, folder / "out", kinds=(), supplement=is_there()).page
        with Store.open(self.data_folder) as store:
            self.data = report_data.read(store, self.sweep.sweep_id)
            rows = explored(self.data, store)
            self.curves = store.sql(
                "select cell_id, ood_loss, final_ood_loss from sim where status in ('ok', 'diverged')"
            ).polars()
        assert rows is not None
        self.facts: Mapping[str, Any] = rows.facts

    def compared(self, outcome: str) -> tuple[str, pa.Table]:
        """The SQL of an outcome, and the rows it is over, in the order of the page."""
        cells = self.data.cells.join(self.curves, on="cell_id", how="left", maintain_order="left", suffix="_again")
        declared = {
            **dict(self.data.resolved["outcomes"]),
            "transient_memorization": DECLARED,
            "non_monotone": "descents >= 2",
        }
        text = declared[outcome]
        needs = [name for name in ("ood_loss", "bump_height", "transient_memorization", "descents") if name in text]
        table = cells.select(needs).to_arrow()
        lists = pa.list_(pa.float64())
        return text, table.set_column(0, needs[0], table[0].cast(lists)) if needs == ["ood_loss"] else table


DECLARED = "transient_memorization and bump_height >= 0"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("explore"))


@pytest.fixture
def opened(browser: Browser, made: Made) -> Iterator[Opened]:
    """The light page with Explore open; nothing complained, and nothing but the page was asked for."""
    page = at(browser, made, {"x": "mu.1"})
    yield page
    assert page.said == []
    assert {url.partition("#")[0] for url in page.asked if not url.startswith(("data:", "blob:"))} == {
        light(made).as_uri()
    }
    assert "taken" not in page.page.title().partition(MARKUP)[0]
    page.close()


def light(made: Made) -> Path:
    return made.page.with_name("report.html")


def at(browser: Browser, made: Made, state: Mapping[str, str]) -> Opened:
    """The light page at a link."""
    page = Opened(browser, offline=True)
    page.page.goto(f"{light(made).as_uri()}#{urlencode(state)}")
    page.page.wait_for_selector(f"{WIDGET}[data-drawn]", state="attached")
    return page


def state_of(page: Opened) -> dict[str, Any]:
    """What is drawn."""
    return json.loads(page.page.locator(WIDGET).get_attribute("data-drawn") or "{}")


def drawn(page: Opened, **expected: Any) -> None:
    """Waits until this is drawn."""
    for _ in range(200):
        if expected.items() <= state_of(page).items():
            return
        page.page.wait_for_timeout(50)
    raise AssertionError(f"{expected} is not drawn, but {state_of(page)}")


def tiles(page: Opened) -> list[dict[str, Any]]:
    """What is drawn: a row a tile."""
    return page.page.evaluate("swingby.explore.rows()")


def chosen(page: Opened, name: str, value: str) -> None:
    """Chooses in the menu of x, y, panels or colour."""
    page.page.locator(f"{WIDGET} select").nth(["x", "y", "facet", "colour"].index(name)).select_option(value)
    drawn(page, **{name: value})


def test_shares_are_those_of_sql(opened: Opened, made: Made) -> None:
    """At every point k of n, the share and Wilson's interval; also where tiles hold several points."""
    for outcome, y in itertools.product(("transient_memorization", "retreat", "learned"), ("init_gain", "")):
        chosen(opened, "colour", outcome)
        chosen(opened, "y", y)
        keys = [pl.col("mu").list.get(1), *([pl.col("init_gain")] if y else [])]
        known = made.data.cells.filter(pl.col(outcome).is_not_null())
        grouped = (
            known.group_by(keys)
            .agg(pl.col(outcome).sum().alias("k"), pl.len().alias("n"))
            .sort("mu", *([y] if y else []))
        )
        rows = sorted(tiles(opened), key=lambda row: (row["i"], row["j"]))
        assert [(row["k"], row["n"]) for row in rows] == grouped.select("k", "n").rows()
        for row in rows:
            interval = wilson(row["k"], row["n"])
            assert (row["low"], row["high"]) == pytest.approx(tuple(map(float, interval)), abs=1e-12)
            assert row["value"] == row["k"] / row["n"]


def test_numbers_and_categories_are_those_of_sql(opened: Opened, made: Made) -> None:
    """The median of a number, and the most common category with its count."""
    chosen(opened, "colour", "fall")
    medians = made.data.cells.group_by("point").agg(pl.col("fall").median()).sort("point")["fall"].to_list()
    assert sorted(row["value"] for row in tiles(opened)) == pytest.approx(sorted(medians), rel=1e-6)
    chosen(opened, "colour", "bump_height")  # 0 of a run says that it has no bump
    bumps = made.data.cells.filter(pl.col("bump_height") > 0).group_by("point").agg(pl.col("bump_height").median())
    assert sorted(row["value"] for row in tiles(opened)) == pytest.approx(bumps["bump_height"].sort().to_list())
    chosen(opened, "colour", "kind")
    assert {row["value"] for row in tiles(opened)} == {MARKUP, "plain"}
    chosen(opened, "facet", "kind")
    assert opened.page.locator(f"{WIDGET} svg").first.is_visible()
    assert opened.page.locator(f"{WIDGET} img").count() == 0


def test_a_moved_threshold_gives_what_sql_gives(opened: Opened, made: Made) -> None:
    """Run by run, at thresholds drawn at random, at values that occur, and just beside them."""
    for outcome in ("learned", "fallen", "transient_memorization", "non_monotone"):
        text, table = made.compared(outcome)
        parts = threshold_of(text)
        assert parts is not None
        unit = f" / ({parts.unit})" if parts.unit else ""
        values = evaluate(f"({parts.value}){unit}", table, "number").to_pylist()
        draw = random.Random(outcome)
        # Where the outcome is true, a threshold that is met exactly decides.
        met = [v for v, yes in zip(values, made.data.cells[outcome], strict=True) if yes and v is not None]
        assert met
        values, some = [v for v in values if v is not None and math.isfinite(v)], draw.sample(met, min(8, len(met)))
        thresholds = [parts.threshold, 0.0, *some, *(math.nextafter(v, math.inf) for v in some)]
        thresholds += [draw.uniform(min(values), max(values) + 1e-9) for _ in range(20)]
        recomputed = opened.page.evaluate(EVALUATED, [outcome, thresholds])
        for threshold, seen in zip(thresholds, recomputed, strict=True):
            assert seen == evaluate(parts.at(f"'{threshold!r}'::double"), table, "yes_no").to_pylist()
        assert recomputed[0] == made.data.cells[outcome].to_list()


def test_the_slider_moves_the_threshold(opened: Opened, made: Made) -> None:
    """By keys and by a typed number; the link has it, and the button brings the declared one back."""
    chosen(opened, "colour", "learned")
    slider = opened.page.locator(f"{WIDGET} input[type=range]")
    slider.focus()
    slider.press("End")
    drawn(opened, colour="learned", at=state_of(opened)["at"] or 0)
    opened.page.wait_for_timeout(200)
    every = sum(row["k"] for row in tiles(opened))
    assert every >= made.data.cells["learned"].sum()
    opened.page.locator(f"{WIDGET} input[type=number]").fill("0.05")
    drawn(opened, at=0.05)
    assert "at=0.05" in opened.page.evaluate("location.hash")
    text, table = made.compared("learned")
    parts = threshold_of(text)
    assert parts is not None
    assert sum(row["k"] for row in tiles(opened)) == sum(evaluate(parts.at(0.05), table, "yes_no").to_pylist())
    opened.page.get_by_text("as declared").click()
    drawn(opened, at=None)
    assert sum(row["k"] for row in tiles(opened)) == made.data.cells["learned"].sum()


def test_the_link_has_the_state(browser: Browser, opened: Opened, made: Made) -> None:
    """What is chosen is in the link; the link gives it again; back and forward lead through it."""
    chosen(opened, "x", "init_gain")
    chosen(opened, "y", "mu.1")
    chosen(opened, "colour", "fall")
    last = state_of(opened)
    link = dict(parse_qsl(opened.page.evaluate("location.hash").lstrip("#"), keep_blank_values=True))
    again = at(browser, made, link)
    assert state_of(again) == last
    again.close()
    opened.page.go_back()
    drawn(opened, y="mu.1", colour="transient_memorization")
    opened.page.go_back()
    drawn(opened, y="init_gain")
    opened.page.go_forward()
    opened.page.go_forward()
    drawn(opened, **last)


@pytest.mark.parametrize(
    "state",
    [
        {"x": MARKUP},
        {"x": "mu.1", "at": "soon"},
        {"region": "0.0.99.0.0"},
        {"colour": "__proto__"},
        {"y": "%ZZ", "region": "-1"},
    ],
)
def test_a_bad_link_is_told_and_ignored(browser: Browser, made: Made, state: dict[str, str]) -> None:
    """What the page does not have is named in a sentence; the rest is drawn as at first."""
    page = at(browser, made, state)
    fault = page.page.locator(f"{WIDGET} [role=alert]")
    expect(fault).to_be_visible()
    assert "ignored" in fault.inner_text()
    assert state_of(page) == {**made.facts["start"], "facet": "", "at": None, "region": None}
    assert page.said == []
    page.close()


def test_a_region_shows_the_curves_of_its_points(opened: Opened) -> None:
    """By the pointer and by keys alike: as many lines as points in each diagram, and runs counted; escape lets go."""
    first, last = (opened.page.locator(f"{WIDGET} .mark-rect path").nth(place) for place in (0, 6))
    ends = [
        (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        for one in (first, last)
        for box in [one.bounding_box()]
        if box
    ]
    opened.page.mouse.move(*ends[0])
    opened.page.mouse.down()
    opened.page.mouse.move(*ends[1], steps=3)
    opened.page.mouse.up()
    drawn(opened, region=[0, 0, 1, 0, 1])
    note = opened.page.locator(f"{WIDGET} [aria-live]")
    expect(note).to_contain_text("24 runs at 4 points")
    diagrams = len(opened.page.evaluate("swingby.data.then(({ panel }) => panel.names)"))
    assert opened.page.locator(f"{WIDGET} .mark-line path").count() == 4 * diagrams
    opened.page.keyboard.press("Escape")
    drawn(opened, region=None)
    assert opened.page.locator(f"{WIDGET} .mark-line path").count() == 0
    opened.page.locator(f"{WIDGET} .plot[tabindex]").focus()
    for key in ("ArrowRight", "Shift+ArrowRight", "Shift+ArrowUp", "Shift+ArrowUp"):
        opened.page.keyboard.press(key)
    drawn(opened, region=[0, 0, 1, 0, 2])
    expect(note).to_contain_text("36 runs at 6 points")


def test_the_diagram_is_saved(opened: Opened, tmp_path: Path) -> None:
    """As SVG with the panel's tiles, and as PNG."""
    for kind, begin in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with opened.page.expect_download() as download:
            opened.page.locator(f"{WIDGET} button", has_text=kind).click()
        download.value.save_as(tmp_path / kind)
        assert (tmp_path / kind).read_bytes().startswith(begin)
        assert download.value.suggested_filename == f"small-transient_memorization.{kind.lower()}"


def test_nothing_runs_over(opened: Opened) -> None:
    """The page does not scroll sideways at any width, with a region's curves drawn; axe-core has no complaint."""
    opened.page.locator(f"{WIDGET} .plot[tabindex]").focus()
    opened.page.keyboard.press("ArrowRight")
    drawn(opened, region=[0, 0, 0, 0, 0])
    for width in (1366, 820, 390):
        opened.page.set_viewport_size({"width": width, "height": 800})
        opened.page.wait_for_timeout(500)
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    opened.page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    script = "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))"
    assert opened.page.evaluate(script) == []


@pytest.mark.skipif(not is_there(), reason="the engine is not here: make engine brings it")
def test_sql_is_answered_in_the_page(browser: Browser, made: Made, tmp_path: Path) -> None:
    """Offline, the query in the box gives the shares of the map; a fault says its line; rows are saved as CSV."""
    page = Opened(browser, offline=True, accept_downloads=True)
    page.page.goto(f"{made.page.as_uri()}#sql=")
    sql = page.page.locator("[data-widget=sql]")
    box, run = sql.locator("textarea"), sql.locator("button.main")
    turns = iter(range(1, 100))

    def asked(query: str | None = None) -> list[list[str]]:
        if query is not None:
            box.fill(query)
        box.press("Control+Enter")
        expect(page.page.locator(f"[data-widget=sql][data-turn='{next(turns)}']")).to_be_attached(timeout=120_000)
        expect(run).to_be_enabled()
        return [row.locator("td").all_text_contents() for row in sql.locator("tbody tr").all()]

    query = page.page.evaluate("swingby.data.then(({ sql }) => sql.query)")
    rows = asked(query)
    shares = {share.point: (share.k, share.n) for share in made.data.phases.shares("transient_memorization")}
    assert [int(row[2]) for row in rows] == [n for _, n in shares.values()]
    assert sorted(float(row[3]) for row in rows) == pytest.approx(sorted(k / n for k, n in shares.values()))
    assert asked("select null as a, '' as b, 'x\"y,\nz' as c, 1::bigint as d -- a comment") == [
        ["null", "", 'x"y,\nz', "1"]
    ]
    assert asked("select kind, count(*) from sim group by all order by all") == [[MARKUP, "60"], ["plain", "90"]]
    assert sql.locator("img").count() == 0
    asked("select 1,\n  nothing from sim")
    assert "LINE 2" in sql.locator(".fault").inner_text()
    asked(f"select '{MARKUP}")
    assert sql.locator("img").count() == 0
    asked("select * from 'https://example.org/rows.parquet'")
    expect(sql.locator(".fault")).to_be_visible()
    assert len(asked("select * from range(3000)")) == 1000
    expect(sql.locator(".note[aria-live]")).to_contain_text("There are more")
    with page.page.expect_download() as download:
        sql.get_by_text("Save as CSV").click()
    download.value.save_as(tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open() as file:
        assert len(list(csv.reader(file))) == 3001
    assert dict(parse_qsl(page.page.evaluate("location.hash").lstrip("#"))) == {"sql": "select * from range(3000)"}
    assert [url for url in page.asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert page.page.title().startswith(MARKUP)
    page.close()
