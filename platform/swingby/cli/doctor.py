"""The verb doctor: what is installed, what room there is, whether Ray starts, and what to do about each fault."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Annotated

import psutil
import typer

from swingby.cli.console import DEFAULT_DATA, DataFolder, Finding
from swingby.cli.self_test import self_test
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.units import counted, size

LOW_DISK = 2e9
LOW_MEMORY = 2e9
RAY_SHARED_MEMORY = 200e6
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - looked at, never written


def doctor(
    data: DataFolder = DEFAULT_DATA,
    ray: Annotated[bool, typer.Option("--ray/--no-ray", help="Start Ray and run one task (5 to 15 s).")] = True,
    test: Annotated[
        bool,
        typer.Option("--self-test", help="Instead: train a tiny sweep in a temporary folder, and read it back."),
    ] = False,
) -> None:
    """What is installed, free disk and memory, Ray, the data folder; and what to do about each fault.

    With --self-test, whether the installed program works: a line a step, from sweep file to report (10 to 60 s).
    Exit code 1 if anything is at fault.

    Example:

        swingby doctor --no-ray
    """
    faults = 0
    for finding in self_test() if test else examine(data, ray):
        finding.show()
        faults += finding.verdict == "fault"
    if faults:
        raise typer.Exit(1)


def examine(data: Path, ray: bool = True) -> Iterator[Finding]:
    """Every finding, in the order in which a fault would be met."""
    yield _python()
    yield from _packages()
    yield from _offers()
    yield _gpus()
    yield _memory()
    yield _shared_memory()
    yield _disk(data)
    yield from _data_folder(data)
    if ray:
        yield _guarded("Ray", lambda: _ray(data))


def _guarded(subject: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except Exception as error:  # a doctor reports what fails, whatever it is
        text = str(error).strip().splitlines()
        # Not `ray stop`: it ends every Ray of this user, those of other sweeps too.
        remedy = "see the message; a Ray that a killed run left ends by itself within a minute or two"
        return Finding(subject, "fault", text[0] if text else repr(error), remedy)


def _python() -> Finding:
    return Finding("Python", "ok", f"{sys.version.split()[0]} at {sys.executable}, {os.cpu_count()} CPU cores")


def _packages() -> Iterator[Finding]:
    from packaging.requirements import Requirement

    for line in requires("swingby") or []:
        requirement = Requirement(line)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            have = version(requirement.name)
        except PackageNotFoundError:
            yield Finding(requirement.name, "fault", "is not installed", f"pip install '{line}'")
            continue
        if requirement.specifier.contains(have, prereleases=True):
            yield Finding(requirement.name, "ok", have)
        else:
            yield Finding(requirement.name, "fault", f"{have}, needs {requirement.specifier}", f"pip install '{line}'")


def _offers() -> Iterator[Finding]:
    """What installed packages offer, each loaded."""
    for group in (registry.EXPERIMENTS, registry.DETECTORS, registry.COMMANDS):
        try:
            offers = sorted(registry.offered(group).items())
        except SwingbyError as error:
            yield Finding(group, "fault", str(error), "mend or uninstall that package")
            continue
        for name, offer in offers:
            try:
                registry.load(group, name)
            except SwingbyError as error:
                remedy = f"mend or remove the package behind {offer.value}"
                yield Finding(f"{group} {name}", "fault", str(error), remedy)
            else:
                yield Finding(f"{group} {name}", "ok", offer.value)


def _gpus() -> Finding:
    found = sorted(Path("/proc/driver/nvidia/gpus").glob("*")) or sorted(Path("/dev").glob("nvidia[0-9]*"))
    detail = (
        f"{len(found)} NVIDIA device{'s' if len(found) != 1 else ''}" if found else "none; SIM sweeps run on the CPU"
    )
    return Finding("GPU", "ok", detail)


def _memory() -> Finding:
    free = psutil.virtual_memory().available
    text = f"{size(free)} free of {size(psutil.virtual_memory().total)}"
    if free < LOW_MEMORY:
        return Finding(
            "memory", "warn", text, "Ray takes about 0.7 GB and a batch up to 1 GB a worker: close something"
        )
    return Finding("memory", "ok", text)


def _shared_memory() -> Finding:
    subject, remedy = str(SHARED_MEMORY), "Ray uses the disk instead; in a container add --shm-size=1g"
    if not SHARED_MEMORY.is_dir():
        return Finding(subject, "warn", "does not exist", remedy)
    free = shutil.disk_usage(SHARED_MEMORY).free
    if free < RAY_SHARED_MEMORY:
        return Finding(subject, "warn", f"{size(free)} free", remedy)
    return Finding(subject, "ok", f"{size(free)} free")


def _disk(data: Path) -> Finding:
    place = data.resolve()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if not os.access(place, os.W_OK):
        return Finding("disk", "fault", f"{place} is not writable", "choose another folder with --data")
    if free < LOW_DISK:
        return Finding("disk", "warn", f"{size(free)} free at {place}", "100,000 cells of 200 points take about 0.5 GB")
    return Finding("disk", "ok", f"{size(free)} free at {place}")


def _data_folder(data: Path) -> Iterator[Finding]:
    if not data.exists():
        yield Finding("data folder", "ok", f"{data} does not exist yet; the first run makes it")
        return
    from swingby.store.status import data_findings

    try:
        for verdict, detail, remedy in data_findings(data):
            yield Finding("data folder", verdict, detail, remedy)
        yield from _unfinished(data)
    except SwingbyError as error:
        yield Finding("data folder", "fault", str(error), "choose another folder with --data, or `swingby rebuild`")


def _unfinished(data: Path) -> Iterator[Finding]:
    """Files whose writers died; nobody reads them."""
    from swingby.data.files import forsaken
    from swingby.data.records import Records
    from swingby.maintenance.gc import HOURS

    left = [path for path in Records.open(data, create=False).unfinished() if forsaken(path, HOURS * 3600)]
    if left:
        files = counted(len(left), "unfinished file")
        yield Finding("data folder", "warn", f"{files} of writers that died", f"swingby gc --data {data}")


def _ray(data: Path) -> Finding:
    from swingby.run.ray.session import try_ray

    seconds, detail = try_ray(data)
    return Finding("Ray", "ok", f"started, ran a task and stopped in {seconds:.1f} s; {detail}")
