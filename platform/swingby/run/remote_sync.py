"""A run whose data folder is on object storage: what its driver does for workers elsewhere, and they for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from swingby.data.folder import place_of
from swingby.data.records import Records
from swingby.data.remote.bucket import StorageError
from swingby.data.remote.mirrors import mirrored
from swingby.run.drain import flag_for


class Abroad:
    """What the driver of some plans does while they run; nothing, where the data folder stands for itself."""

    def __init__(self, records: Records, plan_ids: Sequence[str]) -> None:
        self._mirror, self._plans = records.mirror, list(plan_ids)
        self._flagged = False

    def look(self) -> None:
        """Fetches what workers on other machines left.

        Raises:
            StorageError: the storage does not answer.
        """
        if self._mirror is not None:
            self._mirror.look([f"shards/{plan_id}" for plan_id in self._plans])

    def stop(self) -> None:
        """Tells workers wherever they are that running batches finish and no others begin."""
        if self._mirror is not None:
            self._flagged = True
            with suppress(StorageError):  # no batch begins any more, whether those that run heard of it or not
                self._mirror.signals.drain(self._plans[0], asked=True)

    def close(self) -> None:
        """The plans do not run any more."""
        if self._mirror is not None and self._flagged:
            with suppress(StorageError):  # `gc` removes it
                self._mirror.signals.drain(self._plans[0], asked=False)


def at_hand(config: Mapping[str, Any]) -> tuple[Path, Callable[[], bool]]:
    """Where a trial finds its data folder on this machine, and what tells whether the run was asked to stop.

    Args:
        config: of the trial: its data (a path, or an address), its flag, its plan and batches, and how
            many attempts at them there were before.

    Raises:
        SwingbyError: the data folder cannot be had, or the storage does not answer.
    """
    place, flag = place_of(config["data"]), Path(config["flag"])
    mirror = mirrored(place)
    if mirror is None:
        return place, flag.exists
    records = Records.open(place, create=False)
    mirror.put_left()
    if config.get("attempt"):
        records.fetch_shards(config["plan_id"], config["batches"][0])
    here, asked = flag_for(place, flag.stem), mirror.signals.asked(flag.stem)
    return place, lambda: here.exists() or asked()
