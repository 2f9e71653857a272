"""Concept space: where the generated images of a held-out class go over training, and what a detector says of it."""
