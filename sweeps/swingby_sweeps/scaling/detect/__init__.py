"""Detectors of the curves of the multilinear model."""
