"""Recorded results: what sweeps came to in files small enough to ship, and back in a data folder as records.

A recorded cell counts as a result where results are read, and as none where a run asks what is trained: its tokens are
empty. A run trains it again, and that row stands. A file keeps outcomes, rounded scalars and hardly a curve; or, if it
is whole, every curve too, and then a report can be drawn of it and outcomes can be told again.
"""

from __future__ import annotations

from swingby.archive.fetch import bring
from swingby.archive.file import Recording, read
from swingby.archive.notice import OfRecord, of_record
from swingby.archive.pack import Packed, pack
from swingby.archive.shipped import shipped
from swingby.archive.unpack import Unpacked, unpack

__all__ = ["OfRecord", "Packed", "Recording", "Unpacked", "bring", "of_record", "pack", "read", "shipped", "unpack"]
