"""Laws of a published folder: it has the rows of the store, describes every file, and makes nothing up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from swingby.archive.publication import digest_of
from swingby.errors import SwingbyError
from swingby.store import Store
from swingby.store.comments import Meaning
from swingby_analysis.page.folder import put_folder
from swingby_analysis.publish.about import About, Options
from swingby_analysis.publish.folder import publish
from swingby_analysis.publish.tables import CELLS, CURVES, Column, Columns, write_table
from tests.analysis.publish.conftest import ASKED, TITLE
from tests.support.ranges import Web, web

AXES = {"layers": 4, "width": 16, "ratio": 31, "seed": 30}
"""Axes of a sweep of 59,520 runs."""


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_results_give_the_same_bytes(study: Path, published: Path, tmp_path: Path) -> None:
    """Every file of a second publication is the first one's; of what was published there before nothing is left."""
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "manifest.json").write_text("{}")
    (tmp_path / "again" / "old.txt").write_text("x")
    again = publish("dents", study / "data", tmp_path / "again", ASKED, ("svg",), engine=False)
    was, now = contents(published), contents(again)
    assert was.keys() == now.keys()
    assert [name for name in was if was[name] != now[name]] == []
    assert {"supplement.html", CELLS, CURVES, "manifest.json", "sweep.json", "code/dents.py"} <= was.keys()


def test_cells_are_those_of_the_store(study: Path, published: Path) -> None:
    """A row a run, by points and seeds, with axes of a vector as columns, outcomes, and exact numbers."""
    table = pq.read_table(published / CELLS)
    with Store.open(study / "data") as store:
        query = """select m.point, e.seed, e.rate, e.weights[2] as w, e.best, e.status, o.low from dents e
                   join members m using (cell_id) join outcomes_of_dents o using (cell_id) order by m.point, e.seed"""
        rows = store.sql(query).arrow().to_pylist()
    names = {"w": "weights.1"}
    assert table.num_rows == len(rows) == 18
    assert [{key: row[names.get(key, key)] for key in rows[0]} for row in table.to_pylist()] == rows
    assert {"shard", "attempt"}.isdisjoint(table.column_names)
    assert set(table["where"].to_pylist()) - {None} == {"dents.txt"}
    chunk = pq.ParquetFile(published / CELLS).metadata.row_group(0).column(0)
    assert chunk.has_column_index
    assert chunk.has_offset_index


def test_descriptions_are_true(published: Path) -> None:
    """Croissant names columns that are there, in their types; RO-Crate every file; each digest is right."""
    files = {name: len(content) for name, content in contents(published).items()}
    croissant, crate, manifest = (
        json.loads((published / name).read_text())
        for name in ("croissant.json", "ro-crate-metadata.json", "manifest.json")
    )
    for one in croissant["distribution"]:
        assert one["sha256"] == digest_of(published / one["contentUrl"])
    kinds = {"sc:Float": pa.types.is_floating, "sc:Integer": pa.types.is_integer, "sc:Text": pa.types.is_string}
    for records in croissant["recordSet"]:
        for field in records["field"]:
            source = field["source"]
            type_ = pq.read_schema(published / source["fileObject"]["@id"]).field(source["extract"]["column"]).type
            assert field.get("isArray", False) == pa.types.is_list(type_), field
            while pa.types.is_list(type_):
                type_ = type_.value_type
            assert kinds.get(field["dataType"], pa.types.is_boolean)(type_), field
    graph = {one["@id"]: one for one in crate["@graph"]}
    described = {name for name, one in graph.items() if one["@type"] == "File"}
    assert files.keys() - described == {"manifest.json", "ro-crate-metadata.json"}

    def leads(value: Any) -> list[str]:
        if isinstance(value, dict) and set(value) == {"@id"}:
            return [value["@id"]]
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return [name for one in inner for name in leads(one)]

    assert {name for one in crate["@graph"] for name in leads(one)} <= graph.keys() | {"https://w3id.org/ro/crate/1.1"}
    assert {name: one["bytes"] for name, one in manifest["files"].items()} == {
        name: size for name, size in files.items() if name != "manifest.json"
    }
    cited = yaml.safe_load((published / "CITATION.cff").read_text())
    assert cited["title"] == TITLE
    assert [person.get("family-names", person.get("name")) for person in cited["authors"]] == ["Lovelace", "A Group"]


def test_a_title_stays_text(published: Path) -> None:
    """Markup in a title is none on the page and in the data card."""
    assert "<script>alert" not in (published / "supplement.html").read_text()
    assert "<script>" not in (published / "README.md").read_text().replace("\\<script\\>", "")


@pytest.mark.parametrize(("module", "command"), [
    ("mlcroissant", "import mlcroissant; mlcroissant.Dataset({!r})"),
    ("cffconvert", "from cffconvert import Citation; Citation(open({!r}).read()).validate()"),
])  # fmt: skip
def test_validators_of_the_formats_accept_them(published: Path, module: str, command: str) -> None:
    """The formats' own validators find no fault."""
    pytest.importorskip(module, reason=f"{module} is in the group `validators` of pyproject.toml")
    file = {"mlcroissant": "croissant.json", "cffconvert": "CITATION.cff"}[module]
    code = command.format(str(published / file))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_nothing_is_made_up(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without author and licence, or with what has no sound form, all faults are named and nothing is written."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SwingbyError) as caught:
        publish("dents", study / "data", tmp_path / "to", Options(date="yesterday", address="ftp://x"))
    for part in ("author", "licence", "date", "address"):
        assert part in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    about = About.of(Options(authors=("Lovelace, Ada",), licence="cc0-1.0"), {"name": "n"}, "2026-01-31")
    assert (about.title, about.licence.name, about.date, about.authors[0].name) == (
        "n",
        "CC0-1.0",
        "2026-01-31",
        "Ada Lovelace",
    )


def test_a_folder_of_something_else_stays(study: Path, tmp_path: Path) -> None:
    """A folder that was not published is never replaced, and one that is being filled has no name until it is whole."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(SwingbyError, match="not published before"):
        publish("dents", study / "data", tmp_path / "mine", ASKED)

    def fail(fresh: Path) -> None:
        (fresh / "half").write_text("x")
        raise SwingbyError("stopped")

    with pytest.raises(SwingbyError, match="stopped"):
        put_folder(tmp_path / "mine", fail, "publication")
    assert contents(tmp_path) == {"mine/thesis.tex": b"x"}


class Ranges:
    """A file behind an address, read by ranges, as a reader of Parquet reads it."""

    def __init__(self, server: Web, name: str) -> None:
        self.server, self.name, self.at = server, name, 0
        self.length, self.closed = (server.folder / name).stat().st_size, False

    def read(self, count: int = -1) -> bytes:
        import urllib.request

        end = self.length if count < 0 else min(self.at + count, self.length)
        if end <= self.at:
            return b""
        request = urllib.request.Request(f"{self.server.url}/{self.name}")
        request.add_header("Range", f"bytes={self.at}-{end - 1}")
        with urllib.request.urlopen(request) as reply:
            part = reply.read()
        self.at += len(part)
        return part

    def seek(self, offset: int, whence: int = 0) -> int:
        self.at = (0, self.at, self.length)[whence] + offset
        return self.at

    def tell(self) -> int:
        return self.at

    def close(self) -> None:
        self.closed = True

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False


def test_a_phase_query_reads_little(tmp_path: Path) -> None:
    """Axes and an outcome of 59,520 runs come in less than a megabyte over HTTP, of a file of many."""
    grid = np.indices(tuple(AXES.values())).reshape(len(AXES), -1)
    count, random = grid.shape[1], np.random.default_rng(1)
    table = pa.table({
        "point": pa.array(np.arange(count) // AXES["seed"], pa.int32()),
        **{name: pa.array(values) for name, values in zip(AXES, grid, strict=True)},
        "rises": pa.array(random.random(count) < 0.3),
        **{f"scalar_{place}": pa.array(random.normal(size=count)) for place in range(12)},
    })  # fmt: skip
    roles = {**dict.fromkeys(AXES, "axis"), "point": "place", "rises": "outcome"}
    columns = [Column(name, roles.get(name, "scalar"), Meaning(""), name) for name in table.column_names]
    write_table(table, Columns(columns, {}, ""), tmp_path / CELLS)
    assert (tmp_path / CELLS).stat().st_size > 4e6
    with web(tmp_path) as server:
        source: Any = Ranges(server, CELLS)
        rows = pq.ParquetFile(pa.PythonFile(source, mode="r"), pre_buffer=False).read([*AXES, "rises"])
        assert server.given < 1e6
    assert rows.equals(table.select([*AXES, "rises"]))
