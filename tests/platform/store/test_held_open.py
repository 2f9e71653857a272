"""Laws of what is spared: a finished sweep takes one opened database, and nothing new is overlooked."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from swingby.data.records import Records
from swingby.run.driver import run_sweep
from swingby.store import Layout, Store, database, ingest, rebuild
from tests.support import synthetic_sim
from tests.support.places import ROOT


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[threading.Thread]:
    """A list that grows with each database that is opened."""
    found, connect = list[threading.Thread](), database.connect

    def counted(**config: object) -> database.Database:
        found.append(threading.current_thread())
        return connect(**config)

    monkeypatch.setattr(database, "connect", counted)
    return found


def test_a_finished_sweep_is_found_finished_by_one_database(tmp_path: Path, opened: list[threading.Thread]) -> None:
    """The second run of a finished sweep opens one database, and writes nothing to the store."""
    sweep = synthetic_sim.square("small", 2, 3)
    synthetic_sim.write(tmp_path, sweep)
    run_sweep(sweep, tmp_path, local=True)
    before = Layout(tmp_path).newest()
    opened.clear()
    result = run_sweep(sweep, tmp_path)
    assert (result.ok, result.trained, len(opened)) == (12, 0, 1)
    assert Layout(tmp_path).newest() == before


def test_an_ingest_without_news_opens_nothing(tmp_path: Path, opened: list[threading.Thread]) -> None:
    """What the newest generation holds is not looked for again; a new record, a lost index or a bad file is."""
    records = synthetic_sim.write(tmp_path, synthetic_sim.square("small", 2, 3))
    ingest(records)
    opened.clear()
    ingest(records)
    assert not opened
    synthetic_sim.write(tmp_path, synthetic_sim.square("other", 2, 1))
    assert len(Store.open(tmp_path).sql("from sweeps")) == 2
    opened.clear()
    layout = Layout(tmp_path)
    newest = layout.newest()
    assert newest is not None
    layout.index(newest.build).unlink()
    assert ingest(records).plans == 2
    torn = records.shard_path(records.shards()[0])
    content = torn.read_bytes()
    torn.write_bytes(content[:-40])
    assert rebuild(records).bad
    torn.write_bytes(content)
    assert ingest(records).shards == 1


def test_a_held_store_moves_on_and_is_closed(tmp_path: Path, opened: list[threading.Thread]) -> None:
    """Stores opened while they are held open are one, which sees what is published; other threads open theirs."""
    records = synthetic_sim.write(tmp_path, synthetic_sim.square("small", 2, 3))
    ingest(records)
    opened.clear()
    with Store.held_open():
        with Store.open(tmp_path) as first, Store.open(tmp_path) as second:
            assert first is second
        assert len(first.sql("from sweeps")) == 1
        assert len(opened) == 1
        synthetic_sim.write(tmp_path, synthetic_sim.square("other", 2, 1))
        assert len(first.sql("from sweeps")) == 2
        elsewhere = list[Store]()
        thread = threading.Thread(target=lambda: elsewhere.append(Store.open(Records.open(tmp_path).data)))
        thread.start()
        thread.join()
        assert elsewhere[0] is not first
        elsewhere[0].close()
        Store.release_held()
        with Store.open(tmp_path) as third:
            assert third is not first
    with Store.open(tmp_path) as fourth:
        assert fourth is not third


def test_a_forked_process_shares_no_database(tmp_path: Path) -> None:
    """After an ingest, a child that ingests too, and then ends as Python does, ends well; the parent goes on."""
    code = """
import os, sys
from pathlib import Path
from swingby.store import ingest
from tests.support import synthetic_sim
here = Path(sys.argv[1])
ingest(synthetic_sim.write(here, synthetic_sim.square("small", 2, 3)))
child = os.fork()
ingest(synthetic_sim.write(here, synthetic_sim.square("child" if child == 0 else "parent", 2, 1)))
sys.exit(0 if child == 0 else os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, timeout=120, check=False)
    assert done.returncode == 0
    with Store.open(tmp_path) as store:
        assert len(store.sql("from sweeps")) == 3
