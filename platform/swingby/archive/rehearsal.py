"""The process that takes a stranger's archive into a throwaway data folder, under limits, before anybody else reads it.

Reads a request as JSON from standard input; writes one line of JSON to standard output: `sound`, or an `error`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from swingby.archive.file import Recording
from swingby.archive.publication import SWEEP, strict_json
from swingby.archive.unpack import unpack
from swingby.data.parquet import check_size
from swingby.data.records.headers import check_types
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.sandbox.__main__ import confine
from swingby.store import Store
from swingby.store.status import final_counts, set_aside
from swingby.text import plain
from swingby.units import size

MOST_COLUMNS = 5_000
LONGEST_HEADER = 16 * 2**20
NAME = r"[A-Za-z_][A-Za-z0-9_]{0,63}"
_RESOLVED: Mapping[str, Any] = {
    "points": int,
    "seed_mode": str,
    **dict.fromkeys(("base", "common", "recording"), dict),
}
_TEXTS = ("title", "description", "outcome", "notes", "source", "preset", "where")
"""Texts of a resolved sweep that may be missing."""


def main() -> int:
    """Answers the request on standard input; the exit code."""
    request = json.load(sys.stdin)
    confine(request)
    try:
        rehearse(request)
        answer: dict[str, Any] = {"sound": True}
    except (SwingbyError, pa.ArrowException, OSError) as error:
        answer = {"error": str(error)}
    except MemoryError:
        answer = {
            "error": f"it needs more than {size(request['memory_bytes'])} of memory; a larger limit of memory may do"
        }
    except Exception as error:
        answer = {"error": f"it is not sound: {type(error).__name__}: {plain(error, 200)}"}
    sys.stdout.write(f"{json.dumps(answer)}\n")
    return 0


def rehearse(request: Mapping[str, Any]) -> None:
    """Takes the archive in.

    Raises:
        SwingbyError: it is of another sweep than its manifest says, or not sound.
    """
    path, data = Path(request["archive"]), Path(request["data"])
    recording = checked_header(path, request["memory_bytes"])
    for name in ("name", "sweep_id", "experiment"):
        if getattr(recording, name) != request[name]:
            actual = plain(getattr(recording, name), 60)
            raise SwingbyError(f"its {name} is {actual!r}, and its manifest says {request[name]!r}")
    if not registry.known(recording.experiment) and "declared" not in recording.resolved:
        raise SwingbyError(
            f"the experiment {recording.experiment!r} is of a package that is not installed here, and swingby reads "
            "its results only with it; any other program reads its Parquet files as they are"
        )
    unpacked = unpack(data, path, "rehearsal")
    with Store.open(data) as store:
        if aside := set_aside(store):
            raise SwingbyError(f"the store cannot hold it: {plain(aside[0][1], 300)}")
        counts = final_counts(store, recording.experiment, recording.sweep_id)
    if counts["ok"] + counts["diverged"] != unpacked.cells:
        raise SwingbyError(
            f"it has {unpacked.cells:,} cells, of which {counts['ok'] + counts['diverged']:,} are results"
        )


def checked_header(path: Path, most: int) -> Recording:
    """The header of an archive, with everything that readers rely on in its type.

    Raises:
        SwingbyError: it is larger than `most` bytes when unpacked, or something is missing or wrong.
    """
    with pq.ParquetFile(path) as file:
        metadata = file.metadata
        if metadata.num_columns > MOST_COLUMNS:
            raise SwingbyError(f"it has {metadata.num_columns:,} columns; allowed: {MOST_COLUMNS:,}")
        check_size(metadata)
        unpacked = sum(metadata.row_group(place).total_byte_size for place in range(metadata.num_row_groups))
        if unpacked > most:
            raise SwingbyError(
                f"unpacked it has {size(unpacked)}; allowed: {size(most)}; a larger limit of memory allows more"
            )
        header = (metadata.metadata or {}).get(b"swingby", b"")
    if not 0 < len(header) <= LONGEST_HEADER:
        raise SwingbyError(f"its header has {size(len(header))}; allowed: 1 B to {size(LONGEST_HEADER)}")
    recording = Recording.of_header(strict_json(header, "its header"), "it")
    if not recording.whole:
        raise SwingbyError("its curves are thinned; `swingby publish` writes whole ones")
    if not SWEEP.fullmatch(recording.name):
        raise SwingbyError(f"its sweep is called {plain(recording.name, 60)!r}; allowed: a-z, 0-9 and hyphens")
    try:
        check_resolved(recording.resolved)
    except (TypeError, KeyError, AttributeError) as error:
        raise SwingbyError(f"its sweep is not sound: {plain(error, 200)} is missing or wrong") from error
    declared = recording.resolved.get("declared")
    if declared is not None and declared["name"] != recording.experiment:
        raise SwingbyError(f"it declares an experiment {plain(declared['name'], 60)!r} and has cells of another")
    return recording


def check_resolved(resolved: Mapping[str, Any]) -> None:
    """Holds a resolved sweep to the types that readers rely on.

    Raises:
        TypeError, KeyError: names what is missing or wrong.
    """
    check_types(resolved, _RESOLVED)
    check_types(resolved, {name: str for name in _TEXTS if resolved.get(name) is not None})
    for name in ("drawings", "tags", "presets"):
        check_types(resolved, {name: list} if resolved.get(name) is not None else {})
    outcomes = resolved.get("outcomes") or {}
    check_types(outcomes, dict.fromkeys(outcomes, str))
    diagram = resolved.get("diagram")
    if diagram is not None:
        check_types({"diagram": diagram}, {"diagram": dict})
        check_types(diagram, {"x": str, "outcome": str})
        check_types(diagram, {name: str for name in ("y", "facet", "title") if diagram.get(name) is not None})
    for axis in resolved["axes"]:
        check_types(axis, {"names": list})
        if not all(isinstance(value, list) and len(value) == len(axis["names"]) for value in axis["values"]):
            raise TypeError(f"axis {axis['names']!r:.60}")
    for seed in resolved["seeds"]:
        check_types({"seed": seed}, {"seed": int})
    if declared := resolved.get("declared"):
        check_types(declared, {"name": str, "title": str, "version": int, "params": dict, "meanings": dict})
        for name in (declared["name"], *declared["params"], *declared["meanings"]):
            if not re.fullmatch(NAME, name):
                raise TypeError(f"the name {name!r:.80}")


if __name__ == "__main__":
    sys.exit(main())
