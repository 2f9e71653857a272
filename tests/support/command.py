"""The command `swingby`, in this process or in a child."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from typer.testing import CliRunner, Result

from swingby.cli import app


def swingby(*words: object, cwd: Path | None = None) -> Result:
    """What the command leaves, in this process: a process each would take seconds to import what it needs."""
    with contextlib.chdir(cwd or Path.cwd()):
        result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def in_child(cwd: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What the command leaves in a process of its own, whose environment has these variables, too."""
    command = [sys.executable, "-m", "swingby", *words]
    own = {**os.environ, **environment}
    return subprocess.run(command, cwd=cwd, env=own, capture_output=True, text=True, timeout=300)


def train_here(names: Sequence[str], data: Path, overrides: Sequence[str], options: Sequence[str]) -> bool:
    """Runs the command of `swingby_analysis.train.train` in this process, which has loaded everything: a process of its
    own takes as long to load as to train. That the command starts by itself is tested with the gallery."""
    asked = [f"--set={override}" for override in overrides]
    done = swingby("run", *names, "--data", data, *asked, *options)
    assert done.exit_code == 0, done.output
    return True
