"""Pinned numbers: stored curves stay what they are, or `Multilinear.stream_version` says that they do not."""

from __future__ import annotations

from typing import Any

import pytest

from swingby.model.cell import Cell, Point
from swingby_sweeps.scaling.experiment import Multilinear
from swingby_sweeps.scaling.losses import curves
from swingby_sweeps.scaling.params import STREAM_VERSION, ScalingParams

PINS: list[tuple[dict[str, Any], str, list[float]]] = [
    ({}, "def2416e8aa856e18b2835585e7608f6", [0.106399508431, 0.0334017604195, 0.0103180617807, 0.00301837134595]),
    (
        {"model": "linear"},
        "b75d52367371359faf7289eb949ee7aa",
        [0.0602522678576, 0.0188039745314, 0.00569691120471, 0.00155291024612],
    ),
    (
        {"skills": None, "alpha": 0.3},
        "3f2962a20311e19b1f11bf5935a21090",
        [0.222966201675, 0.109785978864, 0.0540573275204, 0.0266171935347],
    ),
    (
        {"bottleneck": "data", "largest": 1e5},
        "c52743f3801b6332bb842ea08cd028bc",
        [0.205599883645, 0.0700294275317, 0.0177782845379, 0.00529126707362],
    ),
    (
        {"bottleneck": "width", "largest": 1e4},
        "50c81c733a1399f6d91eaae174bc3b5e",
        [0.281095303171, 0.0559677890971, 0.00879551521556, 0.00108757518513],
    ),
    (
        {"bottleneck": "compute"},
        "6bae9f26534d4e4f54115f7404e64db0",
        [0.176951145892, 0.0892396270405, 0.0440901286479, 0.0215702215163],
    ),
    (
        {"bottleneck": "all", "data": 10_000, "width": 300},
        "6a26cdd3ec0dc9a535dfd5b9256cfbe7",
        [0.107526639106, 0.0339995694105, 0.015028657685, 0.0150283059663],
    ),
]
"""Parameters of cells of seed 7 with four points; their ids; their losses."""


def cell(values: dict[str, Any]) -> Cell:
    """One of these cells."""
    return Point("multilinear", STREAM_VERSION, ScalingParams(points=4, **values)).cell(7)


def test_the_pins_are_those_of_this_version() -> None:
    """A change of any number needs a new stream version, and then new pins."""
    assert Multilinear.stream_version == 1


@pytest.mark.parametrize(("values", "cell_id", "losses"), PINS)
def test_cells_are_pinned(values: dict[str, Any], cell_id: str, losses: list[float]) -> None:
    """The id of a stored cell and the numbers of its curve do not change."""
    assert cell(values).cell_id == cell_id
    assert curves(cell(values))["loss"] == pytest.approx(losses, rel=1e-10)
