"""Power cuts, simulated: what a file system without a journal may have left of a folder, by what was synced.

A folder's entries are certain as of its last sync; of those that came or went since, any may be there or not, each by
itself. A file's content is certain as of its last sync; what was never synced may be empty, torn or whole. Databases
are taken as they are: DuckDB syncs the content of its files before it goes on, but no folder.
"""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Disk:
    """A folder whose syncs are watched, see `watch`.

    Attributes:
        root: the folder; it lasts itself.
        aside: where hard links keep every file that was ever synced into a folder.
        moment: called before each sync.
    """

    root: Path
    aside: Path
    moment: Callable[[Path], object] = lambda path: None
    entries: dict[int, dict[str, int]] = field(default_factory=dict)
    contents: dict[int, bytes] = field(default_factory=dict)

    def fsync(self, handle: int) -> None:
        """Stands in for `os.fsync`."""
        path = Path(f"/proc/self/fd/{handle}").readlink()
        if not path.is_relative_to(self.root):
            return
        self.moment(path)
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            self.entries[status.st_ino] = self._listed(path)
        elif ".duckdb" not in path.name:
            self.contents[status.st_ino] = path.read_bytes()

    def _listed(self, folder: Path) -> dict[str, int]:
        """The entries of a folder, name -> inode; its files are kept, so that no inode is used again."""
        found = {}
        for path in folder.iterdir() if folder.exists() else ():
            found[path.name] = path.stat().st_ino
            link = self.aside / str(found[path.name])
            if not path.is_dir() and not link.exists():
                os.link(path, link)
        return found

    def cut(self, rng: random.Random, target: Path) -> None:
        """Writes into a new folder what a power cut now may leave."""
        target.mkdir()
        self._leave(self.root, self._listed(self.root), rng, target)

    def _leave(self, folder: Path, known: dict[str, int], rng: random.Random, target: Path) -> None:
        now = self._listed(folder)
        for name in sorted({*known, *now}):
            before, after = known.get(name), now.get(name)
            inode = before if before == after else rng.choice((before, after))
            if inode is None:
                continue
            path = folder / name
            if path.is_dir() and inode == after:
                (target / name).mkdir()
                self._leave(path, self.entries.get(inode, {}), rng, target / name)
            elif (link := self.aside / str(inode)).exists():
                (target / name).write_bytes(self._content(inode, link, rng))

    def _content(self, inode: int, link: Path, rng: random.Random) -> bytes:
        whole, synced = link.read_bytes(), self.contents.get(inode)
        if synced == whole or _is_database(whole):
            return whole
        return rng.choice((synced or b"", whole[: len(whole) // 2], whole))


def _is_database(content: bytes) -> bool:
    """Whether these are bytes of DuckDB: a database, or the log of one."""
    return content[8:12] == b"DUCK" or content[:3] == b"d\0b"
