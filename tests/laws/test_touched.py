"""Laws of the choice of tests near to a change: nearest first, within the seconds, shared set-ups paid once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.touched import distances, module_of, nearest

SECONDS = st.floats(0.0, 40.0)


def test_a_file_belongs_to_the_module_or_the_package_that_it_lies_in() -> None:
    """Data of a package counts as its package, whatever folders lie between."""
    assert module_of("platform/swingby/store/reader.py") == "swingby.store.reader"
    assert module_of("platform/swingby/store/sql/gaps.sql") == "swingby.store"
    assert module_of("sweeps/swingby_sweeps/sim/statements/views.sql") == "swingby_sweeps.sim"
    assert module_of("tests/laws/test_touched.py") == __name__


def test_distance_is_steps_of_import() -> None:
    """From whoever imports, also by others; who reaches no change has none."""
    edges = {"test": {"b"}, "b": {"a"}, "a": set[str](), "other": {"c"}}
    assert distances(edges, ["a"]) == {"a": 0, "b": 1, "test": 2}


@given(costs=st.lists(st.tuples(SECONDS, SECONDS, st.integers(0, 3)), max_size=12), budget=SECONDS)
def test_what_is_chosen_fits_and_nothing_nearer_was_left_out_for_it(
    costs: list[tuple[float, float, int]], budget: float
) -> None:
    """The seconds of the chosen, each file's set-up once, are within the budget; a nearer test that was left out
    would not have fitted even alone beside those that are nearer still."""
    tests = [(f"file{n}.py::test_{n}", f"tests.module{n}") for n in range(len(costs))]
    seconds = {test: own for (test, _), (own, _, _) in zip(tests, costs, strict=True)}
    seconds |= {test.partition("::")[0]: shared for (test, _), (_, shared, _) in zip(tests, costs, strict=True)}
    steps = {module: far for (_, module), (_, _, far) in zip(tests, costs, strict=True)}
    chosen = nearest(tests, steps, seconds, budget)
    whole = {test: seconds[test] + seconds[test.partition("::")[0]] for test, _ in tests}
    far_of = {test: steps[module] for test, module in tests}
    assert sum(whole[test] for test in chosen) <= budget + 1e-9
    for test in far_of.keys() - chosen:
        before = sum(whole[other] for other in chosen if far_of[other] <= far_of[test])
        assert before + whole[test] > budget - 1e-9


@pytest.mark.parametrize("number", [2, 5])
def test_a_set_up_that_tests_share_is_paid_once(number: int) -> None:
    """So many tests of one file cost its set-up and their own seconds."""
    tests = [(f"file.py::test_{n}", "tests.module") for n in range(number)]
    seconds = {"file.py": 10.0, **{test: 1.0 for test, _ in tests}}
    assert len(nearest(tests, {"tests.module": 1}, seconds, 10.0 + number)) == number
    assert nearest(tests, {"tests.module": 1}, seconds, 10.0) == set()
