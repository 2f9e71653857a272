"""Phenomena: what a declaration must say, what is counted of a store, and what the page owes to its reader."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from swingby.cli import app
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.run.outcomes import derive
from swingby.store import Store
from swingby_analysis.phenomena.catalogue import Phenomenon, every_phenomenon, parse, phenomena
from swingby_analysis.phenomena.counting import counted, sweeps_of, tells_nothing
from tests.support import synthetic_sim

WHOLE = "-- title: Stages\n-- experiment: mine\n-- means: One after the other.\nstages >= 2;\n"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a finished square sweep of made-up curves."""
    folder = tmp_path_factory.mktemp("phenomena") / "data"
    derive(synthetic_sim.write(folder, synthetic_sim.square("small", 3, 4)))
    return folder


def asked(expression: str) -> Phenomenon:
    """A phenomenon of `sim` with this expression."""
    return Phenomenon("made-up", "Made up", "sim", "A test asks.", expression)


def test_a_declaration_is_read() -> None:
    """The name of the file, or what it says instead, the keys, and the expression without its semicolon."""
    stages = Phenomenon("stages", "Stages", "mine", "One after the other.", "stages >= 2")
    assert parse(WHOLE, "stages.sql") == stages
    assert parse(f"-- phenomenon: stages\n{WHOLE}", "of-mine.sql") == stages


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (WHOLE.replace("title", "titel"), "no key 'titel'; did you mean 'title'"),
        (WHOLE.replace("-- title: Stages\n", ""), "it lacks title"),
        (WHOLE.replace("-- title: Stages\n", "-- title: a\n-- title: b\n"), "a key stands twice"),
        (WHOLE.replace("-- means: One after the other.\n", ""), "it lacks means"),
        (WHOLE.replace("stages >= 2;\n", ""), "an SQL expression"),
    ],
)
def test_a_faulty_declaration_is_named(text: str, fault: str) -> None:
    """The message names the file and what is wrong."""
    with pytest.raises(SwingbyError, match=fault) as told:
        parse(text, "stages.sql")
    assert "stages.sql" in str(told.value)


def test_every_installed_declaration_can_be_asked() -> None:
    """Each is about an installed experiment, and its words are columns of it or of its detectors, or SQL."""
    for item in every_phenomenon():
        assert item.experiment in registry.offered(registry.EXPERIMENTS), item.slug
    with pytest.raises(SwingbyError, match="did you mean 'swing-by'"):
        phenomena(["swingby"])


def test_a_general_detector_that_saw_no_run_tells_nothing(data: Path) -> None:
    """Its columns are not in the store, and that is no fault; those of an experiment's own detector are needed."""
    with Store.open(data) as store:
        assert tells_nothing(store.names(), asked("regime = 'minimum'"))
        assert not tells_nothing(store.names(), asked("transient_memorization"))
        assert not tells_nothing([], asked("transient_memorization"))


def test_counts_are_those_of_the_rows(data: Path) -> None:
    """Runs and points are counted as by hand; a run that does not tell is counted nowhere."""
    expression = "case when seed = 0 then null else transient_memorization end"
    with Store.open(data) as store:
        (sweep,) = sweeps_of(store, "sim")
        found = counted(store, asked(expression), sweep)
        rows = store.sql(
            "select point, transient_memorization as shows from members join outcomes_descents using (cell_id) "
            "join sim using (cell_id) where seed > 0 and transient_memorization is not null"
        ).polars()
    assert found is not None
    points = rows.group_by("point").agg(n=pl.len(), k=pl.col("shows").sum())
    assert (found.telling, found.shown) == (len(rows), int(rows["shows"].sum()))
    assert found.every == points.filter(pl.col("k") == pl.col("n")).height
    assert found.most == points.filter((2 * pl.col("k") > pl.col("n")) & (pl.col("k") < pl.col("n"))).height
    assert found.few == points.filter((2 * pl.col("k") <= pl.col("n")) & (pl.col("k") > 0)).height
    assert found.none == points.filter(pl.col("k") == 0).height
    assert found.points == points.height
    assert found.seeds == (int(points["n"].to_numpy().min()), int(points["n"].to_numpy().max()))


def test_the_axis_that_decides_is_named(data: Path) -> None:
    """Of an expression in one parameter alone this one explains all, and towards the side that it says."""
    with Store.open(data) as store:
        (sweep,) = sweeps_of(store, "sim")
        axes = store.sql("select min(mu[2]) as low, max(mu[2]) as high from sim").rows()[0]
        found = counted(store, asked(f"mu[2] > {(axes.low + axes.high) / 2}"), sweep)
        fallen = counted(store, asked(f"mu[2] < {(axes.low + axes.high) / 2}"), sweep)
        assert counted(store, asked("null::boolean"), sweep) is None
    assert found is not None
    assert found.mover is not None
    assert (found.mover.axis, found.mover.rises) == ("mu.1", True)
    assert found.mover.share == pytest.approx(1.0)
    assert fallen is not None
    assert fallen.mover is not None
    assert fallen.mover.rises is False


def test_the_page_says_what_the_folder_has(data: Path, tmp_path: Path) -> None:
    """One command writes page, figure and Markdown; what is not there is a clear error, and leaves nothing."""
    out, runner = tmp_path / "out", CliRunner()
    told = runner.invoke(app, ["phenomena", "--data", str(data), "--out", str(out), "--markdown", str(tmp_path / "a")])
    assert told.exit_code == 0, told.output
    text = (out / "phenomena" / "phenomena.html").read_text()
    assert "small" in text
    assert "Swing-by" in text
    assert (out / "phenomena" / "swing-by.png").stat().st_size > 5000
    assert "| `sim` | `small` |" in (tmp_path / "a").read_text()
    wrong = runner.invoke(app, ["phenomena", "--data", str(data), "--out", str(tmp_path / "no"), "--sweep", "smal"])
    assert wrong.exit_code == 2
    assert "'smal'; allowed: small" in wrong.output
    assert not (tmp_path / "no").exists()
