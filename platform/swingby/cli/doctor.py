"""The verb doctor: checks what is installed, free disk and memory, Ray and the data folder."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import DEFAULT_DATA, DataFolder, Finding, tell
from swingby.errors import SwingbyError
from swingby.model.broken import LoadError
from swingby.units import counted, size

# Bytes of disk, of memory and of shared memory below which a run may well fail: see what `_machine` says of each.
LOW_DISK = 2e9
LOW_MEMORY = 2e9
RAY_SHARED_MEMORY = 200e6
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - looked at, never written
PACKAGES, TRAINING = "required packages", "training"
LACKS = "lacks"
"""Groups of findings; the others are those of the registry."""


def doctor(
    name: Annotated[
        str | None,
        typer.Argument(help="Show all checks of one experiment, package, detector or drawing.", show_default=False),
    ] = None,
    data: DataFolder = DEFAULT_DATA,
    ray: Annotated[bool, typer.Option("--ray/--no-ray", help="Start Ray and run one task (5 to 15 s).")] = True,
    test: Annotated[
        bool,
        typer.Option("--self-test", help="Train a tiny sweep in a temporary folder and read it back, instead."),
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="Show each check on a line of its own.")] = False,
) -> None:
    """Checks what is installed, free disk and memory, Ray and the data folder, and says what to do about each fault.

    Problems come first, and what is missing for training; then one line for all that is right. With --self-test it
    checks whether the installed program works: a line for each step, from the sweep file to the report (10 to 60 s).
    Exit code 1 if there is a fault.

    Example:

        swingby doctor --no-ray
    """
    from swingby.cli.self_test import self_test

    findings, faults, sound = self_test() if test else examine(data, ray), 0, list[Finding]()
    if name is not None and not test:
        findings = _about(name, examine(data, ray=False))
    for finding in findings:
        faults += finding.verdict == "fault"
        lacks = finding.group == TRAINING and finding.detail.startswith(LACKS)
        if every or test or name is not None or finding.verdict != "ok" or lacks:
            finding.show()
        else:
            sound.append(finding)
    if sound:
        _together(sound).show()
        tell("each check: swingby doctor --all; those of one experiment: swingby doctor NAME")
    if faults:
        raise typer.Exit(1)


def _about(name: str, findings: Iterator[Finding]) -> list[Finding]:
    """The findings on what has this name; of an experiment also on all that its package offers.

    Raises:
        SwingbyError: there are none.
    """
    from swingby.model import registry

    offers = [finding for finding in findings if finding.group]
    offer = registry.offered(registry.EXPERIMENTS).get(name)
    package = "" if offer is None else offer.value.partition(":")[0].rpartition(".")[0] + "."
    chosen = [
        finding
        for finding in offers
        if name in finding.subject.split() or (package and finding.detail.startswith(package))
    ]
    if not chosen:
        names = {finding.subject.rpartition(" ")[2] for finding in offers}
        raise SwingbyError(f"nothing that is checked is called {name!r}; {registry.nearest(name, sorted(names))}")
    return chosen


def _together(sound: Sequence[Finding]) -> Finding:
    """One finding for all that are no problem: how many of each group."""
    counts = Counter((finding.group or finding.subject).removeprefix("swingby.") for finding in sound)
    parts = ", ".join(f"{count} {group}" if count > 1 else group for group, count in counts.items())
    return Finding(f"{counted(len(sound), 'check')}", "ok", parts)


def examine(data: Path, ray: bool = True) -> Iterator[Finding]:
    """Every finding, in the order in which a fault would be met."""
    yield Finding("Python", "ok", f"{sys.version.split()[0]} at {sys.executable}, {os.cpu_count()} CPU cores")
    yield from _packages()
    yield from _offers()
    yield from _machine(data)
    yield from _data_folder(data)
    if ray:
        yield from _ray(data)


def _packages() -> Iterator[Finding]:
    """The packages that swingby requires."""
    from importlib.metadata import PackageNotFoundError, requires, version

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
            yield Finding(requirement.name, "ok", have, group=PACKAGES)
        else:
            yield Finding(requirement.name, "fault", f"{have}, needs {requirement.specifier}", f"pip install '{line}'")
    yield from _extras()


def _extras() -> Iterator[Finding]:
    """What training needs beyond that, for each experiment; reading results needs none of it."""
    from swingby.model import registry
    from swingby.model.broken import Broken
    from swingby.model.needed import lacking
    from swingby.run.ray.machines import RAY

    required = {"training on Ray": RAY}
    for name in sorted(registry.offered(registry.EXPERIMENTS)):
        of = registry.sound(registry.EXPERIMENTS, name)
        if not isinstance(of, Broken) and of.requires:
            required[f"training {name}"] = of.requires
    for purpose, modules in required.items():
        missing = lacking(modules)
        install = " ".join(f"'{source}'" for source in dict.fromkeys(missing.values()))
        there = f"has {', '.join(modules)}"
        lacks = f"{LACKS} {', '.join(missing)}; reading results is possible without; pip install {install}"
        yield Finding(purpose, "ok", lacks if missing else there, group=TRAINING)


def _offers() -> Iterator[Finding]:
    """Broken packages; then the experiments, detectors, drawings and verbs that the others offer, each loaded."""
    from swingby.model import registry

    for broken in registry.broken_packages():
        yield Finding(registry.PACKAGES, "fault", broken.fault, broken.remedy)
    for group in (registry.EXPERIMENTS, registry.DETECTORS, registry.DRAWINGS, registry.COMMANDS):
        for name, offer in sorted(registry.offered(group).items()):
            try:
                registry.load(group, name) if group == registry.COMMANDS else registry.instance(group, name)
            except LoadError as error:
                yield Finding(f"{group} {name}", "fault", error.broken.fault, error.broken.remedy, group)
            else:
                yield Finding(f"{group} {name}", "ok", offer.value, group=group)


def _machine(data: Path) -> Iterator[Finding]:
    """GPUs, memory, and the disk that the data folder is on."""
    import psutil

    gpus = sorted(Path("/proc/driver/nvidia/gpus").glob("*")) or sorted(Path("/dev").glob("nvidia[0-9]*"))
    none = "none; experiments that ask for none run on the CPU"
    yield Finding("GPU", "ok", counted(len(gpus), "NVIDIA device") if gpus else none)

    memory = psutil.virtual_memory()
    text, remedy = f"{size(memory.available)} free of {size(memory.total)}", ""
    if memory.available < LOW_MEMORY:
        remedy = "Ray takes about 0.7 GB and a batch up to 1 GB a worker: close something"
    yield Finding("memory", "warn" if remedy else "ok", text, remedy)

    remedy = "Ray uses the disk instead; in a container add --shm-size=1g"
    if SHARED_MEMORY.is_dir():
        free = shutil.disk_usage(SHARED_MEMORY).free
        verdict = "warn" if free < RAY_SHARED_MEMORY else "ok"
        yield Finding(str(SHARED_MEMORY), verdict, f"{size(free)} free", remedy)
    else:
        yield Finding(str(SHARED_MEMORY), "warn", "does not exist", remedy)

    place = data.resolve()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if not os.access(place, os.W_OK):
        yield Finding("disk", "fault", f"{place} is not writable", "choose another folder with --data")
    else:
        verdict, remedy = "warn" if free < LOW_DISK else "ok", "100,000 cells of 200 points take about 0.5 GB"
        yield Finding("disk", verdict, f"{size(free)} free at {place}", remedy)


def _data_folder(data: Path) -> Iterator[Finding]:
    """The store, the records, and files whose writers died, which nobody reads."""
    if not data.exists():
        yield Finding("data folder", "ok", f"{data} does not exist yet; the first run makes it")
        return
    from swingby.data.files import forsaken
    from swingby.data.records import Records
    from swingby.maintenance.gc import HOURS
    from swingby.store.status import data_findings

    try:
        for verdict, detail, remedy in data_findings(data):
            yield Finding("data folder", verdict, detail, remedy)
        unfinished = [path for path in Records.open(data, create=False).unfinished() if forsaken(path, HOURS * 3600)]
        if unfinished:
            files = counted(len(unfinished), "unfinished file")
            yield Finding("data folder", "warn", f"{files} of writers that died", f"swingby gc --data {data}")
    except SwingbyError as error:
        yield Finding("data folder", "fault", str(error), "choose another folder with --data, or `swingby rebuild`")


def _ray(data: Path) -> Iterator[Finding]:
    """Whether Ray starts, runs a task and stops, where it is installed."""
    from swingby.model.needed import lacking
    from swingby.run.ray.machines import RAY

    if lacking(RAY):
        return
    try:
        from swingby.run.ray.session import try_ray

        seconds, detail = try_ray(data)
    except Exception as error:  # of any kind: a doctor reports every failure
        lines = str(error).strip().splitlines()
        # Not `ray stop`: it ends every Ray of this user, those of other sweeps too.
        remedy = "see the message; a Ray that a killed run left ends by itself within a minute or two"
        yield Finding("Ray", "fault", lines[0] if lines else repr(error), remedy)
    else:
        yield Finding("Ray", "ok", f"started, ran a task and stopped in {seconds:.1f} s; {detail}")
