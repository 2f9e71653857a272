"""The simulator tells histories without a broken promise, and finds mistakes that were planted."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest


def simulate(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, in a process of its own: it stands in for files, clocks and processes of its whole process."""
    command = [sys.executable, "-m", "tests.simulate", *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=850)


@pytest.mark.parametrize(
    ("first", "histories"), [(0, 120), pytest.param(120, 3180, marks=[pytest.mark.slow, pytest.mark.timeout(900)])]
)
def test_no_promise_is_broken(first: int, histories: int) -> None:
    """Whatever is killed, frozen or cut off from power: no record is lost, none doubled, and a store made again says
    the same. The counts show that all of this did happen."""
    done = simulate("--histories", str(histories), "--first", str(first), "--processes", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    (told, seams, kills, cuts, freezes, shards, acknowledged) = (
        int(re.sub(r"\D", "", re.findall(rf"([\d,]+) {what}", done.stdout)[0]))
        for what in ("histories", "seams", "processes killed", "power cuts", "processes frozen", "result files", "rec")
    )
    assert told == histories
    assert seams > 100 * histories
    assert min(kills, cuts, freezes, shards, acknowledged) > histories / 10


def test_a_history_is_told_again_by_its_number() -> None:
    """Step by step as it was the first time: by the command that shows it, and by a process that tells others before
    it, in either order."""
    shown = simulate("--history", "7")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    lines = shown.stdout.splitlines()[:-1]
    assert len(lines) > 10
    program = (
        "import json; from tests.simulate.history import tell; "
        "orders = range(10), range(9, -1, -1); "
        "print(json.dumps([sorted((number, tell(number).log) for number in order) for order in orders]))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    rising, falling = (dict(logs) for logs in json.loads(done.stdout))
    assert rising == falling
    assert rising[7] == lines


@pytest.mark.parametrize(
    "fault",
    [
        "a record has its name before its content",
        pytest.param("a record is written in its place", marks=pytest.mark.slow),
    ],
)
def test_a_planted_fault_is_found(fault: str) -> None:
    """A mistake that loses records breaks a promise within some histories; `make simulate FAULTS=1` plants them all."""
    done = simulate("--faults", fault, "--histories", "500")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 planted faults found" in done.stdout
