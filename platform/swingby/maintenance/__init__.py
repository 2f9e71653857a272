"""Keeping a data folder: records of another are merged, results are taken back, and what nobody needs is removed."""

from swingby.maintenance.gc import Collected, collect
from swingby.maintenance.merge import Merged, merge
from swingby.maintenance.retract import Retracted, retract

__all__ = ["Collected", "Merged", "Retracted", "collect", "merge", "retract"]
