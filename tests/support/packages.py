"""Packages that tests install: by their metadata alone, and the walks of tests/support/misbehaving_experiment."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import MISBEHAVING


def install(site: Path, name: str, entry_points: str) -> None:
    """Writes the metadata of an installed distribution into a folder of the path."""
    about = site / f"{name.replace('-', '_')}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(entry_points)


@contextmanager
def walking(folder: Path) -> Iterator[Any]:
    """The experiment `walk`, also for child processes, with a data folder below this one, for as long as needed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(MISBEHAVING))
        kit = importlib.import_module("misbehaving_runs").Kit(folder)
        for name in ("PYTHONPATH", "TEST_LEDGER"):
            patch.setenv(name, kit.environment()[name])
        try:
            yield kit
        finally:
            kit.close()
