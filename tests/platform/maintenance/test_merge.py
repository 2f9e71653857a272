"""Laws of merging data folders: a union of files, whatever the order, however often, and whenever it is killed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby.data.parquet import read_parquet, write_parquet
from swingby.data.records import Records
from swingby.data.records.retractions import Retraction
from swingby.errors import SwingbyError
from swingby.maintenance import merge
from swingby.maintenance.merge import check
from swingby.store import Store, ingest, rebuild
from tests.support.command import swingby
from tests.support.store import SWEEPS, Segment, cells, snapshot, write_plan, write_shard


def taking(cell: str, shard: str) -> Retraction:
    """A retraction of a cell's rows in a shard."""
    return Retraction("wrong", table=pa.table({"cell_id": [cell], "shard": [shard]}))


def filled(folder: Path) -> Records:
    """Two sweeps that share a cell: plans, shards whose rows compete, outcomes, and a retraction."""
    records = Records.open(folder)
    write_plan(records, ["x", "y"], width=pa.array([1, 2]))
    write_plan(records, ["y", "z"], "b", width=pa.array([2, 3]))
    write_shard(records, [Segment("x", value=1), Segment("y", value=2)], finished=9)
    first = write_shard(records, [Segment("y", value=3)], sweep="b", finished=2)
    write_shard(records, [Segment("y", value=4), Segment("z", 0, 1, final=False)], sweep="b", batch=1, finished=4)
    write_shard(records, [Segment("z", 2, 4, value=5)], sweep="b", batch=1, finished=6)
    records.write_derived("outcomes_one", "1", ["cell_id"], pa.table({"cell_id": ["y"], "of_shard": [first]}))
    records.write_retraction(taking("y", first))
    return records


@pytest.fixture(scope="module")
def union(tmp_path_factory: pytest.TempPathFactory) -> Records:
    """A folder with all of it."""
    records = filled(tmp_path_factory.mktemp("union") / "data")
    ingest(records)
    return records


@pytest.fixture(scope="module")
def shown(union: Records) -> dict[str, list[str]]:
    """What it shows."""
    return snapshot(union)


def copied(union: Records, folder: Path, places: set[int]) -> Records:
    """A folder with some of the records, by their places."""
    records = Records.open(folder)
    for place, key in enumerate(union.paths()):
        if place in places:
            records.put(key, union.content(key))
    return records


@settings(max_examples=2)
@given(st.lists(st.sampled_from(["left", "right", "both"]), min_size=8, max_size=8))
def test_a_merge_is_a_union(union: Records, shown: dict[str, list[str]], where: list[str]) -> None:
    """However the records lie in two folders, either one merged into the other shows what all of them show, the same
    after a second merge; the other folder's records stay as they were."""
    with tempfile.TemporaryDirectory() as name:
        places = {side: {n for n, at in enumerate(where) if at in (side, "both")} for side in ("left", "right")}
        folders = {side: copied(union, Path(name) / side, places[side]) for side in places}
        one = copied(union, Path(name) / "one", places["left"])
        merge(one.data, folders["right"].data)
        merge(folders["right"].data, folders["left"].data)
        assert snapshot(one) == snapshot(folders["right"]) == shown
        again = merge(one.data, folders["left"].data)
        assert (sum(again.copied.values()), again.there) == (0, len(places["left"]))
        assert len(folders["left"].paths()) == len(places["left"])


KILLED = """
import os, shutil, sys
from pathlib import Path
from swingby.maintenance import merge
from swingby.data.records import Records
here, there, copies = map(Path, sys.argv[1:])
for turn in range(1, 99):
    data = copies / str(turn)
    shutil.copytree(here, data)
    child = os.fork()
    if child == 0:
        real, calls = Path.rename, 0
        def rename(path, target):
            global calls
            calls += 1
            if calls == turn:
                os._exit(9)
            return real(path, target)
        Path.rename = rename
        merge(data, there)
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        break
    for name in Records.open(data).shards():
        Records.open(data).read_shard(name)
print(turn)
"""


def killed(here: Path, there: Path, copies: Path) -> int:
    """Merges into copies of a folder, killed before the first rename, the second, and so on; how many there were."""
    copies.mkdir()
    command = [sys.executable, "-W", "ignore", "-c", KILLED, *map(str, (here, there, copies))]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.slow
def test_a_merge_killed_anywhere_is_begun_again(union: Records, tmp_path: Path) -> None:
    """Killed before any of its renames, a merge has left whole files only, and the next one finishes it."""
    here = copied(union, tmp_path / "here", {0, 3, 4, 5, 6})
    turns = killed(here.data, union.data, tmp_path / "copies")
    assert turns > 4  # three records and what the ingest writes
    for turn in (2, turns - 1):
        merge(tmp_path / "copies" / str(turn), union.data)
        assert snapshot(Records.open(tmp_path / "copies" / str(turn))) == snapshot(union)


def test_a_folder_is_not_merged_into_itself(union: Records) -> None:
    """It is refused under whatever name."""
    with pytest.raises(SwingbyError, match="are the same data folder"):
        merge(union.data, union.data / ".")


@pytest.fixture(scope="module")
def thrice(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[str]]]:
    """Three folders in which the same sweep was run, as folders do: plans, batches and attempts are called the same;
    and what all of them show together."""
    folder = tmp_path_factory.mktemp("thrice")
    for host, created in (("a", 2), ("b", 1), ("c", 3)):
        records = Records.open(folder / host)
        write_plan(records, ["x", "y"], created=created, commit=host, width=pa.array([1, 2]))
        for segments, finished in RAN[host]:
            write_shard(records, segments, host=host, finished=finished)
    records = Records.open(folder / "a")
    write_plan(records, ["x", "y"], sequence=2, commit="a", width=pa.array([1, 2]))
    write_shard(records, [Segment("y", 2, 4, value=10)], attempt=2001, host="a", finished=4)
    shutil.copytree(folder / "a", folder / "all")
    for host in "bc":
        merge(folder / "all", folder / host)
    return folder, snapshot(Records.open(folder / "all"))


RAN = {
    "a": [([Segment("x", value=11), Segment("y", 0, 1, final=False, value=12)], 5)],
    "b": [([Segment("x", value=21), Segment("y", 0, 2, final=False, value=22)], 3)],
    "c": [
        ([Segment("x", status="failed"), Segment("y", 0, 1, final=False, value=30)], 1),
        ([Segment("y", 2, 4, value=30)], 6),
    ],
}
"""What each folder's first attempt left, and when. In `a` a second one went on with `y` and finished it first."""


@settings(max_examples=2)
@given(st.permutations("abc"), st.lists(st.sampled_from(["ab", "ba", "bc", "cb", "ca", "ac"]), max_size=3))
def test_a_sweep_that_ran_in_several_folders_is_united(
    thrice: tuple[Path, dict[str, list[str]]], order: list[str], before: list[str]
) -> None:
    """Whatever was merged into what before, and in whatever order the folders come together in the end: all show the
    same, every plan and shard is kept, and a second merge brings nothing."""
    folder, shown = thrice
    with tempfile.TemporaryDirectory() as name:
        for host in "abc":
            shutil.copytree(folder / host, Path(name) / host)
        for here, there in (*before, order[:2], order[::2]):
            merge(Path(name) / here, Path(name) / there)
        here = Records.open(Path(name) / order[0])
        assert snapshot(here) == shown
        assert (len(here.plans()), len(here.shards())) == (4, 5)
        assert sum(merge(here.data, Path(name) / order[1]).copied.values()) == 0
        rebuild(here)
        assert snapshot(here) == shown


def test_of_a_cell_that_was_trained_twice_one_result_shows(thrice: tuple[Path, dict[str, list[str]]]) -> None:
    """The first that was finished, a failure last; a run that was interrupted has no hole, whoever's pieces it shows.
    The plan that was created first keeps its name, any other says its content."""
    records = Records.open(thrice[0] / "all")
    assert cells(records) == [
        ("x", "ok", 21.0, [0, 1, 2], [21.0, 21.001, 21.002]),
        ("y", "ok", 10.0, [0, 1, 2, 3, 4], [30.0, 30.001, 10.002, 10.003, 10.004]),
    ]
    with Store.open(records.data) as store:
        plans = {row.git_commit: row.plan_id for row in store.sql("from plans where sequence = 1").rows()}
    assert plans["b"] == "a-aaaaaaaa-0001"
    assert all(re.fullmatch(r"a-aaaaaaaa-0001\+[0-9a-f]{12}", plans[host]) for host in "ac")
    assert set(plans.values()) < set(records.plans())


@pytest.mark.slow
def test_a_merge_of_one_sweep_killed_anywhere_is_begun_again(
    thrice: tuple[Path, dict[str, list[str]]], tmp_path: Path
) -> None:
    """Also between the two renames that let an older plan have the name, and with the store made in between."""
    folder, shown = thrice
    shutil.copytree(folder / "a", tmp_path / "here")
    merge(tmp_path / "here", folder / "c")
    turns = killed(tmp_path / "here", folder / "b", tmp_path / "copies")
    for turn in range(2, turns):
        copy = Records.open(tmp_path / "copies" / str(turn))
        ingest(copy)
        merge(copy.data, folder / "b")
        assert snapshot(copy) == shown


def test_no_plan_comes_in_while_its_sweep_runs(union: Records, tmp_path: Path) -> None:
    """A run would give way to the newer plan: the merge is refused, told who runs, and copies nothing."""
    here = Records.open(tmp_path / "here")
    with here.lock(SWEEPS["b"]), pytest.raises(SwingbyError, match=f"held by process {os.getpid()}"):
        merge(here.data, union.data)
    assert here.paths() == []


def lying(records: Records, shard: str, **changes: object) -> None:
    """Writes a shard of that name whose header says something else than it should."""
    header, table = records.read_shard(shard)
    path = records.shard_path(shard).with_name("b000007-a1001.parquet")
    write_parquet(path, table, {**asdict(header), **changes}, 8)


def test_what_is_torn_or_foreign_is_named_and_left_out(union: Records, tmp_path: Path) -> None:
    """Torn, flipped, renamed, linked, lying or endless files of the other folder are told with a reason; all others
    are taken, nothing else appears, and the command ends with code 2."""
    there = copied(union, tmp_path / "there", set(range(8)))
    shard = there.paths()[3]
    folder = there.data / "shards" / "a-aaaaaaaa-0001"
    content = there.content(shard)
    bad = {
        f"{folder}/b000001-a1001-01234567.parquet": content[: len(content) // 2],
        f"{folder}/b000002-a1001-01234567.parquet": content[:60] + bytes([content[60] ^ 1]) + content[61:],
        f"{folder}/b000003-a1001-{Path(shard).stem[-8:]}.parquet": content,
        f"{folder}/odd\x1b[31m.parquet": content,
        f"{there.data}/plans/b-bbbbbbbb-0009.parquet": there.content("plans/b-bbbbbbbb-0001.parquet"),
        f"{there.data}/derived/outcomes_one/9-0123456789ab.parquet": b"",
    }
    for path, text in bad.items():
        Path(path).write_bytes(text)
    (folder / "b000004-a1001-01234567.parquet").symlink_to("/etc/passwd")
    os.mkfifo(folder / "b000005-a1001-01234567.parquet")
    pq.write_table(pa.table({"a": [1]}), folder / "b000006-a1001-01234567.parquet")
    seven = write_shard(there, [Segment("x")], batch=7)
    lies = [{"sweep_id": "../../../outside"}, {"batch": "7"}, {"seconds": "long"}, {"plan_id": "b-bbbbbbbb-0001"}]
    for change in lies:
        lying(there, seven, **change)
    result = swingby("merge", there.data, "--data", tmp_path / "here")
    assert result.exit_code == 2
    told = re.findall(r"left out (\S+?): ", result.stderr)
    assert len(told) == len(set(told)) == len(bad) + 3 + len(lies)
    assert "\x1b[31m" not in result.stderr
    here = Records.open(tmp_path / "here")
    assert set(here.paths()) == {*union.paths(), f"shards/{seven}"}
    assert {path.name for path in tmp_path.iterdir()} == {"here", "there"}
    assert [row[0] for row in cells(here)] == ["x", "y", "z"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


@settings(max_examples=40)
@given(st.integers(0, 7), st.data())
def test_no_file_is_too_hostile_to_be_told(union: Records, place: int, data: st.DataObject) -> None:
    """Whatever bytes a record has, and whatever its header says: it passes as what it is, or a reason is given."""
    key = union.paths()[place]
    content = union.content(key)
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(content) - 1))
        spoilt = content[:at] + data.draw(st.binary(max_size=9)) + content[at + data.draw(st.integers(0, 99)) :]
    else:
        header, table = read_parquet(union.data / key, "record")
        said = {**header, data.draw(st.sampled_from(sorted(header))): data.draw(json_values)}
        with tempfile.TemporaryDirectory() as name:
            spoilt = write_parquet(Path(name) / "x.parquet", table, said).read_bytes()
    if not key.startswith("plans/"):  # so that it is as named, and only what it says is wrong
        key = re.sub(r"[0-9a-f]+(?=\.parquet)", lambda end: digest(spoilt)[: len(end[0])], key)
    with contextlib.suppress(SwingbyError):
        check(union, key, spoilt)


def digest(content: bytes) -> str:
    """What the name of a record ends with."""
    return hashlib.sha256(content).hexdigest()


def test_a_plan_that_no_column_can_take_hurts_nobody(tmp_path: Path) -> None:
    """A header that passes for a plan's but does not fit the store: it is listed with the reason, the rest is taken."""
    records = Records.open(tmp_path / "data")
    plan = write_plan(records, ["x"])
    write_shard(records, [Segment("x")])
    header = {**plan.header(), "sequence": 2, "provenance": {"git_dirty": "perhaps"}}
    write_parquet(records.data / "plans" / "a-aaaaaaaa-0002.parquet", plan.table, header)
    ((name, reason),) = ingest(records).bad
    assert (name, "perhaps" in reason) == ("plans/a-aaaaaaaa-0002.parquet", True)
    nameless = plan.table.set_column(0, "cell_id", pa.nulls(1))
    write_parquet(records.data / "plans" / "a-aaaaaaaa-0003.parquet", nameless, {**plan.header(), "sequence": 3})
    assert ingest(records).bad == (("plans/a-aaaaaaaa-0003.parquet", "the id of a cell is missing"),)
    assert [row[0] for row in cells(records)] == ["x"]


def test_a_torn_file_is_healed_by_a_sound_one(union: Records, tmp_path: Path) -> None:
    """A shard that is torn here and sound there is taken; one that is sound here and torn there is kept."""
    here = Records.open(tmp_path / "here")
    shutil.copytree(union.data, here.data, dirs_exist_ok=True)
    path = here.shard_path(here.shards()[0])
    path.write_bytes(path.read_bytes()[:-9])
    torn = Records.open(tmp_path / "torn")
    shutil.copytree(here.data, torn.data, dirs_exist_ok=True)
    done = merge(here.data, union.data)
    assert (sum(done.copied.values()), done.left_out) == (1, ())
    assert snapshot(here) == snapshot(union)
    merge(here.data, torn.data)
    assert snapshot(here) == snapshot(union)


def test_a_dry_run_copies_nothing(union: Records, tmp_path: Path) -> None:
    """It says what would come in, and makes no folder."""
    done = merge(tmp_path / "new", union.data, dry_run=True)
    assert done.copied == {"plans": 2, "shards": 4, "derived": 1, "retractions": 1}
    assert not (tmp_path / "new").exists()
