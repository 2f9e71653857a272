"""Data files of installed packages: named sweeps, recorded results, statements, found by the names of their folders."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from swingby.model import registry
from swingby.model.package import Package


def folders(kind: str) -> list[Traversable]:
    """The folders of this name directly in the packages, in the order of the packages' names."""
    return [place for place, _ in homes(kind)]


def homes(kind: str) -> list[tuple[Traversable, Package]]:
    """The folders of this name directly in the packages, each with the package it lies in."""
    packages = sorted(registry.packages().items(), key=lambda item: item[0])
    places = [(files(name) / kind, package) for name, package in packages]
    return [(place, package) for place, package in places if place.is_dir()]


def package_of_file(file: Traversable) -> str:
    """The dotted name of the package that a data file lies in; of others, its folder."""
    places = {str(files(name)): name for name in registry.packages()}
    within = [place for place in places if str(file).startswith(f"{place}/")]
    return places[max(within, key=len)] if within else str(Path(str(file)).parent)


def data_files(kind: str, suffix: str) -> list[Traversable]:
    """Every file with this ending below `folders(kind)`, and directly in what the group of `FOLDERS[kind]` names.

    Broken packages are told and left out.
    """
    files_by_path = {str(file): file for folder in folders(kind) for file in _below(folder, suffix)}
    for point in registry.entry_points(registry.FOLDERS[kind]) if kind in registry.FOLDERS else ():
        broken = registry.without_data(point)
        if broken is not None:
            broken.tell()
            continue
        held = sorted(files(point.value).iterdir(), key=lambda item: item.name)
        files_by_path |= {str(file): file for file in held if file.name.endswith(suffix)}
    return list(files_by_path.values())


def _below(folder: Traversable, suffix: str) -> Iterator[Traversable]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            yield from _below(item, suffix)
        elif item.name.endswith(suffix):
            yield item
