"""Where statements are found: the folders `statements` of the packages that offer experiments."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

from swingby.model import registry

FOLDER = "statements"


def sources() -> list[tuple[Traversable, tuple[str, ...]]]:
    """Every such folder, with the experiments of its package."""
    packages: dict[str, list[str]] = {}
    for name, point in sorted(registry.offered(registry.EXPERIMENTS).items()):
        packages.setdefault(point.module.rpartition(".")[0], []).append(name)
    found = [(files(package).joinpath(FOLDER), tuple(names)) for package, names in packages.items() if package]
    return [(folder, names) for folder, names in found if folder.is_dir()]
