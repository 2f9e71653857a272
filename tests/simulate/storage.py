"""Object storage in memory: whole objects, an outage now and then, and puts that arrive after their sender has died."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pyarrow.fs import FileType

from swingby.data.remote.bucket import Bucket
from tests.simulate.world import TRACE, Process, World

ADDRESS = "s3://sim/data"


class Info(NamedTuple):
    """What a storage says of an object."""

    path: str
    type: FileType
    size: int
    mtime: datetime | None


class Sink(io.BytesIO):
    """A stream into the storage; the object is there once it is closed."""

    def __init__(self, storage: Storage, path: str) -> None:
        super().__init__()
        self._storage, self._path = storage, path

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        if not self.closed:
            self._storage.arrive(self._path, self.getvalue())
        super().close()


class Storage:
    """The storage of one world: path -> content and when it came, by the storage's own clock."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.objects: dict[str, tuple[bytes, float]] = {}
        self.out = 0.0
        self.came: Callable[[str, Process], object] = lambda path, sender: None

    def _ask(self, what: str = "") -> None:
        if TRACE and what:
            self.world.say(f"storage: {what}")
        self.world.seam()
        if self.world.now < self.out:
            raise OSError("the storage is out")

    def _info(self, path: str) -> Info:
        if path not in self.objects:
            return Info(path, FileType.NotFound, 0, None)
        content, came = self.objects[path]
        return Info(path, FileType.File, len(content), datetime.fromtimestamp(came, UTC))

    def get_file_info(self, asked: Any) -> Any:
        self._ask()
        if isinstance(asked, str):
            return self._info(asked)
        if TRACE:
            self.world.say(f"storage: list {asked.base_dir}")
        start = f"{asked.base_dir}/"
        deep = asked.recursive
        names = [path for path in sorted(self.objects) if path.startswith(start)]
        return [self._info(path) for path in names if deep or "/" not in path[len(start) :]]

    def open_input_stream(self, path: str) -> io.BytesIO:
        self._ask(f"read {path}")
        if path not in self.objects:
            raise FileNotFoundError(path)
        return io.BytesIO(self.objects[path][0])

    def open_output_stream(self, path: str) -> Sink:
        self._ask()
        return Sink(self, path)

    def arrive(self, path: str, content: bytes) -> None:
        """A put arrives: now; or, if its sender dies or waits just then, a moment later all the same."""
        world, came = self.world, [False]
        sender = world.process()

        def take() -> None:
            if not came[0]:
                came[0] = True
                self.objects[path] = content, world.now
                self.came(path, sender)
                world.happened()

        if world.rng.random() < 0.1:
            world.thread(lambda: (world.sleep(world.rng.uniform(0.1, 2.0)), take()), world.network)
        world.happened()  # a fault may strike while it is on its way
        try:
            self._ask(f"put {path}")
        except OSError:
            if world.rng.random() < 0.5:
                take()  # it came, and the answer was lost
            raise
        take()

    def delete_file(self, path: str) -> None:
        self._ask(f"delete {path}")
        if self.objects.pop(path, None) is None:
            raise FileNotFoundError(path)


class SimBucket(Bucket):
    """The platform's own bucket over the storage of the world."""

    storage: Storage

    def _reached(self, delayed: bool = True) -> tuple[Any, str]:
        return self.storage, "sim/data"
