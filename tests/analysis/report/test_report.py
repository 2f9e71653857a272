"""The report: what it says can be counted again from the store, and it is there whole or not at all."""

from __future__ import annotations

import html
import json
import re
import resource
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby.errors import SwingbyError
from swingby.model.cell import Cell
from swingby.run.driver import run_sweep
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.charts.curves import FLOOR
from swingby_analysis.page import Figure, Page
from swingby_analysis.page.folder import replace_folder
from swingby_analysis.page.html import html as html_page
from swingby_analysis.page.html import json_bytes, packed_text, vega
from swingby_analysis.page.pictures import KINDS, files_of
from swingby_analysis.query import Query, ask, literal
from swingby_analysis.report import PAGE, write_report
from swingby_analysis.report import data as report_data
from swingby_analysis.report.curves import CEILING
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.examples import Examples, choose
from swingby_analysis.report.figures import Figures, distinct
from swingby_analysis.stats import shares as phase
from swingby_analysis.unchanged import NOTE
from tests.support import synthetic_sim
from tests.support.command import swingby
from tests.support.packed import unpacked

SMALL = """
name: small
title: Small nets
description: Two depths, three widths, four signals.
experiment: sim
preset: authors
base: {model: linear, d: 2, s: 2, mu: [1.0, 1.0], sigma: [0.05, 0.05], n: 128, epochs: 30, lr: 0.05}
axes:
  layers: [2, 3]
  width: [2, 4, 8]
  mu.1: [1.0, 1.5, 2.0, 2.5]
seeds: {count: 4, first: 3, mode: common}
diagram: {x: mu.1, y: width, outcome: transient_memorization, facet: layers}
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a small sweep of real nets."""
    data = tmp_path_factory.mktemp("trained")
    run_sweep(Sweep.parse(SMALL, "small.yaml"), data, local=True, pilot=False)
    return data


@pytest.fixture(scope="module")
def report(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its report; the folder of the page."""
    return write_report("small", trained, tmp_path_factory.mktemp("out"), KINDS).page.parent


@pytest.fixture(scope="module")
def read(trained: Path, report: Path) -> Iterator[tuple[Store, ReportData]]:
    """The store and what a report reads of it, outcomes derived."""
    assert report.is_dir()
    with Store.open(trained) as store:
        sweep_id = store.sql("select sweep_id from sweeps").rows()[0].sweep_id
        yield store, report_data.read(store, sweep_id)


def page_data(folder: Path) -> dict[str, Any]:
    """What the page's script reads."""
    return json.loads(unpacked((folder / PAGE).read_text()))


def text_of(folder: Path) -> str:
    """The page without its scripts, as text."""
    bare = re.sub(r"<(script|style)\b.*?</\1>", "", (folder / PAGE).read_text(), flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", bare)).replace("\u00a0", " ")


# what is written


def test_every_figure_is_in_the_page_and_beside_it(report: Path) -> None:
    """Each figure of the page lies beside it as PNG, SVG, PDF, CSV and Vega-Lite, and nothing else does; the first is
    the diagram, here of shares."""
    slugs = list(page_data(report)["figures"])
    assert slugs[0] == page_data(report)["panel"]["figure"] == "phase-transient-memorization"
    assert len(slugs) == len(set(slugs)) >= 6
    assert {path.name for path in report.iterdir()} == {
        PAGE,
        *(f"{slug}.{kind}" for slug in slugs for kind in files_of(KINDS)),
    }
    first = {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF"}
    for slug in slugs:
        for kind, magic in first.items():
            assert (report / f"{slug}.{kind}").read_bytes().startswith(magic)


def test_every_figure_is_vega_lite(report: Path) -> None:
    """The specs hold to the schema: reports draw them unchecked, since checking takes as long as drawing."""
    for slug, spec in page_data(report)["figures"].items():
        rows = {**spec, "data": {"values": []}, "datasets": {}}
        assert alt.Chart.from_dict(rows).to_dict(), slug


def test_the_page_asks_for_nothing_from_outside(report: Path) -> None:
    """Markup of the page has no link that leads off it, so that it can be sent alone, and names its files; its
    policy forbids all but its own scripts and styles."""
    page = (report / PAGE).read_text()
    markup = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    assert re.findall(r'(?:src|href)="(?!#)([^"]*)"', markup) == []
    assert all(f"{slug}.{kind}" in markup for slug in page_data(report)["figures"] for kind in files_of(KINDS))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert html.unescape(policy[1]).startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy[1]


def test_vega_is_in_the_page_once(report: Path) -> None:
    """However many figures there are, the library is bundled once."""
    page = (report / PAGE).read_text()
    assert unpacked(page, "vega").decode() == vega()
    assert page.count(packed_text(vega().encode())) == 1


def test_every_figure_tells_what_made_it(report: Path, trained: Path) -> None:
    """SQL, sweep id, seeds, n, conventions and commit stand under each figure; the SQL gives the same rows again."""
    text = text_of(report)
    figures = len(page_data(report)["figures"])
    with Store.open(trained) as store:
        sweep_id = store.sql("select sweep_id from sweeps").rows()[0].sweep_id
        assert text.count(f"small {sweep_id}") >= figures
        assert text.count("4 (3 to 6), common") == figures
        assert text.count("4 finished runs") == figures
        assert text.count("reduction mean") == figures
        assert len(re.findall(r"commit [0-9a-f]{40}|commit unknown", text)) >= figures
        queries = re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", (report / PAGE).read_text(), re.DOTALL)
        assert len(queries) >= figures
        for query in queries:
            assert len(store.sql(html.unescape(query))) > 0


@pytest.mark.parametrize(
    "name", ["cells", "counts", "origins", "curve ood_loss", "curve train_loss", "plane", "runs", "run_paths", "sweep"]
)
def test_the_shown_query_is_the_asked_one(name: str, read: tuple[Store, ReportData]) -> None:
    """A query with its parameters written in gives the rows that it gave with parameters apart."""
    store, data = read
    head = data.sweep["sweep_id"], "sim", (0, 5), 20
    of_runs = {
        "runs": Query("runs", (*head, "ood_loss", "l_ref", (1,))),
        "run_paths": Query("runs", (*head, "output", "mu", (1, 2))),
    }
    query = of_runs.get(name) or data.queries.get(name) or Query(name, (data.sweep["sweep_id"],))
    assert "$" not in re.sub(r"--.*", "", query.readable)
    assert store.sql(query.readable).arrow().equals(store.sql(query.text, query.arguments).arrow())


@given(st.text())
def test_text_cannot_leave_its_literal(text: str) -> None:
    """However a text is spelled, its SQL literal is one quoted string that reads back as the text."""
    quoted = literal(text)
    assert quoted[0] == quoted[-1] == "'"
    assert "'" not in quoted[1:-1].replace("''", "")
    assert quoted[1:-1].replace("''", "'") == text


@given(
    st.recursive(st.text() | st.integers() | st.none(), lambda part: st.lists(part) | st.dictionaries(st.text(), part)),
    st.binary(),
)
def test_packed_data_cannot_leave_its_element(value: Any, content: bytes) -> None:
    """Whatever the data and the attachments, they read back as they were, the same each time, and hold no character
    that HTML could act on."""
    texts = {"data": packed_text(json_bytes(value)), "more": packed_text(content)}
    assert not set("<>&\"'\\") & set("".join(texts.values()))
    assert texts == {"data": packed_text(json_bytes(value)), "more": packed_text(content)}
    page = html_page(Page("test", "Title", []), {"any": value}, {"more": content})
    assert json.loads(unpacked(page)) == {"any": value}
    assert unpacked(page, "more") == content


# what is said


def test_the_summary_counts_what_the_store_holds(report: Path, trained: Path) -> None:
    """Runs, outcomes and points on either side of one half are those that a plain count gives."""
    with Store.open(trained) as store:
        rows = store.sql(
            """select m.point, o.transient_memorization as told, o.outcome
               from members m join outcomes_descents o using (cell_id)"""
        ).rows()
    told = {point: [row.told for row in rows if row.point == point] for point in {row.point for row in rows}}
    intervals = [phase.wilson(sum(values), len(values)) for values in told.values()]
    above, below = (sum(bool(low > 0.5) for low, _ in intervals), sum(bool(high < 0.5) for _, high in intervals))
    text = text_of(report)
    assert f"{len(rows)} of {len(rows)} runs are finished: {len(told)} points of the grid, 4 seeds each." in text
    rest = len(told) - above - below
    shares = rf"“transient memorization” .* at {above} of {len(told)} points .* at {below}: .* other {rest} "
    assert re.search(shares, text)
    for outcome, count in Counter(row.outcome for row in rows).items():
        assert f"{count} {outcome}" in text


def test_every_point_is_in_the_table(report: Path, read: tuple[Store, ReportData]) -> None:
    """The table has a row for every point of the grid, with its count and interval."""
    _, data = read
    page = (report / PAGE).read_text()
    body = re.search(r"<tbody>(.*?)</tbody>", page[page.index("Every point</h3>") :], re.DOTALL)
    assert body is not None
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", body[1], re.DOTALL)]
    assert {row[0]: row[1] for row in rows} == {
        data.grid.label(share.point): f"{share.k} of {share.n}"
        for share in data.phases.shares("transient_memorization")
    }


def test_curves_of_the_page_are_those_of_the_store(report: Path, read: tuple[Store, ReportData]) -> None:
    """Decoded as the page decodes them, median and band are numpy's over the stored curves, to the packing's step."""
    store, data = read
    page = page_data(report)
    for point, packed_curve in page["curves"]["of"].items():
        rows = store.sql(
            "select sim.step, sim.ood_loss, sim.l_ref from members m join sim using (cell_id) where m.point = $1",
            [int(point)],
        ).rows()
        steps = np.cumsum(page["curves"]["steps"][packed_curve["steps"]])
        kept = np.isin(rows[0].step, steps)
        losses = np.array([row.ood_loss for row in rows])[:, kept] / rows[0].l_ref
        assert kept.sum() == len(steps)
        wanted = [np.median(losses, axis=0), *np.quantile(losses, [0.1, 0.9], axis=0, method="inverted_cdf")]
        for values, found in zip(wanted, packed_curve["losses"][0], strict=True):
            decoded = 10 ** (np.cumsum(found) / 1000)
            assert decoded == pytest.approx(np.clip(values, FLOOR / 10, 10 * CEILING), rel=1.2e-3)
    assert set(page["curves"]["of"]) == set(page["points"]) == {str(point) for point in data.grid.places}


def test_examples_are_the_extremes(read: tuple[Store, ReportData]) -> None:
    """The points shown at length have the largest share, the one nearest to half, and the smallest of the rest."""
    _, data = read
    shares = {share.point: share.share for share in data.phases.shares(data.outcome)}
    most, middle, least = choose(data)
    assert shares[most] == max(shares.values())
    rest = {point: value for point, value in shares.items() if point != most}
    assert abs(shares[middle] - 0.5) == min(abs(value - 0.5) for value in rest.values())
    assert shares[least] == min(value for point, value in rest.items() if point != middle)


# unfinished, failed, hostile, absent


TITLE = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a sweep with a hostile title, whose cells are missing, failed and diverged; the folder of the page.

    One point has no result at all.
    """

    def fate(cell: Cell) -> str | None:
        place = sweep.points.index(cell.point)
        if place == 4:
            return None
        return {0: "ok", 1: "failed", 2: "diverged", 3: None}[cell.seed] if place == 0 else "ok"

    folder, sweep = tmp_path_factory.mktemp("odd"), synthetic_sim.square("half-done", 3, 4, TITLE)
    synthetic_sim.write(folder / "data", sweep, fate)
    return write_report("half-done", folder / "data", folder / "out", kinds=()).page.parent


def test_an_unfinished_sweep_says_what_is_missing(odd: Path) -> None:
    """Cells that are missing, failed and diverged are counted, blank points named, and what is there is drawn."""
    text = text_of(odd)
    assert "5 of 36 cells have no result yet" in text
    assert "1 cell failed with an error" in text
    assert "1 cell diverged" in text
    assert "No run has finished at 1 point of the grid" in text
    assert "30 of 36 runs are finished" in text
    assert "8 of 9 points have cells; seeds per point from 2 to 4" in text


def test_a_title_stays_text(odd: Path) -> None:
    """Markup in a sweep's title is shown, not obeyed, in the page and in its data."""
    page = (odd / PAGE).read_text()
    assert TITLE not in page
    assert html.escape(TITLE, quote=False).replace("'", "&#39;") in page
    assert len(re.findall(r"<script\b", page)) == len(["data", "rows", "vega", "page.js", "explore.js"])


def test_names_that_nothing_bears(trained: Path, tmp_path: Path) -> None:
    """An unknown name is answered with the nearest known one, an unknown plane with what there is."""
    with pytest.raises(SwingbyError, match=r"smal.*did you mean 'small'"):
        write_report("smal", trained, tmp_path)
    with pytest.raises(SwingbyError, match="two different concepts from 1 to 2"):
        write_report("small", trained, tmp_path, plane=(1, 3))
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_without_results(tmp_path: Path) -> None:
    """A sweep that was planned and has no finished cell is refused with what to do."""
    synthetic_sim.write(tmp_path / "data", synthetic_sim.square("nothing", 2, 2), lambda cell: None)
    with pytest.raises(SwingbyError, match=r"no finished cell yet, of 8; `swingby run nothing\.yaml`"):
        write_report("nothing", tmp_path / "data", tmp_path / "out")


def test_a_report_is_whole_or_not_there(tmp_path: Path) -> None:
    """If a file cannot be written to its end, the report before it stays, and nothing half-written is left."""
    replace_folder(tmp_path / "small", {PAGE: b"before"})
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(SwingbyError, match="File too large"):
            replace_folder(tmp_path / "small", {"first.svg": b"fits", PAGE: b"x" * 200_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")} == {"small", f"small/{PAGE}"}
    assert (tmp_path / "small" / PAGE).read_bytes() == b"before"


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    """A file where the folder should go is a clear error."""
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(SwingbyError, match="cannot write the report"):
        replace_folder(tmp_path / "out" / "small", {PAGE: b"after"})
    assert (tmp_path / "out").read_text() == "in the way"


# one parameter, other outcomes


@pytest.mark.parametrize(("outcome", "first"), [("outcome", "map-outcome"), ("bump_height", "map-bump-height")])
def test_any_outcome_can_be_the_diagram(outcome: str, first: str, tmp_path: Path) -> None:
    """Categories and numbers are each drawn as what they are, along one parameter or over two; shares are above."""
    text = synthetic_sim.SQUARE.format(name="other", title="Other", points=3, seeds=3)
    text = text.replace("outcome: transient_memorization", f"outcome: {outcome}")
    sweep = Sweep.parse(text.replace(", y: init_gain", "") if outcome == "outcome" else text, "other.yaml")
    synthetic_sim.write(tmp_path / "data", sweep)
    folder = write_report("other", tmp_path / "data", tmp_path / "out", kinds=()).page.parent
    assert next(iter(page_data(folder)["figures"])) == first
    assert page_data(folder)["panel"]["figure"] == first


def test_the_examples_runs_are_those_of_the_store(read: tuple[Store, ReportData]) -> None:
    """Every seed of every example is drawn, from its first recorded step to its last."""
    store, data = read
    examples = Examples.of(data, store)
    found = {(row["point"], row["seed"]) for row in examples.runs.iter_rows(named=True)}
    assert found == {(point, seed) for point in examples.reasons for seed in range(3, 7)}
    steps = examples.runs["step"]
    assert steps.min() == 0
    assert steps.max() == ask(store, data.queries["cells"])["steps"].max()
    assert Figures(data, examples).main.points


# the command


def test_the_command_prints_the_path_and_replaces_the_report_before(
    report: Path, trained: Path, tmp_path: Path
) -> None:
    """`swingby report` writes the page and prints where it is; of the report that was there with its pictures nothing
    is left; of figures it writes the kinds that it is asked for; a wrong plane is bad input."""
    shutil.copytree(report, tmp_path / "small")
    arguments = ["report", "small", "--data", str(trained), "--out", str(tmp_path)]
    done = swingby(*arguments)
    assert done.exit_code == 0, done.output
    assert Path(done.stdout.strip()) == tmp_path / "small" / PAGE
    assert [path.name for path in tmp_path.iterdir()] == ["small"]
    assert {path.name for path in (tmp_path / "small").iterdir()} == {PAGE, NOTE}
    assert swingby(*arguments, "--figures", "--no-png", "--no-pdf").exit_code == 0
    assert {path.suffix for path in (tmp_path / "small").iterdir()} == {".html", ".json", ".svg"}
    assert swingby(*arguments, "--plane", "one").exit_code == 2


def test_no_figure_overwrites_another() -> None:
    """Figures of one name, a diagram's and a drawing's, get files of their own, and keep their order."""
    names = ["loss-curves", "phase", "loss-curves", "trajectories", "loss-curves"]
    figures = distinct([Figure(name, name, "", "", {}) for name in names])
    assert [figure.slug for figure in figures] == [
        "loss-curves",
        "phase",
        "loss-curves-2",
        "trajectories",
        "loss-curves-3",
    ]
    assert [figure.title for figure in figures] == names
