"""Laws of the pointer: garbled anywhere it is mended, and whoever forges it makes no reader write or read a file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swingby.data.records import Records
from swingby.errors import BrokenStoreError, SwingbyError
from swingby.sandbox import query
from swingby.store import Store, ingest
from swingby.store.attach import attach
from swingby.store.layout import Layout, NewerStoreError, OlderStoreError
from tests.support.store import snapshot


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_flipped_byte_is_found(published: Records, tmp_path: Path, data: st.DataObject) -> None:
    """Whichever byte of the pointer becomes another one, it is refused, or tells what it told before."""
    written = Layout(published.data).pointer.read_bytes()
    newest = Layout(published.data).newest()
    layout = Layout(tmp_path)
    layout.root.mkdir(exist_ok=True)
    place = data.draw(st.integers(0, len(written) - 1))
    garbled = bytearray(written)
    garbled[place] = data.draw(st.integers(0, 255).filter(lambda byte: byte != written[place]))
    layout.pointer.write_bytes(garbled)
    told = None
    with suppress(BrokenStoreError, OlderStoreError, NewerStoreError):
        told = layout.newest()
    assert told in (None, newest)


@pytest.mark.parametrize(
    "pointed",
    [
        lambda told: {**told, "views": [1, 2]},
        lambda told: {**told, "views": [view.replace("select", "relect", 1) for view in told["views"]]},
        lambda told: {**told, "files": {"ix": 5}},
        lambda told: {**told, "number": "1"},
        lambda told: {**told, "published": None},
        lambda told: [told],
    ],
)
def test_an_ingest_mends_what_is_still_json(
    one_cell: Records, pointed: Callable[[Any], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """A pointer that can be parsed and says something else is told by readers, and made again by the next ingest."""
    records, layout = one_cell, Layout(one_cell.data)
    before = snapshot(records)
    told = json.loads(layout.pointer.read_text())
    del told["digest"]
    layout.pointer.write_text(json.dumps(pointed(told)))
    with pytest.raises(SwingbyError, match="`swingby ingest` makes the store again"):
        snapshot(records)
    ingest(records)
    assert re.match("the store (is damaged and is made|cannot be read and is published) again", capsys.readouterr().err)
    assert snapshot(records) == before


def test_nesting_without_end_is_told(one_cell: Records) -> None:
    """A pointer of 200,000 opening brackets is broken like any other."""
    Layout(one_cell.data).pointer.write_text("[" * 200_000)
    with pytest.raises(BrokenStoreError, match="cannot be read"):
        snapshot(one_cell)


FORGED: list[Callable[[Any, Path], Any]] = [
    lambda told, mark: {"views": [*told["views"], f"copy (select 1) to '{mark}'"]},
    lambda told, mark: {"views": [f"create view x as select 1; copy (select 1) to '{mark}'", *told["views"]]},
    lambda told, mark: {"views": [*told["views"], f"attach '{mark}' as fresh"]},
    lambda told, mark: {"views": [*told["views"], "create view secret as select * from read_text('/etc/passwd')"]},
    lambda told, mark: {"files": {**told["files"], f"ix2 (type sqlite); attach '{mark}' as y": "a.duckdb"}},
    lambda told, mark: {"files": {**told["files"], "outside": str(mark)}},
    lambda told, mark: {"files": {**told["files"], "outside": f"../../{mark.name}"}},
    lambda told, mark: {"previous": [str(mark)]},
]


@pytest.mark.parametrize(
    ("forged", "signed"),
    [
        pytest.param(forged, signed, marks=[] if signed or place in (0, 5) else [pytest.mark.slow])
        for place, forged in enumerate(FORGED)
        for signed in (False, True)
    ],
)
def test_a_forged_pointer_runs_nothing(
    one_cell: Records, tmp_path: Path, forged: Callable[[Any, Path], Any], signed: bool
) -> None:
    """Other statements, files elsewhere and views of files are refused by each reader, and nothing is written, whether
    or not the forger wrote a digest (without one, a statement and a file stand for all: what is looked at comes after);
    the next ingest makes the store again."""
    records, layout, mark = one_cell, Layout(one_cell.data), tmp_path / "planted"
    before = snapshot(records)
    told = json.loads(layout.pointer.read_text())
    del told["digest"]
    told |= forged(told, mark)
    if signed:
        told["digest"] = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
    layout.pointer.write_text(json.dumps(told))

    def opened() -> Any:
        with Store.open(records.data) as store:
            return store.sql("select * from secret" if "secret" in str(told["views"]) else "from sweeps").rows()

    with pytest.raises(SwingbyError, match="`swingby ingest` makes the store again"):
        opened()
    if "secret" not in str(told["views"]):  # `attach` only prints
        with pytest.raises(SwingbyError):
            attach(records.data)
        with pytest.raises(SwingbyError):
            query(records.data, "from sweeps")
    assert not mark.exists()
    ingest(records)
    assert not mark.exists()
    assert snapshot(records) == before
