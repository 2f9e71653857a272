"""Room: what batches occupy, when each is trained by several processes and when there are fewer of them than cores."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from swingby.errors import SwingbyError
from swingby.model.experiment import Experiment, Resources


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0))


def check_processes(experiment: Experiment, processes: int) -> None:
    """Refuses more processes a batch than an experiment can make use of.

    Raises:
        SwingbyError: it can make use of one alone.
    """
    if processes < 1:
        raise SwingbyError(f"{processes} processes train nothing; allowed: 1 and more")
    if processes > 1 and not experiment.spreads:
        raise SwingbyError(
            f"experiment {experiment.name!r} trains a batch in one process, and not in {processes}; "
            "several are for experiments that spread a run over processes"
        )


def widened(needed: Resources, batches: int, processes: int, machines: Sequence[float]) -> Resources:
    """What each process of a batch occupies when so many batches share these machines (CPUs of each).

    Where there are more CPUs than processes, each gets as many as all can have, and can make use of.
    """
    count = max(1, batches * processes)
    most = min(needed.most_cpus or 0.0, sum(machines) // count)
    for cpus in range(int(most), int(needed.cpus), -1):
        if sum(machine // cpus for machine in machines) >= count:
            return replace(needed, cpus=float(cpus))
    return needed


def together(each: Resources, processes: int) -> Resources:
    """What all processes of a batch occupy."""
    custom = {name: count * processes for name, count in each.custom.items()}
    return Resources(each.cpus * processes, each.gpus * processes, custom)


def bundle(each: Resources) -> dict[str, float]:
    """What a process asks of Ray."""
    asked = {"CPU": each.cpus, "GPU": each.gpus, **each.custom}
    return {name: count for name, count in asked.items() if count}


def on_gpus(needed: Resources, device: str | None) -> float:
    """How many GPUs a process occupies on a device (None: as the experiment asks)."""
    return max(needed.gpus, 1.0) if (device or "").startswith("cuda") else needed.gpus


def check_room(shape: str, asked: Mapping[str, float], processes: int, machines: Sequence[Mapping[str, float]]) -> None:
    """Refuses a batch that would wait for ever.

    Args:
        shape: whose batch it is.
        asked: what each of its processes occupies, all of it on one machine.
        processes: how many it has.
        machines: what there is on each.

    Raises:
        SwingbyError: not enough, or not together on one machine.
    """
    for name, count in asked.items():
        there = sum(machine.get(name, 0.0) for machine in machines)
        if count * processes > there:
            raise SwingbyError(
                f"a batch of shape {shape!r} needs {_times(processes, count, name)}, and there are {there:g}"
            )
    if sum(_fits(asked, machine) for machine in machines) < processes:
        wanted = " and ".join(f"{count:g} {name}" for name, count in asked.items())
        raise SwingbyError(
            f"a batch of shape {shape!r} needs {wanted} on one machine"
            + (f", {processes} times" if processes > 1 else "")
            + f"; the machines have {'; '.join(_told(asked, machine) for machine in machines)}"
        )


def _times(processes: int, count: float, name: str) -> str:
    return f"{count:g} {name}" if processes == 1 else f"{count * processes:g} {name} ({processes} processes)"


def _fits(asked: Mapping[str, float], machine: Mapping[str, float]) -> int:
    """How many such processes a machine has room for."""
    return int(min((machine.get(name, 0.0) / count + 1e-9 for name, count in asked.items()), default=1e9))


def _told(asked: Mapping[str, float], machine: Mapping[str, float]) -> str:
    return ", ".join(f"{machine.get(name, 0.0):g} {name}" for name in asked)
