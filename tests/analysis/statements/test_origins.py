"""Where cells come from: every experiment has a row a sweep, whatever its results say of engines and seconds."""

from __future__ import annotations

from pathlib import Path

from swingby.data.records import Records
from swingby.store import Store, ingest
from swingby_analysis.statements.origins import HEADINGS, origins, table
from tests.support.store import SWEEPS, Segment, write_plan, write_shard


def test_an_experiment_without_seconds_has_origins(tmp_path: Path) -> None:
    """Neither seconds nor an engine is a column of its results: both places are empty, and the others are filled."""
    records = Records.open(tmp_path / "data")
    write_plan(records, ["c1", "c2"])
    write_shard(records, [Segment("c1"), Segment("c2", status="diverged")])
    ingest(records)
    with Store.open(records.data) as store:
        assert not {"seconds", "engine"} & {name for name, _ in store.tables()["toy"]}
        queries, rows = origins(store, {"toy": [SWEEPS["a"]], "never-run": ["0" * 16]})
    (row,) = rows
    assert (row["cells"], row["diverged"], row["seconds"], row["engines"]) == (2, 1, None, None)
    assert len(queries) == 1
    (shown,) = table(rows).rows
    cells = dict(zip(HEADINGS, shown, strict=True))
    assert (cells["sweep"], cells["cells"], cells["diverged"]) == ("a", "2", "1")
    assert (cells["on"], cells["by"], cells["commit"], cells["training"]) == ("h", "", "c0ffee", "")
