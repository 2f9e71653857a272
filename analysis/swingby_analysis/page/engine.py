"""The engine of SQL inside a page: DuckDB-WASM, brought once by `npm pack` and checked against a pinned digest.

The engine takes 8.4 MB and is no part of the repository. `make engine` puts it into this package, and a wheel that is
built then holds it. Elsewhere it is fetched into a cache folder when a page first asks for it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import subprocess
import tarfile
import tempfile
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from swingby.data.files import clear_os_errors, user_cache, write_whole
from swingby.errors import SwingbyError
from swingby.options import option
from swingby_analysis.page.html import Gzipped, sound

PACKAGE, VERSION = "@duckdb/duckdb-wasm", "1.32.0"
INTEGRITY = "IewXTNYEjsZCPE9weUWgtjGxUlMRo7qhX0GF6tq/KjK8bnY+RAl4cyUdYUfcdzbyb4b9ZxPC+FOsCcxgaKFWMg=="
"""SHA-512 of the package's archive in base64, as the registry states it."""
WORKER, MODULE = "duckdb-browser-eh.worker.js", "duckdb-eh.wasm"
"""The smaller of the two builds that need no special headers: 34.2 MB, against 39.4 MB of "mvp"."""
LICENCES = "DuckDB-WASM, MIT licence; Apache Arrow within it, Apache License 2.0"
CACHE = "SWINGBY_SQL_ENGINE"
"""The environment variable with the cache folder."""
SECONDS = 300
"""Seconds that npm may take."""


class Engine(NamedTuple):
    """The two files of the engine.

    Attributes:
        worker: the script of the worker that runs it.
        module: the WebAssembly module.
    """

    worker: str
    module: Gzipped


def engine(say: Callable[[str], object] = lambda text: None) -> Engine:
    """The engine: of the installed package, else of the cache folder, where it is fetched to if it is not there.

    Args:
        say: hears that it is fetched.

    Raises:
        SwingbyError: it is nowhere, and npm cannot bring it.
    """
    for folder in (_shipped(), cache_folder()):
        if (there := _read(folder)) is not None:
            return there
    say(f"fetching {PACKAGE} {VERSION} by npm into {cache_folder()} (31 MB, once) ...")
    fetch(cache_folder())
    fetched = _read(cache_folder())
    if fetched is None:
        raise SwingbyError(f"the engine for SQL in a page was written into {cache_folder()}, and cannot be read there")
    return fetched


def cache_folder() -> Path:
    """The folder in which the engine is kept for all data folders of this user."""
    return user_cache("engine", CACHE) / VERSION


def is_there() -> bool:
    """Whether the engine can be had without a network."""
    return any(_read(folder) is not None for folder in (_shipped(), cache_folder()))


def fetch(folder: Path) -> None:
    """Brings the engine into a folder.

    Raises:
        SwingbyError: npm is missing or fails, or what it brings is not the pinned archive.
    """
    with tempfile.TemporaryDirectory(prefix="swingby-engine-") as place:
        command = ["npm", "pack", f"{PACKAGE}@{VERSION}", "--silent", "--pack-destination", place]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=SECONDS, cwd=place)
        except FileNotFoundError:
            raise _missing("npm is not installed") from None
        except subprocess.TimeoutExpired:
            raise _missing(f"npm did not bring it within {SECONDS} s") from None
        except subprocess.CalledProcessError as error:
            last = (error.stderr or error.stdout or "").strip().splitlines()[-1:] or [f"code {error.returncode}"]
            raise _missing(f"npm failed: {last[0]}") from None
        archives = list(Path(place).glob("*.tgz"))
        if len(archives) != 1:
            raise _missing("npm brought no archive")
        unpack(archives[0].read_bytes(), folder)


def unpack(archive: bytes, folder: Path) -> None:
    """Puts the engine's files out of the package's archive into a folder, gzipped.

    Raises:
        SwingbyError: the archive is not the pinned one, or the disk refuses.
    """
    digest = base64.b64encode(hashlib.sha512(archive).digest()).decode()
    if digest != INTEGRITY:
        words = f"the archive of {PACKAGE} {VERSION} is not the pinned one (sha512-{digest}); nothing was kept"
        raise SwingbyError(words)
    with clear_os_errors(f"write the engine into {folder}"), tempfile.TemporaryFile() as file:
        folder.mkdir(parents=True, exist_ok=True)
        file.write(archive)
        file.seek(0)
        with tarfile.open(fileobj=file, mode="r:gz") as package:
            for name in (WORKER, MODULE):
                member = package.extractfile(f"package/dist/{name}")
                assert member is not None  # the digest was right
                packed = gzip.compress(member.read(), 9, mtime=0)
                write_whole(folder / f"{name}.gz", lambda there, packed=packed: there.write_bytes(packed))


def _missing(reason: str) -> SwingbyError:
    return SwingbyError(
        f"the engine for SQL in a page is not here, and {reason}; install npm and be online once, or have "
        f"{PACKAGE} {VERSION} unpacked by `make engine` where there is a network and copy {cache_folder()}. "
        f"Without {option('supplement', True)} the page is written without it"
    )


def _shipped() -> Path:
    return Path(str(files("swingby_analysis.page"))) / "engine-files"


def _read(folder: Path) -> Engine | None:
    """The engine in a folder; None if it is not there, or a file is not whole: it is fetched again then."""
    module = folder / f"{MODULE}.gz"
    worker = sound(folder / f"{WORKER}.gz")
    return None if worker is None or sound(module) is None else Engine(worker.decode(), Gzipped(module.read_bytes()))


if __name__ == "__main__":
    fetch(_shipped())
