"""Detectors: from the strengths of modes to their times, their order, and how a run ended."""
