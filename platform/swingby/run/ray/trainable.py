"""The worker's side of a trial: an actor of Tune that trains the batches that a configuration names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from swingby.data.folder import place_of
from swingby.data.records import Records
from swingby.data.remote.address import is_address
from swingby.data.remote.mirror import mirrored
from swingby.errors import SwingbyError
from swingby.model.process_group import ALONE, LostWorkerError, SpoiledError
from swingby.run.commit_lock import OvertakenError
from swingby.run.drain import flag_for
from swingby.run.processes.watchdog import WATCHDOG
from swingby.run.ray.process_group import RayGroup
from swingby.run.worker.batch import run_batch

LOST = f"{LostWorkerError.__module__}.{LostWorkerError.__name__}: "
"""Ray's prefix to the reason of a trial that ended because its process cannot go on."""


def train(config: Mapping[str, Any]) -> dict[str, Any]:
    """One trial, in a worker: runs the batches that the configuration names, as one.

    An error that no retry can mend comes back as a "fault".

    Args:
        config: as `TrialsInFlight.config` makes it.

    Raises:
        LostWorkerError: a process of the group died, this one can train no more, or another trains the same cells.
    """
    size, each = config["processes"], config["bundle"]
    result = {"done": True, "fault": None, "key": list(config["key"])}
    try:
        with WATCHDOG.watching(config["deadline"], Path(config["note"])) as beat:
            data, draining = data_folder(config)
            done = run_batch(
                data,
                config["plan_id"],
                config["batches"],
                config["device"],
                draining,
                config["part"],
                group=ALONE if size == 1 else RayGroup(size, each),
                cpus=each.get("CPU", 1.0),
                attempt=config["attempt"],
                beat=beat,
            )
    except (OvertakenError, SpoiledError) as error:  # the driver recognises one error class
        raise LostWorkerError(str(error)) from error
    except SwingbyError as error:
        return {**result, "fault": str(error)}
    return {**result, "batch_done": {**asdict(done), "plan_id": config["plan_id"]}}


def data_folder(config: Mapping[str, Any]) -> tuple[Path, Callable[[], bool]]:
    """A trial's data folder on this machine, and a function that tells whether the run was asked to stop.

    Args:
        config: the trial's configuration: data (a path, or an address), flag, plan, batches and attempt count.

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


def trainable() -> type:
    """The class of all trials; an actor of it takes one configuration after another."""
    from ray import tune

    class Trial(tune.Trainable):
        def setup(self, config: dict[str, Any]) -> None:
            self.batch_config = config

        def reset_config(self, new_config: dict[str, Any]) -> bool:
            self.batch_config = new_config
            return True

        def step(self) -> dict[str, Any]:
            return train(self.batch_config)

        @classmethod
        def default_resource_request(cls, config: dict[str, Any]) -> tune.PlacementGroupFactory:
            # Where machines share no folder, checkpoints that one process writes are seen on its machine alone.
            strategy = "STRICT_PACK" if is_address(config["data"]) else "PACK"
            return tune.PlacementGroupFactory([config["bundle"]] * config["processes"], strategy=strategy)

    return Trial
