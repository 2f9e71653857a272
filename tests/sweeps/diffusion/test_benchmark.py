"""The diffusion benchmark runs to its end, in its small form, and its columns are filled."""

from __future__ import annotations

import pytest

from tests.benchmarks import diffusion


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "columns", "count"),
    [
        (diffusion.loops, diffusion.LOOP_COLUMNS, len(diffusion.precisions())),
        (diffusion.formats, diffusion.FORMAT_COLUMNS, 2 * len(diffusion.precisions())),
    ],
    ids=["loops", "formats"],
)
def test_the_quick_tables(rows, columns: tuple[str, ...], count: int) -> None:  # pyright: ignore[reportMissingParameterType]
    """A row a precision, and memory format; every cell is there, every ratio positive."""
    found = rows(quick=True)
    assert len(found) == count
    for row in found:
        assert len(row) == len(columns)
        assert all(row)
        assert float(row[columns.index("ratio")]) > 0
