"""Gangs of Ray actors, in the bundles that their trial holds."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from swingby.errors import SwingbyError
from swingby.model.process_group import Member, free_port
from swingby.run.processes.supervision import Crew, End, Watched, answer

NOTICE_SECONDS = 1.0
"""How long a member may take to show why the caller's work has just failed."""
ALIVE_SECONDS = 20.0
"""How long one may then take to say that it lives: Ray itself notices late that a machine is gone."""


class Actors(Watched):
    """A gang whose caller is a trial: process i is an actor in bundle i of its placement group, with all of that."""

    def __init__(self, size: int, bundle: Mapping[str, float]) -> None:
        super().__init__(size)
        self._bundle = bundle

    def meeting(self) -> tuple[str, int]:
        import ray

        address = ray.util.get_node_ip_address()
        return address, free_port(address)

    def begin(self, members: Sequence[Member], target: str, payload: Any) -> Crew:
        return _Actors(members, self._bundle, target, payload)


class _Member:
    """What an actor does; it works in one thread and says in another that it lives."""

    def work(self, target: str, member: Member, payload: Any) -> tuple[str | None, float, bool]:
        """Its whole life."""
        return answer(target, member, payload)

    def alive(self) -> None:
        """Returns."""


class _Actors(Crew):
    """The actors, and what they will have said."""

    def __init__(self, members: Sequence[Member], bundle: Mapping[str, float], target: str, payload: Any) -> None:
        import ray
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        group = ray.util.get_current_placement_group()
        if group is None:
            raise SwingbyError("a gang of Ray actors is started by a trial, which holds the bundles of all of them")
        custom = {name: count for name, count in bundle.items() if name not in ("CPU", "GPU")}
        asked = {"num_cpus": bundle.get("CPU", 0), "num_gpus": bundle.get("GPU", 0), "resources": custom}
        made = ray.remote(_Member)
        self._actors: dict[int, Any] = {}
        for member in members:
            there = PlacementGroupSchedulingStrategy(group, member.rank)
            self._actors[member.rank] = made.options(
                **asked, scheduling_strategy=there, max_restarts=0, max_concurrency=2
            ).remote()
        self._work = {self._actors[member.rank].work.remote(target, member, payload): member.rank for member in members}

    def ended(self) -> Sequence[End]:
        import ray

        ready, _ = ray.wait([*self._work], num_returns=len(self._work), timeout=0)
        return [self._end_of(one) for one in ready]

    def joined(self, seconds: float) -> Sequence[End]:
        return self._wait(seconds)

    def noticed(self) -> Sequence[End]:
        ended = self._wait(NOTICE_SECONDS)
        return [*ended, *self._silent({end.rank for end in ended})]

    def _wait(self, seconds: float) -> list[End]:
        """Waits until all have ended, or one has and not well (and not for having lost another)."""
        import ray

        deadline, waiting, ended = time.monotonic() + seconds, list(self._work), []
        while waiting and not any(end.lost or (end.raised and not end.blameless) for end in ended):
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
            return End(rank, f"died: {_first(error)}")

    def _silent(self, ended: set[int]) -> list[End]:
        """Members that died, and those that do not say in time that they live."""
        import ray
        from ray.exceptions import RayError

        asked = {rank: actor.alive.remote() for rank, actor in self._actors.items() if rank not in ended}
        deadline, found = time.monotonic() + ALIVE_SECONDS, []
        for rank, said in asked.items():
            try:
                ray.get(said, timeout=max(0.1, deadline - time.monotonic()))
            except TimeoutError:
                found.append(End(rank, f"has not answered for {ALIVE_SECONDS:g} s"))
            except RayError as error:
                found.append(End(rank, f"died: {_first(error)}"))
        return found

    def end(self) -> None:
        import ray

        for actor in self._actors.values():
            ray.kill(actor)


def _first(error: Exception) -> str:
    """The first line that is not blank."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
