"""`sql` without a query: a prompt on a terminal, and a pipe's text otherwise."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from swingby.cli import app
from swingby.data.records import Records
from swingby.store import ingest


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """An empty data folder with a store."""
    records = Records.open(tmp_path / "data")
    ingest(records)
    return records.data


def test_a_pipe_gives_the_query(data: Path) -> None:
    """Whole, with or without -, and nothing is no query."""
    for words in ((), ("-",)):
        asked = CliRunner().invoke(
            app, ["sql", *words, "--format", "csv", "--data", str(data)], input="select\n41 + 1 as n"
        )
        assert asked.stdout == "n\n42\n", asked.stderr
    empty = CliRunner().invoke(app, ["sql", "--data", str(data)], input=" \n")
    assert empty.exit_code == 2
    assert "no query" in empty.stderr


def test_a_terminal_has_a_prompt(data: Path, tmp_path: Path) -> None:
    """A query of several lines is answered at its semicolon, a wrong one is told and another may follow; what was
    typed is in the history of the next prompt."""
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "TERM": "dumb", "COLUMNS": "80"}
    talk = "select 40 +\n2 as answer;\nselect nothing_here;\nselect 'af' || 'ter' as later;\nquit\n"
    said = conversation(data, env, talk)
    assert "42" in said
    assert "error: " in said
    assert "nothing_here" in said.split("error: ")[1]
    assert "after" in said
    history = tmp_path / "state" / "swingby" / "sql_history"
    assert "2 as answer;" in history.read_text()


def conversation(data: Path, env: dict[str, str], talk: str) -> str:
    """What a terminal shows while this is typed at `swingby sql`."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "swingby", "sql", "--data", str(data)]
    child = subprocess.Popen(command, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    os.write(ours, talk.encode())
    said, deadline = b"", time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            part = os.read(ours, 65_536)
        except OSError:  # the child has closed its end
            break
        if not part:
            break
        said += part
    assert child.wait(30) == 0
    os.close(ours)
    return said.decode(errors="replace")
