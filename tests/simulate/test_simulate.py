"""The simulator tells histories without a broken promise, and finds mistakes that were planted."""

from __future__ import annotations

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
    ("first", "histories"), [(0, 300), pytest.param(300, 3000, marks=[pytest.mark.slow, pytest.mark.timeout(900)])]
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
    """Step by step as it was the first time: alone, after others in any order, and by another command."""
    one, two = (simulate("--history", "7") for _ in range(2))
    assert one.returncode == 0, one.stdout + one.stderr
    assert one.stdout.count("\n") > 10
    assert one.stdout == two.stdout
    some = "from tests.simulate.history import tell; logs = {number: tell(number).log for number in %s}; "
    told = []
    for numbers, more in (("range(20)", ""), ("reversed(range(20))", "of another command")):
        command = [sys.executable, "-c", some % numbers + "print(sorted(logs.items()))", more]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        told.append(subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout)
    assert told[0] == told[1]
    assert all(repr(line) in told[0] for line in one.stdout.splitlines()[:-1])


@pytest.mark.parametrize("fault", ["a record has its name before its content", "a record is written in its place"])
def test_a_planted_fault_is_found(fault: str) -> None:
    """A mistake that loses records breaks a promise within some histories; `make simulate FAULTS=1` plants them all."""
    done = simulate("--faults", fault, "--histories", "500")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 planted faults found" in done.stdout
