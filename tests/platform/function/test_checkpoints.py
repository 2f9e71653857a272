"""Laws of a function's checkpoints: what was written comes back whole, to whom it belongs, or not at all."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby.function.handle import CellHandle
from swingby.function.state import load_state, save_state
from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby.model.params import Params
from swingby.model.points import Point

PLAIN = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=5)
STATES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)


class Rate(Params):
    """One parameter."""

    lr: float = 0.1


@given(STATES, st.lists(st.floats(-1, 1), max_size=5), st.data())
def test_a_changed_checkpoint_is_none(state: Any, values: list[float], data: st.DataObject) -> None:
    """Whole it is what was written; with a bit flipped, cut short, or of another cell or code it is nothing."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "cell.npz"
        save_state(path, {"state": state, "w": np.array(values)}, "cell code:1")
        found = load_state(path, "cell code:1")
        assert found["state"] == state
        assert found["w"].tolist() == values
        assert load_state(path, "cell code:2") is None
        whole = path.read_bytes()
        at = data.draw(st.integers(0, 8 * len(whole) - 1))
        flipped = bytearray(whole)
        flipped[at // 8] ^= 1 << at % 8
        for content in (bytes(flipped), whole[: at // 8]):
            path.write_bytes(content)
            again = load_state(path, "cell code:1")
            # Bits that say nothing of the content, such as a date in the archive, may differ.
            assert again is None or (again["state"] == state and again["w"].tolist() == values)


def bomb() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("text.npy", bytes(50_000_000))
    return content.getvalue()


def endless() -> bytes:
    content, header = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (2**40, 2**20)})
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("text.npy", header.getvalue())
    return content.getvalue()


def deep() -> bytes:
    content = io.BytesIO()
    np.savez(content, text=np.frombuffer(b"[" * 1_000_000, np.uint8), mark=np.zeros(32, np.uint8))
    return content.getvalue()


def pickled() -> bytes:
    content = io.BytesIO()
    np.savez(content, text=np.array([{"a": 1}], object), mark=np.zeros(32, np.uint8))
    return content.getvalue()


def older() -> bytes:
    """As checkpoints were before they said whose they are."""
    content = io.BytesIO()
    np.savez(content, text=np.frombuffer(json.dumps({"dict": [["step", 1]]}).encode(), np.uint8))
    return content.getvalue()


@pytest.mark.parametrize("make", [bomb, endless, deep, pickled, older, bytes])
def test_no_file_ends_a_run(tmp_path: Path, make: Any) -> None:
    """The cell begins anew, the file is set aside, and the cell's row says so."""
    cell = Cell(Point("none", 1, Rate(dtype="float64"), "common"), 0)
    path = tmp_path / f"{cell.cell_id}.npz"
    path.write_bytes(make())
    handle = CellHandle(cell, Recording("all"), None, folder=tmp_path)
    assert handle.resume() is None
    assert not path.exists()
    assert any("set aside" in remark for remark in handle.end({})[2])


def test_a_checkpoint_of_other_code_or_recording_is_not_gone_on_from(tmp_path: Path) -> None:
    """That of the same code is, with what was recorded."""
    cell = Cell(Point("none", 1, Rate(dtype="float64"), "common"), 0)
    for code, recording in (("a", "all"), ("b", "all"), ("a", "log")):
        first = CellHandle(cell, Recording("all", code="a"), None, folder=tmp_path)
        first.record(0, loss=1.0)
        first.checkpoint({"step": 1})
        again = CellHandle(cell, Recording(recording, code=code), None, folder=tmp_path)  # type: ignore[arg-type]
        same = (code, recording) == ("a", "all")
        assert again.resume() == ({"step": 1} if same else None)
        assert again.track.steps == ([0] if same else [])
