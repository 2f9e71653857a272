"""Watching sweeps while they run: what the store says of them as facts, and the facts as a frame on a terminal."""
