"""Maintenance of a data folder: merging another one into it, taking results back, removing files nobody needs."""

from swingby.maintenance.gc import Collected, collect
from swingby.maintenance.merge import Merged, merge
from swingby.maintenance.retract import Retracted, retract

__all__ = ["Collected", "Merged", "Retracted", "collect", "merge", "retract"]
