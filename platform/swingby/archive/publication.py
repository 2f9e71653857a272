"""Manifests of published folders: which files there are, with size and digest, and which one holds the results."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from swingby.data.records.headers import check_types
from swingby.errors import SwingbyError
from swingby.text import plain

MANIFEST = "manifest.json"
FORMAT = 1
LONGEST = 4 * 2**20
"""Most bytes of a manifest."""
MOST_FILES = 10_000
"""Most files that a manifest names."""
SWEEP = re.compile(r"[a-z0-9-]{1,64}")
"""Names of sweeps."""
FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9._+-]{0,99}){0,7}")
"""Paths of files below a folder, which lead to no other: no part begins with a dot."""
_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(("title", "experiment", "licence", "archive", "published"), str),
    "authors": list,
    "files": dict,
    "swingby_publication": int,
}


@dataclass(frozen=True)
class Published:
    """A published folder.

    Attributes:
        name, sweep_id, experiment: of the sweep.
        title, authors, licence: of the data set.
        published: the day, ISO 8601.
        archive: the file with the results (`swingby.archive.pack`, whole).
        files: for each file its size in bytes and its SHA-256.
    """

    name: str
    sweep_id: str
    experiment: str
    title: str
    authors: Sequence[str]
    licence: str
    published: str
    archive: str
    files: Mapping[str, tuple[int, str]]

    def to_bytes(self) -> bytes:
        """The manifest's text."""
        plain_values = {name: value for name, value in asdict(self).items() if name != "files"}
        files = {name: {"bytes": size, "sha256": digest} for name, (size, digest) in sorted(self.files.items())}
        text = json.dumps({"swingby_publication": FORMAT, **plain_values, "files": files}, indent=1)
        return f"{text}\n".encode()

    @classmethod
    def of_bytes(cls, content: bytes, where: str) -> Self:
        """The folder that a manifest describes.

        Args:
            where: what messages call the manifest.

        Raises:
            SwingbyError: it is no manifest of this version, or names files outside of its folder.
        """
        values = strict_json(content, where)
        try:
            check_types(values, _TYPES)
        except TypeError as error:
            raise SwingbyError(f"{where} is no manifest of a published sweep: {error} is missing or wrong") from None
        if values["swingby_publication"] != FORMAT:
            raise SwingbyError(f"{where} has format {values['swingby_publication']}; this version reads {FORMAT}")
        name, sweep_id = (str(values.get(key)) for key in ("name", "sweep_id"))
        if not SWEEP.fullmatch(name) or not re.fullmatch(r"[0-9a-f]{16}", sweep_id):
            raise SwingbyError(
                f"{where} names no sweep: {plain(name, 60)!r} ({plain(sweep_id, 40)!r}); allowed: a-z, 0-9 and "
                "hyphens, and an id of 16 hexadecimal digits"
            )
        if len(values["files"]) > MOST_FILES:
            raise SwingbyError(f"{where} names {len(values['files']):,} files; allowed: {MOST_FILES:,}")
        files = {name: _file(name, of, where) for name, of in values["files"].items()}
        if values["archive"] not in files:
            raise SwingbyError(f"{where} does not list its archive {plain(values['archive'], 60)!r} among its files")
        fields = {name: values[name] for name in cls.__dataclass_fields__ if name != "files"}
        return cls(**fields, files=files)


def _file(name: str, of: Any, where: str) -> tuple[int, str]:
    """Size and digest of one file of a manifest."""
    if not FILE.fullmatch(name):
        raise SwingbyError(
            f"{where} names the file {plain(name, 80)!r}; allowed: a path below its folder of letters, digits "
            "and ._+-, "
            "no part of which begins with a dot"
        )
    size, digest = (of.get("bytes"), of.get("sha256")) if isinstance(of, dict) else (None, None)
    sound = isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**63
    if not sound or not re.fullmatch(r"[0-9a-f]{64}", str(digest)):
        raise SwingbyError(f"{where} does not say of {name!r} how many bytes it has, and their SHA-256")
    assert isinstance(size, int)
    return size, str(digest)


def listed(folder: Path) -> dict[str, tuple[int, str]]:
    """Size and digest of every file below a folder, by its path there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): (path.stat().st_size, digest_of(path)) for path in files}


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def strict_json(content: bytes, where: str) -> dict[str, Any]:
    """An object of JSON from a stranger: no NaN or infinity, and no nesting that ends the process.

    Raises:
        SwingbyError: it is none; says where.
    """

    def refuse(text: str) -> Any:
        raise ValueError(f"{text} is no number of JSON")

    try:
        value = json.loads(content, parse_constant=refuse)
    except RecursionError:
        raise SwingbyError(f"{where} is nested too deeply") from None
    except ValueError as error:  # JSONDecodeError and UnicodeDecodeError are ones
        raise SwingbyError(f"{where} is no JSON: {plain(error, 200)}") from None
    if not isinstance(value, dict):
        raise SwingbyError(f"{where} is no object of JSON")
    return value
