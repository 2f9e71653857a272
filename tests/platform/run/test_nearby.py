"""Laws of training by worker processes of the driver: what is over before Ray would be up needs no Ray, whatever the
cells do; each cell has one row, and the driver outlives them."""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from swingby.errors import SwingbyError
from swingby.model.experiment import Resources
from swingby.run.drain import Drain
from swingby.run.driver import run_sweep
from swingby.run.executor import RAY_SECONDS, START_SECONDS, allows_nearby, workers_nearby
from swingby.run.options import RunOptions
from swingby.run.plan import Planner
from swingby.run.progress import Progress
from swingby.run.ray.session import Standby
from tests.support.places import MISBEHAVING
from tests.support.processes import children
from tests.support.waiting import awaited


@pytest.fixture(scope="module")
def measurements(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which walks were measured."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(MISBEHAVING))
        kit = importlib.import_module("misbehaving_runs").Kit(tmp_path_factory.mktemp("measured"))
        patch.setenv("TEST_LEDGER", str(kit.ledger))
        run_sweep(kit.sweep(name="first", axes={"width": [1]}, seeds=8), kit.data, local=True, progress=Progress())
        return kit.data


@pytest.fixture
def measured(walk: Any, measurements: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A copy of that folder; Ray, once asked for, is a failure."""
    shutil.copytree(measurements, walk.data)

    def begin(standby: Standby) -> None:
        raise AssertionError("Ray was started")

    monkeypatch.setattr(Standby, "begin", begin)
    return walk


class Heard(Progress):
    """A display that keeps its lines."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = list[str]()

    def line(self, text: str) -> None:
        self.lines.append(text)


def test_what_is_short_needs_no_ray(measured: Any) -> None:
    """A sweep that is forecast to take no time is trained by a process of the driver's own, and says so; each cell has
    one row, and the second run does no work."""
    sweep, heard = measured.sweep(axes={"rate": [0.5, 1.0]}, seeds=20), Heard()
    result = run_sweep(sweep, measured.data, ray=False, progress=heard)
    assert (result.ok, result.trained, result.missing) == (40, 32, 0)  # the others were trained to measure
    assert [line for line in heard.lines if "ray=True insists on Ray" in line]
    assert set(measured.started().values()) == {1}
    assert os.getpid() not in measured.pids()
    assert run_sweep(sweep, measured.data, ray=False, progress=Progress()).trained == 0


def test_the_guilty_are_found(measured: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells that kill or leave their process fail with the reason; all others have their rows, each one; so has a cell
    that kills its process the first time only."""
    monkeypatch.setattr("swingby.run.scheduler.RETRIES", 1)  # every new process takes a second
    sweep = measured.sweep(axes={"wants": ["ok", "die", "leave", "once", "raise"]}, seeds=1)
    result = run_sweep(sweep, measured.data, ray=False, pilot=False, workers=2, progress=Progress())
    assert (result.ok, result.failed, result.missing) == (2, 3, 0)
    rows = measured.rows("select cell_id, wants, status, message from walk where wants <> 'ok' or rate = 1")
    assert max(Counter(row.cell_id for row in rows).values()) == 1
    said = {row.wants: row.message for row in rows if row.status == "failed"}
    assert set(said) == {"die", "leave", "raise"}
    assert "SIGKILL" in said["die"]
    assert "os._exit(3)" in said["leave"]


def test_a_fault_ends_the_run(measured: Any) -> None:
    """What no second try would mend (a broken contract) ends the run with its reason after one try."""
    before = children()
    sweep = measured.sweep(axes={"wants": ["exit"]}, seeds=1)
    with pytest.raises(SwingbyError, match="no final row"):
        run_sweep(sweep, measured.data, ray=False, pilot=False, workers=1, progress=Progress())
    assert set(measured.started().values()) == {1}
    assert os.getpid() not in measured.pids()
    _, left = psutil.wait_procs(children() - before, timeout=60)
    assert not left


def test_a_run_that_drains_begins_nothing(measured: Any) -> None:
    """A run that was asked to stop leaves its cells to the next one."""
    sweep, drain = measured.sweep(seeds=20), Drain()
    drain.ask()
    result = run_sweep(sweep, measured.data, ray=False, pilot=False, drain=drain, progress=Progress())
    assert (result.trained, result.drained) == (0, True)
    assert not measured.ledger.exists()


DRIVER = """
from swingby.run.driver import run_sweep
from swingby.sweepfile.sweep import Sweep
run_sweep(Sweep.load("walks.yaml"), "data", ray=False, pilot=False)
"""


def test_the_second_interrupt_ends_the_workers(measured: Any) -> None:
    """Ctrl-C twice ends the run at once, and its worker processes with it; the next run trains what is left."""
    changes = {"axes": {"pause": [60.0]}, "seeds": 2}
    (measured.folder / "walks.yaml").write_text(measured.text(**changes))
    child = measured.driver(DRIVER)
    awaited(measured.ledger.exists)
    for _ in range(2):
        os.kill(child.pid, signal.SIGINT)
        time.sleep(0.3)
    assert child.wait(20) != 0
    assert not any(psutil.pid_exists(pid) for pid in measured.pids())
    assert not measured.rows("select cell_id from walk where pause = 60")


def test_options_leave_it_open_or_not() -> None:
    """Whoever asks for Ray, a cluster, several processes, a GPU or a plain loop gets that."""
    assert allows_nearby(RunOptions(ray=False))
    assert allows_nearby(RunOptions(ray=False, device="cpu"))
    asked: list[dict[str, Any]] = [{"ray": True}, {"local": True}, {"address": "host:1"}, {"processes": 2}]
    for one in [*asked, {"device": "cuda"}]:
        assert not allows_nearby(RunOptions(**{"ray": False, **one}))


def test_the_forecast_decides(measured: Any) -> None:
    """As many processes as are worth their start train what they end before Ray would begin; Ray trains all else."""
    planner = Planner(measured.sweep(seeds=30), measured.records(), RunOptions(ray=False), workers=4)
    planned = planner.preview()
    assert planned.forecast is not None

    def workers(seconds: float, **changes: Any) -> int:
        needed = replace(planned.forecast, core_seconds=seconds) if planned.forecast is not None else None
        return workers_nearby([replace(planned, **{"forecast": needed, "batches": planned.batches * 9, **changes})])

    assert workers(0.1) == 1
    assert workers(2.5 * START_SECONDS) == 3
    assert workers(4 * (RAY_SECONDS - START_SECONDS)) == 4
    assert workers(4 * (RAY_SECONDS - START_SECONDS) + 1) == 0
    assert workers(2.5 * START_SECONDS, batches=planned.batches[:1]) in (0, 1)
    assert workers(0.1, forecast=None) == 0
    for needs in (Resources(gpus=1), Resources(cpus=2), Resources(custom={"disk": 1})):
        assert workers(0.1, resources=dict.fromkeys(planned.resources, needs)) == 0
