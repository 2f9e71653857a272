"""All records of a data folder, who may write them, and where checkpoints lie meanwhile."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from swingby.data.files import entry
from swingby.data.locks import Hold, held, holder
from swingby.data.records.derived import Derived
from swingby.data.records.plans import Plans
from swingby.data.records.retractions import Retracted
from swingby.data.records.shards import Shards


class Records(Plans, Shards, Derived, Retracted):
    """The records of one data folder; cheap to make, holds nothing open."""

    def paths(self) -> list[str]:
        """Every record by its path: a plan before its shards, a retraction before the shards that it speaks of."""
        names = {"retractions": self.retractions(), "shards": self.shards(), "derived": self.derived()}
        plans = [f"plans/{plan}.parquet" for plan in self.plans()]
        return plans + [f"{folder}/{name}" for folder, found in names.items() for name in found]

    @contextmanager
    def lock(self, sweep_id: str, command: str | None = None) -> Iterator[Hold]:
        """Holds a sweep's lock: one run of a sweep at a time; on object storage, from whatever machine.

        Raises:
            SwingbyError: on entering, if somebody else runs it; says who.
        """
        with ExitStack() as stack:
            path = entry(self.data / "locks", sweep_id, ".lock")
            hold = stack.enter_context(held(path, f"sweep {sweep_id}", command, wait=1.0))
            if self.mirror is not None:
                self.mirror.forgive = self.mirror.bucket.patience = None  # whoever locks goes by what is there
                stack.enter_context(self.mirror.signals.lock(sweep_id, command))
            yield hold

    def holder(self, sweep_id: str) -> str | None:
        """Who runs a sweep now, in words; None if nobody does, as far as can be seen."""
        here = holder(entry(self.data / "locks", sweep_id, ".lock"))
        return here if here is not None or self.mirror is None else self.mirror.signals.holder(sweep_id)

    def workdir(self, sweep_id: str, cell_ids: Sequence[str]) -> Path:
        """The folder of these cells' checkpoints: the same in every run of a sweep, so a killed one is continued."""
        content = hashlib.sha256("".join(cell_ids).encode()).hexdigest()
        return entry(self.data / "work", sweep_id) / content[:16]
