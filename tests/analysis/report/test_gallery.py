"""The gallery: every figure of the paper has a sweep, and one page shows them all, drawn from what was trained."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.gallery import PAGE, figure_names, known_figures, write_gallery
from tests.support.command import swingby

FIGURES = ("2a", "2b", "2c", "3", "5", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18")
SHORT = ("seeds.count=2", "base.epochs=4", "base.n=500")


def test_every_figure_of_the_task_has_a_sweep() -> None:
    """One named sweep for each figure on the identity-mapping task, in the order of the paper."""
    assert figure_names(["sim"]) == [f"figure-{figure}" for figure in FIGURES]
    assert figure_names(("5", "figure-2a", "5")) == ["figure-5", "figure-2a"]
    assert figure_names(("5", "sim"))[:2] == ["figure-5", "figure-2a"]
    with pytest.raises(
        SwingbyError, match=r"no figure is called '2d'; did you mean 'figure-2.*or an experiment: .*sim"
    ):
        figure_names(("2d",))


def test_every_figure_belongs_to_an_experiment() -> None:
    """Every sweep of a figure is over an installed experiment, and without a name the command lists them all."""
    known = known_figures()
    assert {*known.values()} <= {*registry.offered(registry.EXPERIMENTS)}
    assert all(Sweep.load(name, confirm_above=None).experiment_name == experiment for name, experiment in known.items())
    result = swingby("figures")
    assert result.exit_code == 0
    assert all(name.removeprefix("figure-") in result.output for name in known)


@pytest.mark.parametrize("names", [["figure-13"], pytest.param(["figure-13", "figure-14"], marks=pytest.mark.slow)])
def test_a_gallery_shows_what_was_trained(names: list[str], tmp_path: Path) -> None:
    """Each sweep is trained once, has its report, and its pictures stand on a page that asks for nothing outside it."""
    data, out, said = tmp_path / "data", tmp_path / "out", list[str]()
    page = write_gallery(names, data, out, overrides=SHORT, run=["--local"], kinds=("svg",), say=said.append)
    assert page == out / PAGE
    text = page.read_text()
    for name in names:
        assert f'href="{name}/report.html"' in text
        assert (out / name / "report.html").is_file()
        assert list((out / name).glob("*.svg"))
        assert any(f"] {name}: " in line for line in said)
    assert text.count("<img ") == text.count('src="data:image/png;base64,') >= len(names)
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', text)
    with Store.open(data) as store:
        cells = store.sql("select count(*) as n from sim").rows()[0].n
        assert store.sql("select sum(cells) as n from shards").rows()[0].n == cells


def test_without_training_a_missing_sweep_is_named(tmp_path: Path) -> None:
    """--no-run draws what there is; a figure whose sweep is not there is an error that says how to train it."""
    data, options = tmp_path / "data", ["--no-run", "--set", "seeds.count=2", "--out", str(tmp_path / "out")]
    run_sweep(Sweep.load("figure-5", ["seeds.count=1", "base.gd_steps=10"]), data, local=True, progress=Progress())
    result = swingby("figures", "5", "--data", data, *options)
    assert result.exit_code == 2
    assert "swingby figures figure-5 --set seeds.count=2" in result.output
    assert not (tmp_path / "out").exists()
