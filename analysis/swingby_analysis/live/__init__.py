"""Watching sweeps while they run: what the store says of them as facts, and the facts as a frame on a terminal."""

from __future__ import annotations

from swingby_analysis.live.facts import Facts, facts_json
from swingby_analysis.live.frame import frame
from swingby_analysis.live.poll import Watch

__all__ = ["Facts", "Watch", "facts_json", "frame"]
