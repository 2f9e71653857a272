"""Experiments that are plain functions: `@experiment` above `train(cell, ...)`, with no class and no package."""
