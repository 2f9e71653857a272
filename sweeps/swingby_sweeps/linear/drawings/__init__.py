"""Drawings of regression on fixed features: learnabilities beside theory, and what is fitted over time."""
