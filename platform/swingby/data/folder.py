"""A data folder on this machine: where it lies, the mark that says what it is, and the names of its finished files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from fnmatch import translate
from functools import lru_cache
from pathlib import Path
from typing import Any

from swingby.data.files import TEMPORARY, clear_os_errors, write_json
from swingby.data.remote.address import is_address
from swingby.data.remote.mirror import DATA_MARK, Mirror, folder_of, mirrored
from swingby.errors import SwingbyError

FORMAT = 1
"""The version of a new data folder."""
RETRACTED = 2
"""The version of a data folder with retractions: a program that knows none must not show what was taken back."""


def listing(folder: Path, pattern: str) -> list[str]:
    """Relative names of the finished files below a folder, sorted."""
    return sorted(_matches(str(folder), pattern))


@lru_cache(256)
def _matcher(pattern: str) -> Callable[[str], Any]:
    return re.compile(translate(pattern)).match


def _matches(folder: str, pattern: str) -> list[str]:
    """Names of files that fit a pattern, whose parts before the last are `*`; many times faster than `Path.glob`."""
    above, _, last = pattern.rpartition("/")
    fits = _matcher(last)
    try:
        with os.scandir(folder) as entries:
            if not above:
                return [one.name for one in entries if fits(one.name) and not one.name.startswith(TEMPORARY)]
            folders = [one.name for one in entries if one.is_dir() and not one.name.startswith(TEMPORARY)]
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []
    below = pattern.partition("/")[2]
    return [f"{name}/{path}" for name in folders for path in _matches(f"{folder}/{name}", below)]


def numbers(names: Iterable[str], pattern: str) -> list[int]:
    """The number that a pattern's only group finds in each name that it matches whole."""
    matches = (re.fullmatch(pattern, name) for name in names)
    return [int(match[1]) for match in matches if match]


def place_of(data: str | Path) -> Path:
    """Where a data folder lies on this machine; for one on object storage, where its mirror lies.

    Raises:
        SwingbyError: it is no address of object storage, or an address that was made a path, which loses a slash.
    """
    if is_address(str(data)):
        return folder_of(str(data))
    if isinstance(data, Path) and re.match(r"[a-z0-9]{2,}:/", str(data)) and not data.exists():
        raise SwingbyError(
            f"{str(data)!r} was an address before it became a path: give it as text, scheme://bucket/..."
        )
    return Path(data).expanduser().absolute()


def opened(data: str | Path, create: bool) -> tuple[Path, Mirror | None]:
    """Where a data folder lies on this machine, and the object storage that it mirrors, if it mirrors one.

    The records of an address are fetched first, and those that only this machine has are put there.

    Raises:
        SwingbyError: as `place_of` and `check_mark`.
    """
    place, remote = place_of(data), is_address(str(data))
    mirror = mirrored(place)
    with clear_os_errors(f"use the data folder {place}"):
        check_mark(place, mirror, create, fresh=remote)
        if remote and mirror is not None:
            mirror.unite(lambda text: None)
    return place, mirror


def check_mark(data: Path, mirror: Mirror | None, create: bool, fresh: bool) -> None:
    """Refuses what is no data folder of a known version; a folder that is missing or empty becomes one if `create`.

    Args:
        mirror: the object storage that the folder mirrors; None: it mirrors none.
        fresh: ask the storage, also where the mark is here already.

    Raises:
        SwingbyError: there is no data folder (and `create` is False), it is a folder of something else, or its version
            is unknown; or the storage does not answer.
    """
    mark, where = data / DATA_MARK, data if mirror is None else mirror.bucket.address
    if mirror is not None and (fresh or not mark.exists()):
        mirror.begin(create, json.dumps({"format": FORMAT}).encode())
    names = set[str]() if mark.exists() or not data.exists() else {path.name for path in data.iterdir()}
    if not mark.exists():  # asked again: another process may make the folder just now
        # The folder of locks is the one thing that may last without the mark, if power is cut while both are made.
        strange = any(not name.startswith(".") for name in names - {DATA_MARK, "locks"})
        if mirror is None and strange:
            raise SwingbyError(f"{data} is not a data folder: it has files but no {DATA_MARK}; choose another")
        if not create or mirror is not None:
            raise SwingbyError(f"there is no data folder at {where}; `swingby run` makes one")
        write_json(mark, {"format": FORMAT})
    version = format_of(data)
    if version > RETRACTED:
        raise SwingbyError(
            f"{where} was written by a newer version of swingby: it has format {version}, and this one knows "
            f"formats {FORMAT} to {RETRACTED}; update swingby (pip install --upgrade swingby)"
        )


def format_of(data: Path) -> int:
    """The version that the mark of a data folder says.

    Raises:
        SwingbyError: the mark cannot be read, or says no version.
    """
    mark = data / DATA_MARK
    try:
        version = json.loads(mark.read_bytes())["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise SwingbyError(f"{mark} cannot be read: it should say {json.dumps({'format': FORMAT})}") from error
    if type(version) is not int or version < FORMAT:
        raise SwingbyError(f"{mark} says format {version!r}; allowed: {FORMAT} to {RETRACTED}")
    return version


def admit_retractions(data: Path, mirror: Mirror | None) -> None:
    """Sees to it that only programs that know retractions open the folder from now on."""
    if format_of(data) < RETRACTED:
        if mirror is not None:
            mirror.bucket.put(DATA_MARK, json.dumps({"format": RETRACTED}).encode())
        write_json(data / DATA_MARK, {"format": RETRACTED})
