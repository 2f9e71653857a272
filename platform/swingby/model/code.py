"""The code of an experiment: its digest, which results are marked with, and the folder that it lies in."""

from __future__ import annotations

import ast
import hashlib
import sys
import sysconfig
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from swingby.model import registry
from swingby.model.experiment import Experiment

INSTALLED = {
    Path(__file__).resolve().parent.parent,
    *(
        Path(place).resolve()
        for place in {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    ),
}
"""Where Python, its installed packages and this one lie."""
_OF_PACKAGES = {"site-packages", "dist-packages"}
"""Folders of installed packages, of other places too: modules of a cluster come by PYTHONPATH."""


def is_installed(path: Path) -> bool:
    """Whether a file or folder belongs to Python or to an installed package: nobody edits it between two runs."""
    return not _OF_PACKAGES.isdisjoint(path.parts) or any(path.is_relative_to(place) for place in INSTALLED)


def code_of(experiment: Experiment) -> str:
    """The digest of an experiment's code, which its results are marked with; "" where releases say what changed.

    Of a function it is that of its file and of what this imports beside it. Of a packaged experiment it is that of all
    modules of the package, while these are worked on; an installed release says by `stream_version` what changed, and
    so does an experiment that is `pinned`.
    """
    folder = None if experiment.pinned else folder_of(experiment.name)
    return experiment.code if folder is None or is_installed(folder) else _digest_of_folder(folder)


def folder_of(name: str) -> Path | None:
    """The folder of the package that declares an experiment; None: none does."""
    offer = registry.offered(registry.EXPERIMENTS).get(name)
    if offer is None or offer.package is None:
        return None
    file = sys.modules[registry.package_of(offer)].__file__  # imported, since it is offered
    return None if file is None else Path(file).resolve().parent


@cache  # a process imports a package once
def _digest_of_folder(folder: Path) -> str:
    files = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    return digest_of(files)


def digest_of(files: Mapping[str, str]) -> str:
    """The digest of texts of Python: comments, blank lines and layout do not count.

    Raises:
        SyntaxError: one of them is no Python.
    """
    digest = hashlib.sha256()
    for name, text in sorted(files.items()):
        digest.update(f"{name}\0{ast.unparse(ast.parse(text))}\0".encode())
    return digest.hexdigest()[:16]
