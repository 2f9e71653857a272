"""Laws of what a function's recording keeps: all of it up to a budget, and beyond that the ends and the extremes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby.api import Sweep
from swingby.function.handle import CellHandle, CellsHandle, NotFiniteError
from swingby.function.values import MisuseError
from swingby.model.cell import Cell
from swingby.model.experiment import Recording
from swingby.model.params import Params
from swingby.model.points import Point
from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.store import Store

ENTRIES = 256


class Rate(Params):
    """One parameter."""

    lr: float = 0.1


CELLS = tuple(Cell(Point("none", 1, Rate(dtype="float64"), "common"), seed) for seed in range(3))


ALL = Recording("all", entries=ENTRIES)


def handle(recording: Recording = ALL, last: int | None = None, **more: Any) -> CellHandle:
    return CellHandle(CELLS[0], recording, last, **more)


@given(
    length=st.integers(1, 3000),
    missing=st.lists(st.sampled_from([0.0, 0.5, 0.99]), min_size=1, max_size=3),
    levels=st.sampled_from([1, 10, 1_000_000]),
    gaps=st.integers(1, 5),
    seed=st.integers(0, 1000),
)
def test_ends_and_extremes_of_every_stretch_survive(
    length: int, missing: list[float], levels: int, gaps: int, seed: int
) -> None:
    """Of each curve, in any stream: true entries in order, at most the budget, the first quarter of it whole; of each
    stretch the first and the last record, and of each curve the first, last, least and greatest value."""
    rng = np.random.default_rng(seed)
    curves: list[list[float | None]] = []
    for share in missing:
        values = rng.integers(0, levels, length) / levels
        curves.append([None if gone else value for gone, value in zip(rng.random(length) < share, values, strict=True)])
    cell = handle()
    for number in range(length):
        values = {f"c{place}": curve[number] for place, curve in enumerate(curves) if curve[number] is not None}
        cell.record(gaps * number, **values)
    _, _, remarks = cell.end({})
    track = cell.track
    numbers = [step // gaps for step in track.steps]
    assert numbers == track.numbers == sorted(set(numbers))
    assert track.count == length
    assert len(numbers) <= ENTRIES
    assert numbers[: ENTRIES // 4] == list(range(min(length, ENTRIES // 4)))
    if length <= ENTRIES:
        assert numbers == list(range(length))
    assert any("thinned" in remark for remark in remarks) == (length > len(numbers))
    for place, curve in enumerate(curves):
        assert track.curves.get(f"c{place}", [None] * len(numbers)) == [curve[number] for number in numbers]
        for start in [*range(min(length, ENTRIES // 4)), *range(ENTRIES // 4, length, track.length)]:
            size = 1 if start < ENTRIES // 4 else track.length
            of_stretch = [n for n in numbers if start <= n < start + size]
            kept = [value for value in (curve[number] for number in of_stretch) if value is not None]
            stretch = [value for value in curve[start : start + size] if value is not None]
            assert (of_stretch[0], of_stretch[-1]) == (start, min(start + size, length) - 1)
            assert bool(kept) == bool(stretch)
            if stretch:
                ends = stretch[0], stretch[-1], min(stretch), max(stretch)
                assert (kept[0], kept[-1], min(kept), max(kept)) == ends


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=100))
def test_calls_at_one_step_add_up(calls: list[tuple[bool, bool, bool]]) -> None:
    """Names recorded apart at a step, or together, are one row; a name may be left out of any step."""
    together, apart = handle(), handle()
    for step, names in enumerate(calls):
        values = {name: float(step) for name, there in zip("abc", names, strict=True) if there}
        together.record(step, **values)
        for name, value in values.items() or [(None, None)]:
            apart.record(step, **({} if name is None else {name: value}))
    for of in (together, apart):
        of.end({})
    assert together.track.steps == apart.track.steps
    assert together.track.curves == apart.track.curves


@pytest.mark.parametrize("spacing", ["log", "sqrt", "every", "all"])
@pytest.mark.parametrize("stop", [0, 1, 37, 704, 1000])
def test_the_last_record_is_kept_and_what_is_left_out_is_told(spacing: Any, stop: int) -> None:
    """Of a run that stops by itself at any step, in every spacing; vectors are those of that step."""
    cell, w = handle(Recording(spacing, points=20, entries=2000), 1000), np.zeros(2)
    for step in range(stop + 1):
        w += 1
        cell.record(step, loss=1.0 / (1 + step), w=w)
    _, diverged, remarks = cell.end({})
    assert diverged is None
    assert cell.track.steps[-1] == stop
    assert cell.track.curves["loss"][-1] == 1.0 / (1 + stop)
    assert cell.track.curves["w"][-1] == [stop + 1.0] * 2
    left = stop + 1 - len(cell.track.steps)
    assert any(remark.startswith(f"{left:,} of {stop + 1:,} records fell between") for remark in remarks) == (left > 0)


def test_a_value_that_is_not_finite_is_a_gap_unless_its_curve_diverges() -> None:
    """A gap is told with its first step; a loss ends the cell, and what was recorded before stays."""
    cell = handle()
    for step in range(5):
        cell.record(
            step, loss=1.0, ratio=math.nan if step in (0, 3) else 2.0, pair=[math.inf, 0.0] if step == 1 else [1, 2]
        )
    scalars, diverged, remarks = cell.end({"end": math.inf, "count": 3})
    assert (scalars, diverged) == ({"end": None, "count": 3}, None)
    assert cell.track.curves["ratio"] == [None, 2.0, 2.0, None, 2.0]
    assert cell.track.curves["pair"][:2] == [[1.0, 2.0], None]
    assert [remark.split(" is ")[0] for remark in remarks] == ["end", "pair", "ratio"]
    cell = handle()
    cell.record(0, loss=1.0, ratio=1.0)
    with pytest.raises(NotFiniteError, match="loss is inf at step 1"):
        cell.record(1, loss=math.inf, ratio=math.nan)
    assert cell.track.curves == {"loss": [1.0, math.inf], "ratio": [1.0, None]}
    cell = handle(diverges={"ratio"}.__contains__)
    cell.record(0, loss=math.nan, ratio=1.0)
    with pytest.raises(NotFiniteError, match="ratio is nan at step 1"):
        cell.record(1, ratio=math.nan)
    cell = handle()
    for step in range(9):
        cell.record(step, w=1.0 if step < 4 else math.nan)
    assert cell.end({})[1] is not None  # nothing is finite any more, and no curve is a loss


@pytest.mark.parametrize("cells", [False, True])
@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"loss": 1.0}, {"Loss": 1.0}, "'Loss' has the name of the recorded 'loss'"),
        ({"LR": 1.0}, {}, "'LR' has the name of the parameter 'lr'"),
        ({"loss": 1.0}, {"loss": 1.0}, "loss at step 0 twice"),
    ],
)
def test_one_name_is_one_column_whatever_its_case(
    first: dict[str, Any], second: dict[str, Any], said: str, cells: bool
) -> None:
    """Told at the call that names it."""
    recording = Recording("all")
    of: Any = CellsHandle(CELLS, recording, None) if cells else handle(recording)
    wide = (lambda values: dict.fromkeys(values, np.ones(3))) if cells else dict
    with pytest.raises(MisuseError, match=said):  # noqa: PT012 - either call may tell
        of.record(0, **wide(first))
        of.record(0, **wide(second))


@given(st.integers(1, 1300), st.sampled_from(["all", "log", "sqrt"]), st.booleans())
def test_cells_together_keep_what_each_alone_keeps(count: int, spacing: Any, known: bool) -> None:
    """Of a batch each cell has the track that it has alone, with gaps and ends of its own."""
    recording, last = Recording(spacing, points=30, entries=ENTRIES), 1299 if known else None
    rng = np.random.default_rng(count)
    loss, other = rng.normal(size=(2, count, 3)).round(1)
    loss[count // 2 :, 1], other[1::7, 2] = math.inf, math.nan
    together = CellsHandle(CELLS, recording, last)
    for step in range(count):
        together.record(step, loss=loss[step])
        together.record(step, other=other[step])
    for at, (track, diverged, _) in enumerate(together.end()):
        alone, why = handle(recording, last), None
        try:
            for step in range(count):
                alone.record(step, loss=loss[step, at], other=other[step, at])
            alone.end({})
        except NotFiniteError as error:
            why = str(error)
            alone.end({})
        if diverged is None and why is None and (count <= 2 * ENTRIES or spacing != "all"):
            assert (track.steps, track.curves) == (alone.track.steps, alone.track.curves)
        elif diverged is None and why is None:  # thinned at other moments on the way
            for name, values in (("loss", loss), ("other", other)):
                of = [value for value in values[:, at] if math.isfinite(value)]
                for kept in (track, alone.track):
                    there = [value for value in kept.curves[name] if value is not None]
                    assert (there[0], there[-1], min(there), max(there)) == (of[0], of[-1], min(of), max(of))
                    assert len(kept.steps) <= ENTRIES
        elif spacing == "all":  # under a schedule a batch is not looked at between its steps
            assert diverged == why
            assert track.steps[-1] == alone.track.steps[-1]


TRAIN = """
from swingby import experiment


@experiment
def spiky(cell, lr: float, steps: int = 20_000):
    for step in range(0, steps + 1):
        cell.record(step, loss=50.0 if step == 17_123 else 1.0 / (1 + step))
        if step % 500 == 0:
            cell.record(step, acc=step / steps)
"""


def test_a_spike_and_a_second_cadence_are_there_and_thinning_is_told(tmp_path: Path) -> None:
    """In the store: all that a curve had at its ends and extremes, each accuracy, and a message with numbers."""
    (tmp_path / "train.py").write_text(TRAIN)
    outcomes = "outcomes: {spikes: list_max(loss) > 10, last: 'acc[-1]'}"
    (tmp_path / "spiky.yaml").write_text(f"name: spiky\nexperiment: train.py\naxes: {{lr: [0.1, 0.2]}}\n{outcomes}\n")
    sweep = Sweep.load(tmp_path / "spiky.yaml")
    assert sweep.recording.requested == ("steps:all:2000",)
    result = run_sweep(sweep, tmp_path / "data", local=True, pilot=False, progress=Progress())
    ((told, cells),) = result.remarks
    assert cells == 2
    assert "of 20,001 recorded steps are kept" in told
    assert told in str(result)
    with Store.open(tmp_path / "data") as store:
        for row in store.sql("from spiky").rows():
            assert max(row.loss) == 50.0
            assert (row.step[0], row.step[-1], row.loss[-1]) == (0, 20_000, 1 / 20_001)
            assert len(row.step) <= 2000
            assert "of 20,001 recorded steps are kept" in row.message
        outcomes = store.sql("select spikes, last from outcomes_of_spiky").rows()
        assert [(row.spikes, row.last) for row in outcomes] == [(True, 1.0)] * 2
