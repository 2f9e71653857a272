"""Arrivals: what a reader sees of a data folder on object storage is what is there now, or else what is here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from swingby.errors import SwingbyError
from swingby.folder import place_of
from swingby.records import Records
from swingby.remote.mirror import mirrored
from swingby.store.ingest import Ingest
from swingby.store.layout import Layout

PATIENCE = 5.0
"""Seconds for which a reader waits for a storage that fails."""
EVERY = 10.0
"""Seconds after which somebody who follows looks again, at least."""
COST = 10.0
"""The same, in the time that the last look took."""


def bring_in(data: str | Path, tell: Callable[[str], object]) -> Path:
    """The folder on this machine, after it got what is new where it stands for one on object storage.

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
        if records.unite(tell) or not Layout(place).pointer.exists():
            _fold(records)
    return place


def _fold(records: Records) -> None:
    """Folds what came, unless somebody does."""
    with suppress(SwingbyError), Ingest(records, wait=0) as step:
        step.take()
        step.publish(force=True)


@contextmanager
def followed(data: Path, tell: Callable[[str], object]) -> Iterator[None]:
    """While inside, a thread fetches what is new now and then; nothing to do about one that stands for itself."""
    if mirrored(data) is None:
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_follow, args=(data, tell, over), name="arrivals", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _follow(data: Path, tell: Callable[[str], object], over: threading.Event) -> None:
    pause = EVERY
    while not over.wait(pause):
        began = time.monotonic()
        with suppress(SwingbyError):
            bring_in(data, tell)
        pause = max(EVERY, COST * (time.monotonic() - began))
