"""Laws of outcomes that sweep files write, in reports, comparisons, `watch`, `serve` and the verb `outcome`."""

from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from swingby.run.driver import run_sweep
from swingby.run.outcomes import derive
from swingby.store import Store
from swingby.store.status import sweep_status
from swingby_analysis.diff.comparison import compared
from swingby_analysis.live.facts import facts_json
from swingby_analysis.live.poll import Watch
from swingby_analysis.report import write_report
from swingby_analysis.report.trial import attempt
from swingby_analysis.serve.examples import phase_query
from swingby_analysis.stats.shares import wilson
from tests.support.command import swingby
from tests.support.places import MISBEHAVING

OUTCOMES = {"high": "position[-1] > 0", "top": "list_max(position)", "word": "if(position[-1] > 0, 'up', 'down')"}
DIAGRAM = {"x": "width", "y": "rate", "outcome": "high"}


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the walks, trained, with a yes/no outcome, a number and a category in the sweep file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(MISBEHAVING))
        kit = importlib.import_module("misbehaving_runs").Kit(tmp_path_factory.mktemp("walks"))
        for name in ("PYTHONPATH", "TEST_LEDGER"):
            patch.setenv(name, kit.environment()[name])
        run_sweep(kit.sweep(outcomes=OUTCOMES, diagram=DIAGRAM), kit.data, local=True, pilot=False)
        kit.close()
    return kit.data


@pytest.fixture
def ran(once: Path, walk: Any) -> Any:
    """A copy of these walks."""
    shutil.copytree(once, walk.data)
    return walk


def slugs(report: Any) -> list[str]:
    """The names of a report's figures."""
    return [figure.slug for figure in report.figures]


def test_a_report_draws_what_the_file_says_now(ran: Any) -> None:
    """A report draws every outcome of the sweep file, those of an edited file too, and a scalar by its name."""
    assert not (ran.folder / "walks.yaml").exists()
    report = write_report("walks", ran.data, ran.folder / "out", ())
    assert slugs(report)[:3] == ["phase-high", "map-top", "map-word"]
    assert "position[-1] &gt; 0" in report.page.read_text()
    file = ran.folder / "walks.yaml"
    file.write_text(ran.text(outcomes={"low": "position[-1] < 0"}, diagram={**DIAGRAM, "outcome": "final_position"}))
    edited = write_report(str(file), ran.data, ran.folder / "out", ())
    assert slugs(edited)[:2] == ["map-final-position", "phase-low"]
    assert not {"phase-high", "map-top"} & set(slugs(edited))
    file.write_text(ran.text(outcomes={"low": "position[-1] < 0"}))
    assert slugs(write_report(str(file), ran.data, ran.folder / "out", ()))[0] == "phase-low"


def test_a_sweep_that_no_detector_reads_has_a_report(ran: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Expressions and scalars are drawn where no detector is installed that reads the experiment."""
    monkeypatch.setattr("swingby.model.registry.detectors_for", lambda name, columns=None: [])
    for outcome_, first in (("high", "phase-high"), ("final_position", "map-final-position")):
        shown = {**ran.sweep(outcomes=OUTCOMES, diagram={**DIAGRAM, "outcome": outcome_}).presentation}
        assert slugs(write_report("walks", ran.data, ran.folder / "out", (), presentation=shown))[0] == first


def test_watch_and_serve_show_it(ran: Any) -> None:
    """`watch` counts the sweep's own outcome, one by its name, and a scalar; the page of `serve` has its query."""
    with Store.open(ran.data) as store:
        rows = store.sql("select high, top, final_position from outcomes_of_walk join walk using (cell_id)").rows()
        status, tables = sweep_status(ran.data, "walks")[0], store.tables()
        shares = store.sql(phase_query(status, tables)).rows()
    assert sum(3 * row.high for row in shares) == pytest.approx(sum(row.high for row in rows))
    for asked, name in ((None, "high"), ("top", "top"), ("word=up", "word"), ("final_position", "final_position")):
        with Watch(ran.data, ["walks"], asked) as watch:
            (facts,) = watch.poll(0.0)
        phase = facts_json(facts)["phase"]
        assert phase["outcome"] == name
        assert sum(point["told"] for point in phase["points"]) == len(rows)


def test_a_comparison_compares_one_expression_with_itself_alone(ran: Any) -> None:
    """Of two sweeps an outcome is compared where both write the same expression; another one of its name is told."""
    other = ran.sweep(name="others", outcomes={**OUTCOMES, "top": "list_min(position)"})
    run_sweep(other, ran.data, local=True, pilot=False)
    with compared("walks", "others", ran.data) as found:
        names = set(found.shares["outcome"])
        warned = [text for text in found.b.warnings if "top" in text]
    assert {"high", "word"} <= names
    assert "top" not in names
    assert len(warned) == 1


def test_a_trial_counts_and_keeps_nothing(ran: Any) -> None:
    """`outcome` tells the share at each point with Wilson's interval, as the store has it, and leaves no record."""
    before = ran.records().derived()
    tried = attempt("walks", "position[-1] > 0", ran.data)
    assert ran.records().derived() == before
    with Store.open(ran.data) as store:
        rows = store.sql("select point, high from outcomes_of_walk").rows()
    shares = {share.point: share for share in tried.phases.shares("outcome")}
    for point, share in shares.items():
        own = [row.high for row in rows if row.point == point]
        low, high = wilson(sum(own), len(own))
        assert (share.k, share.n) == (sum(own), len(own))
        assert (share.low, share.high) == pytest.approx((float(low), float(high)))


def invoke(*words: str) -> Any:
    """What the verb prints."""
    return swingby("outcome", *words)


def test_the_verb_prints_points_and_writes_maps(ran: Any, tmp_path: Path) -> None:
    """Each kind of value has its table; maps are pages and pictures by their ending; what is null is told."""
    data = ("--data", str(ran.data))
    for text, said in (
        ("position[-1] > 0", "95 % interval"),
        ("list_max(position)", "median"),
        ("if(position[-1] > 0, 'up', 'down')", "up"),
    ):
        for name, magic in (("map.html", b"<!doctype html>"), ("map.png", b"\x89PNG")):
            done = invoke("walks", text, *data, "--rows", "2", "--out", str(tmp_path / name))
            assert done.exit_code == 0, done.output
            assert said in done.output
            assert "and 2 points more: --rows 4" in done.output
            assert (tmp_path / name).read_bytes().lstrip().startswith(magic)
    odd = invoke("walks", "cast(wants as int) + noise[1]", *data)
    assert "cannot be computed for some cells" in odd.output
    assert "column 'noise' is empty" in odd.output
    assert "not known (NULL) of 12 of 12 cells" in odd.output
    for words, why in (
        (("walks", "posiion[1]"), "unknown column 'posiion'"),
        (("walk", "rate > 1"), "no sweep 'walk'"),
        (("walks", "rate > 1", "--out", "map.txt"), "allowed: .html"),
    ):
        refused = invoke(*words, *data)
        assert refused.exit_code != 0
        assert why in refused.output


def test_json_of_outcomes_survives(ran: Any) -> None:
    """What a plan keeps of outcomes is what the sweep file has, so that a report by name, as above, needs no file."""
    with Store.open(ran.data) as store:
        (row,) = store.sql("select resolved from sweeps").rows()
    assert json.loads(row.resolved)["outcomes"] == OUTCOMES
    assert not any(derive(ran.records()).values())
