"""What a cell leaves running does not keep a run from ending, and who shares a data folder can go on in it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

TRAIN = """
import threading, time
from swingby import experiment


@experiment
def train(cell, lr: float = 0.1):
    threading.Thread(target=lambda: time.sleep(600)).start()
    cell.record(0, loss=lr)
    if lr > 0.15:
        raise ValueError("no")
"""
SWEEP = "experiment: train.py\nname: train\naxes: {lr: [0.1, 0.2]}\nseeds: 2\n"


@pytest.mark.parametrize("options", [["--local", "--no-pilot"], []], ids=["local", "workers"])
def test_a_thread_of_a_cell_does_not_keep_a_run_from_ending(tmp_path: Path, options: list[str]) -> None:
    """The command ends when its work has ended, with its own exit code."""
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "train.yaml").write_text(SWEEP)
    command = [sys.executable, "-m", "swingby", "run", "train.yaml", "--data", "data", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 ok, 2 FAILED" in done.stdout + done.stderr


USERS = """
import os, sys
from pathlib import Path

from typer.testing import CliRunner

from swingby.cli import app

GROUP, USERS = 4242, (12345, 12346)


def commands(root):
    run, data = ["run", str(root / "train.yaml"), "--local", "--no-pilot"], ["--data", str(root / "data")]
    seeds = [["--set", f"seeds={count}"] for count in (2, 4, 6)]
    return [
        *([*run, *more, *data] for more in seeds), ["rebuild", *data], ["gc", *data], ["rebuild", *data],
        ["retract", str(root / "train.yaml"), "--reason", "x", *data], [*run, *seeds[2], *data], ["ingest", *data],
        [*run, *seeds[1], *data],
    ]


warm, shared = map(Path, sys.argv[1:])
# One of each command imports what the users need, who may not read where Python lies.
for words in {words[0]: words for words in commands(warm)}.values():
    CliRunner().invoke(app, words)
for place, words in enumerate(commands(shared)):
    child = os.fork()
    if not child:
        os.setgroups([GROUP])
        os.setgid(GROUP)
        os.setuid(USERS[place % 2])
        os.umask(0o002)
        done = CliRunner().invoke(app, words)
        print(words[0], done.exit_code, done.output, flush=True)
        os._exit(done.exit_code)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        sys.exit(1)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two other users")
def test_two_users_of_one_group_share_a_data_folder() -> None:
    """With a umask of 002 each goes on where the other ended: runs, locks, store, gc, retractions."""
    with tempfile.TemporaryDirectory() as made:  # that of a test is shut to others
        top = Path(made)
        top.chmod(0o755)
        for name in ("warm", "shared"):
            folder = top / name
            folder.mkdir()
            (folder / "train.py").write_text(
                "from swingby import experiment\n\n\n@experiment\ndef train(cell, lr: float = 0.1):\n"
                "    cell.record(0, loss=lr)\n"
            )
            (folder / "train.yaml").write_text(SWEEP)
            os.chown(folder, 0, 4242)
            folder.chmod(0o2775)
        command = [sys.executable, "-c", USERS, str(top / "warm"), str(top / "shared")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        shut = [path for path in (top / "shared" / "data").rglob("*") if not path.stat().st_mode & 0o020]
        assert [path for path in shut if not path.name.endswith(".parquet")] == []
