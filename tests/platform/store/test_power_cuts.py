"""Laws of power cuts: what was acknowledged is there, and the store that is found is the one that is made from it."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest

from swingby.data import files
from swingby.data.records import Records
from swingby.data.records.retractions import Retraction
from swingby.store import Ingest, ingest, rebuild
from tests.support.power import Disk
from tests.support.store import Segment, snapshot, write_plan, write_shard


class Cut(NamedTuple):
    """A folder as a power cut left it, and the records that had been acknowledged."""

    folder: Path
    acknowledged: tuple[str, ...]


def cuts(tmp_path: Path, patch: pytest.MonkeyPatch, seed: int, often: float) -> list[Cut]:
    """Records are written and ingested, by several processes in turn; at random moments the power is cut."""
    rng, made = random.Random(seed), list[Cut]()
    for name in ("disk", "aside", "cuts"):
        (tmp_path / name).mkdir()
    disk = Disk(tmp_path / "disk", tmp_path / "aside")
    patch.setattr(os, "fsync", disk.fsync)
    patch.setattr(files, "_lasting", set())
    records = Records.open(tmp_path / "disk" / "data")
    done: list[str] = []
    writing = False

    def cut() -> None:
        if rng.random() < often:
            folder = tmp_path / "cuts" / str(len(made))
            disk.cut(rng, folder)
            made.append(Cut(folder / "data", tuple(done)))

    def moment(path: Path) -> None:
        nonlocal writing
        if writing and path.is_dir() and rng.random() < 0.5:
            writing = False  # another process sees the file before its name lasts
            ingest(records)
        cut()

    commit = Ingest._commit

    def committed(self: Ingest, database: str) -> None:
        commit(self, database)
        cut()

    patch.setattr(Ingest, "_commit", committed)
    disk.moment = moment
    for turn, sweep in enumerate("ab"):
        plan = write_plan(records, [f"{sweep}{k}" for k in range(3)], sweep, width=pa.array([1, 2, 3]))
        done.append(f"plans/{plan.plan_id}.parquet")
        shards = [
            [Segment(f"{sweep}0"), Segment(f"{sweep}1", value=turn)],
            [Segment(f"{sweep}2", 0, 2, final=False)],
            [Segment(f"{sweep}2", 3, 5, value=1)],
            [Segment(f"{sweep}0", value=9)],
        ]
        for batch, rows in enumerate(shards):
            writing = True
            name = write_shard(records, rows, sweep=sweep, batch=batch // 2, attempt=1001 + batch % 2, finished=batch)
            writing = False
            done.append(f"shards/{name}")
            if rng.random() < 0.6:
                with Ingest(records, segment_rows=rng.choice((2, 100))) as step:
                    step.take()
                    step.publish(force=rng.random() < 0.5)
        table = pa.table({"cell_id": [f"{sweep}0"], "told": [turn]})
        path = records.write_derived("outcomes_one", "1", ["cell_id"], table)
        done.append(path.relative_to(records.data).as_posix())
    taken = pa.table({"cell_id": ["a1"], "shard": [done[1].removeprefix("shards/")]})
    path = records.write_retraction(Retraction("wrong", table=taken))
    done.append(path.relative_to(records.data).as_posix())
    ingest(records)
    disk.cut(rng, tmp_path / "cuts" / "last")
    patch.undo()
    return [*made, Cut(tmp_path / "cuts" / "last" / "data", tuple(done))]


def check(cut: Cut) -> None:
    """What was acknowledged is there; the store, mended or not, goes on to be the one made from the records."""
    there = set(Records(cut.folder).paths())
    assert there >= set(cut.acknowledged)
    if not (cut.folder / "swingby.json").exists() and not there:
        return  # nothing was acknowledged yet
    records = Records.open(cut.folder)
    records.tell = lambda text: None
    ingest(records)
    live = snapshot(records)
    rebuild(records)
    assert snapshot(records) == live
    assert not live["bad_shards"][1:]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 9))])
def test_what_is_acknowledged_lasts_and_the_store_is_made_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Whenever the power is cut, on a file system that keeps no order: every record that was written is there whole,
    and the store that is found, once it has ingested them, is the one that they make."""
    for cut in cuts(tmp_path, monkeypatch, seed, often=0.03 if seed == 0 else 0.1):
        check(cut)


def test_a_forgotten_sync_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the folders that a record makes are not synced, cuts lose records that were acknowledged."""
    with monkeypatch.context() as patch:
        patch.setattr(files, "make_folder", lambda folder: folder.mkdir(parents=True, exist_ok=True))
        found = cuts(tmp_path, patch, seed=1, often=0.1)
    assert any(not set(Records(cut.folder).paths()) >= set(cut.acknowledged) for cut in found)
