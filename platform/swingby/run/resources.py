"""Resources: the CPUs and GPUs that the processes of a batch occupy, and whether the machines have them."""

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
        SwingbyError: the experiment trains a batch in one process only.
    """
    if processes > 1 and not experiment.spreads:
        raise SwingbyError(
            f"experiment {experiment.name!r} trains a batch in one process, and not in {processes}; "
            "several are for experiments that spread a run over processes"
        )


def widened(needed: Resources, batches: int, processes: int, machines: Sequence[float]) -> Resources:
    """The resources that each process of a batch occupies.

    Where there are more CPUs than processes, each process gets as many CPUs as all can have and it can make use of.

    Args:
        needed: what a process needs at least.
        batches: how many batches share the machines.
        machines: the CPUs of each machine.
    """
    count = max(1, batches * processes)
    most = min(needed.most_cpus or 0.0, sum(machines) // count)
    for cpus in range(int(most), int(needed.cpus), -1):
        if sum(machine // cpus for machine in machines) >= count:
            return replace(needed, cpus=float(cpus))
    return needed


def group_resources(each: Resources, processes: int) -> Resources:
    """The resources that all processes of a batch occupy together."""
    custom = {name: count * processes for name, count in each.custom.items()}
    return Resources(each.cpus * processes, each.gpus * processes, custom)


def bundle(each: Resources) -> dict[str, float]:
    """The resources of one process, by Ray's names."""
    amounts = {"CPU": each.cpus, "GPU": each.gpus, **each.custom}
    return {name: count for name, count in amounts.items() if count}


def gpus_on(needed: Resources, device: str | None) -> float:
    """How many GPUs a process occupies on a device (None: as the experiment asks)."""
    return max(needed.gpus, 1.0) if (device or "").startswith("cuda") else needed.gpus


def check_fits(
    shape: str, amounts: Mapping[str, float], processes: int, machines: Sequence[Mapping[str, float]]
) -> None:
    """Refuses a batch that would wait for ever.

    Args:
        shape: the shape of the batch.
        amounts: what each of its processes occupies, all of it on one machine.
        processes: how many processes it has.
        machines: the resources of each machine.

    Raises:
        SwingbyError: there is not enough, or not enough on one machine.
    """
    for name, count in amounts.items():
        available = sum(machine.get(name, 0.0) for machine in machines)
        if count * processes > available:
            needs = f"{count * processes:g} {name}" + (f" ({processes} processes)" if processes > 1 else "")
            raise SwingbyError(f"a batch of shape {shape!r} needs {needs}, and there are {available:g}")
    # How many such processes fit on each machine.
    fits = (
        int(min((machine.get(name, 0.0) / count + 1e-9 for name, count in amounts.items()), default=1e9))
        for machine in machines
    )
    if sum(fits) < processes:
        listed = " and ".join(f"{count:g} {name}" for name, count in amounts.items())
        have = "; ".join(", ".join(f"{machine.get(name, 0.0):g} {name}" for name in amounts) for machine in machines)
        raise SwingbyError(
            f"a batch of shape {shape!r} needs {listed} on one machine"
            + (f", {processes} times" if processes > 1 else "")
            + f"; the machines have {have}"
        )
