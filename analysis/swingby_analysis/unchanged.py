"""A note beside a report on what it was made from, by which a report that would be the same is not drawn again.

The note is compared without a database: the store's newest generation has to be the one that was drawn, and to hold
every record; the code of every package that offers something, and what is installed beside it, have to be as they were.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swingby.data.records import Records
from swingby.model import registry
from swingby.store.layout import Layout

NOTE = "made-from.json"
"""The file beside a page that holds its note."""
GROUPS = (registry.EXPERIMENTS, registry.DETECTORS, registry.DRAWINGS, registry.COMMANDS, registry.LINES)


@dataclass(frozen=True)
class Unchanged:
    """A report that is as it would be drawn now: its page, and the warnings that were given when it was drawn."""

    page: Path
    warnings: Sequence[str]


def unchanged(sweep: str, data: Path, out: Path, kinds: Collection[str], plane: tuple[int, int]) -> Unchanged | None:
    """The report of a sweep in the folder `out` that would be drawn again as it is; None if there is none.

    Raises:
        SwingbyError: no such data folder.
    """
    notes = sorted(out.expanduser().absolute().glob(f"*/{NOTE}"))
    records = Records.open(data, create=False) if notes else None
    if records is None or not Layout(records.data).holds_all(records.paths()):
        return None
    current = made_from(sweep, records, kinds, plane)
    for path in notes:
        try:
            note: dict[str, Any] = json.loads(path.read_bytes())
            same = note["made_from"] == current and all(
                _digest((path.parent / name).read_bytes()) == digest for name, digest in note["files"].items()
            )
            if same:
                return Unchanged(path.parent / note["page"], note["warnings"])
        except (OSError, ValueError, LookupError, TypeError, AttributeError):  # no note of ours, or a file is gone
            continue
    return None


def made_from(sweep: str, records: Records, kinds: Collection[str], plane: tuple[int, int]) -> str:
    """A digest of everything that a report is made from: what is asked for, the store's generation, and the code."""
    written = Path(sweep)
    text = _digest(written.read_bytes()) if sweep.endswith((".yaml", ".yml")) and written.is_file() else ""
    pointer = Layout(records.data).pointer
    generation = _digest(pointer.read_bytes()) if pointer.exists() else ""
    inputs = [sweep, text, str(records.data), sorted(kinds), plane, generation, sys.version, *_installed(), *_code()]
    return _digest(json.dumps(inputs).encode())


def note(digest: str, page: str, contents: Mapping[str, bytes], warnings: Sequence[str]) -> bytes:
    """The note of a report that was drawn, with its files."""
    files = {name: _digest(content) for name, content in contents.items()}
    return json.dumps(
        {"made_from": digest, "page": page, "warnings": list(warnings), "files": files}, indent=1
    ).encode()


def _installed() -> list[str]:
    """The packages that are installed, with their versions: the names of the folders that tell of them."""
    return sorted(path.name for folder in _folders() for path in folder.glob("*.dist-info"))


def _code() -> Iterator[tuple[str, int, int]]:
    """The files of this program and of every package that offers something: path, bytes, time of the last change."""
    offers = [offer for group in GROUPS for offer in registry.offered(group).values()]
    names = {offer.value.partition(":")[0] for offer in offers} | set(registry.packages()) | {"swingby", __name__}
    for name in sorted({name.partition(".")[0] for name in names}):
        place = next((folder / name for folder in _folders() if (folder / name).is_dir()), None)
        module = next((folder / f"{name}.py" for folder in _folders() if (folder / f"{name}.py").is_file()), None)
        for path in [*_files(place), *([] if module is None else [module])]:
            stat = path.stat()
            yield str(path), stat.st_size, stat.st_mtime_ns


def _files(folder: Path | None) -> Iterator[Path]:
    """The files below a folder that are no compiled code, sorted."""
    for root, folders, names in os.walk(folder) if folder is not None else ():
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        yield from (Path(root) / name for name in sorted(names))


def _folders() -> list[Path]:
    return [Path(entry or ".") for entry in sys.path if Path(entry or ".").is_dir()]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
