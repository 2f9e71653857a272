"""Drawings of diffusion runs, each with its query beside it."""

SQL = "swingby_sweeps.diffusion.drawings"
"""The folder of the queries of these drawings."""
