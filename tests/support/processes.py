"""What runs below the process of the tests, for those that leave nothing behind."""

from __future__ import annotations

from contextlib import suppress

import psutil


def children() -> set[psutil.Process]:
    """The processes below this one; not the browser that other tests of it have, which starts some by itself."""
    found = set[psutil.Process]()
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "chrom" not in process.name():
                found.add(process)
    return found
