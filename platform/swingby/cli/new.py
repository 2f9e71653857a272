"""The verb `new`: a study of one's own, as two files that run in seconds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import say
from swingby.errors import SwingbyError

TRAIN = '''"""How long does a two-layer linear net wait before it learns? Replace this by your own loop."""

import numpy as np

from swingby import experiment


@experiment(curves={{"loss": "squared distance from the target"}}, scalars={{"learned": "loss below 0.01"}})
def {function}(cell, rate: float = 0.05, width: int = 4, gain: float = 0.1, steps: int = 400):
    """A two-layer linear net that learns a diagonal matrix by gradient descent."""
    target = np.diag([2.0, 1.0])
    start = cell.numpy("init")  # a random stream of this cell by name; cell.torch_seed("init") seeds torch
    a, b = start.normal(size=(2, width)) * gain, start.normal(size=(width, 2)) * gain
    for step in range(steps + 1):
        error = a @ b - target
        loss = float((error**2).sum())
        cell.record(step, loss=loss, diagonal=np.diag(a @ b))  # kept at the steps that the sweep records
        a, b = a - rate * error @ b.T, b - rate * a.T @ error
    return {{"learned": loss < 0.01}}  # scalars: one value a cell
'''
SWEEP = """# swingby run {name}.yaml && swingby report {name}
name: {name}
experiment: {module}.py
axes:
  rate: {{logspace: {{from: 0.002, to: 0.5, points: 9}}}}
  gain: {{logspace: {{from: 0.001, to: 1, points: 7}}}}
seeds: 5
diagram: {{x: rate, y: gain, outcome: learned}}
"""


def new(
    name: Annotated[str, typer.Argument(help="Name: lower-case letters, digits and -.", show_default=False)],
    folder: Annotated[Path, typer.Option("--in", help="Folder for the two files; made if missing.")] = Path(),
) -> None:
    """Writes a study to begin from: a Python file with a training loop, and a sweep over it, which run in ten seconds.

    Example:

        swingby new my-study
    """
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,63}", name):
        raise SwingbyError(f"a study cannot be called {name!r}; allowed: up to 64 of a-z, 0-9 and -, a letter first")
    module = name.replace("-", "_")
    files = {
        folder / f"{module}.py": TRAIN.format(function=module),
        folder / f"{name}.yaml": SWEEP.format(name=name, module=module),
    }
    there = [str(path) for path in files if path.exists()]
    if there:
        raise SwingbyError(f"cannot write over what is there: {', '.join(there)}; choose another name")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
        say(f"wrote {path}")
    say(f"next: swingby run {folder / f'{name}.yaml'} && swingby report {name}")
