"""The registry of installed packages: experiments, detectors, drawings, verbs, named sweeps, archives, statements.

A package declares what it offers in its `__init__.py` and is found by the entry-point group `swingby.packages`; nothing
of it but that file is imported until it is asked for. Single entry points of the groups below count as well.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Any

from swingby.errors import SwingbyError

if TYPE_CHECKING:  # slow to import, and only needed where packages are looked up
    from importlib.metadata import Distribution
    from importlib.resources.abc import Traversable

PACKAGES = "swingby.packages"
EXPERIMENTS = "swingby.experiments"
DETECTORS = "swingby.detectors"
COMMANDS = "swingby.commands"
DRAWINGS = "swingby.drawings"
DIAGRAMS = "swingby.diagrams"
FOLDERS: Mapping[str, str] = {"sweeps": "swingby.sweeps", "archive": "swingby.recorded"}
"""For each kind of data file: the group whose entry points name packages that hold such files and nothing else."""


@dataclass(frozen=True, slots=True)
class Package:
    """The offers of a package, which its `__init__.py` declares as `PACKAGE`.

    Every value is "module:Name", the module relative to the package. Data files are found by folder:
    `sweeps/**/*.yaml`, `archive/*.parquet`, `statements/**/*.sql`.

    Attributes:
        experiments, detectors, drawings, commands: for each name, where it is found. Detectors are those of the
            package's experiments; a package without experiments may offer detectors of others.
        diagrams: for each experiment, where its phase diagrams are found that pages of findings show.
    """

    experiments: Mapping[str, str] = field(default_factory=dict)
    detectors: Mapping[str, str] = field(default_factory=dict)
    drawings: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    diagrams: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind in fields(self):
            for name, value in getattr(self, kind.name).items():
                if not isinstance(value, str) or value.count(":") != 1:
                    raise TypeError(f"{kind.name}[{name!r}] is {value!r}; allowed: 'module:Name'")


@dataclass(frozen=True, slots=True)
class Offer:
    """One name that a package offers in a group; not imported.

    Attributes:
        value: "module:Name", the module by its full name.
        dist: the distribution that the package belongs to, if that is known.
        package: the package that declares it; None: an entry point of its own.
    """

    name: str
    value: str
    group: str
    dist: Distribution | None
    package: Package | None = None

    def load(self) -> Any:
        """The object itself."""
        from importlib.metadata import EntryPoint

        return EntryPoint(self.name, self.value, self.group).load()


def nearest(name: str, known: list[str]) -> str:
    """A sentence that offers the nearest known name, and all of them."""
    close = difflib.get_close_matches(name, known, n=1)
    guess = f"did you mean {close[0]!r}? " if close else ""
    return f"{guess}allowed: {', '.join(sorted(known)) or '(none)'}"


def _entry_points() -> Any:
    """The entry points of everything that is installed now; read again once a folder of `sys.path` has changed."""
    return _read_entry_points(tuple((path, _changed(path)) for path in sys.path))


def _changed(path: str) -> int:
    """When files in a folder were last added or removed, in nanoseconds; 0 if there is no such folder."""
    try:
        return Path(path or ".").stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=1)
def _read_entry_points(places: tuple[tuple[str, int], ...]) -> Any:
    from importlib.metadata import entry_points

    return entry_points()


def packages() -> dict[str, Package]:
    """Every installed package that declares what it offers, by its dotted name.

    Raises:
        SwingbyError: one cannot be imported, or declares nothing; names it.
    """
    return {name: package for name, package, _ in _declared(_entry_points().select(group=PACKAGES))}


def _declared(points: Any) -> Iterator[tuple[str, Package, Distribution | None]]:
    """Name, declaration and distribution of each package behind entry points; each name once."""
    seen = set[str]()
    for point in sorted(points, key=lambda point: (point.value, point.name)):
        for name, package in _packages_of(point.value).items():
            if name not in seen:
                seen.add(name)
                yield name, package, point.dist


@cache
def _packages_of(module: str) -> dict[str, Package]:
    """The declarations of a package and of the packages directly in it, by dotted name."""
    root = _imported(module)
    inside = [f"{module}.{found.name}" for found in iter_modules(getattr(root, "__path__", ())) if found.ispkg]
    modules = {module: root, **{name: _imported(name) for name in inside}}
    declared = {name: found.PACKAGE for name, found in modules.items() if hasattr(found, "PACKAGE")}
    wrong = [name for name, package in declared.items() if not isinstance(package, Package)]
    if wrong or not declared:
        fault = f"{wrong[0]}.PACKAGE is no swingby.model.registry.Package" if wrong else "it declares no PACKAGE"
        raise SwingbyError(f"the package {module!r} is offered to swingby, but {fault}; mend or uninstall it")
    return declared


def _imported(module: str) -> ModuleType:
    try:
        return import_module(module)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise SwingbyError(f"the package {module!r} cannot be imported ({reason}); mend or uninstall it") from error


def offered(group: str) -> dict[str, Offer]:
    """Everything that packages offer in a group, by name; not imported.

    Raises:
        SwingbyError: two packages offer different things by one name; or as `packages`.
    """
    found: dict[str, Offer] = {}
    points, kind = _entry_points(), group.rpartition(".")[2]
    offers = [Offer(point.name, point.value, group, point.dist) for point in points.select(group=group)]
    for dotted, package, dist in _declared(points.select(group=PACKAGES)):
        values = getattr(package, kind, {}).items()
        offers += [Offer(name, f"{dotted}.{value}", group, dist, package) for name, value in values]
    for offer in offers:
        other = found.setdefault(offer.name, offer)
        if other.value != offer.value:
            both = []
            for one in (other, offer):
                origin = "no distribution" if one.dist is None else f"{one.dist.name} {one.dist.version}"
                both.append(f"{one.value} ({origin})")
            noun = kind.removesuffix("s")
            article = "an" if noun[0] in "aeiou" else "a"
            raise SwingbyError(
                f"two packages offer {article} {noun} {offer.name!r}: {' and '.join(both)}; uninstall one of them"
            )
    return found


@cache
def load(group: str, name: str) -> Any:
    """The object that is offered in a group by a name.

    Raises:
        SwingbyError: no package offers the name, or the package that does cannot be imported.
    """
    offers = offered(group)
    if name not in offers:
        raise SwingbyError(f"no {group.split('.')[-1].rstrip('s')} is called {name!r}; {nearest(name, list(offers))}")
    try:
        return offers[name].load()
    except Exception as error:
        raise SwingbyError(f"{group} entry point {name!r} ({offers[name].value}) cannot be loaded: {error}") from error


def experiment(name: str) -> Any:
    """The experiment of that name, as one instance a process (an `Experiment`)."""
    return _instance(EXPERIMENTS, name)


def detector(name: str) -> Any:
    """The detector of that name, as one instance a process (a `Detector`)."""
    return _instance(DETECTORS, name)


def drawing(name: str) -> Any:
    """The drawing of that name, as one instance a process (a `Drawing`)."""
    return _instance(DRAWINGS, name)


def function(target: str) -> Any:
    """The function behind "module:function".

    Raises:
        SwingbyError: there is none, or its module cannot be imported.
    """
    from importlib.metadata import EntryPoint

    try:
        return EntryPoint("function", target, "swingby.functions").load()
    except (ImportError, AttributeError) as error:
        raise SwingbyError(f"{target!r} is no function ({error}); allowed: module:function") from error


@cache
def _instance(group: str, name: str) -> Any:
    return load(group, name)()


def detectors_for(experiment_name: str) -> list[Any]:
    """Every installed detector that reads the tables of this experiment, in the order of their names.

    A detector that belongs to other experiments is not imported.
    """
    offers = sorted(offered(DETECTORS).values(), key=lambda offer: offer.name)
    homes = [(offer.name, {} if offer.package is None else offer.package.experiments) for offer in offers]
    found = [detector(name) for name, home in homes if not home or experiment_name in home]
    return [item for item in found if experiment_name in item.experiments]


def folders(kind: str) -> list[Traversable]:
    """The folders of this name directly in the packages, in the order of the packages' names.

    Raises:
        SwingbyError: as `packages`.
    """
    return [place for place, _ in homes(kind)]


def homes(kind: str) -> list[tuple[Traversable, Package]]:
    """The folders of this name directly in the packages, each with the package it lies in."""
    from importlib.resources import files

    places = [(files(name) / kind, package) for name, package in sorted(packages().items(), key=lambda item: item[0])]
    return [(place, package) for place, package in places if place.is_dir()]


def data_files(kind: str, suffix: str) -> list[Traversable]:
    """Every file with this ending below `folders(kind)`, and directly in what the group of `FOLDERS[kind]` names.

    Raises:
        SwingbyError: as `packages`; or a package of that group cannot be imported.
    """
    from importlib.resources import files

    found = {str(file): file for folder in folders(kind) for file in _below(folder, suffix)}
    for point in _entry_points().select(group=FOLDERS[kind]) if kind in FOLDERS else ():
        _imported(point.value)
        held = sorted(files(point.value).iterdir(), key=lambda item: item.name)
        found |= {str(file): file for file in held if file.name.endswith(suffix)}
    return list(found.values())


def _below(folder: Traversable, suffix: str) -> Iterator[Traversable]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            yield from _below(item, suffix)
        elif item.name.endswith(suffix):
            yield item
