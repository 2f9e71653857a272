"""Disks in memory that lose what was not synced, after the model of ALICE (Pillai et al., OSDI 2014).

A folder's entries are certain as of its last sync; each name that came, went or changed since is there as it was at any
moment since, by itself. A file's content is certain as of its own last sync; what was written since may be there
whole, in part, as zeros, or not at all. So renames may come without what they rename, and in another order than they
were made.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from random import Random
from types import TracebackType
from typing import Any, NamedTuple

ROOT = "/sim"
"""Where the disks lie among the paths of a process that is simulated."""
WAYS = ("synced", "kept", "ordered", "any", "any", "any")
"""What a power cut leaves of what was not synced: nothing; all; all up to some moment; anything."""


class Node:
    """A file or a folder.

    Attributes:
        entries: of a folder: name -> node; None: this is a file.
        since: for each name that changed since the last sync, what it was at each moment (0: at that sync).
        synced: of a file: its content at its last sync.
        lock: who holds a lock on it: the handles.
    """

    __slots__ = ("data", "entries", "links", "lock", "mtime", "number", "shared", "since", "synced")
    counter = 0

    def __init__(self, folder: bool, now: float) -> None:
        Node.counter += 1
        self.number, self.mtime, self.links = Node.counter, now, 1
        self.entries: dict[str, Node] | None = {} if folder else None
        self.since: dict[str, list[tuple[int, Node | None]]] = {}
        self.data, self.synced = b"", b""
        self.lock: set[int] = set()
        self.shared = False

    def put(self, name: str, node: Node | None, moment: int) -> None:
        """Changes an entry; it lasts from the next sync of this folder on."""
        assert self.entries is not None
        before = self.entries.get(name)
        self.since.setdefault(name, [(0, before)]).append((moment, node))
        if before is not None:
            before.links -= 1
        if node is None:
            self.entries.pop(name, None)
        else:
            self.entries[name] = node

    def sync(self) -> None:
        """What this node holds lasts from now on."""
        if self.entries is None:
            self.synced = self.data
        else:
            self.since.clear()

    def after_cut(self, rng: Random, way: str, until: int) -> Node:
        """What a power cut leaves: a new node, of which everything lasts."""
        found = Node(self.entries is not None, self.mtime)
        if self.entries is None:
            found.data = found.synced = self._content(rng, way)
            return found
        assert found.entries is not None
        for name in sorted({*self.entries, *self.since}):
            values = self.since.get(name, [(0, self.entries.get(name))])
            if way == "synced":
                node = values[0][1]
            elif way == "kept":
                node = values[-1][1]
            elif way == "ordered":
                node = [one for moment, one in values if moment <= until][-1]
            else:
                node = rng.choice(values)[1]
            if node is not None:
                found.entries[name] = node.after_cut(rng, way, until)
        return found

    def _content(self, rng: Random, way: str) -> bytes:
        if self.data == self.synced or way == "kept":
            return self.data
        if way == "synced":
            return self.synced
        torn = self.data[: rng.randrange(len(self.data) + 1)]
        return rng.choice((self.synced, torn, torn.ljust(len(self.data), b"\0"), self.data))


class Status(NamedTuple):
    """What `os.stat` gives, as far as anybody asks."""

    st_mode: int
    st_ino: int
    st_dev: int
    st_nlink: int
    st_size: int
    st_mtime: float
    st_mtime_ns: int
    st_ctime_ns: int


class Entry:
    """What `os.scandir` gives."""

    __slots__ = ("_node", "name", "path")

    def __init__(self, folder: str, name: str, node: Node) -> None:
        self.name, self.path, self._node = name, f"{folder}/{name}", node

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return self._node.entries is not None

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return self._node.entries is None

    def is_symlink(self) -> bool:
        return False

    def inode(self) -> int:
        return self._node.number


class Scan:
    """The entries of a folder, as `os.scandir` gives them."""

    def __init__(self, entries: list[Entry]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[Entry]:
        return self._entries

    def __next__(self) -> Entry:
        return next(self._entries)

    def __enter__(self) -> Iterator[Entry]:
        return self._entries

    def __exit__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        """Nothing is open."""


class Disks:
    """The disks below `ROOT`, one for each name there, and the operations on them."""

    def __init__(self) -> None:
        self.root = Node(True, 0.0)
        self.moment = 1
        self.now = 0.0

    def add(self, name: str) -> None:
        """Adds an empty disk."""
        self.root.put(name, Node(True, 0.0), 0)
        self.root.sync()

    def cut(self, name: str, rng: Random) -> None:
        """Cuts the power of a disk."""
        assert self.root.entries is not None
        way, until = rng.choice(WAYS), rng.randrange(self.moment + 1)
        self.root.put(name, self.root.entries[name].after_cut(rng, way, until), 0)
        self.root.sync()

    # paths

    @staticmethod
    def fault(number: int, path: str) -> OSError:
        """The error that the system raises."""
        return OSError(number, os.strerror(number), path)

    def _walk(self, path: str) -> tuple[Node, str, Node | None]:
        """The folder that a path is in, its name there, and what is there."""
        parts = path[len(ROOT) + 1 :].rstrip("/").split("/")
        folder = self.root
        if parts == [""]:
            return folder, "", folder
        for part in parts[:-1]:
            entries = folder.entries
            below = None if entries is None else entries.get(part)
            if below is None:
                raise self.fault(errno.ENOENT if entries is not None else errno.ENOTDIR, path)
            folder = below
        if folder.entries is None:
            raise self.fault(errno.ENOTDIR, path)
        return folder, parts[-1], folder.entries.get(parts[-1])

    def node(self, path: str) -> Node:
        """What is at a path."""
        found = self._walk(path)[2]
        if found is None:
            raise self.fault(errno.ENOENT, path)
        return found

    def _put(self, folder: Node, name: str, node: Node | None) -> None:
        self.moment += 1
        folder.put(name, node, self.moment)
        folder.mtime = self.now

    # operations

    def status(self, node: Node) -> Status:
        kind = stat.S_IFREG | 0o644 if node.entries is None else stat.S_IFDIR | 0o755
        nanoseconds = int(node.mtime * 1e9)
        return Status(kind, node.number, 1, node.links, len(node.data), node.mtime, nanoseconds, nanoseconds)

    def stat(self, path: str) -> Status:
        return self.status(self.node(path))

    def scandir(self, path: str) -> Scan:
        node = self.node(path)
        if node.entries is None:
            raise self.fault(errno.ENOTDIR, path)
        return Scan([Entry(path, name, one) for name, one in node.entries.items()])

    def mkdir(self, path: str) -> None:
        folder, name, there = self._walk(path)
        if there is not None:
            raise self.fault(errno.EEXIST, path)
        self._put(folder, name, Node(True, self.now))

    def rmdir(self, path: str) -> None:
        folder, name, there = self._walk(path)
        if there is None:
            raise self.fault(errno.ENOENT, path)
        if there.entries is None:
            raise self.fault(errno.ENOTDIR, path)
        if there.entries:
            raise self.fault(errno.ENOTEMPTY, path)
        self._put(folder, name, None)

    def unlink(self, path: str) -> None:
        folder, name, there = self._walk(path)
        if there is None:
            raise self.fault(errno.ENOENT, path)
        if there.entries is not None:
            raise self.fault(errno.EISDIR, path)
        self._put(folder, name, None)

    def rename(self, path: str, target: str) -> None:
        folder, name, node = self._walk(path)
        if node is None:
            raise self.fault(errno.ENOENT, path)
        onto, new, there = self._walk(target)
        if there is not None and there.entries:
            raise self.fault(errno.ENOTEMPTY, target)
        self._put(onto, new, node)
        self._put(folder, name, None)
        node.links = 1

    def rmtree(self, path: str) -> None:
        node = self.node(path)
        for name in list(node.entries or ()):
            below = f"{path}/{name}"
            if self.node(below).entries is None:
                self.unlink(below)
            else:
                self.rmtree(below)
        self.rmdir(path)

    def create(self, path: str, exclusive: bool = False) -> Node:
        """The file at a path, made if it is missing."""
        folder, name, there = self._walk(path)
        if there is None:
            there = Node(False, self.now)
            self._put(folder, name, there)
        elif exclusive:
            raise self.fault(errno.EEXIST, path)
        if there.entries is not None:
            raise self.fault(errno.EISDIR, path)
        return there

    def write(self, node: Node, content: bytes) -> None:
        """Sets the content of a file."""
        node.data, node.mtime = content, self.now

    def files(self, path: str) -> dict[str, bytes]:
        """Every file below a folder: relative path -> content."""
        found: dict[str, bytes] = {}

        def look(node: Node, at: str) -> None:
            for name, below in sorted((node.entries or {}).items()):
                if below.entries is None:
                    found[f"{at}{name}"] = below.data
                else:
                    look(below, f"{at}{name}/")

        try:
            look(self.node(path), "")
        except FileNotFoundError:
            return {}
        return found


class File(io.BytesIO):
    """An open file; what was written is there once it is closed."""

    def __init__(self, disks: Disks, node: Node, mode: str, before: Any) -> None:
        super().__init__(b"" if "w" in mode or "x" in mode else node.data)
        if "a" in mode:
            self.seek(0, io.SEEK_END)
        self._disks, self._node, self._writes, self._before = disks, node, mode.strip("rbt") != "", before
        if "w" in mode:
            disks.write(node, b"")

    def close(self) -> None:
        if not self.closed and self._writes:
            self._writes = False
            content = self.getvalue()
            self._disks.write(self._node, self._before(content))
        super().close()

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


def inside(path: Any) -> str | None:
    """A path as text, if it leads to a simulated disk."""
    if type(path) is not str:
        if type(path) is int:
            return None
        path = os.fspath(path)
    return path if isinstance(path, str) and path.startswith(ROOT) else None
