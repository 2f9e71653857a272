"""The law that a cell which tries to end its process has failed, with file and line, and nothing else has."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from swingby.api import Sweep
from swingby.data.records import Records
from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.store import Store, ingest
from tests.support.command import swingby

WAYS = {
    "exit": "sys.exit(0)",
    "interrupt": "raise KeyboardInterrupt",
    "generator": "raise GeneratorExit",
    "own": "raise type('Mine', (BaseException,), {})('no')",
    "hard": "os._exit(0)",
}
CRASH = "ctypes.string_at(0)"


def write(folder: Path, ways: dict[str, str]) -> Path:
    """A sweep over the ways to end, each written out as a branch, and a cell that ends well beside it."""
    branches = "".join(f"    if way == {name!r}:\n        {text}\n" for name, text in ways.items())
    lines = (
        "import ctypes, os, sys\nfrom swingby import experiment\n\n\n@experiment\n"
        "def train(cell, way: str = 'none', steps: int = 3):\n"
        "    for step in range(steps + 1):\n        cell.record(step, loss=1.0)\n"
    )
    (folder / "train.py").write_text(lines + branches)
    sweep = folder / "train.yaml"
    sweep.write_text(f"experiment: train.py\nname: train\naxes: {{way: [none, {', '.join(ways)}]}}\nseeds: 2\n")
    return sweep


def ended(data: Path) -> dict[str, set[tuple[str, str]]]:
    """Of each way the statuses and messages of its cells."""
    found: dict[str, set[tuple[str, str]]] = {}
    with Store.open(data) as store:
        for row in store.sql("select way, status, message from train").rows():
            found.setdefault(row.way, set()).add((row.status, row.message or ""))
    return found


@pytest.mark.parametrize(
    "options", [["--local", "--no-pilot"], ["--local"], [], pytest.param(["--ray"], marks=pytest.mark.slow)]
)
def test_a_cell_that_ends_its_process_has_failed_and_its_neighbours_are_there(
    tmp_path: Path, options: list[str]
) -> None:
    """In the for-loop, by pilots, by worker processes and by Ray; the command ends with 1."""
    sweep, data = write(tmp_path, WAYS), tmp_path / "data"
    done = swingby("run", sweep, "--data", data, *options)
    assert done.exit_code == 1, done.output
    found = ended(data)
    assert found.pop("none") == {("ok", "")}
    assert found.keys() == WAYS.keys()
    for place, way in enumerate(WAYS):
        ((status, message),) = found[way]
        assert status == "failed"
        assert f"(train.py, line {10 + 2 * place})" in message, message


def test_a_crash_in_compiled_code_is_the_cells_with_its_line(tmp_path: Path) -> None:
    """By worker processes, of which one dies; its neighbours are trained by others."""
    sweep, data = write(tmp_path, {"crash": CRASH}), tmp_path / "data"
    done = swingby("run", sweep, "--data", data, "--set", "seeds=1")  # each crash costs some processes
    assert done.exit_code == 1, done.output
    found = ended(data)
    assert found["none"] == {("ok", "")}
    ((status, message),) = found["crash"]
    assert status == "failed"
    assert "train.py, line 10" in message, message


@pytest.mark.parametrize("text", [*WAYS.values(), "raise ValueError('no')"])
@pytest.mark.parametrize("verb", ["validate", "run", "describe"])
def test_a_file_that_ends_the_process_is_a_fault(tmp_path: Path, text: str, verb: str) -> None:
    """At a file's top level, whatever loads it: the file, the line, and exit code 2."""
    write(tmp_path, {})
    path = tmp_path / "train.py"
    path.write_text(path.read_text() + f"\n\n{text}\n")
    data = [] if verb == "validate" else ["--data", str(tmp_path / "data")]
    done = swingby(verb, tmp_path / "train.yaml", *data)
    assert done.exit_code == 2, done.output
    assert "(train.py, line 11)" in " ".join(done.output.split()), done.output


def test_the_users_own_second_interrupt_ends_the_run(tmp_path: Path) -> None:
    """It is not taken for the cell's: no cell has failed, and the run ends."""
    write(tmp_path, {"twice": "[os.kill(os.getpid(), 2) for _ in range(2)]"})
    sweep: Any = Sweep.load(tmp_path / "train.yaml")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        run_sweep(sweep, tmp_path / "data", local=True, pilot=False, progress=Progress())
    ingest(Records.open(tmp_path / "data"))
    assert all(status == "ok" for of in ended(tmp_path / "data").values() for status, _ in of)
