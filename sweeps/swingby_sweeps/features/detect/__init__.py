"""Outcomes of the curves of last-layer features."""
