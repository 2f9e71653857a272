"""Training from here: a process of its own runs `swingby run`, because analysis itself trains nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from swingby.errors import SwingbyError

QUICK_SEEDS = 4
"""Seeds of `--quick`, wherever it is an option: so all of it reads the same cells."""
_TOLD = (0, 1)
"""0: every cell has a result; 1: some failed or are missing, which reports and pages say themselves."""


def train(names: Sequence[str], data: Path, overrides: Sequence[str] = (), options: Sequence[str] = ()) -> bool:
    """Trains what the named sweeps (or sweep files) lack, in one start of Ray; its progress goes to standard error.

    Args:
        overrides: laid over each sweep, such as "seeds.count=3".
        options: further ones of `swingby run`, such as "--local".

    Returns:
        Whether every cell has a result.

    Raises:
        SwingbyError: the training could not begin, or was stopped; it has said why.
    """
    asked = [f"--set={override}" for override in overrides]
    command = [sys.executable, "-m", "swingby", "run", *names, "--data", str(data), *asked, *options]
    # A session of its own: each Ctrl-C reaches it once, from here, and the first lets running batches finish.
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
    if child.returncode not in _TOLD:
        raise SwingbyError(f"training ended with exit code {child.returncode}; what it said stands above")
    return child.returncode == 0
