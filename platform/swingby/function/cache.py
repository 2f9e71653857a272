"""Files of a cache: any of them may be gone, torn or of another kind at any time, and is made anew."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path


def make_way(path: Path) -> None:
    """Makes the folders above a file; whatever else lies there, or in the file's own place, is removed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)  # another worker may do the same now
    for folder in path.parents:
        if folder.is_dir():
            break
        # One above it is a file, which goes next; or another worker has just made the folder.
        with suppress(NotADirectoryError, IsADirectoryError):
            folder.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
