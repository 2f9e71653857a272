"""Recorded results that packages ship (`archive/*.parquet`), unpacked when a sweep is asked for that was never run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from swingby.archive.file import read_header
from swingby.archive.unpack import unpack
from swingby.data.records import Records
from swingby.data.remote.mirror import DATA_MARK
from swingby.errors import SwingbyError
from swingby.model import package_files
from swingby.store.lookup import SHORTEST_ID
from swingby.sweepfile.sweep import Sweep, named_sweeps

_PLAN = re.compile(r"(.+)-([0-9a-f]{8})-\d+")


def shipped() -> dict[str, Path]:
    """Every shipped file by the id of its sweep.

    Raises:
        SwingbyError: a file of a package is no file of recorded results, or two packages ship results of one sweep.
    """
    files: dict[str, Path] = {}
    for file in package_files.data_files("archive", ".parquet"):
        path = Path(str(file))
        other = files.setdefault(read_header(path).sweep_id, path)
        if other != path:
            raise SwingbyError(f"two packages ship recorded results of one sweep ({other}, {path}); uninstall one")
    return files


def unpack_shipped(data: Path, sweep: str, say: Callable[[str], object]) -> bool:
    """Unpacks the shipped results of a sweep of which the data folder has no plan, and says so; else returns False.

    A folder that is missing is made. Nothing is done for sweeps that were begun, names that no package ships, and
    results without their curves.

    Args:
        sweep: a name, an id or its first digits, or a sweep file.

    Raises:
        SwingbyError: as `unpack`; or a sweep file has faults.
    """
    if _planned(data, lambda name, start: name == sweep):
        return False
    is_file = sweep.endswith((".yaml", ".yml"))
    requested_id = Sweep.load(sweep, confirm_above=None).sweep_id if is_file or sweep in named_sweeps() else None
    for sweep_id, path in shipped().items():
        by_id = len(sweep) >= SHORTEST_ID and sweep_id.startswith(sweep)
        if sweep_id == requested_id or (requested_id is None and (path.stem == sweep or by_id)):
            break
    else:
        return False
    recording = read_header(path)
    if not recording.whole or _planned(data, lambda _, start: recording.sweep_id.startswith(start)):
        return False
    say(f"{recording.name} was never run in {data}; recorded results of it are shipped, and are unpacked there")
    say(str(unpack(data, path)))
    return True


def _planned(data: Path, fits: Callable[[str, str], bool]) -> bool:
    """Whether the data folder has a plan whose sweep's name and first eight digits fit."""
    if not (data / DATA_MARK).exists():
        return False
    matches = (_PLAN.fullmatch(plan) for plan in Records.open(data, create=False).plans())
    return any(fits(match[1], match[2]) for match in matches if match)
