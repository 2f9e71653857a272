"""The loop that each tool is given: a small net of tanh units on noisy data of a teacher."""

import numpy as np


def losses(lr, width, seed, steps=200):
    """Yields each step with its loss; the loss is infinite or not a number once a step is too long."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(64, 4))
    y = np.tanh(x @ rng.normal(size=(4, 1))) + 0.1 * rng.normal(size=(64, 1))
    a, b = rng.normal(size=(4, width)) / 2, rng.normal(size=(width, 1)) / np.sqrt(width)
    for step in range(steps):
        h = np.tanh(x @ a)
        error = h @ b - y
        yield step, float((error**2).mean())
        a, b = a - lr / 32 * x.T @ ((error @ b.T) * (1 - h**2)), b - lr / 32 * h.T @ error
