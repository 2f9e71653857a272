"""Drawings of this experiment."""
