"""Maintenance of a data folder: merging another one into it, taking results back, deleting and renaming sweeps, and
removing files nobody needs."""

from swingby.maintenance.delete import Deletion, delete, rename
from swingby.maintenance.gc import Collected, collect
from swingby.maintenance.merge import Merged, merge
from swingby.maintenance.retract import Retracted, retract

__all__ = ["Collected", "Deletion", "Merged", "Retracted", "collect", "delete", "merge", "rename", "retract"]
