"""Laws of deletions and renamings: what another sweep needs stays, whatever ends them, and nothing else of a sweep."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.maintenance import delete, rename
from swingby.store import Store, ingest, rebuild
from swingby.store.lookup import find_sweep, known_sweeps
from tests.support.store import SWEEPS, Segment, cells, snapshot, write_plan, write_shard


@pytest.fixture
def two(records: Records) -> Records:
    """Sweep a with cells x, y and z in two files, outcomes of each, and sweep b, which has y and trained w."""
    write_plan(records, ["x", "y", "z"])
    write_plan(records, ["y", "w"], sweep="b")
    write_shard(records, [Segment("x", value=1), Segment("y", value=2)])
    write_shard(records, [Segment("z", value=3)], batch=1)
    write_shard(records, [Segment("w", value=4)], sweep="b")
    for names in (["x", "z"], ["y"]):
        of_shard = [shard for cell in names for shard in records.shards() if cell in _cells_in(records, shard)]
        table = pa.table({"cell_id": names, "high": [True] * len(names), "of_shard": of_shard})
        records.write_derived("outcomes_toy", "1", ["cell_id"], table)
    (records.data / "work" / SWEEPS["a"] / "batch").mkdir(parents=True)
    ingest(records)
    return records


def _cells_in(records: Records, shard: str) -> list[str]:
    return records.read_shard(shard)[1]["cell_id"].to_pylist()


def names(records: Records) -> list[str]:
    with Store.open(records.data) as store:
        return sorted(one.name for one in known_sweeps(store))


def files(records: Records) -> list[str]:
    return sorted(key.rpartition("-")[0] for key in records.paths() if not key.startswith("retractions/"))


def test_what_another_sweep_has_stays_and_the_rest_goes(two: Records) -> None:
    """Results, outcomes and origins of shared cells are as before; the store is that of the files that are left."""
    (shared,) = [row for row in cells(two) if row[0] == "y"]
    intended = delete(two.data, "a", dry_run=True)
    assert names(two) == ["a", "b"]
    assert delete(two.data, "a") == intended
    assert (intended.cells, intended.trained, intended.shared, len(intended.mixed)) == (2, 2, {"b": 1}, 1)
    assert [row[0] for row in cells(two)] == ["w", "y"]
    assert shared in cells(two)
    assert names(two) == ["b"]
    with Store.open(two.data) as store:
        assert [row.cell_id for row in store.sql("from outcomes_toy select cell_id").rows()] == ["y"]
        origin = store.sql("select git_commit from toy join shards using (shard) join plans using (plan_id)").rows()
        assert [row.git_commit for row in origin] == ["c0ffee", "c0ffee"]
    assert not (two.data / "work" / SWEEPS["a"]).exists()
    before = snapshot(two)
    rebuild(two)
    assert snapshot(two) == before


def test_with_the_last_sweep_goes_every_file(two: Records) -> None:
    """Also what an earlier deletion had to leave, and the records by which it took results back."""
    delete(two.data, "a")
    delete(two.data, "b")
    assert two.paths() == []
    assert not any((two.data / "shards").iterdir())


class _EndError(BaseException):
    """In place of whatever ends a process."""


@pytest.mark.parametrize("number", [4, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 3, 5, 6, 7, 8, 9))])
def test_whatever_ends_a_deletion_a_second_one_does_the_rest(
    number: int, two: Records, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At whichever file it ends, results of the other sweep are there; the second one leaves what an undisturbed one
    leaves. Steps: two retractions, a shard, outcomes, checkpoints, two plans, a retraction, the store."""
    other = [row for row in cells(two) if row[0] in "yw"]
    copy = Records.open(shutil.copytree(two.data, tmp_path / "copy"))
    delete(two.data, "a")
    with monkeypatch.context() as patch:
        steps = count(1)
        for seam in ("unlink", "rename"):
            patch.setattr(Path, seam, _ending(getattr(Path, seam), steps, number))
        with pytest.raises(_EndError):
            delete(copy.data, "a")
    assert [row for row in cells(copy) if row[0] in "yw"] == other
    delete(copy.data, "a")
    assert (cells(copy), names(copy), files(copy)) == (cells(two), names(two), files(two))


def _ending(step: Callable[..., Any], steps: Iterator[int], number: int) -> Callable[..., Any]:
    """A step that ends all, in place of being the one of that number; a note for the next ingest is none."""

    def ended(path: Path, *arguments: Any, **options: Any) -> Any:
        if path.name != "ingested.json" and next(steps) == number:
            raise _EndError
        return step(path, *arguments, **options)

    return ended


def test_a_sweep_that_is_run_is_left_alone(two: Records) -> None:
    """The error says by whom, and nothing has changed."""
    before = two.paths()
    with two.lock(SWEEPS["a"], "a run of mine"), pytest.raises(SwingbyError, match="a run of mine"):
        delete(two.data, "a")
    assert two.paths() == before


def test_a_renamed_sweep_has_its_new_name_everywhere(two: Records) -> None:
    """In SQL, and for whoever looks it up; also after the store is made again. The name in its file works, too."""
    rename(two.data, "a", "wide")
    rebuild(two)
    assert names(two) == ["b", "wide"]
    with Store.open(two.data) as store:
        texts = store.sql("select json_extract_string(resolved, '$.name') as name from sweeps order by all").rows()
        assert [row.name for row in texts] == ["wide", None]  # for pages and files; these plans have no name there
        assert find_sweep(store, "wide") == find_sweep(store, "a") == find_sweep(store, SWEEPS["a"])
    rename(two.data, "wide", "a")
    assert names(two) == ["a", "b"]


def test_of_sweeps_of_one_name_it_is_said_which_is_meant(records: Records, capsys: pytest.CaptureFixture[str]) -> None:
    """The newest one, once, with what names the others; what takes something away refuses the name."""
    write_plan(records, ["x"], created=1)
    (older,) = records.plans()
    ingest(records)
    write_plan(records, ["y"], sweep="b", created=2)
    rename_record = pa.table({"sweep_id": [SWEEPS["b"]], "name": ["a"]})
    records.write_derived("renamed", "1", ["sweep_id"], rename_record)  # as of a folder that was merged
    ingest(records)
    with Store.open(records.data) as store:
        newest, also = find_sweep(store, "a"), find_sweep(store, older.split("-")[1])
        said = capsys.readouterr().err
        assert (newest.sweep_id, also.sweep_id) == (SWEEPS["b"], SWEEPS["a"])
        assert said.count("2 sweeps are called a") == 1
        assert newest.stamp in said
        assert also.stamp in said
        assert newest.folder != also.folder
        with pytest.raises(SwingbyError, match=also.stamp):
            find_sweep(store, "a", sole=True)
    for verb in (delete, lambda data, name: rename(data, name, "c")):
        with pytest.raises(SwingbyError, match=newest.stamp):
            verb(records.data, "a")


@pytest.mark.parametrize("name", ["b", "Wide", "", "../wide"])
def test_a_name_that_another_sweep_has_or_none_can_have_is_refused(two: Records, name: str) -> None:
    with pytest.raises(SwingbyError, match="name"):
        rename(two.data, "a", name)
    assert names(two) == ["a", "b"]
