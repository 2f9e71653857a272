"""Recorded results: the outcomes of sweeps in files small enough to ship, and back in a data folder as records.

A recorded cell has its outcomes and rounded scalars, and hardly a curve. So it counts as a result where results are
read, and as none where a run asks what is trained: its tokens are empty. A run trains it again, and that row stands.
"""

from __future__ import annotations

from swingby.recorded.form import Recording, read
from swingby.recorded.packing import Packed, pack
from swingby.recorded.shipped import shipped
from swingby.recorded.unpacking import Unpacked, unpack

__all__ = ["Packed", "Recording", "Unpacked", "pack", "read", "shipped", "unpack"]
