"""Laws of every installed drawing: wrong options are refused with the sweep file, and a small sweep is drawn."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest
from altair.utils.schemapi import debug_mode
from pydantic import ValidationError

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.drawing import Drawing
from swingby.store import Store
from swingby_analysis.report import data as report_data
from swingby_analysis.report.subject import Subject
from tests.laws.conftest import Trained

DRAWINGS = [registry.drawing(name) for name in sorted(registry.offered(registry.DRAWINGS))]
EXPERIMENTS = registry.offered(registry.EXPERIMENTS)
PAIRS = [(drawing, name) for drawing in DRAWINGS for name in drawing.experiments if name in EXPERIMENTS]
NAMES = [drawing.name for drawing in DRAWINGS]
NONSENSE: Mapping[str, Any] = {"no": "option takes a mapping of this kind"}


@dataclass
class Small:
    """A small finished sweep: what it recorded, and its subject, read when a drawing first asks for it."""

    recorded: frozenset[str]
    sweep_id: str
    store: Store

    @cached_property
    def subject(self) -> Subject:
        """What a drawing is given."""
        return Subject(report_data.read(self.store, self.sweep_id, (1, 2), {}), self.store)


@pytest.fixture(scope="module")
def subjects(trained: Trained) -> Iterator[dict[str, list[Small]]]:
    """Small finished sweeps of each experiment that a drawing is for."""
    found, stores = {}, []
    # From behind, since laws of detectors begin in front: neither waits for what the other trains.
    for experiment in sorted({experiment for _, experiment in PAIRS}, reverse=True):
        data, sweeps = trained(experiment)
        stores.append(store := Store.open(data))
        found[experiment] = [Small(frozenset(one.recording.also), one.sweep_id, store) for one in sweeps]
    yield found
    found.clear()
    for store in stores:
        store.close()


@pytest.mark.parametrize("drawing", DRAWINGS, ids=NAMES)
def test_wrong_options_are_refused(drawing: Drawing) -> None:
    """An option that it does not have, and a value that none of its options takes; without options it can be asked."""
    options = drawing.Options
    assert list(drawing.check(options(), ["width"])) is not None
    with pytest.raises(ValidationError):
        options.model_validate({"no_such_option": 1})
    for name in options.model_fields:
        with pytest.raises(ValidationError):
            options.model_validate({name: NONSENSE})


@pytest.mark.parametrize("drawing", DRAWINGS, ids=NAMES)
def test_what_is_declared(drawing: Drawing) -> None:
    """An experiment that it draws is installed; one of another folder may not be. All record what it needs, and it says
    what it draws."""
    assert drawing.__doc__
    installed = [experiment for one, experiment in PAIRS if one is drawing]
    assert installed
    for experiment in installed:
        assert set(drawing.recordings) <= set(registry.experiment(experiment).recordings)


@pytest.mark.parametrize(("drawing", "experiment"), PAIRS, ids=[f"{d.name}-{e}" for d, e in PAIRS])
def test_a_small_sweep_is_drawn(drawing: Drawing, experiment: str, subjects: dict[str, list[Small]]) -> None:
    """Of the small sweeps that record what it needs, the first is drawn that is not refused in words; there is one."""
    able = [one for one in subjects[experiment] if one.recorded.issuperset(drawing.recordings)]
    figures: list[Any] = []
    for one in able:
        subject = one.subject
        with contextlib.suppress(SwingbyError), debug_mode(False):  # as a report draws them
            figures += drawing.figures(subject, drawing.Options())
        if figures:
            break
    assert figures
    for figure in figures:
        assert figure.title
        assert figure.caption
        assert figure.queries
        json.dumps(figure.spec, allow_nan=False)
