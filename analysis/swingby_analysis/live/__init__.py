"""Watching: what the store says of sweeps while they run, as facts, and the facts as a frame on a terminal."""

from __future__ import annotations

from swingby_analysis.live.facts import Facts
from swingby_analysis.live.frame import frame
from swingby_analysis.live.poll import Watch
from swingby_analysis.live.to_json import facts_json

__all__ = ["Facts", "Watch", "facts_json", "frame"]
