"""Arrow imported without packages that it can do without, and that take longer to import than a verb takes."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any


class Hidden:
    """A finder of modules by which some packages are not installed.

    A None in `sys.modules` would not do: compiled code, such as Arrow's, takes it for the module.

    Args:
        names: of the packages.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Where a module lies: not known to this finder.

        Raises:
            ModuleNotFoundError: it belongs to one of the packages.
        """
        if name.partition(".")[0] in self._names:
            raise ModuleNotFoundError(name)


def arrow_without(*names: str) -> None:
    """Imports Arrow while some packages are hidden; nothing is done where they, or Arrow, are there already.

    A table of pandas that is asked for later is made all the same: Arrow imports pandas then. Without NumPy, Arrow has
    no NumPy arrays as long as the process lives.
    """
    if "pandas" in sys.modules or ("numpy" in names and "pyarrow" in sys.modules):
        return
    finder: Any = Hidden(names)
    sys.meta_path.insert(0, finder)
    try:
        import pyarrow as pa

        pa.array([0])
    finally:
        sys.meta_path.remove(finder)
