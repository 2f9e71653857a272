"""Trains logistic regressions and logs them to runs.csv: a program that knows nothing of swingby."""

import csv
from itertools import product
from pathlib import Path

import numpy as np

POINTS, DIMENSIONS, STEPS = 100, 20, 50


def train(lr: float, decay: float, seed: int):
    """The step, loss and test accuracy of each step of one run."""
    draws = np.random.default_rng(seed)
    truth = draws.normal(size=DIMENSIONS)
    x = draws.normal(size=(2 * POINTS, DIMENSIONS))
    y = x @ truth + draws.normal(size=2 * POINTS) > 0
    w = np.zeros(DIMENSIONS)
    for step in range(STEPS + 1):
        logits = x[:POINTS] @ w
        loss = np.logaddexp(0, np.where(y[:POINTS], -logits, logits)).mean()
        accuracy = ((x[POINTS:] @ w > 0) == y[POINTS:]).mean()
        yield step, float(loss), float(accuracy)
        chance = (1 + np.tanh(logits / 2)) / 2
        w = w - lr * (x[:POINTS].T @ (chance - y[:POINTS]) / POINTS + decay * w)


with Path("runs.csv").open("w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["lr", "decay", "seed", "step", "loss", "accuracy"])
    for lr, decay, seed in product([0.01, 0.1, 1.0, 10.0], [0.0, 0.1, 1.0], range(8)):
        rows.writerows([lr, decay, seed, *logged] for logged in train(lr, decay, seed))
