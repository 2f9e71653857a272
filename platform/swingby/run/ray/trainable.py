"""The worker's side of a trial: an actor of Tune that trains the batches that a configuration names.

Where several processes train a batch together, the other ranks are actors in the bundles that the trial holds.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from swingby.data.folder import place_of
from swingby.data.records import Records
from swingby.data.remote.address import is_address
from swingby.data.remote.mirror import mirrored
from swingby.errors import SwingbyError
from swingby.model.process_group import ALONE, LostWorkerError, Rank, SpoiledError, free_port
from swingby.run.commit_lock import OvertakenError
from swingby.run.drain import flag_for
from swingby.run.processes.group import End, StartedRanks, SupervisedGroup, run_target
from swingby.run.processes.watchdog import WATCHDOG
from swingby.run.worker.batch import Assignment, run_batch

NOTICE_SECONDS = 1.0
"""Seconds for a rank to show why the caller has just failed."""
ALIVE_SECONDS = 20.0
"""Seconds for a rank to answer then: Ray itself notices late that a machine is gone."""
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
            assignment = Assignment(
                data,
                config["plan_id"],
                tuple(config["batches"]),
                config["part"],
                config["attempt"],
                config["device"],
                ALONE if size == 1 else RayGroup(size, each),
                each.get("CPU", 1.0),
                each.get("GPU", 0.0),
                None if config["meter"] is None else Path(config["meter"]),
            )
            done = run_batch(assignment, draining, beat)
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
    here, drain_requested = flag_for(place, flag.stem), mirror.signals.drain_requests(flag.stem)
    return place, lambda: here.exists() or drain_requested()


def trainable() -> type:
    """The class of all trials; an actor of it takes one configuration after another."""
    from ray import tune

    class Trial(tune.Trainable):
        def setup(self, config: dict[str, Any]) -> None:
            self.batch_config = config
            # Ray's own handler takes memory to tell of an abort: where there is none left it aborts again, for ever.
            signal.signal(signal.SIGABRT, signal.SIG_DFL)

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


class RayGroup(SupervisedGroup):
    """A process group whose caller is a trial: rank i is an actor with all of bundle i of the placement group."""

    def __init__(self, size: int, bundle: Mapping[str, float]) -> None:
        super().__init__(size)
        self._bundle = bundle

    def rendezvous(self) -> tuple[str, int]:
        import ray

        address = ray.util.get_node_ip_address()
        return address, free_port(address)

    def start_ranks(self, ranks: Sequence[Rank], target: str, payload: Any) -> StartedRanks:
        return _RankActors(ranks, self._bundle, target, payload)


class _RankActor:
    """The actor of a rank: one thread works, another answers that the actor lives."""

    def work(self, target: str, rank: Rank, payload: Any) -> tuple[str | None, float, bool]:
        """`run_target` in the actor's process."""
        return run_target(target, rank, payload)

    def alive(self) -> None:
        """Answers a call, which a living actor does at once."""


class _RankActors(StartedRanks):
    """The actors, with the futures of their work."""

    def __init__(self, ranks: Sequence[Rank], bundle: Mapping[str, float], target: str, payload: Any) -> None:
        import ray
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        group = ray.util.get_current_placement_group()
        if group is None:
            raise SwingbyError("a group of Ray actors is started by a trial, which holds the bundles of all of them")
        custom = {name: count for name, count in bundle.items() if name not in ("CPU", "GPU")}
        resources = {"num_cpus": bundle.get("CPU", 0), "num_gpus": bundle.get("GPU", 0), "resources": custom}
        actor_type = ray.remote(_RankActor)
        self._actors: dict[int, Any] = {}
        for rank in ranks:
            there = PlacementGroupSchedulingStrategy(group, rank.rank)
            self._actors[rank.rank] = actor_type.options(
                **resources, scheduling_strategy=there, max_restarts=0, max_concurrency=2
            ).remote()
        self._work = {self._actors[rank.rank].work.remote(target, rank, payload): rank.rank for rank in ranks}

    def ended(self) -> Sequence[End]:
        import ray

        ready, _ = ray.wait([*self._work], num_returns=len(self._work), timeout=0)
        return [self._end_of(one) for one in ready]

    def joined(self, seconds: float) -> Sequence[End]:
        return self._wait(seconds)

    def ended_soon(self) -> Sequence[End]:
        import ray
        from ray.exceptions import RayError

        ended = self._wait(NOTICE_SECONDS)
        others = self._actors.keys() - {end.rank for end in ended}
        answers = {rank: self._actors[rank].alive.remote() for rank in sorted(others)}
        deadline = time.monotonic() + ALIVE_SECONDS
        for rank, answer in answers.items():
            try:
                ray.get(answer, timeout=max(0.1, deadline - time.monotonic()))
            except TimeoutError:
                ended.append(End(rank, f"has not answered for {ALIVE_SECONDS:g} s"))
            except RayError as error:
                ended.append(End(rank, f"died: {_first_line(error)}"))
        return ended

    def _wait(self, seconds: float) -> list[End]:
        """The ranks that ended, after a wait until all have, or one died or raised (except because it lost another)."""
        import ray

        deadline, waiting, ended = time.monotonic() + seconds, list(self._work), []
        while waiting and not any(end.lost or (end.raised and not end.retryable) for end in ended):
            ready, waiting = ray.wait(waiting, timeout=max(0.0, deadline - time.monotonic()))
            ended += [self._end_of(one) for one in ready]
            if not ready:
                break
        return ended

    def _end_of(self, work: Any) -> End:
        import ray
        from ray.exceptions import RayError

        rank = self._work[work]
        try:
            return End(rank, None, *ray.get(work))
        except RayError as error:
            return End(rank, f"died: {_first_line(error)}")

    def kill(self) -> None:
        import ray

        for actor in self._actors.values():
            ray.kill(actor)


def _first_line(error: Exception) -> str:
    """The first line of a message that is not blank."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
