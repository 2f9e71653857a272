"""The machines of a cluster: what each says of its code and of the data folder, and which of them cannot take part."""

from __future__ import annotations

import hashlib
import platform
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Literal

from swingby.data.provenance import required
from swingby.errors import SwingbyError
from swingby.model import registry

SEEN_SECONDS = 45.0
"""A network file system may show a new folder to other machines so much later."""
REMEDY = {
    "wheel": "something in that machine's PYTHONPATH comes before what was sent: start its Ray without",
    "installed": "install there what is installed here, or let the code travel (--code wheel)",
}


@dataclass(frozen=True)
class Code:
    """How machines of a cluster come by the code.

    Attributes:
        comes: "wheel": with the run, as it is here; "installed": each machine has the same.
        experiments: what will be trained.
        tell: who hears what may be wrong and yet goes on.
    """

    comes: Literal["wheel", "installed"]
    experiments: tuple[str, ...]
    tell: Callable[[str], None]

    def packages(self) -> dict[str, Distribution]:
        """The packages that train: this one, and those that offer the experiments; by name.

        Detectors and drawings look at results where the driver is, and need not come along."""
        found = [distribution("swingby")]
        for name in self.experiments:
            point = registry.offered(registry.EXPERIMENTS)[name]
            if point.dist is not None:
                found.append(point.dist)
        return {one.metadata["Name"]: one for one in found}


@dataclass(frozen=True)
class Machine:
    """What a machine says: versions of packages (None: not there) and digests of those that train."""

    python: str
    versions: Mapping[str, str | None]
    code: Mapping[str, str | None]
    sees_data: bool


def look(packages: Iterable[str], needed: Iterable[str], mark: str | None) -> Machine:
    """What this machine has.

    Args:
        packages: those that train.
        needed: what they require.
        mark: a folder that the driver has just made in the data folder; None: the data is not in a folder.
    """
    return Machine(
        python=platform.python_version(),
        versions={name: _version(name) for name in {*packages, *needed}},
        code={name: _digest(name) for name in packages},
        sees_data=mark is None or _seen(Path(mark)),
    )


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _digest(name: str) -> str | None:
    """A digest of the Python files of a package that train: of this one, and of the modules that offer experiments.

    None: it is not there, or not whole."""
    try:
        offered = distribution(name).entry_points
    except PackageNotFoundError:
        return None
    training = [point for point in offered if point.group in (registry.EXPERIMENTS, registry.PACKAGES)]
    digest = hashlib.sha256()
    for module in sorted({point.module.split(".")[0] for point in training} | ({"swingby"} & {name})):
        found = _sources(module)
        if not found:
            return None
        for path, inside in found:
            digest.update(f"{module}/{inside}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _sources(module: str) -> list[tuple[Path, str]]:
    """The Python files of a module, each with its place in it: of one that is imported, or that would be."""
    loaded = sys.modules.get(module)
    if loaded is not None:
        places = [Path(place) for place in getattr(loaded, "__path__", None) or [loaded.__file__ or ""]]
    else:
        wanted = [Path(entry or ".") / name for entry in sys.path for name in (module, f"{module}.py")]
        places = [path for path in wanted if path.is_file() or (path / "__init__.py").is_file()][:1]
    found = [(path, path.relative_to(place).as_posix()) for place in places for path in (place, *place.rglob("*.py"))]
    return sorted(((path, inside) for path, inside in found if path.is_file()), key=lambda one: one[1])


def _seen(mark: Path) -> bool:
    deadline = time.monotonic() + SEEN_SECONDS
    while not mark.is_dir():
        if time.monotonic() > deadline or not mark.parent.is_dir():
            return False
        time.sleep(1)
    return True


def check(code: Code, here: Machine, there: Mapping[str, Machine], data: object) -> None:
    """Refuses machines that would train something else, or nothing, and tells what else differs.

    Args:
        here: what this machine has.
        there: what the others have, by their names.
        data: the data folder.

    Raises:
        SwingbyError: one lacks code, data or a package, has other code, or a package of a version that does not fit.
    """
    for name, machine in there.items():
        if not machine.sees_data:
            raise SwingbyError(
                f"machine {name} does not see the data folder {data}: it has to be on a file system that all machines "
                "of the cluster have under the same path, or in object storage"
            )
        for package, digest in machine.code.items():
            if digest != here.code[package]:
                has = "other code of" if machine.versions[package] and digest else "no, or only a part of,"
                raise SwingbyError(f"machine {name} has {has} the package {package}; {REMEDY[code.comes]}")
        _check_versions(name, machine, code)
    for line in _differing(here, there):
        code.tell(line)


def _check_versions(name: str, machine: Machine, code: Code) -> None:
    """Refuses packages that are not there, or too old."""
    from packaging.requirements import Requirement

    for package in code.packages().values():
        for requirement in map(Requirement, required(package)):
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
                continue
            have = machine.versions.get(requirement.name)
            if have is None or not requirement.specifier.contains(have, prereleases=True):
                raise SwingbyError(
                    f"machine {name} has {f'{requirement.name} {have}' if have else f'no {requirement.name}'}, "
                    f"and {package.metadata['Name']} needs {requirement}: a wheel brings the code and not what it "
                    "requires, so install it there"
                )


def needed(code: Code) -> list[str]:
    """The names of the packages that those that train require."""
    from packaging.requirements import Requirement

    return sorted({Requirement(line).name for one in code.packages().values() for line in required(one)})


def _differing(here: Machine, there: Mapping[str, Machine]) -> Sequence[str]:
    """A line for each package of which machines have another version than this one."""
    lines = []
    for package, have in sorted(here.versions.items()):
        others = {name: machine.versions[package] for name, machine in there.items()}
        other = [f"{told} on {name}" for name, told in others.items() if told != have]
        if other:
            more = f" and {len(other) - 3} more" if len(other) > 3 else ""
            lines.append(
                f"{package} is {have} here and {', '.join(other[:3])}{more}: numbers may differ in their last digits; "
                "every shard says which versions made it"
            )
    return lines
