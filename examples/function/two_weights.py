"""Gradient descent on the smallest deep net, a product of two weights."""

from math import cos, pi, sin

from swingby import experiment


@experiment
def two_weights(cell, lr: float = 0.1, size: float = 1.0, steps: int = 200):
    """Fits a * b = 1 from a start of norm `size` in a random direction."""
    angle = cell.numpy("start").uniform(0, 2 * pi)
    a, b = size * cos(angle), size * sin(angle)
    for step in range(steps + 1):
        error = a * b - 1
        loss = 0.5 * error * error  # inf, not an exception, once it is too large: the cell ends as `diverged`
        cell.record(step, loss=loss)
        a, b = a - lr * error * b, b - lr * error * a
