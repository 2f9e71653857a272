"""Compiles the kernels of all experiments once, on all cores, before tests that run at once would each compile them.

`python -m tests.support.compile_kernels`: trains the examples of each experiment into a temporary folder, since numba
compiles what is called. Where it was done for these sources, it does nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import multiprocessing
import os
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numba

from swingby.model import registry
from tests.support import experiment_laws
from tests.support.places import ROOT

COMPILED = ROOT / ".pytest_cache" / "kernels"
"""Says for which sources it was done."""


def sources() -> str:
    """A digest of every module that has kernels, and of who compiles them."""
    kernels = [
        content for path in sorted(ROOT.glob("[as]*/swingby_*/**/*.py")) if b"njit" in (content := path.read_bytes())
    ]
    return hashlib.sha256(b"".join([*kernels, numba.__version__.encode(), str(ROOT).encode()])).hexdigest()


def train(experiment: str) -> None:
    """Trains the examples of one experiment; what it prints is not shown."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        experiment_laws.finished(experiment, Path(folder) / "data")


def main() -> None:
    """Compiles them if they are not."""
    if COMPILED.exists() and COMPILED.read_text() == sources():
        return
    # Results of experiments that take long are made up for tests, and such experiments have no kernels.
    names = [name for name in registry.offered(registry.EXPERIMENTS) if experiment_laws.made_up_of(name) is None]
    with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn")) as pool:
        list(pool.map(train, names))
    COMPILED.parent.mkdir(exist_ok=True)
    COMPILED.write_text(sources())


if __name__ == "__main__":
    main()
