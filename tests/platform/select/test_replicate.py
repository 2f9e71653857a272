"""Laws of extending a sweep: what is trained stays, seeds are added until the bound holds, runs become longer."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from swingby.cli import app
from swingby.errors import SwingbyError
from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.extend import extend_seeds, last_seeds, longer, needed, with_seeds
from swingby_analysis.stats import shares

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
        low, high = shares.wilson(round(share * 3000), 3000)
        assert (high - low) / 2 > half_width
        return
    widths = [(high - low) / 2 for low, high in (shares.wilson(round(share * n), n) for n in (count, count - 1))]
    assert widths[0] <= half_width
    assert count == start or widths[1] > half_width


def test_seeds_are_added_until_the_interval_is_narrow(tmp_path: Path) -> None:
    """More seeds of every point, none trained twice, and the last number is one at which the bound holds."""
    file, data, said = tmp_path / "tiny.yaml", tmp_path / "data", list[str]()
    file.write_text(TINY)
    run_sweep(Sweep.load(file, ["seeds.count=2"]), data, local=True, progress=Progress())
    assert last_seeds(str(file), data, ()) == ["seeds.count=2"]
    count = extend_seeds(str(file), data, "non_monotone", 0.3, 60, (), ["--local"], said.append)
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
    widths = [(high - low) / 2 for low, high in (shares.wilson(row.k, row.n) for row in rows)]
    assert max(widths) <= 0.3
    assert said[0].startswith("2 seeds: the widest interval is +- ")
    assert said[-1].startswith(f"{count} seeds: the widest interval is +- ")


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
    with pytest.raises(SwingbyError, match="more than --most 100 seeds"):
        needed(0.5, 0.01, 1, 100)
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY)
    for outcome, width, told in (
        (None, 0.1, "name the outcome"),
        ("bump_height", 0.1, "has no share"),
        ("retreat", 0.5, "no bound"),
    ):
        with pytest.raises(SwingbyError, match=told):
            extend_seeds(str(file), tmp_path / "data", outcome, width, 10, (), (), print)
    assert not (tmp_path / "data").exists()


def test_what_never_ran_is_not_extended(tmp_path: Path) -> None:
    """A sweep that was not run here, or with other points, is an error that says how to run it."""
    file, data = tmp_path / "tiny.yaml", tmp_path / "data"
    file.write_text(TINY)
    run_sweep(Sweep.load(file, ["base.n=32", "seeds.count=1"]), data, local=True, progress=Progress())
    with pytest.raises(SwingbyError, match="nothing to extend: swingby run"):
        last_seeds(str(file), data, ())
    assert last_seeds(str(file), data, ("base.n=32",)) == ["base.n=32", "seeds.count=1"]
    assert last_seeds(str(file), data, ("base.n=32", "seeds.count=7")) == ["base.n=32", "seeds.count=7"]
    assert with_seeds(("base.n=32", "seeds.count=7"), 9) == ["base.n=32", "seeds.count=9"]


def test_the_verb_wants_one_way() -> None:
    """Neither or both of --steps and --half-width is an error that says what to write."""
    for options in ([], ["--steps", "2", "--half-width", "0.1"]):
        result = CliRunner().invoke(app, ["extend", "transient-memorization", *options])
        assert result.exit_code == 2
        assert "--steps FACTOR" in result.output
