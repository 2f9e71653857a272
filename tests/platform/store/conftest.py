"""A published store that several laws spoil: made once, and copied for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from swingby.data.records import Records
from swingby.store import ingest
from tests.support.store import Segment, copied, write_plan, write_shard


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Records:
    """A data folder with a cell `x`, ingested; nobody changes it."""
    records = Records.open(tmp_path_factory.mktemp("published") / "data")
    write_plan(records, ["x"])
    write_shard(records, [Segment("x")])
    ingest(records)
    return records


@pytest.fixture
def one_cell(published: Records, tmp_path: Path) -> Records:
    """A folder of one's own like `published`."""
    return copied(published, tmp_path / "data")
