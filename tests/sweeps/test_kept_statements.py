"""Every verdict and every finding on the recorded results is the one that was kept when they were computed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swingby_analysis.statements.findings import write_findings
from tests.support.compare_statements import differences, dump

KEPT = Path(__file__).with_name("kept_statements.json")
"""Rows of all claims and sentences of all findings, on sweeps with all their seeds. A data folder of one's own is
compared with it by `python -m tests.support.compare_statements`."""


@pytest.mark.slow
def test_findings_on_recorded_results_are_those_that_were_kept(tmp_path: Path) -> None:
    """The sentences on the shipped results, numbers and intervals included."""
    write_findings(tmp_path / "data", tmp_path / "out", run=None, recorded=True)
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    slugs = [row["slug"] for row in kept["findings"]]
    found = dump(tmp_path / "data", slugs)
    assert not list(differences({**kept, "claims": []}, found))
