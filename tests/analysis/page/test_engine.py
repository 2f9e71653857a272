"""The engine of SQL in pages: only the pinned archive is kept, and what is missing is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby.errors import SwingbyError
from swingby_analysis.page import engine, html


@given(st.binary(max_size=200))
def test_another_archive_is_refused(content: bytes) -> None:
    """Bytes with another digest leave nothing behind."""
    folder = Path("/nowhere-to-be-written")
    with pytest.raises(SwingbyError, match="not the pinned one"):
        engine.unpack(content, folder)
    assert not folder.exists()


def test_without_npm_the_way_out_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without npm and without the files is told how to get them, and that the light page needs neither."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv(engine.CACHE, str(tmp_path / "cache"))
    if engine.is_there():
        pytest.skip("this installation has the engine in it")
    said = list[str]()
    with pytest.raises(SwingbyError, match=r"npm is not installed.*make engine.*Without supplement=True"):
        engine.engine(said.append)
    assert len(said) == 1


def test_a_torn_file_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept to be read again is whole or made again: cut anywhere, empty, with a byte changed, or a folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    html.vega.cache_clear()
    bundle = html.vega()
    (kept,) = (tmp_path / ".cache" / "swingby" / "vega").iterdir()
    whole = kept.read_bytes()
    assert html.sound(kept) == bundle.encode()
    changed = bytearray(whole)
    changed[len(whole) // 2] ^= 1
    for torn in (b"", whole[: len(whole) // 2], whole[:-1], bytes(changed)):
        kept.write_bytes(torn)
        assert html.sound(kept) is None
    html.vega.cache_clear()
    assert html.vega() == bundle
    assert html.sound(kept) == bundle.encode()
    kept.unlink()
    kept.mkdir()
    html.vega.cache_clear()
    assert html.vega() == bundle
    html.vega.cache_clear()


@pytest.mark.slow
def test_the_engine_is_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By npm into the cache folder; after that nothing is fetched."""
    monkeypatch.setenv(engine.CACHE, str(tmp_path / "cache"))
    if engine.is_there():
        pytest.skip("this installation has the engine in it")
    said = list[str]()
    first = engine.engine(said.append)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert engine.engine(said.append) == first
    assert len(said) == 1
    assert first.module.startswith(b"\x1f\x8b")
    for name in (engine.WORKER, engine.MODULE):
        file = engine.cache_folder() / f"{name}.gz"
        whole = file.read_bytes()
        file.write_bytes(whole[:-1])
        assert not engine.is_there()
        file.write_bytes(whole)
    assert engine.is_there()
