"""Derived records: what was computed from the store, a file a kind, version and content."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from swingby.data.files import utc_now
from swingby.data.folder import Folder, listing
from swingby.data.parquet import read_parquet, require, write_parquet
from swingby.data.records.headers import check_types
from swingby.errors import SwingbyError

_DIGITS = 12
_TYPES = {"kind": str, "version": str, "key": list, "created": str}
_KIND = re.compile(r"[a-z][a-z0-9_]*")


class Derived(Folder):
    """A data folder's derived records."""

    def write_derived(self, kind: str, version: str, key: Sequence[str], table: pa.Table, **metadata: Any) -> Path:
        """Writes what was computed from the store; for one version and key the latest file counts.

        Args:
            kind: the name of the table it makes in the store.
            version: of what computed it; the newest version is the one shown.
            key: the columns that tell its rows apart.

        Raises:
            SwingbyError: the kind is no name for a table, a key column is missing, or the disk refuses.
        """
        if not _KIND.fullmatch(kind):
            raise SwingbyError(f"{kind!r} cannot name derived records; allowed: lower-case letters, digits and _")
        if not re.fullmatch(r"[\w.+]+", version):
            raise SwingbyError(f"{version!r} cannot be a version; allowed: letters, digits, '.', '+' and '_'")
        require(table, dict.fromkeys(key), f"derived records {kind}")
        header = {"kind": kind, "version": version, "key": list(key), "created": utc_now(), **metadata}
        return write_parquet(self.data / "derived" / kind / f"{version}.parquet", table, header, _DIGITS)

    def derived(self) -> list[str]:
        """The name of every derived file (`<kind>/<version>-<content>.parquet`), sorted."""
        return listing(self.data / "derived", "*/*.parquet")

    def read_derived(self, name: str, content: bytes | None = None) -> tuple[dict[str, Any], pa.Table]:
        """Header (kind, version, key, created, ...) and rows of one derived file, or of what is given as its content.

        Raises:
            SwingbyError: the file is missing, torn, corrupt, or not derived records.
        """
        header, table = read_parquet(self.data / "derived" / name, "derived file", _DIGITS, content)
        missing = [key for key in _TYPES if key not in header]
        if missing:
            raise SwingbyError(f"{Path(name).name} is not a derived file: its header lacks {', '.join(missing)}")
        try:
            check_types(header, _TYPES)
        except TypeError as error:
            raise SwingbyError(f"{Path(name).name} is not a derived file: {error} is wrong") from error
        require(table, dict.fromkeys(header["key"]), f"derived file {Path(name).name}")
        return header, table
