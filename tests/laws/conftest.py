"""What laws over everything installed share: the examples of an experiment, trained once for all processes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from swingby.sweepfile.sweep import Sweep
from tests.support import experiment_laws

Trained = Callable[[str], tuple[Path, list[Sweep]]]


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Gives of an experiment a data folder with its finished examples, which nobody writes to, and the sweeps."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "examples"
    shared.mkdir(exist_ok=True)

    def of(experiment: str) -> tuple[Path, list[Sweep]]:
        if experiment_laws.made_up_of(experiment) is not None:
            data = tmp_path_factory.mktemp(experiment) / "data"
            return data, experiment_laws.finished(experiment, data)
        data, done = shared / experiment, shared / f"{experiment}.done"
        with FileLock(shared / f"{experiment}.lock"):
            if not done.exists():
                experiment_laws.finished(experiment, data)
                done.touch()
        return data, experiment_laws.examples(experiment)

    return of
