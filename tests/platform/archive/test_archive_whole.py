"""Whole recorded results: every curve comes back, a report can be drawn, and they never pass for trained here."""

from __future__ import annotations

import base64
import importlib
import json
import math
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from swingby.archive import pack, read, recorded_results, shipped, unpack, unpack_shipped
from swingby.archive.file import ORIGIN, read_header
from swingby.archive.rounding import rounded
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.run.driver import run_sweep
from swingby.run.outcomes import derive
from swingby.store import Store, ingest, rebuild
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.report import data as report_data
from swingby_analysis.report import summary
from swingby_analysis.report.data import ReportData
from tests.support import synthetic_sim
from tests.support.command import swingby
from tests.support.packages import install
from tests.support.places import IMAGES, ROOT
from tests.support.store import finished

DIGITS, EVALUATIONS, CELLS = 4, 12, 6
ROWS = """
    select images.* exclude (shard, attempt, recorded), told.brightest, told.seen
    from images join outcomes_images_glow told on told.cell_id = images.cell_id and told.of_shard = images.shard
    order by cell_id"""


def sweep(**changes: Any) -> Sweep:
    """Three points, two seeds, with both kinds of pictures; every run tells what it recorded in three pieces."""
    content: dict[str, Any] = {
        "name": "pictures",
        "experiment": "images",
        "base": {"evaluations": EVALUATIONS, "pieces": 3},
        "axes": {"brightness": [0.5, 1.0, 2.0]},
        "seeds": 2,
        "record": {"also": ["pictures", "faces"]},
    }
    return Sweep.parse(yaml.safe_dump({**content, **changes}, sort_keys=False), "/home/somebody/pictures.yaml")


@pytest.fixture(scope="module", autouse=True)
def images() -> Iterator[Any]:
    """The experiment `images` of tests/support/image_experiment, found by entry point like any other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(IMAGES))
        yield importlib.import_module("image_plugin")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, images: Any) -> Path:
    """A data folder in which the sweep was trained by two runs: the first seed's cells, then the others."""
    data = tmp_path_factory.mktemp("trained") / "data"
    for seeds in (1, 2):
        run_sweep(sweep(seeds=seeds), data, local=True, pilot=False)
    return data


@pytest.fixture(scope="module")
def packed(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its file."""
    return pack(trained, "pictures", tmp_path_factory.mktemp("packed"), whole=True).path


@pytest.fixture(scope="module")
def unpacked(packed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with nothing but what that file brought; only read."""
    data = tmp_path_factory.mktemp("unpacked") / "data"
    unpack(data, packed)
    return data


def table(data: Path, query: str = ROWS) -> pa.Table:
    """What a query gives, after an ingest."""
    ingest(Records.open(data))
    with Store.open(data) as store:
        return store.sql(query).arrow()


def told(data: Path) -> Any:
    """What is to be told of the recorded ones."""
    with Store.open(data) as store:
        return recorded_results(store, sweep().sweep_id)


def close(was: Any, now: Any) -> bool:
    """Equal; floats, however deep, within half a unit of the last digit."""
    if isinstance(was, list):
        return isinstance(now, list) and len(was) == len(now) and all(map(close, was, now))
    if isinstance(was, float):
        return (math.isnan(was) and math.isnan(now)) or abs(was - now) <= 0.5001 * 10.0**-DIGITS * abs(was)
    return was == now


# what comes back


@pytest.fixture(scope="module")
def of_trained(trained: Path) -> pa.Table:
    """All rows that were trained."""
    return table(trained)


def test_whole_rows_are_those_of_the_store_within_rounding(unpacked: Path, of_trained: pa.Table) -> None:
    """Curves of numbers and vectors to their digits; steps, pictures, ids and parameters exactly; also in a rebuild."""
    was, now = of_trained, table(unpacked)
    assert now.num_rows == CELLS
    assert now.column_names == was.column_names
    for name in set(was.column_names) - {"message", "kept_in"}:
        pairs = zip(was[name].to_pylist(), now[name].to_pylist(), strict=True)
        assert all(close(*pair) for pair in pairs), name
    for name in ("picture", "face", "step"):
        assert now[name].to_pylist() == was[name].to_pylist()
    rebuild(Records.open(unpacked))
    assert table(unpacked).equals(now)


def test_vectors_and_pictures_are_seen_a_row_an_evaluation(unpacked: Path, trained: Path) -> None:
    """In `images_points` a row has each class's value and its pictures, trained in pieces and recorded whole."""
    query = "select k, step, measure_3, picture, face from images_points order by cell_id, k"
    was, now = table(trained, query), table(unpacked, query)
    assert now.num_rows == was.num_rows == CELLS * EVALUATIONS
    assert all(len(vector) == 4 for vector in now["measure_3"].to_pylist())
    assert all(picture.startswith(b"\x89PNG") for picture in now["picture"].to_pylist())
    for name in ("k", "step", "picture", "face"):
        assert now[name].to_pylist() == was[name].to_pylist()


def test_pictures_go_into_every_format(unpacked: Path, tmp_path: Path) -> None:
    """As base64 into CSV and JSON; a terminal is told how many bytes there are."""
    query = "select picture, face from images_points order by cell_id, k limit 1"
    (was,) = table(unpacked, query).to_pylist()
    asked = ["sql", query, "--data", str(unpacked), "--format"]
    for form in ("csv", "json"):
        done = swingby(*asked, form, "--out", str(tmp_path / f"rows.{form}"))
        assert done.exit_code == 0, done.output
    (told,) = json.loads((tmp_path / "rows.json").read_text())
    assert base64.b64decode(told["picture"]) == was["picture"]
    assert [base64.b64decode(face) for face in told["face"]] == was["face"]
    assert told["picture"] in (tmp_path / "rows.csv").read_text()
    assert f"({len(was['picture'])} bytes)" in swingby(*asked, "table").output


def test_pack_unpack_pack_is_a_fixed_point(packed: Path, unpacked: Path, tmp_path: Path) -> None:
    """What was rounded once is not rounded again, and its origin is still told; more digits are not to be had."""
    again = pack(unpacked, "pictures", tmp_path, whole=True, digits=12).path
    (was, rows), (now, same) = read(packed), read(again)
    assert same.equals(rows)
    assert replace(now, packed="") == replace(was, packed="")
    assert was.digits == DIGITS


def test_every_cell_keeps_its_origin(packed: Path, trained: Path, unpacked: Path) -> None:
    """Two runs computed the cells: each is an entry with its own cells and time, and a shard when unpacked."""
    recording, rows = read(packed)
    assert [entry["cells"] for entry in recording.computed] == [3, 3]
    seeds = {(origin, seed) for origin, seed in zip(rows[ORIGIN].to_pylist(), rows["seed"].to_pylist(), strict=True)}
    assert seeds == {(0, 0), (1, 1)}
    spent = table(trained, "select sum(seconds) as seconds from shards")["seconds"][0].as_py()
    assert sum(entry["seconds"] for entry in recording.computed) == pytest.approx(spent)
    shards = table(unpacked, "select host, rows, recorded from shards").to_pylist()
    assert [(row["rows"], row["recorded"]) for row in shards] == [(3, []), (3, [])]
    assert all(row["host"].endswith(" (recorded)") for row in shards)


def test_outcomes_of_another_detector_are_told_again(
    packed: Path, unpacked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file's outcomes stand under their version; under another one the installed detector sees the curves."""
    assert derive(Records.open(unpacked))["images_glow"] == 0
    monkeypatch.setattr(type(registry.detector("images_glow")), "version", "2")
    unpack(tmp_path, packed)
    query = "select version, cell_id, brightest, seen from outcomes_images_glow_all order by cell_id"
    first, second = table(unpacked, query), table(tmp_path, query)
    assert set(first["version"].to_pylist()) == {"1"}
    assert second["version"].to_pylist() == ["2"] * CELLS
    assert close(first["brightest"].to_pylist(), second["brightest"].to_pylist())
    assert all(second["seen"].to_pylist())


def test_what_is_left_out_is_unknown_and_the_rest_is_whole(packed: Path, trained: Path, tmp_path: Path) -> None:
    """A curve, a scalar and an outcome can stay at home; a name that is none is refused with those that are."""
    without = ["picture", "kept_in", "images_glow.seen"]
    done = pack(trained, "pictures", tmp_path, whole=True, without=without)
    recording, rows = read(done.path)
    assert set(read(packed)[1].column_names) - set(rows.column_names) == set(without)
    assert recording.left_out == sorted(without)
    unpack(tmp_path / "new", done.path)
    assert table(tmp_path / "new", "select face from images").equals(table(trained, "select face from images"))
    for name in ("step", "pictures"):
        with pytest.raises(SwingbyError, match=f"'{name}' is no column to leave out"):
            pack(trained, "pictures", tmp_path, whole=True, without=[name])


# that it never passes for a training


def test_trained_rows_win_and_the_others_are_told(packed: Path, tmp_path: Path) -> None:
    """Unpacked where half is trained, a file adds the other half; what is packed of both knows both origins."""
    run_sweep(sweep(seeds=1), tmp_path / "new", local=True, pilot=False)
    mine = table(tmp_path / "new")
    assert unpack(tmp_path / "new", packed).cells == 3
    both = table(tmp_path / "new")
    assert both.num_rows == CELLS
    own = pa.array([cell in mine["cell_id"].to_pylist() for cell in both["cell_id"].to_pylist()])
    assert both.filter(own).equals(mine)
    assert str(told(tmp_path / "new")).startswith("3 of 6 results are recorded ones, not trained here: they were")
    entries = read(pack(tmp_path / "new", "pictures", tmp_path, whole=True).path)[0].computed
    assert sorted(entry["cells"] for entry in entries) == [3, 3]
    assert read(packed)[0].computed[1] in entries


def test_a_run_trains_them_again_and_nothing_is_mixed(
    packed: Path, trained: Path, of_trained: pa.Table, tmp_path: Path
) -> None:
    """Pieces of a killed run stand behind whole recorded curves; these satisfy no request and stand behind a run's."""
    old, new = Records.open(trained), Records.open(tmp_path)
    for plan_id in old.plans():
        if plan_id.startswith(f"pictures-{sweep().sweep_id[:8]}"):
            plan = old.read_plan(plan_id)
            new.write_plan(replace(plan, source=plan.table, path=None))
    for name in old.shards():
        header, rows = old.read_shard(name)
        left = rows.filter(pa.array([not final for final in rows["final"].to_pylist()]))
        if header.sweep_id == sweep().sweep_id and left.num_rows:
            new.write_shard(header, left)
    assert set(table(tmp_path, "select status from images")["status"].to_pylist()) == {"running"}
    assert unpack(tmp_path, packed).cells == CELLS
    recorded = table(tmp_path)
    assert recorded["step"].to_pylist() == of_trained["step"].to_pylist()
    ids = recorded["cell_id"].to_pylist()
    assert not finished(new, "images", ids, sweep().recording.tokens).done
    assert told(tmp_path).cells == CELLS
    assert run_sweep(sweep(), tmp_path, local=True, pilot=False).trained == CELLS
    assert table(tmp_path).equals(of_trained)
    assert told(tmp_path) is None


def test_they_tell_when_where_and_by_which_commit(packed: Path, unpacked: Path) -> None:
    """The sentence has the day, the kind of machine and the commit of the file; `swingby status` says it."""
    (first, *_) = read(packed)[0].computed
    text = str(told(unpacked))
    assert text.startswith(f"These are recorded results, not trained here: all {CELLS} were computed on ")
    commit = first["git_commit"]
    for word in (first["started"][:10], first["host"], commit[:7] if commit else "no known commit", "4 digits"):
        assert word in text
    shown = swingby("status", "--data", unpacked)
    assert text in " ".join(shown.output.split())


def test_nothing_of_a_person_is_in_the_file(packed: Path) -> None:
    """Neither the machine's name nor a folder: not in the header, and in no text of any column."""
    parts = [json.dumps(pq.read_schema(packed).metadata[b"swingby"].decode())]
    rows = read(packed)[1]
    parts += [str(rows[field.name].to_pylist()) for field in rows.schema if pa.types.is_string(field.type)]
    for text in parts:
        assert "somebody" not in text
        assert str(ROOT) not in text
        assert f'\\"{socket.gethostname()}\\"' not in text
    assert rows["kept_in"].to_pylist() == ["images"] * CELLS
    assert set(rows["message"].to_pylist()) == {"its log: log.txt"}


# how much room it takes


def test_a_sweep_of_thirty_runs_is_small(images: Any, tmp_path: Path) -> None:
    """24 evaluations, 18 measures of four classes: less than three bytes a number, pictures as they are."""
    big = sweep(name="many", base={"evaluations": 24}, axes={"brightness": [0.5, 1.0, 2.0]}, seeds=10)
    run_sweep(big, tmp_path, local=True, pilot=False)
    bare = pack(tmp_path, "many", tmp_path / "bare", whole=True, without=["picture", "face"]).size
    full = pack(tmp_path, "many", tmp_path / "full", whole=True).size
    (sizes,) = table(
        tmp_path,
        """select sum(octet_length(picture))::bigint as whole,
                  sum(list_sum(list_transform(face, lambda f: octet_length(f))))::bigint as faces
           from images_points""",
    ).to_pylist()
    numbers = 30 * 24 * (len(images.MEASURES) * 4 + 1)
    assert bare < 3 * numbers
    assert full - bare < 1.05 * (sizes["whole"] + sizes["faces"])


def test_rounding_keeps_what_is_no_number_and_is_done_once() -> None:
    """NaN, infinities, nulls and pictures stay; single precision holds what is kept."""
    values = pa.array([[[1.23456, math.nan], [-math.inf, None]], None, []], pa.list_(pa.list_(pa.float32())))
    once = rounded(values, DIGITS).cast(values.type)
    (first, second), none, empty = once.to_pylist()
    assert first[0] == pytest.approx(1.23456, rel=0.5 * 10**-DIGITS)
    assert np.isnan(first[1])
    assert (second, none, empty) == ([-math.inf, None], None, [])
    assert str(rounded(once, DIGITS).cast(values.type)) == str(once)
    pictures = pa.array([[b"\x89PNG", None], None])
    assert rounded(pictures, DIGITS).to_pylist() == pictures.to_pylist()


# files of before


def test_files_of_before_still_open(tmp_path: Path) -> None:
    """The first files say nothing of being whole, and are not; those that are shipped can still be brought in."""
    old = {
        sweep_id: path
        for sweep_id, path in shipped().items()
        if b'"whole"' not in pq.read_schema(path).metadata[b"swingby"]
    }
    for path in old.values():
        of = read_header(path)
        assert not of.whole
        assert not of.tokens
    if old:
        smallest = min(old.values(), key=lambda path: path.stat().st_size)
        done = unpack(tmp_path, smallest)
        with Store.open(tmp_path) as store:
            known = recorded_results(store, done.recording.sweep_id)
        assert known is not None
        assert (known.cells, known.thin) == (done.cells, done.cells)


# the report, by the same command


SOLD = synthetic_sim.square("sold", points=2, seeds=3)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A package that ships the results of a sweep over `sim` whole, and those of another thin; where they were made."""
    made = tmp_path_factory.mktemp("made")
    folder = made / "site" / "shop"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    for name, whole in (("sold", True), ("thin", False)):
        synthetic_sim.write(made / name, synthetic_sim.square(name, points=2, seeds=3))  # of `sold` it is SOLD
        pack(made / name, name, folder, whole=whole)
    install(made / "site", "shop", "[swingby.recorded]\nshop = shop\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder.parent))
        yield made


def test_the_report_of_shipped_results_is_the_same_command(shop: Path) -> None:
    """It makes the data folder, unpacks once and says so, and the page says first of all what these results are."""
    data = shop / "asked" / "data"
    done = swingby("report", "sold", "--data", data, "--out", shop / "out")
    assert done.exit_code == 0, done.output
    assert "sold was never run in" in done.stderr
    assert "12 recorded results" in done.stderr
    page = Path(done.stdout.strip()).read_text()
    sentence = page.index("These are recorded results, not trained here: all 12 were computed")
    assert sentence < page.index("12 of 12 runs are finished")
    assert not unpack_shipped(data, "sold", lambda text: None)


def test_the_report_has_the_numbers_of_the_trained_results(shop: Path) -> None:
    """The same summary and table from what was trained, of which nothing is said, and from what was unpacked."""
    unpack(shop / "again", shop / "site" / "shop" / "sold.parquet")
    was, now = reported(shop / "sold"), reported(shop / "again")
    assert summary.Table.of(now) == summary.Table.of(was)
    assert not any("recorded" in text for text in summary.warnings(was))
    assert summary.warnings(now)[1:] == summary.warnings(was)


def reported(data: Path) -> ReportData:
    """What a report of the sold sweep is made of."""
    with Store.open(data) as store:
        return report_data.read(store, SOLD.sweep_id)


def test_the_page_says_how_many_are_recorded(shop: Path) -> None:
    """Where some are trained, a report brings nothing in by itself; unpacked, the others count, and are told first."""
    half = shop / "half"
    records = synthetic_sim.write(half, SOLD, lambda cell: "ok" if cell.seed == 0 else None)
    assert not unpack_shipped(half, "sold", lambda text: None)
    unpack(half, shop / "site" / "shop" / "sold.parquet")
    derive(records)
    assert summary.warnings(reported(half))[0].startswith("8 of 12 results are recorded ones, not trained here")


def test_what_is_not_shipped_whole_is_left_alone(shop: Path) -> None:
    """Thin results and unknown names are not brought in by a report, and leave no folder."""
    for name in ("thin", "nobody", "f" * 16):
        assert not unpack_shipped(shop / "no", name, lambda text: None)
    done = swingby("report", "thin", "--data", shop / "no", "--out", shop / "out")
    assert done.exit_code == 2
    assert not (shop / "no").exists()


def test_shipped_results_are_found_by_id_and_by_file(shop: Path) -> None:
    """The first digits of the sweep's id, and a sweep file that asks for the very same; another one gets nothing."""
    file = shop / "sold.yaml"
    text = synthetic_sim.SQUARE.format(name="sold", title="Synthetic curves", points=2, seeds=3)
    file.write_text(text)
    told = list[str]()
    assert unpack_shipped(shop / "by-id", SOLD.sweep_id[:8], told.append)
    assert not unpack_shipped(shop / "by-id", str(file), told.append)
    assert unpack_shipped(shop / "by-file", str(file), told.append)
    assert len(told) == 4
    file.write_text(text.replace("count: 3", "count: 2"))
    assert not unpack_shipped(shop / "other", str(file), lambda text: None)


def test_the_verb_packs_whole(trained: Path, tmp_path: Path) -> None:
    """`--whole` says how many cells have curves: all; options of thin files exclude it."""
    asked = ["pack", "pictures", "--data", str(trained), "--out", str(tmp_path), "--whole"]
    done = swingby(*asked)
    assert done.exit_code == 0, done.output
    assert "6 results, 6 with curves" in " ".join(done.output.split())
    assert swingby(*asked, "--curves", "3").exit_code == 2
