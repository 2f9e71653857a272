"""A data folder: the mark that says what it is, and its files by their paths, each whole or absent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Self

from swingby.data.files import TEMPORARY, clear_os_errors, write_json, write_whole
from swingby.data.remote.address import is_address
from swingby.data.remote.mirror import Mirror
from swingby.data.remote.mirrors import folder_of, mirrored
from swingby.errors import SwingbyError

FORMAT = 1
"""The version of a data folder as it is made."""
RETRACTED = 2
"""That of one with retractions: a program that knows none of them must not show what was taken back."""


def listing(folder: Path, pattern: str) -> list[str]:
    """Relative names of the finished files below a folder, sorted."""
    found = (path for path in folder.glob(pattern) if not path.name.startswith(TEMPORARY))
    return sorted(path.relative_to(folder).as_posix() for path in found)


def numbers(names: Iterable[str], pattern: str) -> list[int]:
    """The number that a pattern's only group finds in each name that it matches whole."""
    matches = (re.fullmatch(pattern, name) for name in names)
    return [int(match[1]) for match in matches if match]


def place_of(data: str | Path) -> Path:
    """Where a data folder lies on this machine: of one on object storage, the folder that stands for it.

    Raises:
        SwingbyError: no address, or one that went through a path, which keeps one slash of two.
    """
    if is_address(str(data)):
        return folder_of(str(data))
    if isinstance(data, Path) and re.match(r"[a-z0-9]{2,}:/", str(data)) and not data.exists():
        raise SwingbyError(
            f"{str(data)!r} was an address before it became a path: give it as text, scheme://bucket/..."
        )
    return Path(data).expanduser().absolute()


class Folder:
    """A data folder, its mark, and its files by their paths below it; a path is a record's key.

    Attributes:
        data: where it lies on this machine.
        mirror: what it stands for on object storage; None: it stands for itself.
    """

    def __init__(self, data: Path) -> None:
        self.data = data
        self.mirror: Mirror | None = None

    @classmethod
    def open(cls, data: str | Path, create: bool = True) -> Self:
        """The data folder, whose path is made absolute here; or what stands for one on object storage.

        Whoever opens it by its address has everything that is there now; whoever opens the folder has what is here.

        Raises:
            SwingbyError: no such folder (and `create` is False), a folder of something else, or of an unknown format;
                or the storage does not answer.
        """
        folder = cls(place_of(data))
        folder.mirror = mirrored(folder.data)
        with clear_os_errors(f"use the data folder {folder.data}"):
            folder._check(create, fresh=is_address(str(data)))
        return folder

    @property
    def where(self) -> str:
        """Its address, or path: what opens it on any machine that reaches it."""
        return str(self.data) if self.mirror is None else self.mirror.bucket.address

    def unite(self, tell: Callable[[str], object] = lambda text: None) -> int:
        """Brings this folder and what it stands for to one stand; how many records came or went.

        Raises:
            SwingbyError: the storage does not answer, or the disk refuses.
        """
        return 0 if self.mirror is None else self.mirror.unite(tell)

    def _check(self, create: bool, fresh: bool) -> None:
        mark = self.data / "swingby.json"
        if self.mirror is not None and (fresh or not mark.exists()):
            self.mirror.begin(create, json.dumps({"format": FORMAT}).encode())
        if not mark.exists():
            self._make(mark, create)
        self._check_format()
        if fresh:
            self.unite()

    def _make(self, mark: Path, create: bool) -> None:
        strange = self.data.exists() and any(not path.name.startswith(".") for path in self.data.iterdir())
        if self.mirror is None and strange:
            raise SwingbyError(f"{self.data} is not a data folder: it has files but no swingby.json; choose another")
        if not create or self.mirror is not None:
            raise SwingbyError(f"there is no data folder at {self.where}; `swingby run` makes one")
        write_json(mark, {"format": FORMAT})

    def _check_format(self) -> None:
        found = self._format()
        if found > RETRACTED:
            raise SwingbyError(
                f"{self.where} was written by a newer version of swingby: it has format {found}, and this one knows "
                f"formats {FORMAT} to {RETRACTED}; update swingby (pip install --upgrade swingby)"
            )

    def _format(self) -> int:
        mark = self.data / "swingby.json"
        try:
            found = json.loads(mark.read_bytes())["format"]
        except (ValueError, KeyError, TypeError) as error:
            raise SwingbyError(f"{mark} cannot be read: it should say {json.dumps({'format': FORMAT})}") from error
        if type(found) is not int or found < FORMAT:
            raise SwingbyError(f"{mark} says format {found!r}; allowed: {FORMAT} to {RETRACTED}")
        return found

    def admit_retractions(self) -> None:
        """From now on only programs that know retractions may open the folder."""
        if self._format() < RETRACTED:
            if self.mirror is not None:
                self.mirror.bucket.put("swingby.json", json.dumps({"format": RETRACTED}).encode())
            write_json(self.data / "swingby.json", {"format": RETRACTED})

    # files by their paths

    def content(self, key: str) -> bytes:
        """What is in a record.

        Raises:
            SwingbyError: it is no plain file, or cannot be read.
        """
        path = self.data / key
        with clear_os_errors(f"read {path}"):
            if not path.is_file() or path.is_symlink():
                raise SwingbyError(f"{path} is no plain file")
            return path.read_bytes()

    def size(self, key: str) -> int | None:
        """Bytes of a record; None if there is none of that name."""
        path = self.data / key
        return path.stat().st_size if path.exists() else None

    def put(self, key: str, content: bytes) -> None:
        """Writes a record that another data folder has, whole and under its name.

        Raises:
            SwingbyError: the disk refuses.
        """
        if key.startswith("retractions/"):
            self.admit_retractions()
        if self.mirror is not None and key.startswith("plans/"):
            self.mirror.bucket.put(key, content)  # first: of two plans of one name that one counts which is there
        write_whole(self.data / key, lambda temporary: temporary.write_bytes(content))

    def unfinished(self) -> list[Path]:
        """Files that somebody writes, or died while writing them."""
        places = ("", "plans/", "shards/*/", "derived/*/", "retractions/", "store/", "store/*/", "work/**/")
        return sorted(path for place in places for path in self.data.glob(f"{place}{TEMPORARY}*"))
