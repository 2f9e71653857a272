"""The worker's side of a trial: an actor of Tune that trains the batches that a configuration names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from swingby.data.remote.address import is_address
from swingby.errors import SwingbyError
from swingby.model.process_group import ALONE, LostWorkerError, SpoiledError
from swingby.run.commit_lock import OvertakenError
from swingby.run.processes.watchdog import WARDEN
from swingby.run.ray.process_group import Actors
from swingby.run.remote_sync import at_hand
from swingby.run.worker.batch import run_batch

LOST = f"{LostWorkerError.__module__}.{LostWorkerError.__name__}: "
"""What Ray writes before the reason of a trial that ended since its process cannot go on."""


def train(config: Mapping[str, Any]) -> dict[str, Any]:
    """One trial, in a worker: runs the batches that the configuration names, as one.

    What no second try would mend comes back as a "fault".

    Raises:
        LostWorkerError: a process of its gang died, this one can train no more, or another trains the same cells.
    """
    size, each = config["processes"], config["bundle"]
    told = {"done": True, "fault": None, "key": list(config["key"])}
    try:
        with WARDEN.watching(config["deadline"], Path(config["note"])) as beat:
            data, draining = at_hand(config)
            done = run_batch(
                data,
                config["plan_id"],
                config["batches"],
                config["device"],
                draining,
                config["part"],
                ALONE if size == 1 else Actors(size, each),
                each.get("CPU", 1.0),
                config["attempt"],
                beat,
            )
    except (OvertakenError, SpoiledError) as error:  # whoever deals knows them by one name
        raise LostWorkerError(str(error)) from error
    except SwingbyError as error:
        return {**told, "fault": str(error)}
    return {**told, "batch_done": {**asdict(done), "plan_id": config["plan_id"]}}


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
            # Where machines share no folder, checkpoints that one process leaves are seen on its machine alone.
            strategy = "STRICT_PACK" if is_address(config["data"]) else "PACK"
            return tune.PlacementGroupFactory([config["bundle"]] * config["processes"], strategy=strategy)

    return Trial
