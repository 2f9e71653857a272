"""Remote ingest: fetches what is new on object storage and ingests it, for whoever reads the data folder."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from swingby.data.files import clear_os_errors
from swingby.data.folder import place_of
from swingby.data.locks import HeldError
from swingby.data.records import Records
from swingby.data.remote.mirrors import mirrored
from swingby.errors import SwingbyError
from swingby.store.ingestion import Ingest
from swingby.store.reader import Store

PATIENCE = 5.0
"""Seconds for which a reader waits for a storage that fails."""
EVERY = 10.0
"""Seconds after which somebody who follows looks again, at least."""
COST = 10.0
"""The same, in the time that the last look took."""


def bring_in(data: str | Path, tell: Callable[[str], object]) -> Path:
    """The folder on this machine, with what is new if it stands for one on object storage.

    If the storage does not answer, that is told, and what is here is all there is, until somebody takes a lock.

    Raises:
        SwingbyError: no address; not a data folder; or the disk refuses.
    """
    place = place_of(data)
    mirror = mirrored(place)
    if mirror is None:
        return place
    mirror.bucket.patience = PATIENCE
    mirror.forgive = lambda why: tell(f"{why}; going on with what is in {place}")
    mirror.begin(create=False, mark=b"")
    if (place / "swingby.json").exists():
        records = Records.open(place, create=False)
        if records.unite(tell) or _note(records).exists() or _is_behind(records):
            _ingest(records, tell)
    return place


def _note(records: Records) -> Path:
    """The file that is there while something was fetched that could not be ingested."""
    return records.data / "work" / "unfolded"


def _is_behind(records: Records) -> bool:
    """Whether shards are here that the store does not know, whoever fetched them."""
    try:
        with Store.open(records.data) as store:
            known = store.sql("select shard from shards union all select shard from bad_shards").arrow()
    except SwingbyError:
        return True  # there is none yet; or ingest says what is wrong with it
    return not set(records.shards()) <= set(known["shard"].to_pylist())


def _ingest(records: Records, tell: Callable[[str], object]) -> None:
    """Ingests what was fetched; where that fails, it is tried again later. Another process that does it is no fault."""
    note = _note(records)
    try:
        with clear_os_errors(f"keep a note in {note.parent}"):
            note.parent.mkdir(parents=True, exist_ok=True)
            note.touch()
        with Ingest(records, wait=0) as step:
            note.unlink(missing_ok=True)  # now: who fetches something meanwhile notes it anew
            step.take()
            step.publish(force=True)
    except HeldError:
        return
    except SwingbyError as error:
        with suppress(OSError):
            note.touch()
        tell(f"what was fetched is not in the store yet: {error}")


@contextmanager
def followed(data: Path, tell: Callable[[str], object]) -> Iterator[None]:
    """While inside, a thread fetches what is new now and then; does nothing about a folder that stands for itself."""
    if mirrored(data) is None:
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_follow, args=(data, tell, over), name="remote-ingest", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _follow(data: Path, tell: Callable[[str], object], over: threading.Event) -> None:
    pause, told = EVERY, ""

    def tell_once(text: str) -> None:
        nonlocal told
        if text != told:
            told = text
            tell(text)

    while not over.wait(pause):
        began = time.monotonic()
        try:
            bring_in(data, tell_once)
        except Exception as error:  # whatever it was: who looks on is told, and the next look may succeed
            tell_once(f"what is new does not come: {error}")
        pause = max(EVERY, COST * (time.monotonic() - began))
