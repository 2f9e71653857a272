"""A lock on object storage, which has none: claims that are renewed, of which only a lone one holds."""

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
from swingby.data.remote.bucket import Bucket, Held, StorageError
from swingby.errors import SwingbyError

RENEWED = 20.0
"""Seconds after which a claim is put again."""
OVERDUE = 30.0
"""Seconds without renewal after which its holder may be dead, and is waited for until that is known."""
STALE = 120.0
"""Seconds without renewal after which its holder counts as dead."""

_left: set[str] = set()
"""Claims that this process does not hold any more, whether it could remove them or not."""


@contextmanager
def leased(bucket: Bucket, folder: str, what: str, wait: float = 0.0, command: str | None = None) -> Iterator[bool]:
    """Holds the lease of a folder of claims; tells whether it was broken out of the hands of a dead holder.

    Whoever wants it puts a claim, then looks: if there is another live one it takes its own back. So of two who come
    at once at most one stays, for the later of the two looks sees both claims. A claim is alive if the storage took it,
    by the storage's own clock, less than `STALE` seconds before ours, and its process is not seen to be gone from this
    very machine. A holder renews its claim from a thread, unless somebody broke it meanwhile.

    Args:
        folder: of the claims, below the prefix.
        what: what is locked, in the words of the error.
        wait: seconds to wait for another holder; a renewal that is overdue is waited for until it comes, or until the
            holder counts as dead, so that whoever is started again after a crash need not be started once more.
        command: what the holder does; the process's own command line if None.

    Raises:
        SwingbyError: somebody else holds it for longer than `wait`, says who; or the storage does not answer.
    """
    key = f"{folder}/{uuid.uuid4().hex}.json"
    told = " ".join(sys.argv) if command is None else command
    said = {"host": socket.gethostname(), "pid": os.getpid(), "since": utc_now(), "command": told, **_here(os.getpid())}
    claim = json.dumps(said).encode()
    broken = _claimed(bucket, folder, key, claim, what, time.monotonic() + wait)
    over = threading.Event()
    thread = threading.Thread(target=_renew, args=(bucket, key, claim, over), name="lease", daemon=True)
    thread.start()
    try:
        yield broken
    finally:
        over.set()
        thread.join()
        _left.add(key)
        with suppress(StorageError):  # it dies of itself; what made the storage fail is told by others
            bucket.remove(key)


def _claimed(bucket: Bucket, folder: str, key: str, claim: bytes, what: str, deadline: float) -> bool:
    """Puts the claim until it is alone; whether dead ones were removed for it. One that will not hold is taken back."""
    try:
        while True:
            bucket.put(key, claim)
            mine, others, dead = live(bucket, folder, key)
            if not others:
                for one in dead:  # only now: who removes them is the one to be told that the lease was broken
                    bucket.remove(one.key)
                return bool(dead)
            bucket.remove(key)
            overdue = all(mine.taken - claim.taken > OVERDUE for claim in others)
            if time.monotonic() >= deadline and not overdue:
                raise SwingbyError(f"{what} is held by {_who(bucket, others[0])}; wait for it or stop it")
            time.sleep(random.uniform(0.2, 1.0))
    except BaseException:
        _left.add(key)
        with suppress(StorageError):  # for this process it is gone in any case
            bucket.remove(key, patience=0.0)
        raise


def live(bucket: Bucket, folder: str, own: str) -> tuple[Held, list[Held], list[Held]]:
    """One's own claim, which was just put, and as seen from it the other ones: those that are alive, and the dead."""
    claims = {claim.key: claim for claim in bucket.listing(folder)}
    mine = claims.pop(own, None)
    if mine is None:
        raise SwingbyError(f"{bucket.address} does not list what was just put there; no lock can be kept in it")
    every = list(claims.values())
    dead = [claim for claim in every if mine.taken - claim.taken > STALE or _is_gone(bucket, claim)]
    return mine, [claim for claim in every if claim not in dead], dead


def _renew(bucket: Bucket, key: str, claim: bytes, over: threading.Event) -> None:
    while not over.wait(RENEWED):
        with suppress(Exception):  # most likely out: the next round tries again, and the run's own writes will tell
            if bucket.find(key) is None:
                return  # somebody took this holder for dead; its workers are told so when they next leave a shard
            bucket.put(key, claim)


def holder(bucket: Bucket, claims: list[Held]) -> str | None:
    """Who holds the lease now, in words, by the claims in its folder; None if nobody seems to."""
    newest = max(claims, key=lambda claim: claim.taken, default=None)
    if newest is None or time.time() - newest.taken > STALE or _is_gone(bucket, newest):
        return None
    return _who(bucket, newest)


# who


def _here(pid: int) -> dict[str, str]:
    """What tells a process of this machine (and container) from all others; nothing of one that is not there."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        state, *numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        if state not in "ZX":
            return {"place": f"{boot} {Path('/proc/self/ns/pid').readlink()}", "started": numbers[18]}
    return {}


def _is_gone(bucket: Bucket, claim: Held) -> bool:
    """Whether the process was one of this machine, and is gone; or this one, and has let go."""
    said = _said(bucket, claim)
    place, pid = said.get("place"), said.get("pid")
    if claim.key in _left:
        return True
    if not isinstance(place, str) or type(pid) is not int or place != _here(os.getpid()).get("place"):
        return False
    return _here(pid).get("started") != said.get("started")


def _said(bucket: Bucket, claim: Held) -> dict[str, Any]:
    try:
        said = json.loads(bucket.content(claim.key) or b"")
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _who(bucket: Bucket, claim: Held) -> str:
    said = _said(bucket, claim)
    try:
        since = f"{said['since'][:16].replace('T', ' ')} UTC"
        return f"process {said['pid']} on {said['host']} since {since} ({said['command']})"
    except (KeyError, TypeError):
        return "another process"
