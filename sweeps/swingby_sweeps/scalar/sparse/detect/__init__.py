"""Detectors of the diagonal net."""
