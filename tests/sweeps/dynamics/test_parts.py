"""What threads compute part by part is what one thread computes, bit for bit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swingby.model.experiment import Batch
from swingby_sweeps.dynamics import second_order
from swingby_sweeps.dynamics.kernels import draws, mixture
from swingby_sweeps.dynamics.parts import host_threads, in_parts
from swingby_sweeps.sim.experiment import Sim
from tests.sweeps.sim.test_company import KINDS, RECORDING, company

DRAWN = {
    "moments, every epoch anew": KINDS["linear with bias"],
    "moments, three layers": KINDS["linear"],
    "points": {**KINDS["relu"], "lr": 1e-3},
    "points, every epoch anew": KINDS["relu without bias"],
    "all points at once": {"drive": "gd", "layers": 2, "width": 5, "bias": True, "moments": "sample", "gd_steps": 20},
}


@given(st.integers(0, 100), st.integers(1, 8), st.integers(1, 16))
def test_ranges_cover_everything_once(size: int, threads: int, whole: int) -> None:
    """They are in order, none is empty, and they begin at the multiples that are wanted; at most one a thread."""
    ranges: list[slice] = []
    with host_threads(threads):
        in_parts(ranges.append, size, whole)
    ranges.sort(key=lambda each: each.start)
    assert [place for each in ranges for place in range(size)[each]] == list(range(size))
    assert len(ranges) <= threads
    assert not [each for each in ranges if each.start % whole or (each.start >= each.stop and size)]


def test_an_error_of_a_part_is_the_callers() -> None:
    """One part that raises is enough; the next call works."""

    def fail(each: slice) -> None:
        if each.start:
            raise ValueError("no room")

    with host_threads(3):
        with pytest.raises(ValueError, match="no room"):
            in_parts(fail, 9)
        in_parts(lambda each: None, 9)


def test_what_threads_compute_lets_go_of_pythons_lock() -> None:
    """Else they would wait for each other: each kernel that is called part by part."""
    kernels: list[Any] = [mixture._epoch_sums, mixture._moments, mixture._points, draws.draw_weights, draws.normal_rows]
    assert all(kernel.targetoptions["nogil"] for kernel in kernels)


@pytest.mark.parametrize("engine", ["compiled", "torch"])
@pytest.mark.parametrize("kind", DRAWN)
def test_threads_draw_what_one_draws(kind: str, engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every column of 40 cells, curves and certificates and all, drawn by 3 threads and by one."""
    monkeypatch.setattr(second_order, "_MOST_NUMBERS", 1)  # the Hessians of so few nets would be one thread's
    cells = tuple(company(DRAWN[kind] | {"epochs": 4}, "float32", 40))
    (alone,) = Sim(engine).run(Batch(cells, RECORDING))
    with host_threads(3):
        (together,) = Sim(engine).run(Batch(cells, RECORDING))
    assert alone.drop_columns("seconds").equals(together.drop_columns("seconds"))
    assert alone["growth_rate"].null_count < len(cells)
