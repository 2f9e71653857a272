"""Laws of which result of a cell a sweep reads: what it recorded, whatever other sweeps over the cell record."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from swingby.data.records import Records
from swingby.model.experiment import Recording
from swingby.store import Store, ingest, rebuild
from swingby.store.status import statuses
from tests.support.profiles import examples
from tests.support.store import SWEEPS, Segment, write_plan, write_shard

CELLS = tuple("uvwxyz")
RECORDINGS = st.sampled_from(
    [
        Recording(),
        Recording(points=50),
        Recording("every"),
        Recording(also=("extra",)),
        Recording("sqrt", 50, ("extra",)),
    ]
)
STATUS = st.sampled_from(["ok", "ok", "ok", "diverged", "failed", "running"])
SHARD = st.dictionaries(st.sampled_from(CELLS), STATUS, min_size=2)


def write(records: Records, sweep: str, recording: Recording, shards: list[dict[str, str]], begin: int) -> None:
    """Writes a plan of all cells, and these shards of it, each later than the one before; a value tells rows apart."""
    write_plan(records, CELLS, sweep, recording=recording)
    for number, shard in enumerate(shards):
        at = begin + number
        rows = [
            Segment(cell, value=at, final=status != "running", status=status) for cell, status in sorted(shard.items())
        ]
        write_shard(
            records, rows, sweep=sweep, batch=number, attempt=1001 + number, finished=at, tokens=recording.tokens
        )


def read(store: Store, sweep: str) -> dict[str, Any]:
    """What a sweep says of its cells, by each way there is to ask."""
    wanted = SWEEPS[sweep]
    query = "select t.* from members m join toy t using (cell_id) where m.sweep_id = ? order by cell_id"
    named = store.sql(query, [wanted]).arrow().to_pylist()
    literal = store.sql(query.replace("?", f"'{wanted}'")).arrow().to_pylist()
    with store.reading_as(wanted):
        inside = store.sql("select * from toy order by cell_id").arrow().to_pylist()
    (status,) = (one for one in statuses(store) if one.sweep_id == wanted)
    assert named == literal == inside
    return {"rows": named, "ok": status.ok, "diverged": status.diverged, "failed": status.failed}


@settings(max_examples=examples(many=16, few=8))
@given(
    first=RECORDINGS,
    second=RECORDINGS,
    shards=st.lists(SHARD, max_size=2),
    others=st.lists(SHARD, min_size=1, max_size=2),
    early=st.booleans(),
)
def test_no_run_of_another_sweep_changes_what_a_sweep_reads(
    first: Recording,
    second: Recording,
    shards: list[dict[str, str]],
    others: list[dict[str, str]],
    early: bool,
) -> None:
    """A cell with a result keeps it; one without takes a result of another sweep, if that records all that is asked."""
    with TemporaryDirectory() as folder, ExitStack() as opened:
        records = Records.open(Path(folder) / "data")
        write(records, "a", first, shards, 20)
        ingest(records)
        store = opened.enter_context(Store.open(records.data))
        before = read(store, "a")
        # An earlier result of the same recording is the same result: cells are deterministic.
        same = set(first.tokens) <= set(second.tokens)
        write(records, "b", second, others, 10 if early and not same else 40)
        ingest(records)
        after = read(store, "a")
        results = {row["cell_id"]: row for row in after["rows"]}
        for row in before["rows"]:
            if row["status"] in ("ok", "diverged"):
                assert results[row["cell_id"]] == row
        if not same:
            assert after == before
        other = {row["cell_id"]: set(row["recorded"]) for row in read(store, "b")["rows"]}
        assert all(set(second.tokens) <= recorded for recorded in other.values())
        rebuild(records)
        assert read(store, "a") == after


@settings(max_examples=examples(many=6, few=3))
@given(recordings=st.lists(RECORDINGS, min_size=2, max_size=2), shards=st.lists(SHARD, min_size=2, max_size=2))
def test_the_order_in_which_sweeps_come_changes_nothing(
    recordings: list[Recording], shards: list[dict[str, str]]
) -> None:
    """Two sweeps' shards read alike in either order of coming, by each sweep and by who asks for none."""
    found = []
    for order in (0, 1), (1, 0):
        with TemporaryDirectory() as folder:
            records = Records.open(Path(folder) / "data")
            for place in order:
                write(records, "ab"[place], recordings[place], [shards[place]], 10 + 10 * place)
                ingest(records)
            with Store.open(records.data) as store:
                # The shard's name ends at random.
                nobody = store.sql("select * exclude (shard) from toy order by cell_id").arrow().to_pylist()
                rows = [[{**row, "shard": ""} for row in read(store, sweep)["rows"]] for sweep in "ab"]
            found.append((nobody, rows))
    assert found[0] == found[1]
