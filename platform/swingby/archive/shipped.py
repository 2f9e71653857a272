"""Recorded results that packages ship: their files `archive/*.parquet`."""

from __future__ import annotations

from pathlib import Path

from swingby.archive.file import read_header
from swingby.errors import SwingbyError
from swingby.model import registry


def shipped() -> dict[str, Path]:
    """Every shipped file by the id of its sweep.

    Raises:
        SwingbyError: a package cannot be imported, a file of it is no file of recorded results, or two packages ship
            results of one sweep.
    """
    found: dict[str, Path] = {}
    for file in registry.data_files("archive", ".parquet"):
        path = Path(str(file))
        other = found.setdefault(read_header(path).sweep_id, path)
        if other != path:
            raise SwingbyError(f"two packages ship recorded results of one sweep ({other}, {path}); uninstall one")
    return found
