"""Process groups of Ray actors, in the bundles that their trial holds."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from swingby.errors import SwingbyError
from swingby.model.process_group import Rank, free_port
from swingby.run.processes.group import End, StartedRanks, SupervisedGroup, run_target

NOTICE_SECONDS = 1.0
"""Seconds for a rank to show why the caller has just failed."""
ALIVE_SECONDS = 20.0
"""Seconds for a rank to answer then: Ray itself notices late that a machine is gone."""


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
        """Runs the target; see `run_target`."""
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
        asked = {"num_cpus": bundle.get("CPU", 0), "num_gpus": bundle.get("GPU", 0), "resources": custom}
        made = ray.remote(_RankActor)
        self._actors: dict[int, Any] = {}
        for rank in ranks:
            there = PlacementGroupSchedulingStrategy(group, rank.rank)
            self._actors[rank.rank] = made.options(
                **asked, scheduling_strategy=there, max_restarts=0, max_concurrency=2
            ).remote()
        self._work = {self._actors[rank.rank].work.remote(target, rank, payload): rank.rank for rank in ranks}

    def ended(self) -> Sequence[End]:
        import ray

        ready, _ = ray.wait([*self._work], num_returns=len(self._work), timeout=0)
        return [self._end_of(one) for one in ready]

    def joined(self, seconds: float) -> Sequence[End]:
        return self._wait(seconds)

    def ended_soon(self) -> Sequence[End]:
        ended = self._wait(NOTICE_SECONDS)
        return [*ended, *self._silent({end.rank for end in ended})]

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

    def _silent(self, ended: set[int]) -> list[End]:
        """Ranks that died, and those that do not answer in time."""
        import ray
        from ray.exceptions import RayError

        answers = {rank: actor.alive.remote() for rank, actor in self._actors.items() if rank not in ended}
        deadline, found = time.monotonic() + ALIVE_SECONDS, []
        for rank, answer in answers.items():
            try:
                ray.get(answer, timeout=max(0.1, deadline - time.monotonic()))
            except TimeoutError:
                found.append(End(rank, f"has not answered for {ALIVE_SECONDS:g} s"))
            except RayError as error:
                found.append(End(rank, f"died: {_first_line(error)}"))
        return found

    def kill(self) -> None:
        import ray

        for actor in self._actors.values():
            ray.kill(actor)


def _first_line(error: Exception) -> str:
    """The first line of a message that is not blank."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
