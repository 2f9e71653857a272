"""Phenomena: in which experiments, and where in their parameters, runs show one thing, such as learning in stages."""
