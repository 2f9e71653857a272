"""Laws of what every verb prints and how it ends: lines that fit a terminal, and a documented exit status."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.cells import cell_len

from swingby.cli import app
from swingby.data.records import Records
from swingby.store import ingest
from tests.support.command import swingby
from tests.support.places import ROOT
from tests.support.store import SWEEPS, write_plan

WIDTH = 80
NAME = "a-sweep-whose-name-says-at-length-what-is-varied-and-why-00001"
EXPERIMENT = "an_experiment_whose_name_says_what_it_does_and_to_what"
TRAIN = f"""
from swingby import experiment


@experiment
def {EXPERIMENT}(cell, the_rate_at_which_it_learns: float = 0.1, kind: str = "plain and simple", steps: int = 3):
    if the_rate_at_which_it_learns > 0.15:
        raise ValueError("at this rate, with these weights and on these data, nothing that is learnt can last, " * 3)
    for step in range(steps + 1):
        cell.record(step, loss_on_the_data_that_were_held_out=the_rate_at_which_it_learns**step)
"""
SWEEP = f"""
name: {NAME}
experiment: train.py
axes:
  the_rate_at_which_it_learns: [0.1, 0.2, 0.3]
  kind: [plain and simple, as rich as it can be for as long as it lasts]
seeds: 2
tags: [one-of-many, another-of-many]
notes: What somebody wanted to remember of this sweep, written in a hurry, in one long sentence without an end.
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with long names, of which three sweeps were trained; two of them have one name."""
    folder = tmp_path_factory.mktemp("terminal")
    (folder / "train.py").write_text(TRAIN)
    for name, text in (("long", SWEEP), ("more", SWEEP.replace("seeds: 2", "seeds: 3")), ("short", _short())):
        (folder / f"{name}.yaml").write_text(text)
        assert swingby("run", f"{name}.yaml", "--local", "--no-pilot", "--data", "data", cwd=folder).exit_code == 1
    return folder


def _short() -> str:
    return SWEEP.replace(NAME, "short").replace("seeds: 2", "seeds: [7]")


DOCUMENTED = (ROOT / "docs" / "verbs.md").read_text(encoding="utf-8").partition("Exit codes:")[2]
STATUSES = {int(number) for number in re.findall(r"\b\d+(?=, | where)", DOCUMENTED)}

LISTINGS = [
    "status", f"status {NAME}", "status short", f"failures {NAME}", "list", f"describe {EXPERIMENT}", "describe sim",
    "describe sweeps", f"describe {NAME}", "validate long.yaml", "validate transient-memorization",
    "plan long.yaml --no-pilot", "run long.yaml --local", "run long.yaml --dry-run", "watch short --once",
    "watch --once", "doctor --no-ray", "doctor --no-ray --all", "ingest", "rebuild", "gc --dry-run",
    f"retract {NAME} --dry-run", "retract short --dry-run", "delete short --dry-run", "rename short shorter",
    "rename shorter short", f"rename short {NAME}", "diff short more.yaml", "merge data --dry-run",
    "report no-such-sweep", "sql 'select'", "validate train.py", "export short --out x.txt",
    "outcome short 'loss_on_the_data_that_were_held_out[1]' --data data",
]  # fmt: skip


@pytest.mark.parametrize("line", LISTINGS)
def test_no_line_passes_the_width_of_a_terminal(line: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Save one word, such as a path, that is longer itself; and nothing ends with a traceback."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    words = shlex.split(line)
    takes_data = words[0] not in ("validate", "list") and "--data" not in words
    done = swingby(*words, *(["--data", "data"] if takes_data else []), cwd=folder)
    assert done.exit_code in STATUSES - {130}
    for text in (*done.stdout.splitlines(), *done.stderr.splitlines()):
        indent = len(text) - len(text.lstrip())
        longest = max(map(len, text.split()), default=0)
        assert cell_len(text.rstrip()) <= max(WIDTH, indent + longest), text


def test_many_sweeps_have_a_line_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest first, and no more than a screen of them unless all are asked for."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    records = Records.open(tmp_path / "data")
    for number in range(30):
        monkeypatch.setitem(SWEEPS, f"{number:02d}-{NAME}"[:64], f"{number:016x}")
        write_plan(records, [f"x{number}"], sweep=f"{number:02d}-{NAME}"[:64], created=number + 1)
    ingest(records)
    lines = swingby("status", "--data", records.data).stdout.splitlines()
    assert len(lines) < 25
    assert lines[2].startswith("29-")
    assert "10 more: --all" in lines[-1]
    every = swingby("status", "--all", "--data", records.data).stdout.splitlines()
    assert [line[:2] for line in every[2:]] == [f"{number:02d}" for number in reversed(range(30))]


def _verbs() -> dict[str, Any]:
    group: Any = typer.main.get_command(app)
    context = typer.Context(group)
    return {name: group.get_command(context, name) for name in group.list_commands(context)}


@pytest.mark.parametrize("verb", list(_verbs()))
def test_every_verb_ends_as_is_documented(verb: str, folder: Path) -> None:
    """With 2 where it does not know an option, or what is named is not there; the error is told in words."""
    command = _verbs()[verb]
    assert swingby(verb, "--no-such-option").exit_code == 2
    needed = [item for item in command.params if item.param_type_name == "argument" and item.required]
    has_data = any("--data" in item.opts for item in command.params)
    if needed and has_data and verb != "pages":  # which makes the folder that is named
        others = [word for item in command.params if item.param_type_name == "option" and item.required
                  for word in (item.opts[0], "x.txt")]  # fmt: skip
        done = swingby(verb, *["nothing-of-this-name"] * len(needed), *others, "--data", "data", cwd=folder)
        assert (done.exit_code, "error: " in done.stderr.lower()) == (2, True), done.output


def test_ctrl_c_ends_with_130(folder: Path) -> None:
    """As of any command, and without a traceback."""
    command = [sys.executable, "-m", "swingby", "sql", "--data", str(folder / "data")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        state, deadline = Path(f"/proc/{process.pid}/wchan"), time.monotonic() + 10
        while "pipe" not in state.read_text() and time.monotonic() < deadline:  # it waits for a query
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode in STATUSES
    assert (process.returncode, "Traceback" in errors) == (130, False)
