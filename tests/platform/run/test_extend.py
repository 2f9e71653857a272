"""Laws of extending a sweep: what is trained stays, seeds are added until the bound holds, runs become longer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby.errors import SwingbyError
from swingby.run.driver import run_sweep
from swingby.run.extend import ROUNDS, Share, extend_seeds, last_seeds, longer, narrowed, needed, with_seeds
from swingby.run.options import RunOptions
from swingby.run.progress import Progress
from swingby.select.intervals import wilson
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep
from tests.support.command import swingby

TINY = """
name: tiny
experiment: sim
preset: authors
base: {model: linear, d: 2, width: 2, n: 64, epochs: 10, lr: 0.05}
axes: {layers: [2, 3]}
seeds: 3
"""


@given(st.floats(0, 1), st.floats(0.02, 0.4), st.integers(1, 500))
def test_the_number_of_seeds_is_enough_and_least(share: float, half_width: float, start: int) -> None:
    """At the number that is asked for the interval is narrow enough, and one seed fewer would not do."""
    try:
        count = needed(share, half_width, start, 3000)
    except SwingbyError:
        low, high = wilson(round(share * 3000), 3000)
        assert (high - low) / 2 > half_width
        return
    widths = [(high - low) / 2 for low, high in (wilson(round(share * n), n) for n in (count, count - 1))]
    assert widths[0] <= half_width
    assert count == start or widths[1] > half_width


@given(st.floats(0, 1), st.one_of(st.floats(0.01, 0.499), st.sampled_from([0.05, 0.1, 0.25])), st.integers(1, 400))
def test_the_search_for_the_number_of_seeds_misses_none(share: float, half_width: float, start: int) -> None:
    """The number that is asked for is the one that trying every number finds, though rounding makes widths jump."""
    counts = np.arange(start, 1200)
    low, high = wilson(np.round(share * counts), counts)
    enough = counts[(high - low) / 2 <= half_width]
    if len(enough):
        assert needed(share, half_width, start, 1199) == enough[0]
    else:
        with pytest.raises(SwingbyError, match="more than most=1199 seeds"):
            needed(share, half_width, start, 1199)


def test_a_bound_on_seeds_may_be_astronomic() -> None:
    """Neither memory nor time grows with `most`."""
    assert needed(0.5, 0.1, 1, 10**15) == 93
    assert needed(0.5, 1e-5, 1, 10**15) > 9 * 10**9


def test_seeds_are_added_until_the_interval_is_narrow(tmp_path: Path) -> None:
    """More seeds of every point, none trained twice, and the last number is one at which the bound holds."""
    file, data, said = tmp_path / "tiny.yaml", tmp_path / "data", list[str]()
    file.write_text(TINY)
    run_sweep(Sweep.load(file, ["seeds.count=2"]), data, local=True, pilot=False, progress=Progress())
    assert last_seeds(str(file), data, ()) == ["seeds.count=2"]
    count = extend_seeds(str(file), data, "non_monotone", 0.3, 60, (), RunOptions(local=True, pilot=False), said.append)
    assert 2 < count <= 60
    with Store.open(data) as store:
        per_point = store.sql("select layers, count(*) as n, count(distinct seed) as seeds from sim group by 1").rows()
        assert [(row.n, row.seeds) for row in per_point] == [(count, count)] * 2
        rows = store.sql(
            "select count(*) filter (where non_monotone) as k, count(non_monotone) as n "
            "from sim join outcomes_descents using (cell_id) group by layers"
        ).rows()
        trained = store.sql("select sum(cells) as cells from shards").rows()[0].cells
    assert trained == 2 * count
    widths = [(high - low) / 2 for low, high in (wilson(row.k, row.n) for row in rows)]
    assert max(widths) <= 0.3
    assert said[0].startswith("2 seeds: the widest interval is +- ")
    assert said[-1].startswith(f"{count} seeds: the widest interval is +- ")


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_all_rounds_share_one_start_of_ray(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ray is started for the first round and stays up for the others."""
    file, data, said = tmp_path / "tiny.yaml", tmp_path / "data", list[str]()
    file.write_text(TINY)
    run_sweep(Sweep.load(file, ["seeds.count=2"]), data, local=True, pilot=False, progress=Progress())
    options = RunOptions(workers=1, pilot=False)
    count = extend_seeds(str(file), data, "non_monotone", 0.2, 100, (), options, said.append)
    assert len(said) > 1
    assert capsys.readouterr().err.count("starting Ray on this machine") == 1
    with Store.open(data) as store:
        assert store.sql("select count(*) as n from sim").rows()[0].n == 2 * count


def test_longer_runs_repeat_the_shorter_ones() -> None:
    """Twice as long means twice the epochs (or steps), of the same points otherwise."""
    sweep = Sweep.parse(TINY, "tiny.yaml")
    twice = Sweep.parse(TINY, "tiny.yaml", longer(sweep, 2.0))
    steps = [(point.params.epochs, point.params.gd_steps) for point in twice.points]  # type: ignore[attr-defined]
    assert {epochs for epochs, _ in steps} == {20}
    flow = Sweep.parse(TINY, "tiny.yaml", ["base.drive=flow", "base.bias=false", "base.gd_steps=50"])
    assert longer(flow, 1.01) == ["base.gd_steps=51"]


def test_what_cannot_be_extended_is_refused(tmp_path: Path) -> None:
    """A factor of one, points that differ in length, a bound out of reach, no or an unknown outcome: each is told."""
    mixed = Sweep.parse(TINY, "tiny.yaml", ["axes.epochs=[5, 10]"])
    for sweep, factor, told in ((mixed, 2.0, r"differ in epochs \(5, 10\)"), (mixed, 1.0, "above 1")):
        with pytest.raises(SwingbyError, match=told):
            longer(sweep, factor)
    with pytest.raises(SwingbyError, match="more than most=100 seeds"):
        needed(0.5, 0.01, 1, 100)
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY)
    for outcome, width, told in (
        (None, 0.1, "name the outcome"),
        ("bump_height", 0.1, "has no share"),
        ("retreat", 0.5, "no bound"),
    ):
        with pytest.raises(SwingbyError, match=told):
            extend_seeds(str(file), tmp_path / "data", outcome, width, 10, (), RunOptions(), print)
    assert not (tmp_path / "data").exists()


def test_what_never_ran_is_not_extended(walk: Any) -> None:
    """A sweep that was not run here, or with other points, is an error that says how to run it."""
    file, data = walk.folder / "walks.yaml", walk.data
    file.write_text(walk.text(base={"length": 3}))
    run_sweep(Sweep.load(file, ["base.length=5", "seeds.count=1"]), data, local=True, pilot=False, progress=Progress())
    with pytest.raises(SwingbyError, match="nothing to extend: swingby run"):
        last_seeds(str(file), data, ())
    assert last_seeds(str(file), data, ("base.length=5",)) == ["base.length=5", "seeds.count=1"]
    assert last_seeds(str(file), data, ("base.length=5", "seeds.count=7")) == ["base.length=5", "seeds.count=7"]
    assert with_seeds(("base.n=32", "seeds.count=7"), 9) == ["base.n=32", "seeds.count=9"]


def test_the_verb_wants_one_way() -> None:
    """Neither or both of --steps and --half-width is an error that says what to write."""
    for options in ([], ["--steps", "2", "--half-width", "0.1"]):
        result = swingby("extend", "transient-memorization", *options)
        assert result.exit_code == 2
        assert "--steps FACTOR" in result.output


def test_rounds_end_where_the_widest_interval_is_narrow() -> None:
    """Seeds are added until the widest interval is narrow, each round with more, or the rounds are over."""
    counts, lines = list[int](), list[str]()

    def half(count: int) -> list[Share]:
        counts.append(count)
        return [Share(0, 0, count), Share(1, count // 2, count)]

    assert narrowed(half, 4, "waves", 0.2, 1000, lines.append) == counts[-1]
    assert counts == sorted(set(counts))
    assert lines[-1].startswith(f"{counts[-1]} seeds: the widest interval is +- ")
    assert lines[-1].endswith(f"at point 1 ({counts[-1] // 2} of {counts[-1]} show waves)")
    low, high = wilson(counts[-1] // 2, counts[-1])
    assert (high - low) / 2 <= 0.2
    lines.clear()
    with pytest.raises(SwingbyError, match="rounds did not reach"):
        narrowed(lambda count: [Share(0, 0, 0), Share(1, 1, 2)], 4, "waves", 0.01, 100_000, lines.append)
    assert len(lines) == ROUNDS
