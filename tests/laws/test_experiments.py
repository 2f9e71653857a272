"""Laws of every installed experiment: what its package imports, what finding it loads, and what its runs keep."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from swingby.model import registry
from swingby.model.experiment import Experiment
from swingby.run.driver import run
from swingby.run.options import RunOptions
from swingby.store.lookup import sweep_rows
from swingby.sweepfile.sweep import Sweep
from tests.laws.conftest import Trained
from tests.support import experiment_laws
from tests.support.places import ROOT

HOUSE = ROOT / "sweeps" / "swingby_sweeps"
SHARED = "dynamics"
EXPERIMENTS = sorted(registry.offered(registry.EXPERIMENTS))
EXAMPLES = [
    # Laws of one experiment run in one process, which imports what trains it, and compare some of the same runs.
    pytest.param(name, sweep, id=f"{name}-{sweep.name}", marks=pytest.mark.xdist_group(f"laws of {name}"))
    for name in EXPERIMENTS
    for sweep in experiment_laws.examples(name)
]
LOOP = RunOptions(local=True, pilot=False)
RAY = RunOptions(workers=1, pilot=False)
"""One worker, which imports once what trains each of them; several are tried in tests of the platform."""
PACKAGES = sorted(path.name for path in HOUSE.iterdir() if (path / "__init__.py").is_file())


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_stands_alone(package: str) -> None:
    """Its modules import their own folder relatively, and of the other packages beside it only the shared dynamics."""
    found = []
    for path in sorted((HOUSE / package).rglob("*.py")):
        depth = len(path.relative_to(HOUSE / package).parts)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level > depth:
                found.append(f"{path}:{node.lineno} leaves its package")
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            for name in names:
                head, _, rest = name.partition(".")
                if head == "swingby_sweeps" and (rest.partition(".")[0] != SHARED or package == SHARED):
                    found.append(f"{path}:{node.lineno} imports {name}")
    assert found == []


def loaded(code: str) -> set[str]:
    """The names of all modules that are loaded after the code ran in a new process."""
    tell = "import json, sys; print(json.dumps([name for name in sys.modules if '.' not in name or 'detect' in name]))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{tell}"], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_its_numbers_are_pinned(name: str) -> None:
    """Tests hold the numbers of some of its cells, so that its `stream_version` says what changed."""
    assert registry.experiment(name).pinned


def test_an_experiment_is_found_without_what_trains_it() -> None:
    """The class, parameters and columns of each load no torch, no numba and no altair: a page reads them."""
    code = """
import sys
from swingby.model import registry
for name in registry.offered(registry.EXPERIMENTS):
    registry.experiment(name)
    assert not {"torch", "numba", "altair", "diffusers", "accelerate"} & set(sys.modules), name
"""
    assert "torch" not in loaded(code)


def test_a_detector_needs_nothing_that_trains() -> None:
    """A page runs detectors, and loads no torch for them."""
    code = """
import sys
from swingby.model import registry
for name in registry.offered(registry.DETECTORS):
    registry.detector(name)
    assert "torch" not in sys.modules, name
"""
    assert "torch" not in loaded(code)


def test_a_worker_that_trains_draws_and_detects_nothing(tmp_path: Path) -> None:
    """Training a batch loads no altair and no detector."""
    code = """
from swingby.model import registry
from swingby.model.cell import Point
from swingby.model.experiment import Batch, Recording
sim = registry.experiment("sim")
params = sim.Params(**{**sim.presets["paper"]({}), "d": 2, "n": 8, "epochs": 1, "batch_size": 4})
list(sim.run(Batch((Point("sim", sim.stream_version, params).cell(0),), Recording(points=3))))
"""
    found = loaded(code)
    assert "torch" in found
    assert "altair" not in found
    assert not [name for name in found if ".detect" in name]


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Rounding hangs on the number of threads, and threads of two tests at once wait for each other."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_it_brings_examples(name: str) -> None:
    """A package has small sweeps on which the laws are tried: at least one with several cells."""
    assert any(len(sweep) > 1 for sweep in experiment_laws.examples(name))


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("law", experiment_laws.LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(("name", "sweep"), EXAMPLES)
def test_law(name: str, sweep: Sweep, law: Callable[[Experiment, Sweep], None]) -> None:
    """Every law of `experiment_laws` on every example of every installed experiment."""
    law(registry.experiment(name), sweep)


@pytest.mark.timeout(600)
@pytest.mark.usefixtures("one_thread")
@pytest.mark.xdist_group("ray")
def test_ray_trains_what_the_for_loop_trains(tmp_path: Path, trained: Trained) -> None:
    """The first example of every experiment has equal rows by the for-loop and by Ray, whatever batches Ray makes."""
    examples = {name: experiment_laws.examples(name)[0] for name in EXPERIMENTS}
    others = [examples[name] for name in EXPERIMENTS if experiment_laws.made_up_of(name) is not None]
    done = [*run([*examples.values()], tmp_path / "ray", RAY), *run(others, tmp_path / "loop", LOOP)]
    assert [result.ok + result.diverged for result in done] == [len(one) for one in (*examples.values(), *others)]
    # By now other laws have trained most of them.
    folders = {name: trained(name)[0] for name in EXPERIMENTS if experiment_laws.made_up_of(name) is None}
    for name, sweep in examples.items():
        experiment = registry.experiment(name)
        kept = {"cell_id", "status", *experiment.scalars, *experiment.curves}
        by_loop, by_ray = (
            {row["cell_id"]: {key: row[key] for key in kept & row.keys()} for row in rows}
            for rows in (
                sweep_rows(data, sweep.name).to_pylist()
                for data in (folders.get(name, tmp_path / "loop"), tmp_path / "ray")
            )
        )
        experiment_laws.assert_close(experiment, list(sweep.cells()), by_loop, by_ray)
