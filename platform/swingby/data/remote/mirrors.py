"""Where this user's mirrors lie, and which folder stands for which address."""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from pathlib import Path

from swingby.data.files import clear_os_errors, write_json
from swingby.data.remote.bucket import Bucket
from swingby.data.remote.mirror import Mirror
from swingby.errors import SwingbyError

MARK = "mirror.json"
"""In a mirror: the address of what it stands for."""
ROOT = "SWINGBY_MIRRORS"
"""Environment variable: the folder in which mirrors lie."""


def root() -> Path:
    """The folder in which this user's mirrors lie."""
    return Path(os.environ.get(ROOT) or Path.home() / ".cache" / "swingby" / "mirrors").expanduser().absolute()


def folder_of(address: str) -> Path:
    """The folder on this machine that stands for an address; made, with its mark, but nothing is fetched.

    Raises:
        SwingbyError: no such kind of address; or the disk refuses.
    """
    bucket = Bucket(address)
    readable = re.sub(r"[^\w.-]+", "-", address.split("?")[0].split("://")[1]).strip("-")[:40]
    folder = root() / f"{readable}-{hashlib.sha256(bucket.address.encode()).hexdigest()[:12]}"
    with clear_os_errors(f"keep a mirror of {address} in {folder} ({ROOT} says where)"):
        root().mkdir(mode=0o700, parents=True, exist_ok=True)  # it holds what only those see who may read the bucket
        if not (folder / MARK).exists():
            write_json(folder / MARK, {"address": bucket.address})
    return folder


_known: dict[Path, Mirror] = {}
_knowing = threading.Lock()


def mirrored(folder: Path) -> Mirror | None:
    """What a folder is the mirror of; None if it is none.

    Raises:
        SwingbyError: its mark cannot be read.
    """
    mark = folder / MARK
    try:
        address = json.loads(mark.read_bytes())["address"]
        with _knowing:
            found = _known.get(folder)
            if found is None or found.bucket.address != address:
                found = _known[folder] = Mirror(folder, Bucket(address))
            return found
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise SwingbyError(f"{mark} cannot be read: it should say {{'address': 's3://...'}}") from error
