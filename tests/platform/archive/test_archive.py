"""Recorded results: what a small file keeps of a sweep, and that it never passes for what was trained here."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby.archive import Packed, pack, read, shipped, unpack
from swingby.archive.file import read_header
from swingby.archive.origins import portable, portable_text
from swingby.archive.rounding import rounded, spread
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.run.driver import run_sweep
from swingby.run.outcomes import derive
from swingby.store import Store, ingest, rebuild
from tests.support.command import swingby
from tests.support.named import COARSE, GROUP, packaged
from tests.support.packages import walking
from tests.support.profiles import examples

DIGITS, LENGTH = 3, 30
LARGEST = 5 * 2**20
ROWS = """
    select walk.cell_id, walk.seed, walk.rate, walk.width, walk.status, walk.steps, walk.final_position, told.height,
           told.noisy, walk.recorded, walk.step, walk.position
    from walk join outcomes_walk_height told on told.cell_id = walk.cell_id and told.of_shard = walk.shard
    order by walk.cell_id"""


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Packed]:
    """Twelve walks of thirty steps, trained and packed; four keep five points of their curves: their folder."""
    with walking(tmp_path_factory.mktemp("once")) as walks:
        run_sweep(walks.sweep(base={"length": LENGTH}), walks.data, local=True, pilot=False)
        return walks.folder, pack(walks.data, "walks", walks.folder / "shipped", digits=DIGITS, curves=4, points=5)


@pytest.fixture
def packed(once: tuple[Path, Packed], walk: Any) -> Packed:
    """A copy of `once` in the folder of this test's walks."""
    folder, made = once
    shutil.copytree(folder, walk.folder, dirs_exist_ok=True)
    return replace(made, path=walk.folder / made.path.relative_to(folder))


def there(data: Path, query: str = ROWS) -> list[Any]:
    """Rows of a query in a data folder as it is."""
    with Store.open(data) as store:
        return store.sql(query).rows()


# what comes back


def test_recorded_results_are_those_that_were_trained(packed: Packed, walk: Any, tmp_path: Path) -> None:
    """Ids, parameters, status and outcomes of yes and no are exact; other numbers have the digits asked for."""
    unpack(tmp_path / "new", packed.path)
    trained, recorded = there(walk.data), there(tmp_path / "new")
    assert len(trained) == 12
    for was, now in zip(trained, recorded, strict=True):
        for name in ("cell_id", "seed", "rate", "width", "status", "steps", "noisy"):
            assert getattr(now, name) == getattr(was, name)
        for name in ("final_position", "height"):
            assert getattr(now, name) == pytest.approx(getattr(was, name), rel=0.5 * 10**-DIGITS, abs=0)


def test_outcomes_are_not_computed_from_thin_curves(
    packed: Packed, walk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No detector is asked of a recorded cell, not even one of a newer version."""
    done = unpack(tmp_path / "new", packed.path)
    detector = registry.detector("walk_height")

    def refuse(self: Any, table: pa.Table) -> pa.Table:
        raise AssertionError("a detector was asked of recorded cells")

    # Of the class: taken back from an instance, the patch would stay there as an attribute and hide later ones.
    monkeypatch.setattr(type(detector), "detect", refuse)
    assert derive(Records.open(tmp_path / "new"))["walk_height"] == 0
    monkeypatch.setattr(type(detector), "version", "2")
    assert derive(Records.open(tmp_path / "new"))["walk_height"] == 0
    assert done.cells == 12


def test_a_few_cells_keep_thin_curves_with_both_ends(packed: Packed, tmp_path: Path) -> None:
    """As many cells as asked, each with as many points, the first and the last record among them; others have none."""
    unpack(tmp_path / "new", packed.path)
    curves = [row for row in there(tmp_path / "new") if row.step is not None]
    assert len(curves) == 4
    for row in curves:
        assert len(row.step) == len(row.position) == 5
        assert (row.step[0], row.step[-1]) == (0, LENGTH)


def test_recorded_results_say_that_they_are(packed: Packed, tmp_path: Path) -> None:
    """No token, the host marked, when it was computed, and in the plan's provenance where and by which versions."""
    unpack(tmp_path / "new", packed.path)
    assert all(row.recorded == [] for row in there(tmp_path / "new"))
    ((host, finished_at),) = there(tmp_path / "new", "select host, finished from shards")
    of = read(packed.path)[0]
    assert host == f"{of.hosts} (recorded)"
    assert f"{finished_at:%Y-%m-%d}" == of.when
    ((text,),) = there(tmp_path / "new", "select provenance from plans")
    marks = json.loads(text)["recorded"]
    assert marks["detectors"] == {"walk_height": "1"}
    assert [entry["cells"] for entry in marks["computed"]] == [12]


def test_unpacking_twice_is_once_and_a_rebuild_changes_nothing(packed: Packed, tmp_path: Path) -> None:
    """The second time every cell has its result; the store made again from the files is the same."""
    unpack(tmp_path / "new", packed.path)
    before = there(tmp_path / "new")
    again = unpack(tmp_path / "new", packed.path)
    assert (again.cells, again.kept) == (0, 12)
    rebuild(Records.open(tmp_path / "new"))
    assert there(tmp_path / "new") == before


@pytest.mark.slow
def test_what_is_left_out_comes_back_as_unknown(packed: Packed, walk: Any, tmp_path: Path) -> None:
    """A column that was not kept is not there, or null where other cells have it; everything else is there."""
    less, new = ["final_position", "walk_height.height"], tmp_path / "new"
    unpack(new, pack(walk.data, "walks", tmp_path / "less", without=less).path)
    recorded, told = (there(new, f"select * from {name}") for name in ("walk", "outcomes_walk_height"))
    assert len(recorded) == len(told) == 12
    assert "final_position" not in recorded[0]._fields
    assert all((row.height, row.noisy) == (None, False) for row in told)
    run_sweep(walk.sweep(base={"length": LENGTH + 1}), new, local=True, pilot=False)
    rows = there(new)
    assert len(rows) == 24
    unknown = {row.cell_id for row in rows if row.final_position is None and row.height is None}
    assert unknown == {row.cell_id for row in recorded}


# that it never passes for a training


def test_recorded_results_are_not_packed_again(packed: Packed, tmp_path: Path) -> None:
    """A copy of a copy would pass for the original."""
    unpack(tmp_path / "new", packed.path)
    with pytest.raises(SwingbyError, match="recorded ones themselves"):
        pack(tmp_path / "new", "walks", tmp_path / "copy")


# what is refused


def test_an_unfinished_sweep_is_not_packed(walk: Any, tmp_path: Path) -> None:
    """A cell without a result, here one that raised, cannot be recorded; the message counts it."""
    run_sweep(walk.sweep(base={"wants": "raise"}), walk.data, local=True, pilot=False)
    with pytest.raises(SwingbyError, match="12 of 12 cells have no result"):
        pack(walk.data, "walks", tmp_path)


def test_outcomes_of_another_detector_are_refused(
    packed: Packed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They cannot be computed again; the message says what is installed, and how to go on."""
    monkeypatch.setattr(type(registry.detector("walk_height")), "version", "9")
    with pytest.raises(SwingbyError, match=r"version 1 of detector 'walk_height'; installed is 9.*swingby run walks"):
        unpack(tmp_path / "new", packed.path)


def test_cells_of_another_experiment_are_refused(
    packed: Packed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the parameters no longer give the ids that were recorded, nothing is brought in."""
    params = type(registry.experiment("walk")).Params
    monkeypatch.setattr(params, "canonical", lambda self: {"width": self.width})
    with pytest.raises(SwingbyError, match="another version of experiment 'walk'"):
        unpack(tmp_path / "new", packed.path)
    assert not there_is_a_plan(tmp_path / "new")


def there_is_a_plan(data: Path) -> bool:
    """Whether anything was brought in."""
    return (data / "plans").exists() and any((data / "plans").iterdir())


def test_other_files_are_refused(packed: Packed, walk: Any, tmp_path: Path) -> None:
    """A shard, a torn file, and none at all."""
    (shard, *_) = (walk.data / "shards").rglob("*.parquet")
    torn = tmp_path / "torn.parquet"
    torn.write_bytes(packed.path.read_bytes()[:-100])
    for path, why in (
        (shard, "no file of recorded results"),
        (torn, "torn or corrupt"),
        (tmp_path / "no", "there is no"),
    ):
        with pytest.raises(SwingbyError, match=why):
            unpack(tmp_path / "new", path)


# rounding


@given(st.lists(st.none() | st.floats(allow_nan=False)), st.integers(1, 15))
def test_rounding_keeps_the_digits_and_what_is_no_number(values: list[float | None], digits: int) -> None:
    """Within half a unit of the last digit; nulls, infinities and zeros stay; rounding twice is rounding once."""
    once = rounded(pa.array(values, pa.float64()), digits)
    for was, now in zip(values, once.to_pylist(), strict=True):
        if was is None or not math.isfinite(was) or abs(was) < 1e-300 or abs(was) > 1e300:
            assert now == was or (was is not None and now == pytest.approx(was, rel=0.5 * 10.0**-digits, abs=1e-307))
        else:
            assert abs(now - was) <= 0.5 * 10.0**-digits * abs(was)
    assert rounded(once, digits).equals(once)


def test_rounding_reaches_into_lists() -> None:
    """Lists of lists keep their shape, their nulls and their empty ones; whole numbers stay as they are."""
    values = [[[1.23456, None], []], None, [[math.inf]]]
    (first, second, third) = rounded(pa.array(values), 2).to_pylist()
    assert first[0][0] == pytest.approx(1.23456, rel=5e-3)
    assert first[0][0] != 1.23456
    assert (first[0][1], first[1], second, third) == (None, [], None, [[math.inf]])
    assert rounded(pa.array([123456789]), 1).to_pylist() == [123456789]


@given(st.integers(1, 300), st.integers(1, 50))
def test_spread_places_have_both_ends(count: int, most: int) -> None:
    """No more than asked, increasing, the first place among them, and from two on the last."""
    places = spread(count, most)
    assert len(places) <= min(count, most)
    assert places[0] == 0
    assert most == 1 or places[-1] == count - 1
    assert np.all(np.diff(places) > 0)


# what is shipped


@pytest.mark.xdist_group(GROUP)
def test_shipped_results_are_those_of_the_sweeps_as_they_are_written() -> None:
    """Each belongs to a named sweep, is small enough to ship, and has the newest outcomes or the curves."""
    known = shipped()
    assert known
    for sweep_id, path in known.items():
        recording, table = read(path)
        sweep = packaged()[recording.name]
        if recording.name in examples(many=(), few=tuple(COARSE)):
            continue
        assert sweep.sweep_id == sweep_id, f"{recording.name} is written otherwise than it was recorded: pack it again"
        decision = recording.provenance.get("decision")
        assert table.num_rows == (decision["asked"] if decision else len(sweep))
        installed = {item.name: item.version for item in registry.detectors_for(recording.experiment)}
        assert recording.whole or recording.detectors.items() <= installed.items()
        assert path.stat().st_size <= LARGEST


def test_the_verbs_pack_and_unpack(packed: Packed, walk: Any, tmp_path: Path) -> None:
    """What the functions do, as a command; an unknown name is told with those that are shipped."""
    ingest(Records.open(walk.data))
    done = swingby("pack", "walks", "--data", walk.data, "--out", tmp_path / "out", "--curves", "1")
    assert done.exit_code == 0, done.output
    assert "12 results, 1 with curves" in " ".join(done.output.split())
    back = swingby("unpack", tmp_path / "out" / "walks.parquet", "--data", tmp_path / "new")
    assert back.exit_code == 0, back.output
    assert "12 recorded results" in " ".join(back.output.split())
    assert swingby("unpack", "nothing", "--data", tmp_path / "new").exit_code == 2


def test_nothing_of_the_machine_goes_elsewhere_but_its_kind() -> None:
    """Of an absolute path only the last part, of the machine the system and the processor; twice is once."""
    command = ["/home/me/.venv/bin/swingby", "run", "walks", "--data=/scratch/Jane Doe/data", "--set", "base.rate=1/2"]
    told = {
        "git_commit": "abc",
        "host": "janes-desk",
        "system": "Linux-6.1.0-jane-x86_64-with-glibc2.36",
        "cpus": 8,
        "command": command,
    }
    kept = portable(told)
    assert kept == {
        "git_commit": "abc",
        "host": "Linux x86_64 with 8 CPUs",
        "system": "Linux x86_64",
        "cpus": 8,
        "command": ["swingby", "run", "walks", "--data=data", "--set", "base.rate=1/2"],
    }
    assert portable(kept) == kept
    assert portable({"host": "here"}) == {"host": "a machine"}
    for path in (path for path in shipped().values()):
        assert not any(part.startswith("/") for part in read_header(path).provenance.get("command", []))


def test_a_path_in_a_text_keeps_its_last_part() -> None:
    """Wherever it stands; what is no absolute path stays."""
    assert portable_text("its log: /home/me/log.txt (see '/var/x/y')") == "its log: log.txt (see 'y')"
    for text in ("", "3/4 of a/b", "https://example.org/a/b", "./here/x", "a / b"):
        assert portable_text(text) == text
