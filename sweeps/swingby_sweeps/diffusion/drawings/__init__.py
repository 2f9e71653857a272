"""Drawings of diffusion runs, each with its query beside it."""

SQL = __name__
"""The folder of the queries of these drawings."""
