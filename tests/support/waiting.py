"""Waiting for what other processes and threads do."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def awaited(look: Callable[[], T], seconds: float = 120, child: subprocess.Popen[str] | None = None) -> T:
    """The first true answer of `look`, asked again and again; a child that does it must not end before."""
    deadline = time.monotonic() + seconds
    while not (answer := look()):
        assert child is None or child.poll() is None, child.communicate()[0]
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.02)
    return answer
