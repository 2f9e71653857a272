"""Drawings of layerwise models: curves of modes, and times beside theory."""
