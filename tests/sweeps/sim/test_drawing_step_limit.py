"""The drawing `step_limit`: errors of runs beside the closed form, and the exponents with which they fall."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from swingby.errors import SwingbyError
from swingby.run.driver import run
from swingby.run.options import RunOptions
from swingby.store import Store
from swingby.store.lookup import find_sweep
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.page import Figure
from swingby_analysis.report import data as report_data
from swingby_sweeps.sim.drawings.step_limit import Falls, StepLimit, step_limit_chart
from swingby_sweeps.sim.drawings.subject import Subject

STEPS = """name: steps
experiment: sim
base: {model: one_layer, d: 4, s: 2, n: 60, batch_size: 16, bias: false}
axes:
  zip:
    - lr: [0.1, 0.05, 0.025]
      epochs: [8, 16, 32]
    - drive: [closed_form, gd, sgd]
seeds: 4
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with the sweep, and with one that has no closed form."""
    data = tmp_path_factory.mktemp("steps") / "data"
    alone = STEPS.replace("name: steps", "name: alone").replace("[closed_form, gd, sgd]", "[gd, sgd]")
    run([Sweep.parse(text, "sweep.yaml") for text in (STEPS, alone)], data, RunOptions(local=True, pilot=False))
    with Store.open(data) as opened:
        yield opened


def values(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a chart."""
    return spec["datasets"][spec["data"]["name"]]


def drawn(store: Store, name: str) -> Figure:
    """The figure of a sweep."""
    subject = Subject(report_data.read(store, find_sweep(store, name).sweep_id), store)
    (figure,) = StepLimit().figures(subject, StepLimit.Options())
    return figure


def test_each_run_is_a_dot_and_descent_falls_with_its_step(store: Store) -> None:
    """A dot a run of both drives, a mean a step; the exponent of full-batch descent is near one."""
    figure = drawn(store, "steps")
    rows = values(figure.spec)
    seeds = [row for row in rows if row["kind"] == "seed"]
    assert len(seeds) == 2 * 3 * 4
    for line in ("full-batch descent", "mini-batch SGD"):
        own = [row for row in rows if row["kind"] == "mean" and row["line"] == line]
        assert len(own) == 3
        for row in own:
            errors = [one["error"] for one in seeds if one["line"] == line and one["step"] == row["step"]]
            assert np.mean(errors) == pytest.approx(row["error"], rel=1e-3)
            assert row["low"] <= row["error"] <= row["high"]
    (note,) = [row["text"] for row in rows if row["kind"] == "note"]
    assert note.splitlines()[0].startswith("full-batch descent: exponent 1.0")
    assert "24 runs of 4 seeds, 3 lengths of a step" in figure.caption


def test_without_a_closed_form_it_is_refused(store: Store) -> None:
    """The reason says what has to stand beside a run."""
    with pytest.raises(SwingbyError, match="has a closed form"):
        drawn(store, "alone")


def test_an_error_of_zero_has_no_place_on_a_logarithmic_axis() -> None:
    """It is left out, and the exponent with it; the panel is drawn."""
    falls = [Falls("one", "descent", [0.1, 0.2], [np.zeros(2), np.array([0.1, 0.2])], None)]
    rows = values(step_limit_chart(["one"], falls, ["descent"]).to_dict())
    assert [row["step"] for row in rows if row["kind"] == "seed"] == [0.2, 0.2]
    assert [row["text"] for row in rows if row["kind"] == "note"] == [""]
