"""Keeping a data folder: records of another are merged, results are taken back, and what nobody needs is removed."""

from swingby.keeping.collecting import Collected, collect
from swingby.keeping.merging import Merged, merge
from swingby.keeping.retracting import Retracted, retract

__all__ = ["Collected", "Merged", "Retracted", "collect", "merge", "retract"]
