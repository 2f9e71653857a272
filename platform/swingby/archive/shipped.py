"""The recorded results that packages ship: Parquet files under the entry-point group `swingby.recorded`."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from swingby.archive.file import read_header
from swingby.errors import SwingbyError
from swingby.model import registry

GROUP = "swingby.recorded"


def shipped() -> dict[str, Path]:
    """Every shipped file by the id of its sweep.

    Raises:
        SwingbyError: a package cannot be imported, or a file of it is no file of recorded results.
    """
    found: dict[str, Path] = {}
    for entry in registry.offered(GROUP).values():
        try:
            folder = Path(str(files(entry.value)))
        except ImportError as error:
            raise SwingbyError(f"the recorded results {entry.value!r} cannot be imported: {error}") from error
        for path in sorted(folder.glob("*.parquet")):
            found[read_header(path).sweep_id] = path
    return found
