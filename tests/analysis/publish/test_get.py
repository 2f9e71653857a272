"""Laws of `swingby get`: what was published comes back as it was; whatever is damaged or hostile leaves nothing."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby.archive import download
from swingby.archive.get import get
from swingby.archive.publication import MANIFEST, Published, digest_of, strict_json
from swingby.archive.rehearsal import checked_header
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.store import Store
from swingby_analysis.publish.tables import CURVES
from tests.analysis.publish.conftest import TITLE
from tests.support.command import swingby
from tests.support.ranges import web

ROWS = """select d.* exclude (shard, attempt, recorded, "where"), o.low from dents d join outcomes_of_dents o
          using (cell_id) order by cell_id"""


def rows(data: Path) -> pa.Table:
    with Store.open(data) as store:
        return store.sql(ROWS).arrow()


def copied(published: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(published, tmp_path / "copy"))


def refused(source: str | Path, tmp_path: Path, *parts: str, **options: Any) -> None:
    """It is refused with a message that has these parts, and no data folder is made."""
    with pytest.raises(SwingbyError) as caught:
        get(str(source), tmp_path / "data", **options)
    for part in parts:
        assert part in str(caught.value), caught.value
    assert not (tmp_path / "data").exists()


def manifest(folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A folder with another manifest."""
    value = json.loads((folder / MANIFEST).read_text())
    change(value)
    (folder / MANIFEST).write_text(json.dumps(value))
    return folder


def forged(folder: Path, change: Callable[[dict[str, Any]], object], table: pa.Table | None = None) -> Path:
    """A folder whose archive has another header, or other rows, and a manifest that fits."""
    was = pq.read_table(folder / CURVES)
    header = json.loads(was.schema.metadata[b"swingby"])
    change(header)
    now = (was if table is None else table).replace_schema_metadata({b"swingby": json.dumps(header).encode()})
    pq.write_table(now, folder / CURVES)
    size, digest = (folder / CURVES).stat().st_size, digest_of(folder / CURVES)
    return manifest(folder, lambda value: value["files"].update({CURVES: {"bytes": size, "sha256": digest}}))


# what comes back


def test_what_was_published_comes_back(study: Path, published: Path, tmp_path: Path) -> None:
    """By address: equal rows, said to be those of others, with their origin; twice is once; no code comes along."""
    data, modules = tmp_path / "data", set(sys.modules)
    with web(published) as server:
        got = get(server.url + "/", data)
        assert [path for path, _ in server.asked] == [f"/{MANIFEST}", f"/{CURVES}"]
        again = get(f"{server.url}/{MANIFEST}", data)
    assert (got.unpacked.cells, again.unpacked.cells, again.unpacked.kept) == (18, 0, 18)
    assert rows(data).equals(rows(study / "data"))
    assert not [name for name in set(sys.modules) - modules if "dents" in name]
    (plan,) = (Records.open(data).read_plan(name) for name in Records.open(data).plans())
    assert "code" not in plan.provenance
    assert "def dents" not in json.dumps(plan.header())
    shown = swingby("status", "--data", data).output
    for part in ("recorded results", "Ada Lovelace", "A Group", "CC-BY-4.0", server.url):
        assert part in " ".join(shown.split())


def test_a_report_names_their_origin(published: Path, tmp_path: Path) -> None:
    """The page of results of others says whose they are, and their texts are no markup on it."""
    get(str(published), tmp_path / "data")
    done = swingby("report", "dents", "--data", tmp_path / "data", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "out" / "dents" / "report.html").read_text()
    assert "Others published them" in page
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_results_of_ones_own_are_kept(study: Path, published: Path, tmp_path: Path) -> None:
    """Where the cells were trained nothing is added; under a name that stands for other code nothing is taken in."""
    data = Path(shutil.copytree(study / "data", tmp_path / "data"))
    assert get(str(published), data).unpacked.cells == 0
    other = tmp_path / "other"
    other.mkdir()
    for name in ("dents.py", "dents.yaml"):
        (other / name).write_text((study / name).read_text().replace("/ 7", "/ 8").replace("seeds: 3", "seeds: 1"))
    done = swingby("run", "dents.yaml", "--local", "--data", "data", cwd=other)
    assert done.exit_code == 0, done.output
    registry._adopted.pop("dents")
    before = sorted((other / "data").rglob("*.parquet"))
    with pytest.raises(SwingbyError, match="data folder of its own"):
        get(str(published), other / "data")
    assert sorted((other / "data").rglob("*.parquet")) == before


# on the way


@pytest.mark.parametrize("ranges", [True, False])
def test_a_broken_connection_is_taken_up(published: Path, tmp_path: Path, ranges: bool) -> None:
    """A file that breaks off comes whole in the end, from where it broke off or anew."""
    size = (published / CURVES).stat().st_size
    with web(published) as server, (tmp_path / "file").open("wb") as target:
        server.ranges, server.cuts = ranges, [size // 2, size // 3, size]
        download.copy(download.place_of(server.url), CURVES, target, size, digest_of(published / CURVES))
        begun = [wanted for _, wanted in server.asked]
    assert (tmp_path / "file").read_bytes() == (published / CURVES).read_bytes()
    assert begun[0] == ""
    assert all(wanted.startswith("bytes=") for wanted in begun[1:])


def test_what_does_not_come_is_refused(published: Path, tmp_path: Path) -> None:
    """A server that always breaks off, has no such file, is at fault, sends other bytes or packs them."""
    with web(published) as server:
        server.cuts = [10] * download.TRIES
        refused(server.url, tmp_path, "cannot be had", MANIFEST)
        refused(f"{server.url}/elsewhere", tmp_path, "404")
        server.status[f"/{CURVES}"] = 503
        refused(server.url, tmp_path, "503", f"asked {download.TRIES} times")
        server.status.clear()
        server.headers["Content-Encoding"] = "gzip"
        refused(server.url, tmp_path, "compressed")
    refused("http://127.0.0.1:1", tmp_path, "cannot be had")
    refused(tmp_path / "nowhere", tmp_path, "no folder")


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x", "gopher://127.0.0.1/", "//["])
def test_no_redirection_leaves_the_web(published: Path, tmp_path: Path, target: str) -> None:
    """A server that leads to another scheme is refused; within the web it is followed, but not for ever."""
    with web(published) as server:
        server.leads[f"/{MANIFEST}"] = target
        refused(server.url, tmp_path, MANIFEST)
        server.leads = {f"/{MANIFEST}": f"{server.url}/a", "/a": f"{server.url}/{MANIFEST}"}
        refused(server.url, tmp_path, MANIFEST)


@pytest.mark.parametrize(
    "source", ["file:///etc", "ftp://example.org/x", "s3://bucket/x", "http://", "http://me:word@example.org/x"]
)
def test_other_addresses_are_refused(source: str, tmp_path: Path) -> None:
    """Only http and https, without a name and a password, which no message repeats."""
    with pytest.raises(SwingbyError) as caught:
        get(source, tmp_path / "data")
    assert "word" not in str(caught.value).replace("password", "")


# damage


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("harm", "fault"),
    [
        (lambda folder: flip(folder / CURVES), "damaged"),
        (lambda folder: flip(folder / "supplement.html"), "damaged"),
        (lambda folder: (folder / CURVES).write_bytes((folder / CURVES).read_bytes()[:-9]), "cut off"),
        (lambda folder: (folder / CURVES).write_bytes((folder / CURVES).read_bytes() + b"x"), "longer"),
        (lambda folder: (folder / "README.md").unlink(), "missing"),
        (lambda folder: (folder / MANIFEST).unlink(), "missing"),
        (lambda folder: (folder / MANIFEST).write_text("{"), "no JSON"),
        (lambda folder: manifest(folder, lambda value: value["files"][CURVES].update(sha256="0" * 64)), "damaged"),
    ],
)  # fmt: skip
def test_damage_is_named(published: Path, tmp_path: Path, harm: Callable[[Path], object], fault: str) -> None:
    """A flipped bit, a file cut off, too long or gone: refused by name."""
    folder = copied(published, tmp_path)
    harm(folder)
    refused(folder, tmp_path, fault, str(folder))


# hostility


def link(folder: Path) -> None:
    (folder / CURVES).rename(folder.parent / "elsewhere")
    (folder / CURVES).symlink_to(folder.parent / "elsewhere")


def linked_folder(folder: Path) -> None:
    (folder / "figures").rename(folder.parent / "figures")
    (folder / "figures").symlink_to(folder.parent / "figures")


def named(name: str) -> Callable[[Path], object]:
    return lambda folder: manifest(folder, lambda of: of["files"].update({name: {"bytes": 1, "sha256": "0" * 64}}))


OUTSIDE = ("../x", "/etc/passwd", "a/../../x", ".hidden", "a//b", "a\\b", "a\x1bb", "")


@pytest.mark.parametrize(
    ("harm", "fault"),
    [
        *((named(name), "allowed") for name in OUTSIDE),
        (link, "links are not followed"),
        (linked_folder, "links are not followed"),
        (lambda folder: manifest(folder, lambda of: of["files"][CURVES].update(bytes=10**15)), "limit"),
        (lambda folder: manifest(folder, lambda of: of["files"][CURVES].update(bytes=-1)), "how many bytes"),
        (lambda folder: manifest(folder, lambda of: of["files"][CURVES].update(bytes=float("nan"))), "NaN"),
        (lambda folder: manifest(folder, lambda of: of.update(name="../../dents")), "names no sweep"),
        (lambda folder: manifest(folder, lambda of: of.update(name="<b>x</b>")), "names no sweep"),
        (lambda folder: manifest(folder, lambda of: of.update(archive="other.parquet")), "archive"),
        (lambda folder: manifest(folder, lambda of: of.update(files=[])), "files"),
        (lambda folder: manifest(folder, lambda of: of.update(authors=[1])), "authors"),
        (lambda folder: manifest(folder, lambda of: of.update(swingby_publication=9)), "format 9"),
        (lambda folder: (folder / MANIFEST).write_text("[" * 10_000), "nested"),
        (lambda folder: (folder / MANIFEST).write_text("1"), "object"),
        (lambda folder: (folder / MANIFEST).write_bytes(b"{" + b" " * 2**23), "longer"),
    ],
)  # fmt: skip
def test_a_hostile_folder_is_refused(
    published: Path, tmp_path: Path, harm: Callable[[Path], object], fault: str
) -> None:
    """Paths that lead out, links, sizes without measure, JSON that is none: refused before anything is read."""
    folder = copied(published, tmp_path)
    harm(folder)
    refused(folder, tmp_path, fault)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda of: of.update(name="a/b"), "name"),
        (lambda of: of.update(name="../b"), "name"),
        (lambda of: of.update(whole=False), "thinned"),
        (lambda of: of.update(digits=float("inf")), "Infinity"),
        (lambda of: of["resolved"].update(title=["x"]), "title"),
        (lambda of: of["resolved"].update(diagram={"x": 1}), "x"),
        (lambda of: of["resolved"].update(axes=[{"names": ["rate"], "values": [1]}]), "axis"),
        (lambda of: of["resolved"].update(axes=7), "missing or wrong"),
        (lambda of: of["resolved"].update(seeds=["one"]), "seed"),
        (lambda of: of["resolved"].update(outcomes={"low": 1}), "low"),
        (lambda of: of["resolved"]["declared"].update(name="sim"), "sim"),
        (lambda of: of["resolved"]["declared"]["params"].update({"x; drop table": {"type": "int"}}), "drop table"),
        (lambda of: of.update(computed=[]), "computed"),
        (lambda of: of.update(padding="x" * 2**25), "header"),
    ],
)  # fmt: skip
def test_a_hostile_header_is_refused(
    published: Path, tmp_path: Path, change: Callable[[dict[str, Any]], object], fault: str
) -> None:
    """What an archive says of itself has the types that readers rely on, and no name that leads elsewhere."""
    folder = forged(copied(published, tmp_path), change)
    with pytest.raises(SwingbyError) as caught:
        checked_header(folder / CURVES, 10**9)
    assert fault in str(caught.value)


def wide(columns: int) -> pa.Table:
    return pa.table({f"c{place}": pa.array([0], pa.int8()) for place in range(columns)})


@pytest.mark.parametrize(
    ("make", "fault", "options"),
    [
        (lambda folder: forged(folder, lambda of: of.update(sweep_id="0" * 16)), "its manifest says", {}),
        (lambda folder: forged(folder, lambda of: of["resolved"].update(seed_mode="independent")),
         "another version", {}),
        (lambda folder: forged(folder, lambda of: None, wide(6_000)), "6,000 columns", {}),
        (lambda folder: forged(folder, lambda of: of["resolved"].update(outcomes={"low": "read_text('/etc/passwd')"})),
         "low", {}),
        (lambda folder: folder, "unpacked", {"memory": 1_000}),
        (lambda folder: folder, "limit", {"limit": 1_000}),
    ],
)  # fmt: skip
def test_a_hostile_archive_leaves_nothing(
    published: Path, tmp_path: Path, make: Callable[[Path], Path], fault: str, options: dict[str, Any]
) -> None:
    """An archive of another sweep, of other cells, or larger than allowed is refused in a process of its own."""
    refused(make(copied(published, tmp_path)), tmp_path, fault, **options)


def test_a_forged_experiment_is_refused(published: Path, tmp_path: Path) -> None:
    """Cells under the name of an installed experiment are none of its."""

    def change(of: dict[str, Any]) -> None:
        of["experiment"] = of["resolved"]["experiment"] = of["resolved"]["declared"]["name"] = "sim"

    folder = forged(copied(published, tmp_path), change)
    refused(manifest(folder, lambda of: of.update(experiment="sim")), tmp_path, "another version")


def test_a_footer_without_measure_is_refused(published: Path, tmp_path: Path) -> None:
    """A Parquet file says how long its footer is; Arrow would take so much memory."""
    folder = copied(published, tmp_path)
    content = (folder / CURVES).read_bytes()
    for tail, fault in ((b"\xff\xff\xff\x7fPAR1", "describes its columns"), (b"\0\0\0\0PARX", "no Parquet")):
        (folder / CURVES).write_bytes(content[:-8] + tail)
        size, digest = len(content), digest_of(folder / CURVES)
        manifest(folder, lambda of, file={"bytes": size, "sha256": digest}: of["files"].update({CURVES: file}))
        refused(folder, tmp_path, fault)


def test_numbers_that_are_not_finite_are_data(study: Path, published: Path) -> None:
    """Cells that diverged have what they recorded; JSON of a stranger has no such number."""
    assert {"ok", "diverged"} == set(rows(study / "data")["status"].to_pylist())
    for text in (b'{"a": NaN}', b'{"a": -Infinity}'):
        with pytest.raises(SwingbyError, match="no number of JSON"):
            strict_json(text, "it")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(OUTSIDE),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=2),
    max_leaves=4,
)


@given(data=st.data())
def test_any_manifest_is_one_or_refused(published: Path, data: st.DataObject) -> None:
    """With any value in any place, or cut anywhere, it is refused, or names files of its folder and a sweep alone."""
    manifest_of: dict[str, Any] = json.loads((published / MANIFEST).read_text())
    place = data.draw(st.sampled_from([*manifest_of, "a new key"]))
    if place == "files" and data.draw(st.booleans()):
        manifest_of["files"][data.draw(st.text(max_size=8) | st.sampled_from(OUTSIDE))] = data.draw(values)
    else:
        manifest_of[place] = data.draw(values)
    text = json.dumps(manifest_of)
    try:
        of = Published.of_bytes(text[: data.draw(st.integers(0, 2 * len(text)))].encode(), MANIFEST)
    except SwingbyError:
        return
    assert of.archive in of.files
    assert all((published / name).resolve().is_relative_to(published) for name in of.files)
    assert re.fullmatch(r"[a-z0-9-]+", of.name)


def test_a_manifest_is_read_as_it_was_written(published: Path) -> None:
    """Its text and its value say the same, with a title that is markup elsewhere."""
    content = (published / MANIFEST).read_bytes()
    of = Published.of_bytes(content, MANIFEST)
    assert of.to_bytes() == content
    assert of.title == TITLE
