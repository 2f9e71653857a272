"""Remote ingest: new records on object storage are fetched and ingested, before and while a data folder is read."""

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
from swingby.data.remote.mirror import DATA_MARK, mirrored
from swingby.errors import SwingbyError
from swingby.store.ingestion import Ingest
from swingby.store.reader import Store
from swingby.store.status import shards_to_ingest

PATIENCE = 5.0
"""Seconds for which a reader waits for a storage that fails."""
EVERY = 10.0
"""Least seconds between two fetches of a thread that follows."""
COST = 10.0
"""Least pause between them, in units of the duration of the last one."""


def fetch_and_ingest(data: str | Path, tell: Callable[[str], object]) -> Path:
    """The folder on this machine; new records of a mirror are fetched and ingested first.

    If the storage does not answer, `tell` is called, and the records here are all there are, until a lock is taken.

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
    if (place / DATA_MARK).exists():
        records = Records.open(place, create=False)
        if not records.unite(tell) and not _note(records).exists():
            with suppress(SwingbyError), Store.open(records.data) as store:  # without a store, ingest makes it
                if not shards_to_ingest(store, records):
                    return place
        _ingest(records, tell)
    return place


def _note(records: Records) -> Path:
    """The file that is there while fetched records are not ingested yet."""
    return records.data / "work" / "unfolded"


def _ingest(records: Records, tell: Callable[[str], object]) -> None:
    """Ingests fetched records, or leaves a note to do so later; if another process ingests now, that will do."""
    note = _note(records)
    try:
        with clear_os_errors(f"keep a note in {note.parent}"):
            note.parent.mkdir(parents=True, exist_ok=True)
            note.touch()
        with Ingest(records, wait=0) as step:
            note.unlink(missing_ok=True)  # now: a process that fetches something meanwhile leaves a new note
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
    """While inside, a thread fetches and ingests new records of a mirror; of any other folder it does nothing."""
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
    pause, last = EVERY, ""

    def tell_once(text: str) -> None:
        nonlocal last
        if text != last:
            last = text
            tell(text)

    while not over.wait(pause):
        began = time.monotonic()
        try:
            fetch_and_ingest(data, tell_once)
        except Exception as error:  # whatever it was: it is reported, and the next fetch may succeed
            tell_once(f"what is new does not come: {error}")
        pause = max(EVERY, COST * (time.monotonic() - began))
