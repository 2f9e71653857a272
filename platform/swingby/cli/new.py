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
SWEEP = """# swingby run {run} && swingby report {name}
name: {name}
experiment: {code}
axes:
  rate: {{logspace: {{from: 0.002, to: 0.5, points: 9}}}}
  gain: {{logspace: {{from: 0.001, to: 1, points: 7}}}}
seeds: 5
diagram: {{x: rate, y: gain, outcome: learned}}
"""


PROJECT = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["swingby"]

[project.entry-points."swingby.packages"]
{module} = "{module}"

[tool.setuptools]
packages = ["{module}"]

[tool.setuptools.package-data]
{module} = ["sweeps/*.yaml", "statements/*.sql"]
"""
PACKAGE = '''"""A study with swingby: an experiment, and what looks at it."""

from swingby.model.package import Package

PACKAGE = Package(
    experiments={{"{module}": "train:{module}"}},
    # detectors={{"slow": "detect:Slow"}}, drawings=..., commands=...: nothing is imported until it is asked for.
    # Sweeps that have a name lie in sweeps/, statements that are judged over seeds in statements/.
)
'''


def new(
    name: Annotated[str, typer.Argument(help="Name: lower-case letters, digits and -.", show_default=False)],
    folder: Annotated[Path, typer.Option("--in", help="Folder for what is written; made if missing.")] = Path(),
    packaged: Annotated[
        bool,
        typer.Option(
            "--packaged", help="Write an installable package, which may have detectors, drawings and statements, too."
        ),
    ] = False,
) -> None:
    """Writes a study to begin from: a Python file with a training loop, and a sweep over it, which run in ten seconds.

    Examples:

        swingby new my-study
        swingby new my-study --packaged
    """
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,63}", name):
        raise SwingbyError(f"a study cannot be called {name!r}; allowed: up to 64 of a-z, 0-9 and -, a letter first")
    module = name.replace("-", "_")
    train, place = TRAIN.format(function=module), folder / f"{name}.yaml"
    files = {folder / f"{module}.py": train, place: SWEEP.format(name=name, run=place.name, code=f"{module}.py")}
    if packaged:
        package = folder / name / module
        files = {
            folder / name / "pyproject.toml": PROJECT.format(name=name, module=module),
            package / "__init__.py": PACKAGE.format(module=module),
            package / "train.py": train,
            package / "sweeps" / f"{name}.yaml": SWEEP.format(name=name, run=name, code=module),
        }
    there = [str(path) for path in files if path.exists()]
    if there:
        raise SwingbyError(f"cannot write over what is there: {', '.join(there)}; choose another name")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        say(f"wrote {path}")
    first = f"pip install -e {folder / name} && swingby run {name}" if packaged else f"swingby run {place}"
    say(f"next: {first} && swingby report {name}")
