"""The registry of installed packages: experiments, detectors, drawings, verbs, named sweeps, archives, statements.

A package declares what it offers in its `__init__.py` and is found by the entry-point group `swingby.packages`; nothing
of it but that file is imported until it is asked for. Single entry points of the groups below count as well.
What cannot be loaded is left out and told in one line: a fault of one package stops nobody who does not ask for it.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import import_module
from inspect import isroutine
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from swingby.errors import SwingbyError
from swingby.model.broken import FAULTS, Broken, LoadError, name_of, reason_of
from swingby.model.package import Package

if TYPE_CHECKING:  # slow to import, and only needed where packages are looked up
    from importlib.metadata import Distribution, EntryPoint

PACKAGES = "swingby.packages"
EXPERIMENTS = "swingby.experiments"
DETECTORS = "swingby.detectors"
COMMANDS = "swingby.commands"
DRAWINGS = "swingby.drawings"
LINES = "swingby.lines"
METRICS = "swingby.metrics"
FOLDERS: Mapping[str, str] = {"sweeps": "swingby.sweeps", "archive": "swingby.recorded"}
"""For each kind of data file: the group whose entry points name packages that hold such files and nothing else."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One name that a package offers in a group; not imported.

    Attributes:
        value: "module:Name", the module by its full name.
        dist: the distribution that the package belongs to, if that is known.
        package: the package that declares it; None: an entry point of its own.
        rival: another thing that is offered by this name, if there is one; neither can be loaded then.
    """

    name: str
    value: str
    group: str
    dist: Distribution | None
    package: Package | None = None
    rival: Offer | None = None

    @property
    def noun(self) -> str:
        """What it is, such as "experiment"."""
        return _noun(self.group)

    def load(self) -> Any:
        """The object itself.

        Raises:
            LoadError: its module cannot be imported or has no such object, or another package offers the name, too.
        """
        from importlib.metadata import EntryPoint

        if self.rival is not None:
            both = [f"{one.value} ({name_of(one.dist) or 'no distribution'})" for one in (self, self.rival)]
            article = "an" if self.noun[0] in "aeiou" else "a"
            reason = f"two packages offer {article} {self.noun} {self.name!r}: {' and '.join(both)}"
            raise LoadError(Broken(f"the {self.noun} {self.name!r}", reason, remedy="uninstall one of them"))
        try:
            return EntryPoint(self.name, self.value, self.group).load()
        except FAULTS as error:
            raise self.broken(error) from error

    def broken(self, error: BaseException) -> LoadError:
        """The error that says why this cannot be loaded."""
        what = f"the {self.noun} {self.name!r} of {self.value.partition(':')[0]}"
        return LoadError(Broken(what, reason_of(error), name_of(self.dist)))


LONGEST = 200
"""Characters of a name that may be another one misspelt."""
MANY, NEAR = 30, 4
"""Names of which not all are told where some are near to what was asked for, and how many of those are."""


def nearest(name: str, known: list[str]) -> str:
    """A sentence that offers the nearest known name, and all of them; of `MANY` and more those that are near, or the
    first by name."""
    # A long text is no slip of the pen, and to compare it takes long.
    close = difflib.get_close_matches(name, known, n=NEAR) if len(name) <= LONGEST else []
    guess = f"did you mean {close[0]!r}? " if close else ""
    if close and len(known) >= MANY:
        others = f", among them {', '.join(close[1:])}" if len(close) > 1 else ""
        return f"{guess}{len(known)} are allowed{others}"
    listed, more = sorted(known), ""
    if len(known) >= MANY:
        listed, more = listed[:NEAR], f" and {len(known) - NEAR} more"
    return f"{guess}allowed: {', '.join(listed) or '(none)'}{more}"


def nearest_offered(name: str, known: list[str], more: Iterable[Broken] = ()) -> str:
    """`nearest` among things that packages offer; names also what is broken and might have offered it.

    Args:
        more: single things that are broken and might be what is asked for, beside whole packages.
    """
    return "; ".join([nearest(name, known), *perhaps_lost(more)])


def perhaps_lost(more: Iterable[Broken] = ()) -> list[str]:
    """A sentence that names what is broken and might have offered what was asked for; none if nothing is."""
    lost = [f"{one.what} ({one.reason})" for one in (*broken_packages(), *more)]
    return [f"or it belongs to what cannot be loaded: {', '.join(lost)}"] if lost else []


def _noun(group: str) -> str:
    return group.rpartition(".")[2].removesuffix("s")


def _entry_points() -> Mapping[str, Sequence[EntryPoint]]:
    """The entry points of everything that is installed now, by group, those of swingby's groups; read again once a
    folder of `sys.path` has changed."""
    return _read_entry_points(tuple((path, _changed(path)) for path in sys.path))


def entry_points(group: str) -> Sequence[EntryPoint]:
    """The entry points of a group, of everything that is installed now."""
    return _entry_points().get(group, ())


def _changed(path: str) -> int:
    """When files in a folder were last added or removed, in nanoseconds; 0 if there is no such folder."""
    try:
        return os.stat(path or ".").st_mtime_ns  # noqa: PTH116  every look at what is offered asks for each folder
    except OSError:
        return 0


@lru_cache(maxsize=1)
def _read_entry_points(places: tuple[tuple[str, int], ...]) -> Mapping[str, Sequence[EntryPoint]]:
    from importlib.metadata import entry_points

    points = entry_points()
    return {group: tuple(points.select(group=group)) for group in points.groups if group.startswith("swingby.")}


def packages() -> dict[str, Package]:
    """Every installed package that declares what it offers, by its dotted name; broken ones are told and left out."""
    return {name: package for name, package, _ in _declared(entry_points(PACKAGES))}


def broken_packages() -> list[Broken]:
    """The installed packages that are offered to swingby and cannot be loaded."""
    broken = [one for _, one, _ in _examined(entry_points(PACKAGES)) if isinstance(one, Broken)]
    data = {point.value: point for group in FOLDERS.values() for point in entry_points(group)}
    return broken + [one for one in map(without_data, data.values()) if one is not None]


def _declared(points: Iterable[EntryPoint]) -> Iterator[tuple[str, Package, Distribution | None]]:
    """Name, declaration and distribution of each package behind entry points; broken ones are told and left out."""
    for name, package, dist in _examined(points):
        if isinstance(package, Broken):
            package.tell()
        else:
            yield name, package, dist


def _examined(points: Iterable[EntryPoint]) -> Iterator[tuple[str, Package | Broken, Distribution | None]]:
    """Name, declaration or fault, and distribution of each package behind entry points; each name once."""
    seen = set[str]()
    for point in sorted(points, key=lambda point: (point.value, point.name)):
        for name, package in _packages_of(point.value).items():
            if name not in seen:
                seen.add(name)
                if isinstance(package, str):
                    package = Broken(f"the package {name!r}", package, name_of(point.dist))
                yield name, package, point.dist


@cache
def _packages_of(module: str) -> dict[str, Package | str]:
    """The declarations of a package and of the packages directly in it, by dotted name; for a broken one, the reason.

    Looked at once a process: a broken package is not imported again and again.
    """
    packages: dict[str, Package | str] = {}
    try:
        inside = iter_modules(getattr(import_module(module), "__path__", ()))
    except FAULTS as error:
        return {module: reason_of(error)}
    for name in (module, *(f"{module}.{one.name}" for one in inside if one.ispkg)):
        try:
            declared = getattr(import_module(name), "PACKAGE", None)
        except FAULTS as error:
            packages[name] = reason_of(error)
            continue
        if isinstance(declared, Package):
            packages[name] = declared
        elif declared is not None:
            packages[name] = f"{name}.PACKAGE is no swingby.model.registry.Package"
    return packages or {module: "it is offered to swingby, but it declares no PACKAGE"}


def offered(group: str) -> dict[str, Offer]:
    """Everything that packages offer in a group, by name; not imported. Broken packages are told and left out."""
    offer_of: dict[str, Offer] = {}
    points, kind = _entry_points(), group.rpartition(".")[2]
    offers = [Offer(point.name, point.value, group, point.dist) for point in points.get(group, ())]
    for dotted, package, dist in _declared(points.get(PACKAGES, ())):
        values = getattr(package, kind, {}).items()
        offers += [Offer(name, f"{dotted}.{value}", group, dist, package) for name, value in values]
    for offer in offers:
        other = offer_of.setdefault(offer.name, offer)
        if other.value != offer.value:
            offer_of[offer.name] = replace(other, rival=offer)
    return offer_of


@cache
def load(group: str, name: str) -> Any:
    """The object that is offered in a group by a name.

    Raises:
        SwingbyError: no package offers the name; broken packages, which might have offered it, are named.
        LoadError: it cannot be loaded.
    """
    offers = offered(group)
    if name not in offers:
        raise SwingbyError(f"no {_noun(group)} is called {name!r}; {nearest_offered(name, list(offers))}")
    return offers[name].load()


_adopted: dict[str, Any] = {}


def adopt(experiment: Any) -> None:
    """Makes an experiment that no package offers known to this process, in place of an earlier one of its name.

    Raises:
        SwingbyError: a package offers an experiment of this name.
    """
    installed = offered(EXPERIMENTS).get(experiment.name)
    if installed is not None:
        raise SwingbyError(
            f"the experiment {experiment.name!r} has the name of an installed one ({installed.value}); rename it"
        )
    _adopted[experiment.name] = experiment


def adopted(code: str) -> Any:
    """The experiment with this code that was adopted; None: there is none."""
    return next((experiment for experiment in _adopted.values() if experiment.code == code), None)


def known(name: str) -> bool:
    """Whether an experiment of this name is installed, or known to this process."""
    return name in _adopted or name in offered(EXPERIMENTS)


def experiment(name: str) -> Any:
    """The experiment of that name, as one instance a process (an `Experiment`)."""
    return _adopted[name] if name in _adopted else instance(EXPERIMENTS, name)


def detector(name: str) -> Any:
    """The detector of that name, as one instance a process (a `Detector`)."""
    return instance(DETECTORS, name)


def drawing(name: str) -> Any:
    """The drawing of that name, as one instance a process (a `Drawing`)."""
    return instance(DRAWINGS, name)


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
def instance(group: str, name: str) -> Any:
    """What is offered in a group by a name: a class is called without arguments, once a process.

    Raises:
        SwingbyError, LoadError: as `load`; or it cannot be made.
    """
    loaded = load(group, name)
    try:
        return (
            loaded() if isinstance(loaded, type) or isroutine(loaded) else loaded
        )  # with `@experiment` it is made already
    except FAULTS as error:
        raise offered(group)[name].broken(error) from error


@cache
def _attempted(group: str, name: str, value: str) -> Any:
    """The instance, or why there is none; a broken one is not tried again in this process."""
    try:
        return instance(group, name)
    except LoadError as error:
        return error.broken


def sound(group: str, name: str) -> Any:
    """The instance of that name for lists that go on without it; a broken one is told, and its `Broken` returned.

    Raises:
        SwingbyError: no package offers the name.
    """
    offer = offered(group).get(name)
    part = _attempted(group, name, "" if offer is None else offer.value)
    if isinstance(part, Broken):
        part.tell()
    return part


def detectors_for(experiment_name: str, columns: Collection[str] | None = None) -> list[Any]:
    """Every installed detector that reads the tables of this experiment, in the order of their names.

    A detector that belongs to other experiments is not imported; one that cannot be loaded is told and left out.

    Args:
        columns: those of the results at hand; None: those that the experiment declares, with what it records on
            request. A general detector reads experiments by them.
    """
    detectors = [sound(DETECTORS, name) for name in _detector_names(experiment_name)]
    sane = [item for item in detectors if not isinstance(item, Broken)]
    columns_of = {item.name: frozenset(getattr(item, "columns", ())) for item in sane}
    if columns is None and any(columns_of.values()):
        columns = _declared_columns(experiment_name)
    return [
        item
        for item in sane
        if experiment_name in item.experiments
        or (columns_of[item.name] and columns_of[item.name] <= {*(columns or ())})
    ]


def _declared_columns(experiment_name: str) -> Collection[str]:
    """The columns that an experiment says its results have; none of one that is not known or cannot be loaded."""
    of = _adopted.get(experiment_name) or (
        sound(EXPERIMENTS, experiment_name) if experiment_name in offered(EXPERIMENTS) else None
    )
    if of is None or isinstance(of, Broken):
        return ()
    return {*of.curves, *of.scalars}.union(*of.recordings.values())


def broken_detectors(experiment_name: str) -> dict[str, Broken]:
    """The detectors by name that cannot be loaded and may read the tables of this experiment."""
    detectors = {name: sound(DETECTORS, name) for name in _detector_names(experiment_name)}
    return {name: one for name, one in detectors.items() if isinstance(one, Broken)}


def require_detectors(experiment_name: str, names: Collection[str] | None = None) -> None:
    """Refuses to go on where a detector is broken and its outcomes could not be had later.

    Args:
        names: the detectors that are needed; None: those that the experiment's own package declares.

    Raises:
        LoadError: one of them cannot be loaded.
    """
    for name, broken in broken_detectors(experiment_name).items():
        package = offered(DETECTORS)[name].package
        if name in names if names is not None else package is not None and experiment_name in package.experiments:
            raise LoadError(broken)


def _detector_names(experiment_name: str) -> list[str]:
    """The detectors that may read this experiment's tables, in order: general ones, and those of no other
    experiment's package."""
    offers = sorted(offered(DETECTORS).values(), key=lambda offer: offer.name)
    homes = [(offer.name, offer.package or Package()) for offer in offers]
    return [
        name
        for name, home in homes
        if not home.experiments or experiment_name in home.experiments or name in home.general
    ]


def package_of(offer: Offer) -> str:
    """The dotted name of the package that offers something; of an entry point of its own, its module."""
    module = offer.value.partition(":")[0]
    return max((name for name in packages() if module.startswith(f"{name}.")), key=len, default=module)


def without_data(point: EntryPoint) -> Broken | None:
    """The fault of a package that holds nothing but data files; None if it can be imported."""
    from importlib.resources import files

    try:
        files(point.value)
    except FAULTS as error:
        return Broken(f"the package {point.value!r}", reason_of(error), name_of(point.dist))
    return None
