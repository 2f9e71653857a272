"""Resources: the CPUs and GPUs that the processes of a batch occupy, and whether the machines have them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from swingby.errors import SwingbyError
from swingby.model.experiment import Resources
from swingby.options import option, setting

if TYPE_CHECKING:
    from swingby.run.options import RunOptions
    from swingby.sweepfile.sweep import Sweep


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0))


def gpus_here() -> int:
    """The NVIDIA GPUs this process may use."""
    there = sorted(Path("/proc/driver/nvidia/gpus").glob("*")) or sorted(Path("/dev").glob("nvidia[0-9]*"))
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return (
        len(there) if visible is None else min(len(there), len([name for name in visible.split(",") if name.strip()]))
    )


def check_request(sweep: Sweep, options: RunOptions) -> None:
    """Refuses processes and GPUs that a sweep's batches cannot have, whatever machines there are.

    Raises:
        SwingbyError: the experiment trains a batch in one process only; several processes of a batch would share a GPU,
            which NCCL refuses; or batches on a GPU are to have none.
    """
    processes, gpus = options.processes, sweep.resources.get("gpus")
    if processes > 1 and not sweep.experiment.spreads:
        raise SwingbyError(
            f"experiment {sweep.experiment_name!r} trains a batch in one process, and not in {processes}; "
            "several are for experiments that spread a run over processes"
        )
    if gpus is None or options.device == "cpu":
        return
    if processes > 1 and 0 < gpus < 1:
        raise SwingbyError(
            f"resources.gpus is {gpus:g} in sweep {sweep.name!r}: {processes} processes of one batch cannot share a "
            f"GPU; allowed with {option('processes')}: whole GPUs, such as {setting('resources.gpus=1')}"
        )
    if options.device == "cuda" and not gpus:
        raise SwingbyError(
            f"resources.gpus is 0 in sweep {sweep.name!r}, and {option('device', 'cuda')} trains on one; allowed: a "
            f"part of one, such as {setting('resources.gpus=0.25')}, or a whole number from 1 on"
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
    """How many GPUs, or what part of one, a process occupies on a device (None: as the experiment asks).

    On "cuda" it is a whole one where nothing else is set, which others may come to share: see `shares`.
    """
    if device == "cpu":
        return 0.0
    return needed.gpus or float(device == "cuda")


def shares(sweep: Sweep, needed: Resources, options: RunOptions) -> bool:
    """Whether measurements decide how many runs share a GPU: where runs are on "cuda", each in one process of Ray's,
    and neither the sweep nor the experiment says what part of a GPU a run takes."""
    unset = sweep.resources.get("gpus") is None and not needed.gpus
    return unset and options.device == "cuda" and options.processes == 1 and not options.local


def lacks_memory(message: str) -> bool:
    """Whether the message of an error says that a process found no memory, on a GPU or beside it."""
    return "out of memory" in message or "_ALLOC_FAILED" in message


def runs_on_one(gpus: float) -> int:
    """How many runs that occupy this part of a GPU share one; 1 for whole GPUs."""
    return max(1, int(1 / gpus + 1e-9)) if gpus else 1


def with_advice(message: str, gpus: float) -> str:
    """The message of an error, with what to set where runs that share a GPU want more memory than it has.

    Args:
        gpus: the part of a GPU that the run was given.
    """
    runs = runs_on_one(gpus)
    if runs == 1 or not lacks_memory(message):
        return message
    return (
        f"up to {runs} runs shared this GPU (resources.gpus is {gpus:g}), and its memory is too small for them: set a "
        f"larger part, such as {1 / (runs // 2):g}, and have the failed cells tried again\n{message}"
    )


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
