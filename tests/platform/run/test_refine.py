"""Refined sweeps: nothing is trained twice, a kill changes no choice, and every cell counts later."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from swingby.api import Sweep
from swingby.archive.pack import pack
from swingby.archive.unpack import unpack
from swingby.data.records import Records
from swingby.errors import InputFaults, SwingbyError
from swingby.maintenance.merge import merge
from swingby.maintenance.retract import retract
from swingby.run.commit_lock import SupersededError, check_current, newest_plans
from swingby.run.driver import run_sweep
from swingby.run.extend import extend_seeds
from swingby.run.options import RunOptions
from swingby.run.preview import plan
from swingby.store import Store, ingest, rebuild
from swingby.store.refined import refinements
from swingby.store.status import sweep_status
from tests.support.coins import FILE, chosen, coins, refine, trained


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the coins."""
    return coins(tmp_path, monkeypatch)


TWO_ROUNDS = "refine.budget=64"
"""A budget of two rounds: the second, of 32 cells like the first, is chosen by what came of the first."""
SMALL = ("axes.x.linspace.points=8", "axes.y.linspace.points=8")
"""A grid of 64 points, for what is as true of few points."""


def made_once(tmp_path_factory: pytest.TempPathFactory, *overrides: str) -> tuple[Path, Any]:
    """A folder of coins that are refined already, and the result; tests take copies."""
    with pytest.MonkeyPatch.context() as patch:
        folder = coins(tmp_path_factory.mktemp("coins"), patch)
        return folder, refine(*overrides)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A refinement that ended because it knew enough."""
    return made_once(tmp_path_factory)


@pytest.fixture(scope="module")
def two_rounds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A refinement that ended after two rounds, by its budget."""
    return made_once(tmp_path_factory, TWO_ROUNDS)


def copied(made: tuple[Path, Any], folder: Path) -> Any:
    """What was made once, in this folder as if it had been made here; gives its result."""
    shutil.copytree(made[0] / "data", folder / "data")
    shutil.copy(made[0] / "ledger", folder)
    return made[1]


def decisions(data: Path) -> list[dict[str, Any]]:
    """The decisions of all rounds, in order."""
    with Store.open(data) as store:
        rows = store.sql("select decision from plans where decision is not null order by sequence").rows()
    return [json.loads(row.decision) for row in rows]


def test_it_ends_with_few_cells_and_says_so(ended: tuple[Path, Any]) -> None:
    """Points far from the line are told, the budget is kept, and the fit is a table."""
    folder, result = ended
    of = result.refined
    assert of.ended == "accuracy"
    assert result.missing == 0
    assert result.cells == of.requested == sum(trained(folder).values()) <= of.budget == round(0.2 * 6 * 256)
    assert max(trained(folder).values()) == 1
    with Store.open(folder / "data") as store:
        rows = store.sql("select * from share_fit order by point").rows()
        (sweep,) = store.sql("select cells, grid_cells from sweeps").rows()
    assert (sweep.cells, sweep.grid_cells) == (of.requested, 6 * 256)
    assert len(rows) == 256
    assert {row.outcome for row in rows} == {"heads"}
    assert sum(row.n for row in rows) == of.requested
    told = {row.point: row.verdict for row in rows}
    sides = [(told[16 * i + j], j - i + 1.5 > 0) for i in range(16) for j in range(16)]
    wrong = [side for side in sides if side in (("above", False), ("below", True))]
    assert len(wrong) <= 0.05 * 256
    assert {"above", "below"} <= {verdict for verdict, _ in sides}
    (status,) = sweep_status(folder / "data")
    assert status.refined is not None
    assert status.refined.ended == "accuracy"
    assert "of the grid's 1,536 cells" in str(result)


def test_again_is_nothing_more(folder: Path, ended: tuple[Path, Any]) -> None:
    """A second run of a refinement that has ended trains nothing and writes no plan."""
    first = copied(ended, folder)
    plans = Records.open(folder / "data").plans()
    again = refine()
    assert again.trained == 0
    assert again.refined.ended == "accuracy"
    assert (again.cells, again.missing) == (first.cells, 0)
    assert Records.open(folder / "data").plans() == plans


def test_all_cells_count_later(folder: Path) -> None:
    """A larger budget, more seeds, a finer grid and the whole grid train only what is missing."""
    first = refine("refine.wrong=0.0001", "refine.budget=36", *SMALL)
    assert first.refined.ended == "budget"
    assert sum(trained(folder).values()) == 36
    more = refine("refine.wrong=0.0001", "refine.budget=12%", *SMALL)
    assert sum(trained(folder).values()) == more.cells == round(0.12 * 6 * 64)
    seeds = refine("refine.wrong=0.0001", "refine.budget=60", "seeds.count=8", *SMALL)
    assert sum(trained(folder).values()) == seeds.cells == 60
    finer = refine("refine.budget=64", "axes.x.linspace.points=15", SMALL[1], "seeds.count=8")
    assert finer.cells >= 60
    before = sum(trained(folder).values())
    whole = run_sweep(Sweep.load("coins.yaml", ["seeds.count=2", *SMALL]), folder / "data", local=True, pilot=False)
    assert (whole.cells, whole.ok, whole.missing) == (128, 128, 0)
    assert sum(trained(folder).values()) < before + 128
    assert max(trained(folder).values()) == 1


def test_the_whole_grid_after_a_refinement_is_one_sweep(folder: Path) -> None:
    """It has every cell once, refining it then trains nothing, and the store made again is the one that lives."""
    grid = ("seeds.count=2", *SMALL)
    refine("refine.budget=40", *grid)
    result = run_sweep(Sweep.load("coins.yaml", grid), folder / "data", local=True, pilot=False)
    assert (result.ok, result.missing) == (128, 0)
    assert sum(trained(folder).values()) == 128
    again = refine(*grid)
    assert again.trained == 0
    members = "select sweep_id, cell_id, point from members order by all"
    with Store.open(folder / "data") as store:
        live = store.sql(members).arrow()
    assert live.num_rows == 128
    rebuild(Records.open(folder / "data"))
    with Store.open(folder / "data") as store:
        assert store.sql(members).arrow().equals(live)


COMMAND = [sys.executable, "-m", "swingby", "run", "coins.yaml", "--local", "--no-pilot"]


def test_a_kill_changes_no_choice(folder: Path, two_rounds: tuple[Path, Any]) -> None:
    """Killed and resumed, no cell with a result is trained again, and all rounds are those without a kill: killed
    before the second round has left anything, and killed again in the middle of it."""
    calm, known = two_rounds[0], set[str]()
    for kill_at in (33, 47):
        environment = {**os.environ, "KILL_AT": str(kill_at)}
        command = [*COMMAND, "--budget", "64", "--data", "data"]
        assert subprocess.run(command, env=environment, capture_output=True, check=False).returncode == -signal.SIGKILL
        assert sum(trained(folder).values()) == kill_at
        ingest(Records.open(folder / "data"))
        with Store.open(folder / "data") as store:
            rows = store.sql("select x, y, seed from coin").rows()
        assert len(rows) >= 32
        known |= {f"{row.x} {row.y} {row.seed}" for row in rows}
    done = refine(TWO_ROUNDS)
    assert (done.cells, done.missing) == (64, 0)
    assert set(trained(folder)) == set(trained(calm))
    assert all(trained(folder)[cell] == 1 for cell in known)
    assert chosen(folder / "data") == chosen(calm / "data")


def test_ray_chooses_as_the_loop_does(folder: Path, two_rounds: tuple[Path, Any]) -> None:
    """Where rounds wait for each other, all of them are the same."""
    waited = refine(TWO_ROUNDS, local=False, ray=True, wait_rounds=True, workers=2)
    assert waited.missing == 0
    assert chosen(folder / "data") == chosen(two_rounds[0] / "data")


@pytest.mark.parametrize("ray", [pytest.param(True, marks=pytest.mark.slow), False])
def test_rounds_may_overlap(folder: Path, two_rounds: tuple[Path, Any], ray: bool) -> None:
    """By Ray, or by worker processes of the driver's own: cells are trained once, within the budget."""
    copied(two_rounds, folder)  # worker processes train what is known to be short
    overlapped = refine("refine.budget=110", local=False, ray=ray, workers=2)
    assert overlapped.missing == 0
    assert overlapped.cells == sum(trained(folder).values()) <= 110
    assert len(chosen(folder / "data")) > 2
    assert max(trained(folder).values()) == 1


def test_cells_without_an_answer_are_no_no(folder: Path) -> None:
    """Failed cells are spent but no label, points among them stay unknown, and `status = failed` makes them one."""
    result = refine("base.blank=0.5", TWO_ROUNDS)
    assert result.failed > 0
    with Store.open(folder / "data") as store:
        (row,) = store.sql("select sum(n) as labels from share_fit").rows()
    assert row.labels == result.ok
    other = refine("base.blank=0.5", "refine.outcome=status = failed", "refine.budget=300", *SMALL)
    assert other.refined.ended == "accuracy"
    with Store.open(folder / "data") as store:
        rows = store.sql("select point, verdict from share_fit where outcome = 'status = failed'").rows()
    found = [(row.verdict, row.point // 8 > 3) for row in rows if row.verdict in ("above", "below")]
    assert sum((verdict == "above") == fails for verdict, fails in found) >= 0.95 * len(found)


def test_outcomes_of_every_kind(folder: Path, two_rounds: tuple[Path, Any]) -> None:
    """A category against the rest and a number that crosses a level ask of the same cells what the yes/no does."""
    for name, outcome in (("level", "height > 0"), ("word", "side = up"), ("middle", "median height = 0")):
        refine(TWO_ROUNDS, f"refine.outcome={outcome}", data=name)
        assert chosen(folder / name) == chosen(two_rounds[0] / "data")
    both = refine("refine.budget=40", "refine.outcome=[heads, height > 0.3]", data="both")
    assert [outcome for outcome, _, _ in both.refined.outcomes] == ["heads", "height > 0.3"]


def test_outcomes_of_the_sweep_file(folder: Path) -> None:
    """They can be refined like any other."""
    (folder / "coins.yaml").write_text(FILE + "outcomes: {high: height > 0.2}\n")
    result = refine("refine.outcome=high", "refine.budget=40")
    with Store.open(folder / "data") as store:
        (row,) = store.sql("select sum(n) as labels, sum(k) as yes from share_fit").rows()
    assert 0 < row.yes < row.labels == result.cells == 40


def test_plan_shows_the_first_round_and_the_budget(folder: Path, ended: tuple[Path, Any]) -> None:
    """It writes nothing, and the run then trains what it showed."""
    sweep, records = Sweep.load("coins.yaml"), Records.open(folder / "data")
    planned = plan(sweep, records, RunOptions(refine=True, pilot=False))
    assert records.plans() == []
    assert planned.decision["asked"] == planned.missing == 32
    assert planned.decision["budget"] == round(0.2 * 1536)
    assert decisions(ended[0] / "data")[0]["chosen"] == 32


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("refine.budget=nothing", "'nothing' is no budget; allowed: a share of the grid's cells such as 20 %"),
        ("refine.budget=0", "a budget of 0 cells trains nothing"),
        ("refine.share=1.5", "refine.share must be less than 1, got 1.5"),
        ("refine.apart=[z]", "'z' is no axis of this sweep.*allowed: x, y"),
        ("refine.sure=0.9", "unknown key 'refine.sure'"),
        ("refine.outcome=heads heads", "says no yes or no of a cell.*allowed: a yes/no outcome"),
    ],
)
def test_faults_of_the_section_are_told(folder: Path, override: str, message: str) -> None:
    """Each names its place and what is allowed, before anything is trained."""
    with pytest.raises(InputFaults, match=re.compile(message, re.DOTALL)):
        Sweep.load("coins.yaml", [override])


def test_an_outcome_of_another_kind_is_refused(folder: Path) -> None:
    """A number without a level is no label, and the message says how to write one."""
    with pytest.raises(SwingbyError, match=r"height'? is a number, and .*'height' does not go with it"):
        refine("refine.outcome=height")


def test_two_sweeps_are_not_refined_at_once(folder: Path) -> None:
    """They would share no budget."""
    from swingby.run.driver import run

    sweeps = [Sweep.load("coins.yaml"), Sweep.load("coins.yaml", ["seeds.count=3"])]
    with pytest.raises(SwingbyError, match="2 sweeps cannot be refined in one run"):
        run(sweeps, folder / "data", RunOptions(refine=True, local=True))


def test_the_method_of_a_sweep(folder: Path) -> None:
    """It takes the keys of the section, and its results are those of a run."""
    results = Sweep.load("coins.yaml").refine(folder / "data", budget=32, wrong=0.001, local=True, pilot=False)
    assert results.refined.requested == 32
    assert results.polars().height == 32
    with Store.open(folder / "data") as store:
        (one,) = refinements(store).values()
    assert one.ended == "budget"
    with pytest.raises(InputFaults, match=r"refine\.within must be greater than 0"):
        Sweep.load("coins.yaml").refine(folder / "data", within=0.0)


def test_recorded_results_of_a_refined_sweep(folder: Path, two_rounds: tuple[Path, Any]) -> None:
    """They come back with the same cells and outcomes, and with how the refinement stood."""
    first = copied(two_rounds, folder)
    packed = pack(folder / "data", "coins", folder, whole=True)
    unpack(folder / "other", packed.path)
    query = "select m.point, e.seed, e.heads from members m join coin e using (cell_id) order by all"
    with Store.open(folder / "data") as store, Store.open(folder / "other") as other:
        assert other.sql(query).arrow().equals(store.sql(query).arrow())
        (one,) = refinements(other).values()
    assert one == first.refined
    assert packed.cells == 64


def test_points_without_cells_are_known(folder: Path) -> None:
    """The store tells where every point of a filtered grid stands, as it does once the whole grid is planned."""
    where = "where=y > x - 0.3 and x + y > 0.2"
    refine(where, "refine.budget=32", "seeds.count=2", *SMALL)
    run_sweep(Sweep.load("coins.yaml", [where, "seeds.count=2", *SMALL]), folder / "whole", local=True, pilot=False)
    query = "select sweep_id from sweeps"
    tables = list[Any]()
    for data in ("data", "whole"):
        with Store.open(folder / data) as store:
            (sweep,) = store.sql(query).rows()
            tables.append(store.points("coin", sweep.sweep_id).select(["point", "x", "y"]))
    assert tables[0].equals(tables[1])


def test_a_refined_sweep_is_confirmed_by_its_budget(folder: Path) -> None:
    """A grid larger than what is allowed may be refined within a budget that is allowed, and no more."""
    sweep = Sweep.load("coins.yaml", ["refine.budget=90"], 100)
    assert len(sweep) == 1536
    with pytest.raises(InputFaults, match="1,536 cells before `where`, 101 of them by the budget of refine"):
        Sweep.load("coins.yaml", ["refine.budget=101"], 100)
    command = [*COMMAND, "--no-refine", "--confirm-above", "400"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "the whole grid of 'coins' has 1,536 cells; allowed: 400, or more with --confirm-above 1536" in done.stderr


def test_rounds_of_one_run_may_commit_and_those_of_an_older_one_not(folder: Path, two_rounds: tuple[Path, Any]) -> None:
    """Rounds overlap, so that all plans of the newest run are current, and no other is."""
    copied(two_rounds, folder)
    records = Records.open(folder / "data")
    first = [records.read_plan(name) for name in records.plans()]
    assert len(first) > 2
    assert {plan.plan_id for plan in newest_plans(records, [first[0].sweep_id])} == {plan.plan_id for plan in first}
    for one in first:
        check_current(records, one)
    refine("refine.budget=80")
    for one in first:
        with pytest.raises(SupersededError, match="another run has taken over"):
            check_current(records, one)
    newest = [records.read_plan(name) for name in records.plans() if name not in {one.plan_id for one in first}]
    for one in newest:
        check_current(records, one)


def test_what_is_taken_back_is_asked_for_again(folder: Path, two_rounds: tuple[Path, Any]) -> None:
    """The same cells are trained once more, and the refinement ends as it did."""
    first = copied(two_rounds, folder)
    retract("data", ["coins"], "the coin was bent")
    again = refine(TWO_ROUNDS)
    assert set(trained(folder).values()) == {2}
    assert (again.cells, again.missing, again.trained) == (64, 0, 64)
    assert again.refined.outcomes[0][1] == first.refined.outcomes[0][1]
    assert refine("refine.budget=80").cells == 80
    assert sum(trained(folder).values()) == 64 + 80


def test_refinements_of_two_folders_unite(folder: Path, two_rounds: tuple[Path, Any]) -> None:
    """Cells that both have trained count once; a refinement goes on from all of them."""
    copied(two_rounds, folder)
    refine("refine.budget=80", data="other")
    here, there = ({cell for _, cells in chosen(data) for cell in cells} for data in ("data", "other"))
    merge("data", "other")
    with Store.open(folder / "data") as store:
        (sweep,) = store.sql("select cells, grid_cells from sweeps").rows()
        (rows,) = store.sql("select count(*) as n, count(distinct cell_id) as cells from coin").rows()
    assert sweep.cells == rows.n == rows.cells == len(here | there) == 80
    assert sweep.grid_cells == 1536
    grown = refine("refine.budget=100")
    assert (grown.cells, grown.trained) == (100, 20)


def test_more_seeds_at_every_point_are_refused(folder: Path, two_rounds: tuple[Path, Any]) -> None:
    """Narrow intervals everywhere are a question to a whole grid."""
    copied(two_rounds, folder)
    with pytest.raises(SwingbyError, match=r"'coins' is refined: 64 of the grid's 1,536 cells .* refine=False"):
        extend_seeds("coins.yaml", folder / "data", "heads", 0.1, 100, (), RunOptions(local=True), print)
    assert sum(trained(folder).values()) == 64
