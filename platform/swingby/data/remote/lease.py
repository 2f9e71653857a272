"""Leases: locks on object storage, which has none; a lease is held by a claim that is renewed, and alone."""

from __future__ import annotations

import json
import os
import random
import socket
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from swingby.data.files import utc_now
from swingby.data.locks import in_words
from swingby.data.remote.bucket import Bucket, Held, StorageError
from swingby.errors import SwingbyError

RENEWED = 20.0
"""Seconds between two puts of a claim."""
OVERDUE = 30.0
"""Seconds without renewal after which a holder may be dead; who wants the lease then waits until that is known."""
STALE = 120.0
"""Seconds without renewal after which a holder counts as dead."""

_left: set[str] = set()
"""Claims that this process does not hold any more, whether it could remove them or not."""


class Lease:
    """A lease that is held.

    Attributes:
        broken: whether a dead holder's claim was removed for it.
    """

    def __init__(self, bucket: Bucket, key: str, claim: bytes, broken: bool) -> None:
        self.broken = broken
        self._bucket, self._key, self._claim = bucket, key, claim
        self._lock, self._lost = threading.Lock(), False

    def renew(self) -> bool:
        """Renews the claim; False, for good, if others may have taken this process for dead meanwhile.

        A machine that was asleep does not know for how long: the storage's clock says it.

        Raises:
            StorageError: the storage does not answer.
        """
        with self._lock:
            before = None if self._lost else self._bucket.find(self._key)
            if before is None:
                self._lost = True
                return False
            self._bucket.put(self._key, self._claim)
            after = self._bucket.find(self._key)
            if after is None or after.taken - before.taken > STALE:
                self._lost = True
                self._bucket.remove(self._key)
            return not self._lost


@contextmanager
def leased(bucket: Bucket, folder: str, what: str, wait: float = 0.0, command: str | None = None) -> Iterator[Lease]:
    """Holds the lease of a folder of claims.

    A process that wants the lease puts a claim, then lists all claims: if another one is alive, it takes its own back.
    Of two processes that come at once at most one stays, since the later of the two listings has both claims. A claim
    is alive if the storage took it, by the storage's own clock, less than `STALE` seconds before one's own, and if its
    process is not seen to be gone from this very machine. A holder renews its claim from a thread, unless another
    process broke it meanwhile.

    Args:
        folder: of the claims, below the prefix.
        what: what is locked, in the words of the error.
        wait: seconds to wait for another holder. If its renewal is overdue, this waits until the renewal comes or the
            holder counts as dead, so that a driver that is started again after a crash need not be started once more.
        command: what the holder does; the process's own command line if None.

    Raises:
        SwingbyError: somebody else holds it for longer than `wait`, says who; or the storage does not answer.
    """
    key = f"{folder}/{uuid.uuid4().hex}.json"
    command = " ".join(sys.argv) if command is None else command
    who = {"host": socket.gethostname(), "pid": os.getpid(), "since": utc_now(), "command": command}
    claim = json.dumps({**who, **_here(os.getpid())}).encode()
    lease = Lease(bucket, key, claim, _claimed(bucket, folder, key, claim, what, time.monotonic() + wait))
    over = threading.Event()
    thread = threading.Thread(target=_renew, args=(lease, over), name="lease", daemon=True)
    thread.start()
    try:
        yield lease
    finally:
        over.set()
        thread.join()
        _left.add(key)
        with suppress(StorageError):  # the claim goes stale by itself; other requests report what made the storage fail
            bucket.remove(key)


def _claimed(bucket: Bucket, folder: str, key: str, claim: bytes, what: str, deadline: float) -> bool:
    """Puts the claim until it is alone; whether dead ones were removed for it. On any error the claim is taken back."""
    try:
        while True:
            bucket.put(key, claim)
            mine, others, dead = live(bucket, folder, key)
            if mine is None:
                continue  # this machine was asleep since its put, and was taken for dead
            if not others:
                for one in dead:  # only now: the process that removes them learns that the lease was broken
                    bucket.remove(one.key)
                return bool(dead)
            bucket.remove(key)
            overdue = all(mine.taken - claim.taken > OVERDUE for claim in others)
            if time.monotonic() >= deadline and not overdue:
                raise SwingbyError(f"{what} is held by {in_words(_content(bucket, others[0]))}; wait for it or stop it")
            time.sleep(random.uniform(0.2, 1.0))
    except BaseException:
        _left.add(key)
        with suppress(StorageError):  # for this process it is gone in any case
            bucket.remove(key, patience=0.0)
        raise


def live(bucket: Bucket, folder: str, key: str) -> tuple[Held | None, list[Held], list[Held]]:
    """The claims of a folder: one's own, which was just put, and by its time those that are alive, and the dead.

    One's own is None if somebody removed it meanwhile.

    Raises:
        SwingbyError: the storage has one's own claim, and does not list it.
    """
    claims = {claim.key: claim for claim in bucket.listing(folder)}
    mine = claims.pop(key, None)
    if mine is None:
        if bucket.find(key) is not None:
            raise SwingbyError(f"{bucket.address} does not list what was just put there; no lock can be kept in it")
        return None, [], []
    every = list(claims.values())
    dead = [claim for claim in every if mine.taken - claim.taken > STALE or _is_gone(bucket, claim)]
    return mine, [claim for claim in every if claim not in dead], dead


def _renew(lease: Lease, over: threading.Event) -> None:
    while not over.wait(RENEWED):
        with suppress(Exception):  # most likely the storage is out: the next round tries again
            if not lease.renew():
                return  # the workers learn it when they next put a shard, and the driver when it next puts a plan


def holder(bucket: Bucket, claims: list[Held]) -> str | None:
    """The holder of a lease now, in words, by the claims in its folder; None if nobody seems to hold it."""
    newest = max(claims, key=lambda claim: claim.taken, default=None)
    if newest is None or time.time() - newest.taken > STALE or _is_gone(bucket, newest):
        return None
    return in_words(_content(bucket, newest))


# holders


def _here(pid: int) -> dict[str, str]:
    """The identity of a process of this machine (and container) among all; empty if there is no such process."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        state, *numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        if state not in "ZX":
            return {"place": f"{boot} {Path('/proc/self/ns/pid').readlink()}", "started": numbers[18]}
    return {}


def _is_gone(bucket: Bucket, claim: Held) -> bool:
    """Whether the process of a claim ran on this machine and is gone, or is this one and has given the claim up."""
    content = _content(bucket, claim)
    place, pid = content.get("place"), content.get("pid")
    if claim.key in _left:
        return True
    if not isinstance(place, str) or type(pid) is not int or place != _here(os.getpid()).get("place"):
        return False
    return _here(pid).get("started") != content.get("started")


def _content(bucket: Bucket, claim: Held) -> dict[str, Any]:
    """What a claim says of its process; empty if that cannot be read."""
    try:
        content = json.loads(bucket.content(claim.key) or b"")
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}
