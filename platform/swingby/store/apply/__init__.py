"""Folding one record after another into the index and the open curve segment, over a connection that the store opened.

The index is attached as `ix`, the open segment as `seg`. Nothing here begins or commits a transaction.
"""

from swingby.store.apply.derived import fold_derived
from swingby.store.apply.piece import Piece, piece
from swingby.store.apply.plans import fold_plan, refold_plan, replaced
from swingby.store.apply.retractions import fold_retraction
from swingby.store.apply.shards import admit, fold_curves, fold_rows

__all__ = [
    "Piece",
    "admit",
    "fold_curves",
    "fold_derived",
    "fold_plan",
    "fold_retraction",
    "fold_rows",
    "piece",
    "refold_plan",
    "replaced",
]
