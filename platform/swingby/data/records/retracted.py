"""Retractions as files: which results were taken back, and why, for good."""

from __future__ import annotations

import re
from pathlib import Path

from swingby.data.folder import Folder, listing
from swingby.data.parquet import read_parquet, require, write_parquet
from swingby.data.records.retraction import COLUMNS, Retraction
from swingby.errors import SwingbyError

_DIGITS = 12


class Retracted(Folder):
    """A data folder's retractions."""

    def write_retraction(self, retraction: Retraction) -> Path:
        """Writes a retraction; there is no way to undo it.

        Raises:
            SwingbyError: its table lacks a column, or the disk refuses.
        """
        require(retraction.table, COLUMNS, "a retraction")
        self.admit_retractions()
        name = re.sub(r"[^0-9T]", "", retraction.created[:19])
        path = self.data / "retractions" / f"{name}.parquet"
        return write_parquet(path, retraction.table, retraction.header(), _DIGITS)

    def retractions(self) -> list[str]:
        """The name of every retraction (`<when>-<content>.parquet`), sorted."""
        return listing(self.data / "retractions", "*.parquet")

    def read_retraction(self, name: str, content: bytes | None = None) -> Retraction:
        """A retraction, or what is given as its content.

        Raises:
            SwingbyError: the file is missing, torn, corrupt, or no retraction.
        """
        header, table = read_parquet(self.data / "retractions" / name, "retraction", _DIGITS, content)
        require(table, COLUMNS, f"retraction {name}")
        try:
            return Retraction.of(header, table)
        except (KeyError, TypeError) as error:
            raise SwingbyError(f"{name} is no retraction of this format: {error} is missing or wrong") from error
