"""What runs of a sweep on several machines tell each other through the storage: who runs it, and that one is over."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from swingby.data.remote.bucket import Bucket, Held, StorageError
from swingby.data.remote.lease import holder, leased

WAIT = 3.0
"""Seconds for which a lock is waited for: two who come at once both step back, and try again."""
SETTLING = 3.0
"""Seconds for which a new driver lets the workers of one that died finish what they are just putting."""
LOOKED = 3.0
"""Seconds for which it is taken as known who runs what, or whether a run was asked to stop."""
DRAIN, OVER = b"drain", b"over"
"""What the flag of a plan says: running batches finish; or, another driver has taken over."""


class Signals:
    """The locks of sweeps and the flags of plans in one place on object storage; several threads may ask at once."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._lock = threading.Lock()
        self._claims: dict[str, list[Held]] = {}
        self._looked = float("-inf")

    @contextmanager
    def lock(self, sweep_id: str, command: str | None = None) -> Iterator[None]:
        """Holds a sweep's lock: one run of a sweep at a time, wherever it is driven.

        Where the last driver died, its workers may live on for some seconds: whatever they finish is either there when
        this returns, or refused.

        Raises:
            SwingbyError: on entering, if somebody else runs it, says who; or the storage does not answer.
        """
        with leased(self._bucket, f"locks/{sweep_id}", f"sweep {sweep_id}", WAIT, command) as broken:
            if broken and (newest := self._newest(sweep_id)) is not None:
                self.supersede(newest)
                time.sleep(SETTLING)
            yield

    def _newest(self, sweep_id: str) -> str | None:
        """The newest plan of a sweep."""
        names = [item.key.removeprefix("plans/").removesuffix(".parquet") for item in self._bucket.listing("plans")]
        found = (re.fullmatch(rf".+-{re.escape(sweep_id[:8])}-(\d+)", name) for name in names)
        return max(((int(match[1]), match[0]) for match in found if match), default=(0, None))[1]

    def holder(self, sweep_id: str) -> str | None:
        """Who runs a sweep now, in words; None if nobody does, or the storage does not answer."""
        try:
            with self._lock:
                if time.monotonic() > self._looked + LOOKED:
                    self._look()
                claims = self._claims.get(sweep_id, [])
            return holder(self._bucket, claims)
        except StorageError:
            return None

    def _look(self) -> None:
        self._claims = {}
        try:
            for item in self._bucket.listing("locks"):
                self._claims.setdefault(item.key.split("/")[1], []).append(item)
        finally:
            self._looked = time.monotonic()  # when it ended: of a storage that is out nothing is known for as long

    # flags

    def supersede(self, plan_id: str) -> None:
        """Says to the workers of a plan, on whatever machine, that another driver has taken over.

        Raises:
            StorageError: the storage does not answer.
        """
        self._bucket.put(_flag(plan_id), OVER)

    def drain(self, plan_id: str, asked: bool) -> None:
        """Says that running batches finish, or that there is nothing to say any more; where another driver has taken
        over, that stays said.

        Raises:
            StorageError: the storage does not answer.
        """
        said = self._bucket.content(_flag(plan_id))
        if asked and said is None:
            self._bucket.put(_flag(plan_id), DRAIN)
        if not asked and said == DRAIN:
            self._bucket.remove(_flag(plan_id))

    def is_over(self, plan_id: str, patience: float | None = None) -> bool:
        """Whether another driver has taken over.

        Raises:
            StorageError: the storage does not answer.
        """
        return self._bucket.content(_flag(plan_id), patience) == OVER

    def asked(self, plan_id: str) -> Callable[[], bool]:
        """Tells whether the workers of a plan should stop; a storage that does not answer has said nothing."""
        looked, flagged = float("-inf"), False

        def ask() -> bool:
            nonlocal looked, flagged
            if not flagged and time.monotonic() > looked + LOOKED:
                try:
                    flagged = self._bucket.find(_flag(plan_id), patience=0.0) is not None
                except StorageError:
                    flagged = False
                looked = time.monotonic()
            return flagged

        return ask


def _flag(plan_id: str) -> str:
    return f"work/{plan_id}.drain"
