"""Recorded results: results of sweeps in files small enough to ship, and as records in a data folder again.

Readers show a recorded cell as a result. A run trains it again, since its tokens are empty, and shows the new row. A
file keeps outcomes, rounded scalars and a few thin curves. A whole file keeps every curve too: a report can be drawn of
it, and outcomes can be computed again.
"""

from __future__ import annotations

from swingby.archive.fetch import shipped, unpack_shipped
from swingby.archive.file import Recording, read
from swingby.archive.pack import Packed, pack
from swingby.archive.unpack import Unpacked, unpack
from swingby.store.recorded import RecordedResults, recorded_results

__all__ = [
    "Packed",
    "RecordedResults",
    "Recording",
    "Unpacked",
    "pack",
    "read",
    "recorded_results",
    "shipped",
    "unpack",
    "unpack_shipped",
]
