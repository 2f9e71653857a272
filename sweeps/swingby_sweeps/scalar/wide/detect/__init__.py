"""Detectors of the wide scalar net."""
