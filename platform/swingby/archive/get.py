"""Published sweeps of others, from a folder or an address, as recorded results in a data folder.

Nothing of a stranger's is run or followed. The archive is copied with its digest checked, then taken in once in a
process with limits and a throwaway data folder, and only after that in the real one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from swingby.archive.download import Folder, Place, copy, place_of
from swingby.archive.file import Recording, read_header
from swingby.archive.publication import LONGEST, MANIFEST, Published
from swingby.archive.unpack import Unpacked, unpack
from swingby.data.files import clear_os_errors
from swingby.data.remote.mirror import DATA_MARK
from swingby.errors import SwingbyError
from swingby.options import option
from swingby.store import Store
from swingby.text import plain
from swingby.units import size

LIMIT = 4 * 10**9
"""Most bytes of an archive, where nobody says otherwise."""
FOOTER = 32 * 2**20
"""Most bytes of the part of a Parquet file that describes its columns; Arrow reads it before anything can be asked."""


@dataclass(frozen=True)
class Received:
    """A published sweep that was taken in."""

    published: Published
    unpacked: Unpacked
    origin: str

    def __str__(self) -> str:
        return f"{self.unpacked}. Published by others: {self.origin}"


def get(
    source: str,
    data: Path,
    *,
    limit: int = LIMIT,
    memory: int = LIMIT,
    seconds: float = 900.0,
    say: Callable[[str], object] = lambda text: None,
) -> Received:
    """Takes a published sweep into a data folder, which is made if it is missing; twice is once.

    Args:
        source: a folder that `swingby publish` wrote, or its address.
        limit: most bytes of its archive, and of all files of a folder.
        memory, seconds: what taking it in may use.

    Raises:
        SwingbyError: the folder is damaged, too large, or is no published sweep of this version; its experiment is not
            installed; or this data folder has results of other code under the experiment's name. The data folder is as
            it was.
    """
    place = place_of(source)
    manifest = BytesIO()
    copy(place, MANIFEST, manifest, LONGEST, None)
    published = Published.of_bytes(manifest.getvalue(), f"{MANIFEST} of {place.where}")
    _check_sizes(published, place, limit)
    with tempfile.TemporaryDirectory(prefix="swingby-get-") as folder:
        archive = Path(folder) / "archive.parquet"
        say(f"{published.name}: {size(published.files[published.archive][0])} from {place.where} ...")
        with clear_os_errors(f"copy {published.archive}"), archive.open("wb") as target:
            _copy_all(place, published, target)
        _check_footer(archive, f"{published.archive} of {place.where}")
        _rehearse(archive, published, Path(folder), memory, seconds, f"{published.archive} of {place.where}")
        recording = read_header(archive)
        _check_code(data, recording)
        origin = _origin(published, place)
        return Received(published, unpack(data, archive, origin), origin)


def _check_sizes(published: Published, place: Place, limit: int) -> None:
    files = published.files if isinstance(place, Folder) else {published.archive: published.files[published.archive]}
    total = sum(count for count, _ in files.values())
    if total > limit:
        raise SwingbyError(
            f"{published.name} of {place.where} has {size(total)}; allowed: {size(limit)}; "
            f"{option('limit')} raises this"
        )


def _copy_all(place: Place, published: Published, target: BinaryIO) -> None:
    """Copies the archive; of a folder on this machine all other files are held to their digests, too."""
    copy(place, published.archive, target, *published.files[published.archive])
    if isinstance(place, Folder):
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123  a device
            for name, (count, digest) in published.files.items():
                if name != published.archive:
                    copy(place, name, nowhere, count, digest)


def _check_footer(path: Path, what: str) -> None:
    """Refuses a file that is no Parquet, or whose footer is too large to be read by anybody."""
    with path.open("rb") as file:
        count = file.seek(0, os.SEEK_END)
        file.seek(max(count - 8, 0))
        tail = file.read(8)
    if len(tail) < 8 or tail[4:] != b"PAR1":
        raise SwingbyError(f"{what} is no Parquet file")
    footer = int.from_bytes(tail[:4], "little")
    if footer > min(FOOTER, count):
        raise SwingbyError(f"{what} describes its columns in {size(footer)}; allowed: {size(FOOTER)}")


def _rehearse(archive: Path, published: Published, folder: Path, memory: int, seconds: float, what: str) -> None:
    """Takes an archive into a throwaway data folder, in a process with limits (`swingby.archive.rehearsal`).

    Raises:
        SwingbyError: it is not sound, or takes more than it may.
    """
    request = {
        "archive": str(archive),
        "data": str(folder / "rehearsal"),
        "name": published.name,
        "sweep_id": published.sweep_id,
        "experiment": published.experiment,
        "memory_bytes": memory,
        "file_bytes": max(memory, 2**30),
        "seconds": seconds,
        "threads": 2,
        "files": [],
        "parent": os.getpid(),
    }
    places = os.pathsep.join(path for path in sys.path if path)
    environment = {"HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8", "PYTHONPATH": places}
    command = [sys.executable, "-P", "-s", "-B", "-m", "swingby.archive.rehearsal"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=folder, env=environment, start_new_session=True,
    )  # fmt: skip
    try:
        output, errors = process.communicate(json.dumps(request).encode(), timeout=seconds + 30)
    except subprocess.TimeoutExpired:
        output, errors = b"", b""
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    answer: Mapping[str, Any] = {}
    with suppress(ValueError, IndexError):
        answer = json.loads(output.strip().splitlines()[-1])
    if answer.get("sound") is True and process.returncode == 0:
        return
    if "error" in answer:
        raise SwingbyError(f"{what} is refused: {plain(answer['error'], 600)}")
    lines = errors.decode(errors="replace").strip().splitlines()
    raise SwingbyError(
        f"{what} is refused: to take it in needs more than {size(memory)} of memory or {seconds:.0f} s "
        f"({option('memory')} and {option('timeout')} raise these), or it is damaged "
        f"({plain(lines[-1] if lines else 'the process was killed', 200)})"
    )


def _check_code(data: Path, recording: Recording) -> None:
    """Refuses results of an experiment whose name stands for other code in this data folder.

    Packaged experiments are installed here, and ids of cells tell whether they are the same.
    """
    if "declared" not in recording.resolved or not (data / DATA_MARK).exists():
        return
    query = "select distinct name, resolved from sweeps where experiment = ? order by all"
    with Store.open(data) as store:
        rows = store.sql(query, [recording.experiment]).rows()
    code, params = _identity(recording.resolved)
    for row in rows:
        other, others = _identity(json.loads(row.resolved))
        if (other, others) != (code, params):
            raise SwingbyError(
                f"{recording.name!r} is of an experiment {recording.experiment!r} with code {code or 'unknown'}, and "
                f"{row.name!r} here of one with code {other or 'unknown'}, or with other parameters: their results "
                f"would share a table; take it into a data folder of its own: {option('data', 'elsewhere')}"
            )


def _identity(resolved: Mapping[str, Any]) -> tuple[str, Any]:
    """The code of a function's experiment, and its parameters; those of an experiment of a package are not known."""
    return resolved["recording"].get("code", ""), (resolved.get("declared") or {}).get("params")


def _origin(published: Published, place: Place) -> str:
    """Who published a sweep, and where it came from, in words."""
    authors = ", ".join(plain(author, 80) for author in published.authors) or "nobody named"
    return (
        f"{plain(published.title, 200)} ({authors}, {plain(published.published, 20)}, {plain(published.licence, 80)}), "
        f"from {place.where}"
    )
