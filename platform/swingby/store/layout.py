"""Where the store keeps its files, and the pointer that says which of them are published.

    store/pointer.json    the newest generation; flipped by one rename
    store/lease.lock      held by the process that ingests
    store/ingested.json   which records the newest generation holds, so that an ingest without news opens no database
    store/build-0001/     what the writer works on: index.duckdb, the open segment, sealed/segment-000000.duckdb ...
    store/published/      copies of the index and of the open segment, a pair for each of the last two generations

A rebuild makes the next build beside the old one; the pointer says which is live, so one that dies changes nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from swingby.data.files import clear_os_errors, files_below, write_json
from swingby.errors import BrokenStoreError, SwingbyError
from swingby.store.sql import literal

FORMAT = 5
"""The version of how a store lies on disk: of its pointer, its index and its segments."""
UPGRADES = {1: "upgrade-1", 2: "upgrade-2", 3: "upgrade-3", 4: "upgrade-4"}
"""Version of an index -> the script that makes it one of the next. A store of any other older version is made again."""
REBUILD = "`swingby ingest` makes the store again from the records"
"""What to do about a store that cannot be used."""
SEALED = "sealed"
CATALOGUE = re.compile(r"duckdb_(columns|tables|views)|information_schema|pg_(catalog|description)", re.IGNORECASE)
"""Names in a query that can show what is written about tables and columns."""


class OlderStoreError(SwingbyError):
    """The store is of a version so old that it has to be made again from the records."""


class NewerStoreError(SwingbyError):
    """The store was written by a newer version of this program."""

    def __init__(self, what: Path, version: Any) -> None:
        super().__init__(
            f"{what} was written by a newer version of swingby: it has store version {version}, and this one knows "
            f"version {FORMAT}; update swingby (pip install --upgrade swingby)"
        )


def check_version(what: Path, version: Any) -> None:
    """Refuses a version of the store that cannot be read, and says what to do.

    Raises:
        NewerStoreError, OlderStoreError: it is newer than this program, or too old.
        ValueError: it is no version.
    """
    if type(version) is not int:
        raise ValueError(f"its format is {version!r}")
    if version > FORMAT:
        raise NewerStoreError(what, version)
    if version != FORMAT and version not in UPGRADES:
        raise OlderStoreError(
            f"{what} has store version {version}, which this version of swingby does not read (it knows version "
            f"{FORMAT}); `swingby ingest` makes the store again from the records"
        )


VIEW = re.compile(r'create view (?:"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>\w+))')
"""How a statement of `Generation.views` begins."""
ALIAS = re.compile(r"[A-Za-z_]\w*")
"""Names of attached databases."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One published state of the store: what a reader attaches, and the views that make it one schema.

    Attributes:
        number: 1, then one more for each publication.
        build: which build it was copied from.
        revision: how many transactions had been applied.
        files: alias of an attached database -> path relative to the store folder.
        views: `create view` statements for a connection that has attached the files read-only under their aliases.
        previous: the files of the generation before, kept for its readers.
        published: when, in seconds since 1970.
        cost: seconds the publication took.
        format: the version of the store.
    """

    number: int
    build: int
    revision: int
    files: Mapping[str, str]
    views: tuple[str, ...]
    previous: tuple[str, ...]
    published: float
    cost: float
    format: int = FORMAT

    @property
    def names(self) -> frozenset[str]:
        """The names of the views: every table that a query can name."""
        heads = [VIEW.match(view) for view in self.views]
        return frozenset(
            head["quoted"].replace('""', '"') if head["quoted"] else head["plain"] for head in heads if head
        )


class Layout:
    """The paths of one data folder's store."""

    def __init__(self, data: Path) -> None:
        self.root = data / "store"
        self.pointer = self.root / "pointer.json"
        self.lease = self.root / "lease.lock"
        self.ingested = self.root / "ingested.json"
        self.published = self.root / "published"

    # builds

    def build(self, number: int) -> Path:
        """The folder of a build."""
        return self.root / f"build-{number:04d}"

    def index(self, build: int) -> Path:
        """The index that the writer works on."""
        return self.build(build) / "index.duckdb"

    def segment(self, build: int, number: int) -> Path:
        """The open segment of that number."""
        return self.build(build) / f"segment-{number:06d}.duckdb"

    def sealed_folder(self, build: int) -> Path:
        """Where a build's full segments lie."""
        return self.build(build) / SEALED

    def sealed(self, build: int) -> list[tuple[int, Path]]:
        """The sealed segments with their numbers, in order; they never change."""
        return [(_last_number(path), path) for path in sorted(self.sealed_folder(build).glob("segment-*.duckdb"))]

    def next_build(self) -> int:
        """A number above that of every build there is."""
        return 1 + max(map(_last_number, self.root.glob("build-*")), default=0)

    # generations

    def newest(self) -> Generation | None:
        """The published generation; None if nothing was published yet.

        Raises:
            NewerStoreError, OlderStoreError: its version is newer than this program, or too old.
            BrokenStoreError: the pointer cannot be read.
        """
        try:
            pointed: dict[str, Any] = json.loads(self.pointer.read_bytes())
            check_version(self.pointer, pointed["format"])
            return _generation(pointed)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise BrokenStoreError(f"{self.pointer} cannot be read ({error!r}); {REBUILD}") from error

    def state(self, names: Sequence[str]) -> dict[str, Any]:
        """The names of all records and stamps of the store's files; empty if nothing is published."""
        try:
            newest = self.newest()
            if newest is None or newest.format != FORMAT:
                return {}
            files = _stamps((self.index(newest.build),))
            published = _stamps((self.pointer, *self.paths(newest).values()))
        except (OSError, SwingbyError):
            return {}
        digest = hashlib.sha256("\n".join(names).encode()).hexdigest()
        return {"records": digest, "files": files, "published": published}

    def holds_all(self, names: Sequence[str]) -> bool:
        """Whether the newest generation holds every record of these, and the folder has no others nor bad ones."""
        noted = self._noted()
        return bool(noted) and noted == self.state(names)

    def published_as_noted(self) -> bool:
        """Whether the pointer and the published files are those that the last ingest left."""
        return self._noted().get("published") == self.state([]).get("published")

    def _noted(self) -> dict[str, Any]:
        try:
            noted = json.loads(self.ingested.read_bytes())
        except (OSError, ValueError):
            return {}
        return noted if isinstance(noted, dict) else {}

    def next_number(self, newest: Generation | None) -> int:
        """The number after `newest`; if that is not known, after every copy there is."""
        if newest is not None:
            return newest.number + 1
        return 1 + max(map(_last_number, self.published.glob("index-*.duckdb")), default=0)

    def paths(self, generation: Generation) -> dict[str, Path]:
        """Alias -> absolute path of each database of a generation."""
        return {alias: self.root / name for alias, name in generation.files.items()}

    @staticmethod
    def statements(generation: Generation, paths: Mapping[str, Path]) -> list[str]:
        """The statements by which a connection reads a generation whose files lie at `paths` (alias -> file)."""
        return [*attachments(paths), *generation.views]

    def flip(self, generation: Generation) -> None:
        """Makes a generation the published one, then removes what neither it nor the one before needs."""
        content = asdict(generation)
        write_json(self.pointer, {**content, "digest": _digest(content)})
        self.prune(generation)

    def prune(self, generation: Generation) -> None:
        """Removes copies and builds that nothing points at; readers that have them open keep them."""
        with clear_os_errors(f"tidy {self.root}"):
            for path in self.unneeded(generation):
                path.unlink(missing_ok=True)
            for folder in self.root.glob("build-*"):
                if not files_below(folder):
                    shutil.rmtree(folder, ignore_errors=True)

    def unneeded(self, generation: Generation) -> list[Path]:
        """The files of copies and builds that neither this generation nor the one before needs."""
        kept = {self.root / name for name in (*generation.files.values(), *generation.previous)}
        builds = [folder for folder in self.root.glob("build-*") if folder != self.build(generation.build)]
        files = {path for folder in (self.published, *builds) for path in files_below(folder)}
        return sorted(files - kept)


def attachments(paths: Mapping[str, Path]) -> list[str]:
    """The statements that attach databases read-only, by their aliases."""
    return [f"attach {literal(str(path))} as {alias} (read_only)" for alias, path in paths.items()]


def _digest(pointed: Mapping[str, Any]) -> str:
    """What tells a garbled pointer from the one that was written."""
    return hashlib.sha256(json.dumps(pointed, sort_keys=True).encode()).hexdigest()


def _generation(pointed: dict[str, Any]) -> Generation:
    """The generation that a pointer describes. Readers run its views and open its files: anything else is refused.

    Whether a text that begins with `create view` ends with it is for those to see that run it: nothing here parses SQL.

    Raises:
        TypeError, ValueError, KeyError: it was garbled, or names files elsewhere, or its views are other statements.
    """
    digest = pointed.pop("digest", None)  # a pointer of an earlier program has none
    if digest not in (None, _digest(pointed)):
        raise ValueError("its digest is another one")
    generation = Generation(**{**pointed, "views": tuple(pointed["views"]), "previous": tuple(pointed["previous"])})
    if not all(type(number) is int for number in (generation.number, generation.build, generation.revision)):
        raise TypeError("its numbers are no integers")
    if not all(type(seconds) in (int, float) for seconds in (generation.published, generation.cost)):
        raise TypeError("its times are no numbers")
    for alias in generation.files:
        if not ALIAS.fullmatch(alias):
            raise ValueError(f"a database has the name {alias!r}")
    for name in (*generation.files.values(), *generation.previous):
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise ValueError(f"the file {name!r} lies outside of the store")
    for view in generation.views:
        if not VIEW.match(view):
            raise ValueError(f"a statement makes no view: {view[:60]!r}")
    return generation


def _stamps(paths: Iterable[Path]) -> list[int]:
    """Numbers that change when one of these files does."""
    return [
        number for stat in (path.stat() for path in paths) for number in (stat.st_ino, stat.st_size, stat.st_mtime_ns)
    ]


def _last_number(path: Path) -> int:
    """The number at the end of a name such as `segment-000007.duckdb`."""
    return int(path.stem.rpartition("-")[2])
