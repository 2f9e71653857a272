"""Files of recorded results: Parquet with a header and a row for each cell, in the plan's order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from swingby.data.files import write_whole
from swingby.data.parquet import read_parquet, require
from swingby.data.records.headers import check_types
from swingby.errors import SwingbyError

FORMAT = 1
STANDARD: Mapping[str, pa.DataType] = {
    "point": pa.int32(),
    "seed": pa.int64(),
    "status": pa.string(),
    "message": pa.string(),
    "to_step": pa.int64(),
}
"""Columns of every file; parameters, scalars, curves and outcomes follow."""
ORIGIN = "recorded.origin"
"""Column of a whole file: the entry of `computed` that a cell belongs to, counted from 0. No parameter has a dot."""
_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(("sweep_id", "name", "experiment", "digest", "packed", "swingby"), str),
    **dict.fromkeys(("stream_version", "digits", "kept_curves", "curve_points"), int),
    **dict.fromkeys(("resolved", "provenance", "detectors", "outcomes"), dict),
    **dict.fromkeys(("scalars", "curves", "left_out", "tokens"), list),
}
_COMPUTED: Mapping[str, Any] = {
    **dict.fromkeys(("device", "started", "finished"), str),
    "seconds": (int, float),
    "versions": dict,
}
LEVEL = 19
"""Level of zstd: files are written once, and shipped."""
QUICK_LEVEL = 3
"""Level of zstd for files of gigabytes, of which `LEVEL` takes minutes a hundred megabytes."""


@dataclass(frozen=True)
class Recording:
    """The header of a file of recorded results.

    Attributes:
        sweep_id, name, experiment, stream_version, resolved: of the sweep, see `Plan`.
        provenance: of its newest plan.
        computed: where and when its cells were computed: an entry for each plan, host and device, see `origins`.
        detectors: the version of each detector whose outcomes are kept.
        outcomes: for each detector, the outcomes that are kept; columns `<detector>.<outcome>` of the table.
        scalars, curves: result columns that are kept.
        left_out: result columns and outcomes that are left out.
        digits: significant digits of every float that is a result.
        kept_curves: how many cells kept their curves, with at most `curve_points` records each.
        digest: of the cells' ids in the order of the rows; the ids are made again from parameters and seeds.
        packed: ISO 8601, UTC.
        swingby: the version that packed it.
        whole: every cell keeps its whole curves, so that outcomes can be computed again.
        tokens: of a whole file, the recording of its cells (`swingby.model.experiment.Recording.tokens`).
    """

    sweep_id: str
    name: str
    experiment: str
    stream_version: int
    resolved: Mapping[str, Any]
    provenance: Mapping[str, Any]
    computed: Sequence[Mapping[str, Any]]
    detectors: Mapping[str, str]
    outcomes: Mapping[str, Sequence[str]]
    scalars: Sequence[str]
    curves: Sequence[str]
    left_out: Sequence[str]
    digits: int
    kept_curves: int
    curve_points: int
    digest: str
    packed: str
    swingby: str
    format: int = FORMAT
    whole: bool = False
    tokens: Sequence[str] = ()

    @property
    def when(self) -> str:
        """The day on which the last cell was computed."""
        return max((str(entry["finished"])[:10] for entry in self.computed), default="?")

    @property
    def hosts(self) -> str:
        """The machines that computed the cells, in words."""
        return ", ".join(sorted({str(entry["host"]) for entry in self.computed}))

    @classmethod
    def of_header(cls, header: Mapping[str, Any], name: str) -> Self:
        """The recording of a file's header; fields that older files lack have a default.

        Raises:
            SwingbyError: it lacks something that is read, has it in another type, or is of another format.
        """
        known = [field.name for field in fields(cls) if field.name in header or field.default is MISSING]
        missing = [key for key in (*known, "format") if key not in header]
        if missing or header["format"] != FORMAT:
            why = f"its header lacks {', '.join(missing)}" if missing else f"it has format {header['format']}"
            raise SwingbyError(f"{name} is no file of recorded results of this version: {why}")
        try:
            check_types(header, {key: type_ for key, type_ in _TYPES.items() if key in header})
            check_types(header["resolved"], {"seed_mode": str, "recording": dict})
            check_types(header["resolved"]["recording"], {"steps": str, "points": int, "also": list})
            check_types(header["outcomes"], dict.fromkeys(header["outcomes"], list))
            entries = header["computed"]
            if not (isinstance(entries, list) and entries and all(isinstance(entry, dict) for entry in entries)):
                raise TypeError(f"computed = {entries!r:.60}")
            for entry in entries:
                check_types(entry, _COMPUTED)
                _ = datetime.fromisoformat(entry["started"]), datetime.fromisoformat(entry["finished"])
        except (TypeError, ValueError) as error:
            raise SwingbyError(f"{name} is no file of recorded results: {error} is missing or wrong") from error
        return cls(**{key: header[key] for key in known})


def digest(cell_ids: Sequence[str]) -> str:
    """SHA-256 of these ids in their order, 32 hexadecimal digits."""
    return hashlib.sha256(" ".join(cell_ids).encode()).hexdigest()[:32]


def write(
    path: Path, recording: Recording, table: pa.Table, parameters: Sequence[str], row_group: int | None = None
) -> Path:
    """Writes a file as small as it gets: parameters repeat and go by dictionary, floats byte by byte.

    Args:
        row_group: rows of a row group of a file that is read in parts over a network, with statistics and an index of
            pages; compressed faster. None: all rows are one group, since the file is read whole.

    Raises:
        SwingbyError: the disk refuses.
    """
    schema = table.schema.with_metadata({b"swingby": json.dumps(asdict(recording)).encode()})
    repeating, split = [], []
    for column in table.schema:
        leaf, path_of = column.type, column.name
        while pa.types.is_list(leaf):
            leaf, path_of = leaf.value_type, f"{path_of}.list.element"
        if pa.types.is_binary(leaf):  # no dictionary: pictures do not repeat; zstd still takes 5 % off them
            continue
        as_bytes = pa.types.is_floating(leaf) and column.name not in parameters
        (split if as_bytes else repeating).append(path_of)
    options: dict[str, Any] = {
        "compression": "zstd",
        "compression_level": LEVEL if row_group is None else QUICK_LEVEL,
        "use_dictionary": repeating,
        "column_encoding": dict.fromkeys(split, "BYTE_STREAM_SPLIT"),
        "row_group_size": row_group or max(table.num_rows, 1),
        "write_page_checksum": True,
        "write_statistics": row_group is not None,
        "write_page_index": row_group is not None,
    }
    return write_whole(path, lambda temporary: pq.write_table(table.cast(schema), temporary, **options))


def read(path: Path) -> tuple[Recording, pa.Table]:
    """Header and table of one file.

    Raises:
        SwingbyError: it is missing, torn, corrupt, or not recorded results.
    """
    header, table = read_parquet(path, "file of recorded results")
    recording = Recording.of_header(header, path.name)
    require(table, STANDARD, path.name)
    return recording, table


def read_header(path: Path) -> Recording:
    """The header of one file alone.

    Raises:
        SwingbyError: as `read`.
    """
    header, _ = read_parquet(path, "file of recorded results", columns=[])
    return Recording.of_header(header, path.name)
