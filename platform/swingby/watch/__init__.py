"""Watching: what the store says of sweeps while they run, as facts, and the facts as a frame on a terminal."""

from __future__ import annotations

from swingby.watch.facts import Facts
from swingby.watch.frame import frame
from swingby.watch.look import Watch
from swingby.watch.telling import told

__all__ = ["Facts", "Watch", "frame", "told"]
