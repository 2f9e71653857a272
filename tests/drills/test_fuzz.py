"""The fuzzer finds nothing in a while, and would find what is there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.places import ROOT

pytest.importorskip("atheris", reason="it is there for Python 3.11 to 3.13")


def fuzzed(target: str, runs: int, code: str = "") -> subprocess.CompletedProcess[str]:
    """The fuzzer on one target, in a process of its own; `code` runs there first."""
    arguments = [target, f"-runs={runs}", "-seed=1", "-verbosity=0"]
    start = f"import sys, tests.drills.fuzz as fuzz\n{code}\nfuzz.main({arguments!r})"
    command = [sys.executable, "-c", start]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "runs"), [("sweep", 5_000), ("expression", 100_000), ("sql", 100_000), ("record", 50_000)]
)
def test_nothing_is_found(target: str, runs: int) -> None:
    """Whatever text or file: a result, or the error that is declared."""
    done = fuzzed(target, runs)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_a_fault_would_be_found() -> None:
    """An exception that is not declared ends the fuzzer with a fault."""
    fault = "def broken(data):\n    if data[:1] == b'p':\n        raise ZeroDivisionError('here')\n"
    done = fuzzed("sql", 2_000, f"{fault}fuzz.TARGETS['sql'] = (broken, fuzz.queries)")
    assert done.returncode != 0
    assert "ZeroDivisionError: here" in done.stdout + done.stderr
