"""The examples of docs/detectors-and-drawings.md run: a detector on curves, a drawing on a sweep."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa

from swingby.data.records import Records
from swingby.run.outcomes import derive
from swingby.store import Store
from swingby_analysis.report import data as report_data
from swingby_analysis.report.subject import Subject
from tests.support import synthetic_sim
from tests.support.places import ROOT


def example(heading: str) -> dict[str, Any]:
    """What the first Python block under a heading defines."""
    text = (ROOT / "docs" / "detectors-and-drawings.md").read_text().split(f"## {heading}\n", 1)[1]
    block = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert block is not None
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(block[1], heading, "exec"), names)
    return names


def test_the_detector_finds_the_curve_that_rises() -> None:
    """A falling curve has no rise, a curve that comes back up has its height, and a missing one is not known."""
    detector = example("How to write a detector")["Rises"]()
    curves = pa.array([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0, 0.5], None], pa.list_(pa.float64()))
    found = detector.detect(pa.table({"cell_id": ["a", "b", "c"], "curve": curves}))
    assert found["rises"].to_pylist() == [False, True, None]
    assert found["rise"].to_pylist() == [0.0, 1.0, None]
    assert set(detector.kinds) <= set(detector.outcomes)


def test_the_drawing_draws_a_sweep(tmp_path: Path) -> None:
    """Its figure has a mark for every point of the grid."""
    drawing = example("How to write a drawing")["Shares"]()
    sweep = synthetic_sim.square("small", 2, 3)
    synthetic_sim.write(tmp_path / "data", sweep)
    derive(Records.open(tmp_path / "data"), [sweep.sweep_id])
    with Store.open(tmp_path / "data") as store:
        subject = Subject(report_data.read(store, sweep.sweep_id), store)
        (figure,) = drawing.figures(subject, drawing.Options())
    assert figure.slug == "shares"
    marked = set(re.findall(r'"point": (\d+)', json.dumps(figure.spec)))
    assert marked == {str(point) for point in subject.points}
