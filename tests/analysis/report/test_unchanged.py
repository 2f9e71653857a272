"""Laws of the note beside a report: what would be drawn again as it is, is not; whatever differs is drawn."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from swingby.data.records import Records
from swingby.run.outcomes import derive
from swingby_analysis import unchanged as module
from swingby_analysis.unchanged import NOTE, unchanged
from tests.support import synthetic_sim
from tests.support.command import swingby

PLANE = (1, 2)


class Place(NamedTuple):
    """Where a small sweep is, and the folder of its report."""

    data: Path
    out: Path


def report(place: Place, *options: str, sweep: str = "small") -> tuple[str, str]:
    """What `swingby report` prints to standard output, and beside it."""
    words = ["report", sweep, "--data", str(place.data), "--out", str(place.out)]
    done = swingby(*words, *options)
    assert done.exit_code == 0, done.output
    return done.stdout.strip(), done.stderr


def draw(folder: Path) -> Place:
    """A small sweep with its report in this folder."""
    place = Place(folder / "data", folder / "out")
    derive(synthetic_sim.write(place.data, synthetic_sim.square("small", 2, 2)))
    page, _ = report(place)
    assert Path(page).is_file()
    return place


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A small sweep and its report, which no test changes."""
    return draw(tmp_path_factory.mktemp("unchanged"))


@pytest.fixture
def drawn(once: Place, tmp_path: Path) -> Place:
    """The small sweep with a report of the test's own, which holds as it was copied.

    The data are not copied: a store is known by the numbers that the disk gave its files.
    """
    shutil.copytree(once.out, tmp_path / "out")
    place = Place(once.data, tmp_path / "out")
    assert found(place)
    return place


def found(place: Place, sweep: str = "small", kinds: tuple[str, ...] = (), plane: tuple[int, int] = PLANE) -> bool:
    """Whether there is a report that would be drawn as it is."""
    return unchanged(sweep, place.data, place.out, kinds, plane) is not None


def test_a_report_is_drawn_once(drawn: Place) -> None:
    """The same command again prints the same path and leaves the files alone; --redraw writes them anew."""
    page = drawn.out / "small" / "report.html"
    before = page.stat().st_ino
    path, beside = report(drawn)
    assert path == str(page)
    assert "--redraw" in beside
    assert page.stat().st_ino == before
    path, beside = report(drawn, "--redraw")
    assert path == str(page)
    assert "--redraw" not in beside
    assert page.stat().st_ino != before


def test_what_is_asked_for_decides(drawn: Place) -> None:
    """Other kinds of pictures, another plane or another sweep are another report."""
    assert found(drawn)
    assert not found(drawn, kinds=("png",))
    assert not found(drawn, plane=(2, 1))
    assert not found(drawn, sweep="other")


def test_news_are_drawn(tmp_path: Path) -> None:
    """A record more, ingested or not, makes the report another one; so does another data folder with the same files."""
    own = draw(tmp_path)
    synthetic_sim.write(own.data, synthetic_sim.square("other", 2, 1))
    assert not found(own)
    path, beside = report(own)
    assert "--redraw" not in beside
    assert found(own)
    assert Path(path).is_file()
    moved = own.data.rename(tmp_path / "elsewhere")
    assert unchanged("small", moved, own.out, (), PLANE) is None
    moved.rename(own.data)
    assert found(own)
    Records.open(own.data).write_derived("notes", "1", ("cell_id",), derived_table(), experiment="sim")
    assert not found(own)


def derived_table() -> object:
    """A derived file's rows: one cell that no sweep has."""
    import pyarrow as pa

    return pa.table({"cell_id": ["0" * 32], "value": [1.0]})


def test_files_that_were_lost_or_changed_are_drawn(drawn: Place) -> None:
    """A note holds for the files that it was written with."""
    page = drawn.out / "small" / "report.html"
    content = page.read_bytes()
    page.write_bytes(content + b" ")
    assert not found(drawn)
    page.write_bytes(content)
    assert found(drawn)
    page.unlink()
    assert not found(drawn)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"made_from": 3}', b"\xff"])
def test_a_note_that_cannot_be_read_is_none(drawn: Place, content: bytes) -> None:
    """A torn or foreign note draws the report again, and stops nothing."""
    (drawn.out / "small" / NOTE).write_bytes(content)
    assert not found(drawn)


def test_code_decides(drawn: Place, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_sweep_file_decides(drawn: Place, tmp_path: Path) -> None:
    """A sweep file that says anything else, such as another title, makes another report."""
    file = tmp_path / "small.yaml"
    file.write_text(synthetic_sim.SQUARE.format(name="small", title='"One"', points=2, seeds=2))
    report(drawn, sweep=str(file))
    assert found(drawn, sweep=str(file))
    stamp = file.stat().st_mtime_ns
    file.write_text(file.read_text().replace("One", "Two"))
    os.utime(file, ns=(stamp, stamp))
    assert not found(drawn, sweep=str(file))
    note = json.loads((drawn.out / "small" / NOTE).read_bytes())
    assert note["page"] == "report.html"
