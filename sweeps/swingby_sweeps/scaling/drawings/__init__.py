"""Drawings of scaling: the loss beside its laws, and the strengths of the skills."""
