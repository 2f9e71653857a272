"""Metrics of features as curves of an experiment that is a function, in both forms."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swingby.features
from swingby import Store, Sweep
from swingby.function.handle import CellHandle, CellsHandle, NotFiniteError
from swingby.function.values import MisuseError
from swingby.model.cell import Cell, Point
from swingby.model.experiment import Recording
from swingby.model.params import Params
from swingby_sweeps.dynamics import metrics
from swingby_sweeps.dynamics.metrics import COLUMNS, FeaturesWarning, measure
from tests.support.places import ROOT

SPECTRAL = [name for name in COLUMNS if name.startswith(("d_eff", "quality", "utilization", "constant"))]


class NoParams(Params):
    """No parameter at all."""


WITHOUT = """
import swingby.features
from swingby.errors import SwingbyError
from swingby.function.handle import CellHandle
from swingby.model.cell import Cell, Point
from swingby.model.experiment import Recording
from swingby.model.params import Params

cell = CellHandle(Cell(Point("none", 1, Params(), "common"), 0), Recording(), 9)
cell.record(0, loss=1.0)
for use in (lambda: swingby.features.measure, lambda: cell.features(0, [[1.0]], [[1.0]], [0])):
    try:
        print(use())
    except SwingbyError as error:
        print(error)
"""


def test_the_metrics_are_those_of_an_installed_package() -> None:
    """`swingby.features` has every public name of the package that offers them, and its own objects."""
    public = [name for name in dir(metrics) if not name.startswith("_")]
    assert set(dir(swingby.features)) >= set(public) >= {"measure", "kappa", "spectrum", "collapse", "COLUMNS"}
    assert all(getattr(swingby.features, name) is getattr(metrics, name) for name in public)


def test_without_such_a_package_an_error_says_so(tmp_path: Path) -> None:
    """Where no installed package offers metrics, whoever asks for them reads it, and all else of a cell works."""
    (tmp_path / "swingby_sweeps").mkdir()
    (tmp_path / "swingby_sweeps" / "__init__.py").write_text(
        "from swingby.model.package import Package\nPACKAGE = Package()\n"
    )
    path = os.pathsep.join(map(str, (tmp_path, ROOT / "platform")))
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert [line.partition(";")[0] for line in done.stdout.splitlines()] == [
        "no installed package has metrics of features"
    ] * 2


def handle(last: int = 9, also_cells: int = 0) -> Any:
    cells = tuple(
        Cell(Point("none", 1, NoParams(dtype="float64"), "common"), seed) for seed in range(max(1, also_cells))
    )
    recording = Recording(steps="every")
    return CellsHandle(cells, recording, last) if also_cells else CellHandle(cells[0], recording, last)


def net(seed: int) -> tuple[np.ndarray, ...]:
    """Features, outputs, labels and weights."""
    rng = np.random.default_rng(seed)
    labels, weights = np.arange(60) % 3, rng.normal(size=(3, 8))
    phi = rng.normal(size=(60, 8)) + rng.normal(size=(3, 8))[labels]
    return phi, phi @ weights.T, labels, weights


def test_metrics_stand_beside_what_is_recorded() -> None:
    """Before or after record; null at steps without them; by one sample or by two."""
    cell = handle()
    phi, outputs, labels, weights = net(0)
    cell.record(0, loss=1.0)
    cell.features(0, phi, outputs, labels, weights, sample="train")
    cell.features(0, phi[:40], outputs[:40], labels[:40], sample="test")
    cell.record(1, loss=0.5)
    cell.features(2, phi, outputs, labels, weights, sample="train")
    cell.record(2, loss=0.25)
    assert cell.track.steps == [0, 1, 2]
    assert cell.track.curves["loss"] == [1.0, 0.5, 0.25]
    mine = measure(phi, outputs, labels, weights, spectrum=False)
    assert cell.track.curves["train_kappa_cka"] == [mine.kappa_cka, None, mine.kappa_cka]
    assert cell.track.curves["nc3"] == [mine.nc3, None, mine.nc3]
    assert cell.track.curves["kappa_cka"] == [measure(phi[:40], outputs[:40], labels[:40]).kappa_cka, None, None]
    assert not {*SPECTRAL, "train_nc1"} & {*cell.track.curves}


def test_spectra_are_kept_where_they_are_asked_for() -> None:
    cell = handle()
    cell.features(3, *net(1), spectrum=True)
    assert {*cell.track.curves} == {*COLUMNS}
    assert cell.track.steps == [3]


def test_a_class_without_a_point_leaves_null() -> None:
    cell = handle()
    phi, outputs, labels, weights = net(2)
    some = labels < 2
    cell.features(0, phi[some], outputs[some], labels[some], weights)
    assert cell.track.curves["nc1"] == [None]
    assert cell.track.curves["kappa_cka"][0] > 0


def test_few_points_a_feature_are_warned_of_once_a_cell() -> None:
    """Of the first such sample of each cell, or of a batch of cells."""
    phi, outputs, labels, _ = net(2)
    few = phi[:24], outputs[:24], labels[:24]
    for cell, arrays in ((handle(), few), (handle(also_cells=2), [np.array([each, each]) for each in few])):
        with pytest.warns(FeaturesWarning, match="24 points for 8 features"):
            cell.features(0, *arrays)
        cell.features(1, *arrays)


def test_fewer_points_than_classes_are_refused() -> None:
    """Outputs at 2 points span a single direction, of which features would be called the minimum."""
    phi, outputs, labels, _ = net(2)
    few = phi[:2], outputs[:2], labels[:2]
    with pytest.raises(MisuseError, match=r"features\(1\): there are 2 points for 3 classes; each class needs"):
        handle().features(1, *few)
    with pytest.raises(MisuseError, match="there are 2 points for 3 classes"):
        handle(also_cells=2).features(1, *(np.array([each, each]) for each in few))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda c, a: c.features(2, *a), r"step 2 after step 3; steps increase"),
        (lambda c, a: c.features(4, *a, sample="best"), r"sample='best'; allowed: None, 'train', 'test'"),
        (lambda c, a: c.features(4, *a, sample="test"), r"weights for test points"),
        (lambda c, a: c.features(4, a[0][:-1], *a[1:]), r"features\(4\): phi has shape \(59, 8\)"),
        (lambda c, a: c.record(3, loss=1.0), r"record\(\) was given loss at step 3 twice"),
        (lambda c, a: c.record(2, other=1.0), r"record\(\) was given step 2 after step 3"),
        (lambda c, a: c.record(4, Loss=1.0), r"'Loss' has the name of the recorded 'loss'"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Any, text: str) -> None:
    cell = handle()
    cell.record(3, loss=1.0)
    with pytest.raises(MisuseError, match=text):
        call(cell, net(0))


def test_one_name_is_one_column() -> None:
    cell, arrays = handle(), net(0)
    cell.record(0, nc1=1.0)
    with pytest.raises(MisuseError, match="nc1 is given by record\\(\\) and by features"):
        cell.features(0, *arrays)
    cell = handle()
    cell.features(0, *arrays)
    with pytest.raises(MisuseError, match="nc1 is given by record\\(\\) and by features"):
        cell.record(0, nc1=1.0)


def test_features_that_are_not_finite_end_the_cell() -> None:
    cell, (phi, outputs, labels, weights) = handle(), net(0)
    with pytest.raises(NotFiniteError):
        cell.features(0, phi, outputs * np.inf, labels, weights)
    assert {value for curve in cell.track.curves.values() for value in curve} == {None}
    cells = handle(also_cells=2)
    bad = np.array([outputs, outputs * np.inf])
    cells.features(0, np.array([phi, phi]), bad, np.array([labels, labels]))
    assert cells.track.curves["kappa_cka"][0][1] is None
    assert cells.track.curves["kappa_cka"][0][0] == measure(phi, outputs, labels).kappa_cka


TRAINING = '''
import numpy as np
from swingby import experiment

rng = np.random.default_rng(0)
LABELS = np.arange(150) % 3
X = rng.normal(size=(150, 6)) + 2 * rng.normal(size=(3, 6))[LABELS]
Y = np.eye(3)[LABELS]


@experiment
def shallow(cell, lr: float = 0.01, steps: int = 200):
    """A ReLU layer and a linear one on three clusters."""
    draws = cell.numpy("init")
    a, b = draws.normal(size=(6, 16)) / 6**0.5, draws.normal(size=(16, 3)) / 4
    for step in range(steps + 1):
        phi = np.maximum(X @ a, 0)
        outputs = phi @ b
        cell.record(step, loss=((outputs - Y) ** 2).mean(), train_accuracy=(outputs.argmax(1) == LABELS).mean())
        cell.features(step, phi, outputs, LABELS, b.T)
        slope = (outputs - Y) / 50
        a, b = a - lr * 10 * X.T @ ((slope @ b.T) * (phi > 0)), b - lr * 10 * phi.T @ slope
    return {"accuracy": (outputs.argmax(1) == LABELS).mean()}


@experiment(batched=True)
def together(cells, lr: float = 0.01, steps: int = 200):
    """The same for all cells at once."""
    draws = [cell.numpy("init") for cell in cells]
    a, b = (np.array(each) for each in zip(*[
        (d.normal(size=(6, 16)) / 6**0.5, d.normal(size=(16, 3)) / 4) for d in draws]))
    labels = np.tile(LABELS, (len(cells), 1))
    for step in range(steps + 1):
        phi = np.maximum(X @ a, 0)
        outputs = phi @ b
        cells.record(step, loss=((outputs - Y) ** 2).mean((1, 2)), train_accuracy=(outputs.argmax(2) == LABELS).mean(1))
        cells.features(step, phi, outputs, labels, b.swapaxes(1, 2))
        slope, rate = (outputs - Y) / 50, 10 * lr[:, None, None]
        back = (slope @ b.swapaxes(1, 2)) * (phi > 0)
        a, b = a - rate * (X.T @ back), b - rate * (phi.swapaxes(1, 2) @ slope)
    return {"accuracy": (outputs.argmax(2) == LABELS).mean(1)}
'''
SWEEP = """
name: {name}
experiment: clusters.py:{name}
axes: {{lr: [0.0001, 0.002]}}
base: {{steps: 200}}
record: {{steps: log, points: 30}}
seeds: 2
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clusters")
    (folder / "clusters.py").write_text(TRAINING)
    for name in ("shallow", "together"):
        (folder / f"{name}.yaml").write_text(SWEEP.format(name=name))
        Sweep.load(folder / f"{name}.yaml").run(folder / "data", local=True)
    return folder / "data"


def test_both_forms_record_the_same_metrics(data: Path) -> None:
    query = "select seed, lr, step, {} from {} order by lr, seed"
    columns = "kappa_cka, evenness, nc1, nc2, nc3, nc4"
    with Store.open(data) as store:
        alone, together = (store.sql(query.format(columns, name)).rows() for name in ("shallow", "together"))
    assert len(alone) == 4
    for one, other in zip(alone, together, strict=True):
        for name in ("step", *columns.split(", ")):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-6, abs=1e-9)
    assert max(row.kappa_cka[-1] for row in alone) < max(row.kappa_cka[0] for row in alone)


def test_the_readmes_digits_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pair of files in docs/last-layer-features.md, at fewer steps: what is measured, and its outcomes."""
    pytest.importorskip("sklearn")
    monkeypatch.setattr("swingby.run.executor.cores", lambda: 1)  # two threads wait for each other where others train
    own = (ROOT / "docs" / "last-layer-features.md").read_text()
    train, sweep = (re.findall(rf"```{kind}\n(.*?)```", own, re.DOTALL)[0] for kind in ("python", "yaml"))
    (tmp_path / "digits.py").write_text(train)
    (tmp_path / "digits-net.yaml").write_text(sweep)
    few = Sweep.load(tmp_path / "digits-net.yaml", ["axes={decay: [0, 0.01]}", "base={steps: 200}", "seeds=1"])
    assert few.run(tmp_path / "data", local=True).ok == 2
    with Store.open(tmp_path / "data") as store:
        found = store.sql("from digits_net join outcomes_features using (cell_id) order by decay").rows()
    assert [row.regime for row in found] == ["uneven", "uneven"]
    assert found[0].end_kappa > found[1].end_kappa
    assert found[0].end_kappa == found[0].kappa_cka[-1]
    assert found[0].nc3[-1] is not None
    assert len(found[0].train_kappa_cka) == len(found[0].step) == 30


def test_the_readmes_arrays_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """The example on own arrays in docs/last-layer-features.md prints what stands below it."""
    own = (ROOT / "docs" / "last-layer-features.md").read_text()
    code, said = re.findall(r"```python\n([^`]*)```\n\n```\n(.*?)```", own, re.DOTALL)[-1]
    exec(compile(code, "README", "exec"), {})
    assert capsys.readouterr().out == said
