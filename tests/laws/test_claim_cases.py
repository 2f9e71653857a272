"""Claims on made-up runs, by `tests/sweeps/*/claim_cases.py`: each has runs on which it holds, and near misses."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from swingby.model import registry
from tests.support.claims import Case, Row, claims_of
from tests.support.places import ROOT

FILES = sorted((ROOT / "tests" / "sweeps").glob("*/claim_cases.py"))
TABLES: dict[str, Any] = {
    experiment: tables
    for file in FILES
    for experiment, tables in import_module(f"tests.sweeps.{file.parent.name}.claim_cases").CLAIMS.items()
    if experiment in registry.offered(registry.EXPERIMENTS)
}
"""Of each experiment, with those of its folder, pairs of a usual run's maker and cases of claims."""
CASES = [(usual, case) for tables in TABLES.values() for usual, cases in tables for case in cases]


@pytest.mark.parametrize(("usual", "case"), CASES, ids=[case.slug for _, case in CASES])
def test_a_claim_holds_and_its_near_misses_do_not(usual: Callable[[int], Row], case: Case) -> None:
    """Runs at the right side of a limit are for a claim, and those that differ in what decides it are against it."""
    case.check(usual)


@pytest.mark.parametrize("experiment", TABLES)
def test_every_claim_has_a_case(experiment: str) -> None:
    """None is left out."""
    assert sorted({case.slug for _, cases in TABLES[experiment] for case in cases}) == claims_of(experiment)
