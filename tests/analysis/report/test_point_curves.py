"""The bands of curves over the runs of a point, against their definition run by run and step by step."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from swingby_analysis.report.point_curves import NOWHERE, ONES, CurvePart, bands, kept_places

numbers = st.none() | st.sampled_from([0.0, 1.0, -2.5, 3.0, math.nan, math.inf])
units = st.none() | st.sampled_from([0.0, 1.0, 2.0])


@st.composite
def runs(draw: st.DrawFn) -> list[dict[str, object]]:
    """Runs at a few points: some diverge early, some lack a value or the whole curve, some record other steps."""
    rows = []
    for point in range(draw(st.integers(1, 3))):
        last = draw(st.sampled_from([1, 4, 9]))
        for _ in range(draw(st.integers(1, 4))):
            diverged = draw(st.booleans()) and draw(st.booleans())
            end = draw(st.integers(1, last)) if diverged else last
            step = list(range(0, end + 1, draw(st.sampled_from([1, 1, 1, 2]))))
            step = step if step[-1] == end else [*step, end]
            curve = draw(st.lists(numbers, min_size=len(step), max_size=len(step)))
            vectors = [None if value is None else [value, 2 * value] for value in curve]
            none = draw(st.integers(0, 5)) == 0
            rows.append({
                "point": point, "run_end": end, "status": "diverged" if diverged else "ok", "step": step,
                "loss": None if none else curve, "path": None if none else vectors,
                "unit": draw(units), "units": draw(st.none() | st.just([2.0, 4.0])),
            })  # fmt: skip
    for row in rows:
        row["point_end"] = max(int(str(one["run_end"])) for one in rows if one["point"] == row["point"])
    return rows


TYPES = pa.schema([
    ("point", pa.int64()), ("run_end", pa.int64()), ("status", pa.string()), ("step", pa.list_(pa.int64())),
    ("loss", pa.list_(pa.float64())), ("path", pa.list_(pa.list_(pa.float64()))), ("unit", pa.float64()),
    ("units", pa.list_(pa.float64())), ("point_end", pa.int64()),
])  # fmt: skip


def recorded(row: dict, one: CurvePart) -> dict[int, float]:
    """The kept steps of a run and its values there, in their unit; NaN for what counts as larger than all."""
    unit = 1.0 if one.unit == ONES else row[one.unit]
    unit = unit[one.entry - 1] if isinstance(unit, list) else unit
    curve = [None] * len(row["step"]) if row[one.column] is None else row[one.column]
    pairs = [
        (step, value)
        for step, value in zip(row["step"], curve, strict=True)
        if value is not None or row[one.column] is None
    ]
    kept = kept_places(np.array([step for step, _ in pairs], np.int64).tobytes(), row["point_end"])
    values = {}
    for step, value in [pairs[place] for place in kept]:
        value = value[one.entry - 1] if isinstance(value, list) else value
        values[step] = value / unit if value is not None and math.isfinite(value) and unit else math.nan
    return values


@given(
    runs(),
    st.sampled_from([CurvePart("loss", "unit"), CurvePart("path", "units", 2), CurvePart("path", ONES)]),
    st.data(),
)
def test_bands_are_ranks_of_the_runs(rows: list[dict], one: CurvePart, data: st.DataObject) -> None:
    """At each step that every run recorded, or did not live to see: the ranks of all runs, whatever the company."""
    order = data.draw(st.permutations(rows))
    cut = data.draw(st.integers(0, len(rows)))
    tables = [pa.Table.from_pylist(part, schema=TYPES) for part in (order[:cut], order[cut:])]
    by_point = bands(tables, [one])[one]
    for point in {row["point"] for row in rows}:
        here = [row for row in rows if row["point"] == point]
        values = [recorded(row, one) for row in here]
        steps = sorted({step for of_run in values for step in of_run})
        dead = {step: sum(row["status"] == "diverged" and row["run_end"] < step for row in here) for step in steps}
        steps = [step for step in steps if sum(step in of_run for of_run in values) + dead[step] == len(here)]
        if not steps:
            assert point not in by_point
            continue
        of_point, n = by_point[point], len(here)
        assert of_point.runs == n
        assert of_point.step.tolist() == steps
        for place, step in enumerate(steps):
            there = [of_run.get(step, math.nan) for of_run in values]
            finite = [value for value in there if math.isfinite(value)]
            seen = sorted(value if math.isfinite(value) else NOWHERE for value in there)
            quantiles = [seen[max(1, math.ceil(n * percent / 100)) - 1] for percent in (10, 90, 25, 75)]
            assert of_point.ranks[:, place].tolist() == [seen[(n - 1) // 2] / 2 + seen[n // 2] / 2, *quantiles]
            middle = of_point.finite[place]
            assert middle == statistics.median(finite) if finite else math.isnan(middle)
