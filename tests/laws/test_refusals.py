"""Parameters that experiments refuse, by `tests/sweeps/*/refusals.yaml`: all faults at once, each at its field."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from swingby.model import registry
from tests.support import cells
from tests.support.places import ROOT

CASES = [
    (name, {**of.get("base", {}), **refused["values"]}, of.get("preset"), refused["faults"])
    for file in sorted((ROOT / "tests" / "sweeps").glob("*/refusals.yaml"))
    for name, of in yaml.safe_load(file.read_text()).items()
    if name in registry.offered(registry.EXPERIMENTS)
    for refused in of["refused"]
]


@pytest.mark.parametrize(("name", "values", "preset", "faults"), CASES)
def test_every_fault_is_told_at_its_field(
    name: str, values: dict[str, Any], preset: str | None, faults: dict[str, str]
) -> None:
    """The faults are these and no others; each says in its message what is wrong or allowed."""
    with pytest.raises(ValidationError) as caught:
        cells.params(name, preset, **values)
    messages = {".".join(map(str, error["loc"])): error["msg"] for error in caught.value.errors()}
    assert messages.keys() == faults.keys()
    assert len(messages) == caught.value.error_count()
    assert [name for name, text in faults.items() if text not in messages[name]] == []
