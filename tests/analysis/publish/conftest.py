"""A small sweep over a function, trained once, and published once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from swingby.model import registry
from swingby_analysis.publish.about import Options
from swingby_analysis.publish.folder import publish
from tests.support.command import swingby

TITLE = '<script>alert(1)</script> & "dents" | `x`'
TRAIN = '''
"""Two weights of a made-up descent."""
import math
from swingby import Vector, experiment


@experiment(curves={"loss": "mean squared error"}, scalars={"best": "least loss", "where": "a path"})
def dents(cell, rate: float, weights: Vector = (1.0, 1.0), steps: int = 6):
    """Descends, and diverges at a large rate."""
    w = sum(weights) + cell.numpy("start").normal() / 7
    for step in range(steps + 1):
        cell.record(step, loss=w * w, pair=[w, -w])
        w = math.inf if rate > 1 and step == 4 else w * (1 - rate)
    return {"best": w * w / 3, "where": "/home/somebody/dents.txt"}
'''
SWEEP = """
name: dents
title: {title}
description: A made-up descent on two weights.
experiment: dents.py
axes: {{rate: [0.1, 0.3, 1.5], weights.1: [1.0, 2.0]}}
base: {{weights: [1.0, 1.0]}}
seeds: 3
outcomes: {{low: "best < 0.4"}}
diagram: {{x: rate, y: weights.1, outcome: low}}
"""
ASKED = Options(authors=("Lovelace, Ada (0000-0002-1825-0097)", "A Group"), licence="CC-BY-4.0")


@pytest.fixture(scope="package")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the code, the sweep file, and the results in `data`."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "dents.py").write_text(TRAIN)
    (folder / "dents.yaml").write_text(SWEEP.format(title=f"'{TITLE}'"))
    done = swingby("run", "dents.yaml", "--local", "--data", "data", cwd=folder)
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture(scope="package")
def published(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its publication, with figures as SVG alone."""
    registry._adopted.pop("dents", None)
    return publish(
        "dents", study / "data", tmp_path_factory.mktemp("published") / "dents", ASKED, ("svg",), engine=False
    )


@pytest.fixture(autouse=True)
def strangers() -> Iterator[None]:
    """Every test begins as a process does that has not loaded the code."""
    registry._adopted.pop("dents", None)
    yield
    registry._adopted.pop("dents", None)
