"""Laws of the note beside a report: what would be drawn again as it is, is not; whatever differs is drawn."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from swingby.data.records import Records
from swingby.run.outcomes import derive
from swingby_analysis import unchanged as module
from swingby_analysis.unchanged import NOTE, unchanged
from tests.support import synthetic_sim
from tests.support.command import swingby

PLANE = (1, 2)


def report(folder: Path, *options: str) -> tuple[str, str]:
    """What `swingby report small` prints to standard output, and beside it."""
    words = ["report", "small", "--data", str(folder / "data"), "--out", str(folder / "out")]
    done = swingby(*words, "--no-png", "--no-svg", "--no-pdf", *options)
    assert done.exit_code == 0, done.output
    return done.stdout.strip(), done.stderr


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    """A folder with a small sweep in `data`, and its report in `out`."""
    derive(synthetic_sim.write(tmp_path / "data", synthetic_sim.square("small", 2, 2)))
    page, _ = report(tmp_path)
    assert Path(page).is_file()
    return tmp_path


def found(folder: Path, sweep: str = "small", kinds: tuple[str, ...] = (), plane: tuple[int, int] = PLANE) -> bool:
    """Whether there is a report that would be drawn as it is."""
    return unchanged(sweep, folder / "data", folder / "out", kinds, plane) is not None


def test_a_report_is_drawn_once(drawn: Path) -> None:
    """The same command again prints the same path and leaves the files alone; --redraw writes them anew."""
    page = drawn / "out" / "small" / "report.html"
    before = page.stat().st_ino
    path, beside = report(drawn)
    assert path == str(page)
    assert "--redraw" in beside
    assert page.stat().st_ino == before
    path, beside = report(drawn, "--redraw")
    assert path == str(page)
    assert "--redraw" not in beside
    assert page.stat().st_ino != before


def test_what_is_asked_for_decides(drawn: Path) -> None:
    """Other kinds of pictures, another plane, another sweep or data folder are another report."""
    assert found(drawn)
    assert not found(drawn, kinds=("png",))
    assert not found(drawn, plane=(2, 1))
    assert not found(drawn, sweep="other")
    other = drawn / "elsewhere"
    (drawn / "data").rename(other)
    assert unchanged("small", other, drawn / "out", (), PLANE) is None


def test_news_are_drawn(drawn: Path) -> None:
    """A record more, ingested or not, makes the report another one."""
    synthetic_sim.write(drawn / "data", synthetic_sim.square("other", 2, 1))
    assert not found(drawn)
    path, beside = report(drawn)
    assert "--redraw" not in beside
    assert found(drawn)
    assert Path(path).is_file()
    Records.open(drawn / "data").write_derived("notes", "1", ("cell_id",), derived_table(), experiment="sim")
    assert not found(drawn)


def derived_table() -> object:
    """A derived file's rows: one cell that no sweep has."""
    import pyarrow as pa

    return pa.table({"cell_id": ["0" * 32], "value": [1.0]})


def test_files_that_were_lost_or_changed_are_drawn(drawn: Path) -> None:
    """A note holds for the files that it was written with."""
    page = drawn / "out" / "small" / "report.html"
    content = page.read_bytes()
    page.write_bytes(content + b" ")
    assert not found(drawn)
    page.write_bytes(content)
    assert found(drawn)
    page.unlink()
    assert not found(drawn)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"made_from": 3}', b"\xff"])
def test_a_note_that_cannot_be_read_is_none(drawn: Path, content: bytes) -> None:
    """A torn or foreign note draws the report again, and stops nothing."""
    (drawn / "out" / "small" / NOTE).write_bytes(content)
    assert not found(drawn)


def test_code_decides(drawn: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of this program that changed, or another set of installed packages, draws every report again."""
    code = list(module._code())
    names = {Path(path).name for path, *_ in code}
    assert {"page.html", "descents.py", "curves.sql", "reader.py"} <= names
    assert not any(path.endswith(".pyc") for path, *_ in code)
    monkeypatch.setattr(module, "_code", lambda: iter(code[:-1]))
    assert not found(drawn)
    monkeypatch.undo()
    monkeypatch.setattr(module, "_installed", lambda: ["altair-99.dist-info"])
    assert not found(drawn)


def test_a_sweep_file_decides(drawn: Path) -> None:
    """A sweep file that says anything else, such as another title, makes another report."""
    file = drawn / "small.yaml"
    file.write_text(synthetic_sim.SQUARE.format(name="small", title='"One"', points=2, seeds=2))
    words = ["report", str(file), "--data", str(drawn / "data"), "--out", str(drawn / "out")]
    words += ["--no-png", "--no-svg", "--no-pdf"]
    assert swingby(*words).exit_code == 0
    assert found(drawn, sweep=str(file))
    stamp = file.stat().st_mtime_ns
    file.write_text(file.read_text().replace("One", "Two"))
    os.utime(file, ns=(stamp, stamp))
    assert not found(drawn, sweep=str(file))
    note = json.loads((drawn / "out" / "small" / NOTE).read_bytes())
    assert note["page"] == "report.html"
