"""One loop in both forms, cell by cell and batched: `python -m tests.benchmarks.forms`.

The code is that of examples/batched. The forms take turns, each in a process of its own with one thread; medians, with
the least and the most in brackets. A cell's time is that of the training, as the platform measures it.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from pathlib import Path

from rich.console import Console

from swingby.api import Sweep
from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.store import Store
from tests.benchmarks.tables import draw
from tests.support.places import ROOT

FORMS = {"teacher": "cell by cell", "teacher_together": "all cells at once"}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--seeds", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    taken = {name: list[float]() for name in FORMS}
    for _ in range(asked.repeats):
        for name, times in taken.items():
            # 16 points: the plain form, which is slow, takes a few seeds only.
            times.append(milliseconds(name, asked.seeds if name == "teacher_together" else 4))
    rows, slow = [], statistics.median(taken["teacher"])
    for name, of in taken.items():
        median = statistics.median(of)
        rows.append((FORMS[name], f"{median:.3g} ({min(of):.3g} .. {max(of):.3g})", f"{slow / median:.0f} x"))
    title = f"A ReLU net of two layers, 300 steps: ms a cell, {asked.repeats} times in turns, median (least .. most)"
    draw(Console(width=150), title, ("form", "ms a cell", "ratio"), rows)


def both_forms(folder: Path) -> Path:
    """The files of examples/batched copied into a folder: the path of the sweep file."""
    for name in ("teacher.py", "teacher.yaml"):
        shutil.copy(ROOT / "examples" / "batched" / name, folder / name)
    return folder / "teacher.yaml"


def milliseconds(name: str, seeds: int) -> float:
    """Milliseconds of training a cell of the form takes, with one worker process."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sweep = Sweep.load(both_forms(folder), [f"experiment=teacher.py:{name}", f"seeds={seeds}"])
        result = run_sweep(sweep, folder / "data", pilot=True, workers=1, progress=Progress())
        if result.missing or result.failed:
            raise RuntimeError(str(result))
        with Store.open(folder / "data") as store:
            # The largest batch: a pilot of one cell says little of the batched form.
            query = "select sum(seconds) * 1000 / max(cells) from shards group by plan_id, batch order by max(cells)"
            return store.sql(query).rows()[-1][0]


if __name__ == "__main__":
    main()
