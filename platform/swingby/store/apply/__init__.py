"""Applies one record after another to the index and the open curve segment, over a connection of the caller.

The index is attached as `ix`, the open segment as `seg`. Nothing here begins or commits a transaction.
"""

from swingby.store.apply.derived import apply_derived
from swingby.store.apply.piece import Piece, piece
from swingby.store.apply.plans import apply_plan, reapply_plan, replaced
from swingby.store.apply.shards import apply_curves, apply_retraction, apply_rows, make_tables

__all__ = [
    "Piece",
    "apply_curves",
    "apply_derived",
    "apply_plan",
    "apply_retraction",
    "apply_rows",
    "make_tables",
    "piece",
    "reapply_plan",
    "replaced",
]
