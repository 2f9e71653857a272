"""Training from here: a process of its own runs `swingby run`, because analysis itself trains nothing."""

from __future__ import annotations

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
    code = subprocess.run(command, stdout=sys.stderr, check=False).returncode
    if code not in _TOLD:
        raise SwingbyError(f"training ended with exit code {code}; what it said stands above")
    return code == 0
