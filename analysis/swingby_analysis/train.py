"""Trains sweeps by running `swingby run` in a child process: analysis itself trains nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from swingby.errors import SwingbyError

QUICK_SEEDS = 4
"""Seeds of `--quick`: one number for all verbs that have the option, so that they share cells."""
_ENDED = (0, 1)
"""Exit codes of a run that ended by itself. 0: every cell has a result; 1: some failed or are missing, as pages say."""


def train(names: Sequence[str], data: Path, overrides: Sequence[str] = (), options: Sequence[str] = ()) -> bool:
    """Trains the missing cells of named sweeps (or sweep files), in one start of Ray; progress goes to standard error.

    Args:
        overrides: laid over each sweep, such as "seeds.count=3".
        options: further options of `swingby run`, such as "--local".

    Returns:
        Whether every cell has a result.

    Raises:
        SwingbyError: the training could not begin, or was stopped; standard error says why.
    """
    settings = [f"--set={override}" for override in overrides]
    command = [sys.executable, "-m", "swingby", "run", *names, "--data", str(data), *settings, *options]
    # In a session of its own each Ctrl-C reaches it once, from here; the first lets running batches finish.
    child = subprocess.Popen(command, stdout=sys.stderr, start_new_session=True)
    stopped = False
    while child.returncode is None:
        try:
            child.wait()
        except KeyboardInterrupt:
            stopped = True
            child.send_signal(signal.SIGINT)
    if stopped:
        raise SwingbyError("stopped while training; what is trained is kept, and the same command goes on")
    if child.returncode not in _ENDED:
        raise SwingbyError(f"training ended with exit code {child.returncode}; its messages are above")
    return child.returncode == 0
