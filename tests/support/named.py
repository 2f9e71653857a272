"""Every named sweep, read once for all tests of a process."""

from __future__ import annotations

from functools import cache

from swingby.sweepfile.sweep import Sweep, named_sweeps
from tests.support.profiles import examples

GROUP = "named sweeps"
"""Tests that read all of them share a process, by this name of a group of xdist."""

COARSE = {"volume-ratio-spread-gain": ("axes.mu.1.linspace.points=10", "axes.init_gain.logspace.points=10")}
"""A sweep of a million points, which takes ten seconds to read: every change waits for ten thousand of them."""


@cache
def named(name: str) -> Sweep:
    """A named sweep as it is packaged, or of fewer points (`COARSE`) where every change waits for it."""
    return Sweep.load(name, examples(many=(), few=COARSE.get(name, ())))


@cache
def packaged() -> dict[str, Sweep]:
    """Every named sweep by its name, see `named`, without raising the limit of cells."""
    return {name: named(name) for name in sorted(named_sweeps())}
