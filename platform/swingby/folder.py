"""A data folder: the mark that says what it is, and its files by their paths, each whole or absent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Self

from swingby.errors import SwingbyError
from swingby.files import TEMPORARY, clear_os_errors, write_json, write_whole

FORMAT = 1
"""The version of a data folder as it is made."""
RETRACTED = 2
"""That of one with retractions: a program that knows none of them must not show what was taken back."""


def listing(folder: Path, pattern: str) -> list[str]:
    """Relative names of the finished files below a folder, sorted."""
    found = (path for path in folder.glob(pattern) if not path.name.startswith(TEMPORARY))
    return sorted(path.relative_to(folder).as_posix() for path in found)


class Folder:
    """A data folder, its mark, and its files by their paths below it; a path is a record's key."""

    def __init__(self, data: Path) -> None:
        self.data = data

    @classmethod
    def open(cls, data: str | Path, create: bool = True) -> Self:
        """The data folder, whose path is made absolute here.

        Raises:
            SwingbyError: no such folder (and `create` is False), a folder of something else, or of an unknown format.
        """
        folder = cls(Path(data).expanduser().absolute())
        with clear_os_errors(f"use the data folder {folder.data}"):
            folder._check(create)
        return folder

    def _check(self, create: bool) -> None:
        mark = self.data / "swingby.json"
        if not mark.exists():
            if self.data.exists() and any(not path.name.startswith(".") for path in self.data.iterdir()):
                raise SwingbyError(
                    f"{self.data} is not a data folder: it has files but no swingby.json; choose another"
                )
            if not create:
                raise SwingbyError(f"there is no data folder at {self.data}; `swingby run` makes one")
            write_json(mark, {"format": FORMAT})
        found = self._format()
        if found > RETRACTED:
            raise SwingbyError(
                f"{self.data} was written by a newer version of swingby: it has format {found}, and this one knows "
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
        write_whole(self.data / key, lambda temporary: temporary.write_bytes(content))

    def unfinished(self) -> list[Path]:
        """Files that somebody writes, or died while writing them."""
        places = ("", "plans/", "shards/*/", "derived/*/", "retractions/", "store/", "store/*/", "work/**/")
        return sorted(path for place in places for path in self.data.glob(f"{place}{TEMPORARY}*"))
