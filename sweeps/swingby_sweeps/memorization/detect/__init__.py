"""Detectors of this experiment."""
