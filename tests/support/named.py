"""Every named sweep, read once for all tests of a process: one of a million points takes ten seconds."""

from __future__ import annotations

from functools import cache

from swingby.sweepfile.sweep import Sweep, named_sweeps

GROUP = "named sweeps"
"""Tests that read all of them share a process, by this name of a group of xdist."""


@cache
def named(name: str) -> Sweep:
    """A named sweep as it is packaged."""
    return Sweep.load(name)


@cache
def packaged() -> dict[str, Sweep]:
    """Every named sweep by its name, without raising the limit of cells."""
    return {name: named(name) for name in sorted(named_sweeps())}
