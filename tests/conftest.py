"""What several test files share: somebody else's packages of experiments, as if they were installed."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.support import touched
from tests.support.places import MISBEHAVING, TOY

# A busy machine is no fault of the code: speed is measured by benchmarks, never by a test's deadline. And the tests
# that every change must pass draw the same examples each time, so that a failure is the change's own; new examples
# are looked for by `make laws` and `make test-all`, which take the other profile.
settings.register_profile("same-examples", deadline=None, derandomize=True)
settings.register_profile("new-examples", deadline=None, print_blob=True)
settings.load_profile("same-examples")

# What somebody's shell, or a service that runs tests, says of terminals and data folders is not for the commands under
# test: they would print in colours or in other widths, and write into that folder.
_TERMINAL = {"COLUMNS", "LINES", "TERMINAL_WIDTH", "TTY_COMPATIBLE", "TTY_INTERACTIVE"}
_COLOURS = {"FORCE_COLOR", "NO_COLOR", "PY_COLORS", "CLICOLOR_FORCE", "GITHUB_ACTIONS"}
for _name in _TERMINAL | _COLOURS | {"SWINGBY_DATA", "SWINGBY_MIRRORS", "SWINGBY_HEAD_IP"}:
    os.environ.pop(_name, None)


# Two or three tests run at once on two cores: threads of one product of matrices would wait for those of another test.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(_name, "1")

# Children of tests, and the workers that collect all of them, would each compile every module anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell that starts something in the background of a script lets it ignore Ctrl-C, and all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """What `make test-quick` says."""
    group = parser.getgroup("swingby")
    group.addoption("--touched", metavar="COMMIT", help="only tests near to what differs from this commit")
    group.addoption("--touched-seconds", type=float, default=60.0, help="how long these may take; default: 60")


def pytest_configure(config: pytest.Config) -> None:
    """The process that hears of all tests keeps how long they took."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(touched.Clock(config))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files that are far from a change are not even imported where only near tests run."""
    base = config.getoption("touched")
    return True if base and collection_path.is_file() and touched.is_far(collection_path, str(base)) else None


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that share what a module makes once (a trained sweep, a browser) run one after the other in one process."""
    if config.getoption("touched"):
        touched.select(config, items)
    for item in items:
        if isinstance(item, pytest.Function) and "module" in scopes_of(item):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.split("::")[0]))
    # Groups first: one that begins late keeps a worker busy when the others have nothing left to do.
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests that need a GPU are skipped where torch sees none."""
    if item.get_closest_marker("gpu") is not None:
        import torch  # whoever needs a GPU has imported it

        if not torch.cuda.is_available():
            pytest.skip("no CUDA device")


@pytest.hookimpl(trylast=True)  # after xdist has written the groups into the tests' ids
def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuses to go on where groups would be ignored without a word: xdist 3.8 does so under pytest 9.2. Then tests
    begin."""
    for item in session.items:
        grouped = item.get_closest_marker("xdist_group") is not None and hasattr(session.config, "workerinput")
        if grouped and session.config.getoption("loadgroup", False) and "@" not in item.nodeid:
            raise pytest.UsageError(f"pytest {pytest.__version__} and pytest-xdist do not group tests; see constraints")
    gc.freeze()  # what all modules of tests import stays: to look through it for garbage is a thirtieth of all work


def scopes_of(item: pytest.Function) -> set[str]:
    """The scopes of the fixtures that a test takes, by whatever way."""
    return {found[-1].scope for found in item._fixtureinfo.name2fixturedefs.values()}


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> str:
    """The experiment `toy` of tests/support/toy_experiment, found by entry point like any other; gives its name."""
    monkeypatch.syspath_prepend(str(TOY))
    return "toy"


@pytest.fixture
def walk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """The random walk of tests/support/misbehaving_experiment, also for child processes, with a data folder."""
    monkeypatch.syspath_prepend(str(MISBEHAVING))
    kit = importlib.import_module("misbehaving_runs").Kit(tmp_path)
    for name in ("PYTHONPATH", "TEST_LEDGER"):
        monkeypatch.setenv(name, kit.environment()[name])
    yield kit
    kit.close()


def pytest_unconfigure() -> None:
    """What was frozen is looked through at the end, or extensions say that it leaked."""
    gc.unfreeze()
