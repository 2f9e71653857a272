"""Signals between machines through object storage: who runs a sweep, and which run is to stop or is over."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from swingby.data.remote.bucket import Bucket, Held, StorageError
from swingby.data.remote.lease import STALE, Lease, holder, leased
from swingby.errors import SwingbyError

WAIT = 3.0
"""Seconds to wait for a lock: two processes that come at once both step back, and try again."""
SETTLING = 3.0
"""Seconds that a new driver gives the workers of a dead one to finish the put that is on its way."""
KNOWN = 3.0
"""Seconds for which an answer about locks and flags is not asked for again."""
IN_FLIGHT = 8
"""The newest plans of a sweep whose workers may live on: the rounds of a refined sweep overlap."""
DRAIN, OVER = b"drain", b"over"
"""The content of the flag of a plan: running batches finish; or, another driver has taken over."""


class Signals:
    """The locks of sweeps and the flags of plans in one place on object storage; several threads may ask at once."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._lock = threading.Lock()
        self._held: dict[str, Lease] = {}
        self._fences: dict[str, int] = {}
        self._claims: dict[str, list[Held]] = {}
        self._listed = float("-inf")

    @contextmanager
    def lock(self, sweep_id: str, command: str | None = None) -> Iterator[None]:
        """Holds a sweep's lock: one run of a sweep at a time, wherever it is driven.

        Where the last driver died, its workers may live on for some seconds: whatever they finish is either there when
        this returns, or refused.

        Raises:
            SwingbyError: on entering, if somebody else runs it, says who; or the storage does not answer.
        """
        with leased(self._bucket, f"locks/{sweep_id}", f"sweep {sweep_id}", WAIT, command) as lease:
            names = [item.key.rpartition("/")[2] for item in self._bucket.listing(f"fences/{sweep_id}")]
            self._fences[sweep_id] = max((int(name) for name in names if name.isdecimal()), default=0)
            if lease.broken:
                of_sweep = re.compile(rf"plans/(.+-{re.escape(sweep_id[:8])}-(\d+))\.parquet")
                matches = (of_sweep.fullmatch(item.key) for item in self._bucket.listing("plans"))
                plans = sorted((int(match[2]), match[1]) for match in matches if match)
                for _, plan_id in plans[-IN_FLIGHT:]:
                    self.supersede(plan_id)
                self._fences[sweep_id] = 1 + max([self._fences[sweep_id], *(number for number, _ in plans)])
                self._bucket.put(f"fences/{sweep_id}/{self._fences[sweep_id]:04d}", b"")
                if plans:
                    time.sleep(SETTLING)
            self._held[sweep_id] = lease
            try:
                yield
            finally:
                del self._held[sweep_id], self._fences[sweep_id]

    def fence(self, sweep_id: str) -> int:
        """The number that the plans of this driver come after; 0 where it took over from nobody.

        A driver that was taken for dead may wake in the middle of the put of its plan. The storage takes that put, and
        would let it replace the plan of the same number: so each who takes over leaves out the next number for good.
        """
        return self._fences.get(sweep_id, 0)

    def confirm(self, sweep_id: str) -> None:
        """Makes sure that a sweep's lock, if this process took it, is still its own.

        Raises:
            SwingbyError: this process was silent for so long that others may have taken over; or the storage does not
                answer.
        """
        lease = self._held.get(sweep_id)
        if lease is not None and not lease.renew():
            raise SwingbyError(
                f"the run of sweep {sweep_id} was silent for more than {STALE:.0f} s, and another run may have taken "
                "over; start it again"
            )

    def holder(self, sweep_id: str) -> str | None:
        """Who runs a sweep now, in words; None if nobody does, or the storage does not answer."""
        try:
            with self._lock:
                if time.monotonic() > self._listed + KNOWN:
                    self._list_claims()
                claims = self._claims.get(sweep_id, [])
            return holder(self._bucket, claims)
        except StorageError:
            return None

    def _list_claims(self) -> None:
        """Lists the claims of all sweeps in one request."""
        self._claims = {}
        try:
            for item in self._bucket.listing("locks"):
                self._claims.setdefault(item.key.split("/")[1], []).append(item)
        finally:
            self._listed = time.monotonic()  # also after an error: a storage that is out is not asked for as long

    # flags

    def supersede(self, plan_id: str) -> None:
        """Flags to the workers of a plan, on whatever machine, that another driver has taken over.

        Raises:
            StorageError: the storage does not answer.
        """
        self._bucket.put(_flag(plan_id), OVER)

    def drain(self, plan_id: str, draining: bool) -> None:
        """Flags that running batches finish, or removes that flag; the flag of a takeover stays.

        Raises:
            StorageError: the storage does not answer.
        """
        flag = self._bucket.content(_flag(plan_id))
        if draining and flag is None:
            self._bucket.put(_flag(plan_id), DRAIN)
        if not draining and flag == DRAIN:
            self._bucket.remove(_flag(plan_id))

    def is_over(self, plan_id: str, patience: float | None = None) -> bool:
        """Whether another driver has taken over.

        Raises:
            StorageError: the storage does not answer.
        """
        return self._bucket.content(_flag(plan_id), patience) == OVER

    def drain_requests(self, plan_id: str) -> Callable[[], bool]:
        """A function that says whether the workers of a plan should stop; not, where the storage does not answer."""
        asked_at, flagged = float("-inf"), False

        def ask() -> bool:
            nonlocal asked_at, flagged
            if not flagged and time.monotonic() > asked_at + KNOWN:
                try:
                    flagged = self._bucket.find(_flag(plan_id), patience=0.0) is not None
                except StorageError:
                    flagged = False
                asked_at = time.monotonic()
            return flagged

        return ask


def _flag(plan_id: str) -> str:
    return f"work/{plan_id}.drain"
