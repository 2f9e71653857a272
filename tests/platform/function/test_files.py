"""Laws of the data files of a function: found wherever a cell is trained, and part of what its results are of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from swingby.api import Sweep
from swingby.errors import SwingbyError
from swingby.function.load import from_file
from swingby.function.source import MOST_BYTES
from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.store import Store

FORMS = {
    "at the top": (
        "NUMBERS = (Path(__file__).parent / 'numbers.txt').read_text().split()",
        "@experiment",
        "NUMBERS",
    ),
    "in the function": ("", "@experiment", "Path(__file__).with_name('numbers.txt').read_text().split()"),
    "declared": ("", "@experiment(files=['*.txt'])", "cell.file('numbers.txt').read_text().split()"),
}
TRAIN = """
from pathlib import Path
from swingby import experiment

{top}


{decorator}
def train(cell, lr: float = 0.1):
    for step, number in enumerate({read}):
        cell.record(step, loss=lr * float(number))
"""


def write(folder: Path, form: str) -> None:
    top, decorator, read = FORMS[form]
    (folder / "train.py").write_text(TRAIN.format(top=top, decorator=decorator, read=read))
    (folder / "numbers.txt").write_text("1 2 3\n")
    (folder / "train.yaml").write_text("name: train\nexperiment: train.py\naxes: {lr: [0.1, 0.2]}\nseeds: 2\n")


def run(folder: Path, *overrides: str, **options: Any) -> Any:
    sweep = Sweep.load(folder / "train.yaml", overrides)
    return run_sweep(sweep, folder / "data", progress=Progress(), **options)


FEWER = pytest.mark.parametrize(
    "form", ["at the top", "declared", pytest.param("in the function", marks=pytest.mark.slow)]
)
"""A file that is read in the function travels, and counts, as one that is read at the top: it is named in the text."""


@pytest.mark.parametrize("form", FORMS)
def test_a_file_beside_the_code_is_found_by_the_loop(tmp_path: Path, form: str) -> None:
    """Read by whatever form."""
    check_found(tmp_path, form, local=True, pilot=False)


@FEWER
@pytest.mark.parametrize(
    "options",
    [{"ray": False, "workers": 2}, pytest.param({"ray": True}, marks=pytest.mark.slow)],
    ids=["workers", "ray"],
)
def test_a_file_beside_the_code_is_found_everywhere(tmp_path: Path, form: str, options: dict[str, Any]) -> None:
    """Read by pilots, worker processes and Ray."""
    check_found(tmp_path, form, **options)


def check_found(tmp_path: Path, form: str, **options: Any) -> None:
    """Every cell has read the numbers of the file."""
    write(tmp_path, form)
    assert run(tmp_path, **options).ok == 4
    with Store.open(tmp_path / "data") as store:
        (losses,) = {tuple(row.loss) for row in store.sql("select loss from train where lr = 0.1").rows()}
    assert losses == pytest.approx((0.1, 0.2, 0.3))


@FEWER
def test_a_file_that_changes_is_a_change_of_the_code(tmp_path: Path, form: str) -> None:
    """Results of the earlier file never count silently; one that is not named changes nothing."""
    write(tmp_path, form)
    run(tmp_path, local=True, pilot=False)
    (tmp_path / "other.csv").write_text("1\n")
    assert run(tmp_path, local=True, pilot=False).trained == 0
    (tmp_path / "numbers.txt").write_text("4 5 6\n")
    with pytest.raises(SwingbyError, match="4 cells of 'train' have results of another version"):
        run(tmp_path, "seeds=3", local=True, pilot=False)


def test_a_folder_that_has_moved_is_trained_where_it_is(tmp_path: Path) -> None:
    """Also in the process that has trained it where it was, and has its code."""
    before, now = tmp_path / "before", tmp_path / "now"
    before.mkdir()
    check_found(before, "declared", local=True, pilot=False)
    before.rename(now)
    assert run(now, "seeds=3", local=True, pilot=False).ok == 6


def test_files_that_cannot_travel_are_told(tmp_path: Path) -> None:
    """A declared file that is not there, or too large; and one that a cell asks for without a declaration."""
    write(tmp_path, "declared")
    path = tmp_path / "train.py"
    path.write_text(path.read_text().replace("*.txt", "none.txt"))
    with pytest.raises(SwingbyError, match=r"'none.txt', and .* has no such file"):
        from_file(path)
    (tmp_path / "none.txt").write_bytes(bytes(MOST_BYTES + 1))
    with pytest.raises(SwingbyError, match=r"files have 2,000,001 bytes; at most 2,000,000"):
        from_file(path)
    path.write_text(TRAIN.format(top="", decorator="@experiment", read="cell.file('num' + 'bers.txt')"))
    assert run(tmp_path, local=True, pilot=False).failed == 4
    with Store.open(tmp_path / "data") as store:
        (message,) = {row.message for row in store.sql("select message from train").rows()}
    assert "@experiment(files=['numbers.txt'])" in message
