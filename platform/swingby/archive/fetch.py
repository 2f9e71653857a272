"""Bringing shipped results in where somebody asks for a sweep that was never run in a data folder."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from swingby.archive.file import Recording, read_header
from swingby.archive.shipped import shipped
from swingby.archive.unpack import unpack
from swingby.data.records import Records
from swingby.store.lookup import SHORTEST_ID
from swingby.sweepfile.sweep import Sweep, named_sweeps

_PLAN = re.compile(r"(.+)-([0-9a-f]{8})-\d+")


def bring(data: Path, sweep: str, say: Callable[[str], object]) -> bool:
    """Unpacks the shipped whole results of a sweep of which the data folder has no plan, and says so; True if it did.

    The folder is made if it is missing. Anything else is left alone: sweeps that were begun, names nobody ships, and
    results without their curves.

    Args:
        sweep: a name, an id or its first digits, or a sweep file.

    Raises:
        SwingbyError: as `unpack`; or a sweep file has faults.
    """
    if _planned(data, lambda name, start: name == sweep):
        return False
    found = _shipped_whole(sweep)
    if found is None:
        return False
    path, of = found
    if _planned(data, lambda _, start: of.sweep_id.startswith(start)):
        return False
    say(f"{of.name} was never run in {data}; recorded results of it are shipped, and are unpacked there")
    say(str(unpack(data, path)))
    return True


def _planned(data: Path, fits: Callable[[str, str], bool]) -> bool:
    """Whether the data folder has a plan whose sweep's name and first eight digits fit."""
    if not (data / "swingby.json").exists():
        return False
    matches = (_PLAN.fullmatch(plan) for plan in Records.open(data, create=False).plans())
    return any(fits(match[1], match[2]) for match in matches if match)


def _shipped_whole(sweep: str) -> tuple[Path, Recording] | None:
    """The shipped file of a sweep as it is written now, if it is a whole one."""
    is_file = sweep.endswith((".yaml", ".yml"))
    wanted = Sweep.load(sweep, confirm_above=None).sweep_id if is_file or sweep in named_sweeps() else None
    for sweep_id, path in shipped().items():
        by_id = len(sweep) >= SHORTEST_ID and sweep_id.startswith(sweep)
        if sweep_id == wanted or (wanted is None and (path.stem == sweep or by_id)):
            of = read_header(path)
            return (path, of) if of.whole else None
    return None
