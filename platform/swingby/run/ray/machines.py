"""The machines of a cluster: how they get the code, and which of them cannot take part in a run."""

from __future__ import annotations

import hashlib
import platform
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any, Literal

from swingby.data.provenance import required
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.options import option
from swingby.run.ray.wheels import make_wheel

RAY: Mapping[str, str] = {"ray": "swingby[run]"}
"""What training on Ray needs, as `Experiment.requires`."""
INSTALL_SECONDS = 300
"""Seconds for a machine to install what travels with a run."""
SEEN_SECONDS = 45.0
"""Seconds after which a network file system shows a new folder to other machines, at most."""
REMEDY = {
    "wheel": "something in that machine's PYTHONPATH comes before what was sent: start its Ray without",
    "installed": "install there what is installed here, or let the code travel, which it does by default",
}


@dataclass(frozen=True)
class Code:
    """How the machines of a cluster get the code.

    Attributes:
        source: "wheel": it is sent along; "installed": each machine has what is installed here.
        experiments: the experiments to train.
        tell: shows a warning to the user.
    """

    source: Literal["wheel", "installed"]
    experiments: tuple[str, ...]
    tell: Callable[[str], None]

    def packages(self) -> dict[str, Distribution]:
        """The packages that workers need, by name: swingby, and those that offer the experiments.

        Detectors and drawings run in the driver's process, so their packages stay here.
        """
        packages = [distribution("swingby")]
        for name in self.experiments:
            point = registry.offered(registry.EXPERIMENTS).get(name)  # None: its code is in the plan
            if point is not None and point.dist is not None:
                packages.append(point.dist)
        return {package.metadata["Name"]: package for package in packages}

    def modules(self) -> set[str]:
        """What training needs there beside what reading results needs."""
        known = [name for name in self.experiments if registry.known(name)]
        return {*RAY, *(module for name in known for module in registry.experiment(name).requires)}


@dataclass(frozen=True)
class Machine:
    """The report of a machine: versions of packages (None: not there), and digests of those that workers need."""

    python: str
    versions: Mapping[str, str | None]
    code: Mapping[str, str | None]
    sees_data: bool


def describe_machine(packages: Iterable[str], needed: Iterable[str], mark: str | None) -> Machine:
    """The report of this machine.

    Args:
        packages: the packages that workers need.
        needed: the packages that those require.
        mark: a folder that the driver has just made in the data folder; None: the data is not in a folder.
    """
    folder, deadline = None if mark is None else Path(mark), time.monotonic() + SEEN_SECONDS
    while folder and not folder.is_dir() and folder.parent.is_dir() and time.monotonic() < deadline:
        time.sleep(1)  # a network file system may show the folder late
    versions: dict[str, str | None] = dict.fromkeys({*packages, *needed})
    for name in versions:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return Machine(
        python=platform.python_version(),
        versions=versions,
        code={name: _digest(name) for name in packages},
        sees_data=folder is None or folder.is_dir(),
    )


def _digest(name: str) -> str | None:
    """A digest of the Python files of swingby, or of a package's modules that offer experiments.

    None: the package is not there, or not whole.
    """
    try:
        offered = distribution(name).entry_points
    except PackageNotFoundError:
        return None
    training = [point for point in offered if point.group in (registry.EXPERIMENTS, registry.PACKAGES)]
    digest = hashlib.sha256()
    for module in sorted({point.module.split(".")[0] for point in training} | ({"swingby"} & {name})):
        loaded = sys.modules.get(module)
        if loaded is not None:
            places = [Path(place) for place in getattr(loaded, "__path__", None) or [loaded.__file__ or ""]]
        else:
            candidates = [Path(entry or ".") / file for entry in sys.path for file in (module, f"{module}.py")]
            places = [path for path in candidates if path.is_file() or (path / "__init__.py").is_file()][:1]
        within = {
            path: path.relative_to(place).as_posix() for place in places for path in (place, *place.rglob("*.py"))
        }
        sources = [path for path in sorted(within, key=within.__getitem__) if path.is_file()]
        if not sources:
            return None
        for path in sources:
            digest.update(f"{module}/{within[path]}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def compare(code: Code, here: Machine, there: Mapping[str, Machine], data: object) -> None:
    """Refuses machines that would train something else, or nothing, and warns of other differences.

    Args:
        here: the report of this machine.
        there: the reports of the others, by their names.
        data: the data folder.

    Raises:
        SwingbyError: a machine lacks code, data or a package, has other code, or a package of a version that does not
            fit.
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
                raise SwingbyError(f"machine {name} has {has} the package {package}; {REMEDY[code.source]}")
        _check_versions(name, machine, code)
    for package, have in sorted(here.versions.items()):
        versions = {name: machine.versions[package] for name, machine in there.items()}
        others = [f"{version_there} on {name}" for name, version_there in versions.items() if version_there != have]
        if others:
            more = f" and {len(others) - 3} more" if len(others) > 3 else ""
            code.tell(
                f"{package} is {have} here and {', '.join(others[:3])}{more}: numbers may differ in their last digits; "
                "every shard says which versions made it"
            )


def _check_versions(name: str, machine: Machine, code: Code) -> None:
    """Refuses a machine on which a required package is missing or too old."""
    from packaging.requirements import Requirement

    for package in code.packages().values():
        for requirement in map(Requirement, required(package, code.modules())):
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
                continue
            have = machine.versions.get(requirement.name)
            if have is None or not requirement.specifier.contains(have, prereleases=True):
                raise SwingbyError(
                    f"machine {name} has {f'{requirement.name} {have}' if have else f'no {requirement.name}'}, "
                    f"and {package.metadata['Name']} needs {requirement}: a wheel brings the code and not what it "
                    "requires, so install it there"
                )


def required_names(code: Code) -> list[str]:
    """The names of the packages that the workers' packages require."""
    from packaging.requirements import Requirement

    modules = code.modules()
    return sorted({Requirement(line).name for one in code.packages().values() for line in required(one, modules)})


def runtime_env(code: Code, folder: Path) -> dict[str, Any]:
    """Ray's runtime environment of the workers: wheels of the code, if it is sent, and an empty working folder.

    Without that folder Ray would put this process's on the workers' path, and a checkout's folders before the wheel.
    """
    (folder / "empty").mkdir()
    (folder / "empty" / "README").write_text("Workers of swingby start here; there is nothing in it.\n")
    env: dict[str, Any] = {"working_dir": str(folder / "empty"), "config": {"setup_timeout_seconds": INSTALL_SECONDS}}
    if code.source == "wheel":
        env["py_modules"] = [str(make_wheel(package, folder)) for package in code.packages().values()]
    return env


def check_machines(code: Code, mark: Path | None, data: Path) -> None:
    """Asks every machine for its report, and compares it with that of this machine.

    Args:
        mark: a folder in the data folder that every machine should see; None: the data is not in a folder.

    Raises:
        SwingbyError: a machine cannot take part, or does not answer.
    """
    import ray
    from ray.exceptions import RayError, RuntimeEnvSetupError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    futures, arguments = {}, (list(code.packages()), required_names(code), None if mark is None else str(mark))
    for node in ray.nodes():
        if node["Alive"] and (node["Resources"].get("CPU") or node["Resources"].get("GPU")):
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            name = f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']}, node {node['NodeID'][:8]})"
            futures[name] = (
                ray.remote(describe_machine)
                .options(num_cpus=0, max_retries=0, scheduling_strategy=there)
                .remote(*arguments)
            )
    here, reports = describe_machine(*arguments), dict[str, Machine]()
    for name, future in futures.items():
        try:
            reports[name] = ray.get(future, timeout=2 * INSTALL_SECONDS)
        except RuntimeEnvSetupError as error:
            raise SwingbyError(
                f"machine {name} cannot install the code: {_last_line(error)}. Ray runs `pip` there, so the PATH that "
                f"its Ray was started with has to lead to one; or install the code there, and say "
                f"{option('code', 'installed')}"
            ) from error
        except (RayError, TimeoutError) as error:
            raise SwingbyError(f"machine {name} does not say whether it has the code: {_last_line(error)}") from error
    compare(code, here, reports, data)


def _last_line(error: Exception) -> str:
    """The last line of a message that is not blank, which has Ray's reason."""
    return next((line.strip() for line in reversed(str(error).splitlines()) if line.strip()), type(error).__name__)
