"""Drawings of scalar nets for reports."""
