"""Provenance: which code, which packages, which machine and which command made a plan."""

from __future__ import annotations

import os
import platform
import re
import socket
import subprocess
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

NEEDED = "needed.txt"
"""The file with the requirements of a package that was sent to a machine: pip would install what its metadata lists."""

TOOLS = re.compile(r"""extra == ['"](dev|docs?|lint|tests?)['"]""")
"""Extras with tools for work on a package, which no result hangs on."""


def provenance(code: str | Path | None = None) -> dict[str, Any]:
    """Git commit and dirty flag of a checkout (None outside one), versions, host, system, CPUs, command line.

    Args:
        code: the folder of the experiment's code; None: the checkout is that of this package.
    """
    commit, dirty = checkout(Path(code or Path(__file__).resolve().parent))
    return {
        "git_commit": commit,
        "git_dirty": dirty,
        "versions": dict(package_versions()),
        "host": socket.gethostname(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        "command": list(sys.argv),
    }


@cache
def package_versions() -> Mapping[str, str | None]:
    """The installed version of this package, of each that it requires, and of those of its extras that are there.

    A package that is required and not installed, as where the metadata of a whole environment was copied, has None.
    Read once, since that takes 50 ms.
    """
    try:
        versions: dict[str, str | None] = {"swingby": metadata.version("swingby")}
    except metadata.PackageNotFoundError:  # a source tree that was never installed
        return {}
    for line in listed(metadata.distribution("swingby")):
        name = project(line)
        if "extra ==" not in line:
            versions[name] = None
            with suppress(metadata.PackageNotFoundError):
                versions[name] = metadata.version(name)
        elif not TOOLS.search(line):
            with suppress(metadata.PackageNotFoundError):
                versions.setdefault(name, metadata.version(name))
    return versions


def listed(distribution: metadata.Distribution) -> list[str]:
    """The requirements of an installed package and of its extras; also of one that was sent (`run.ray.wheels`)."""
    sent = (distribution.read_text(NEEDED) or "").splitlines()
    return sent or list(distribution.requires or [])


def required(distribution: metadata.Distribution, modules: Collection[str] = ()) -> list[str]:
    """The requirements of a package without its extras; of these, those alone that install one of `modules`."""
    lines = dict[str, str]()
    for line in listed(distribution):
        if "extra ==" not in line:
            lines[project(line)] = line
        elif not TOOLS.search(line) and project(line).lower() in {module.lower() for module in modules}:
            lines.setdefault(project(line), line.partition(";")[0].strip())
    return list(lines.values())


def project(requirement: str) -> str:
    """The name of the package that a requirement is about."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def checkout(folder: Path) -> tuple[str | None, bool | None]:
    """Commit and dirty flag of the git checkout that tracks this folder; (None, None) if there is none, or no git."""
    if not _git(folder, "ls-files", "--", "."):
        return None, None  # an installed copy that happens to lie inside somebody's repository
    commit = _git(folder, "rev-parse", "HEAD")
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return commit, None if changes is None else bool(changes)


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
