"""Matrix products in one thread; needs no torch."""

from __future__ import annotations

import functools
import sys
from contextlib import AbstractContextManager

from threadpoolctl import ThreadpoolController


@functools.cache
def _blas(with_torch: bool) -> ThreadpoolController:
    # The controller knows the libraries that are loaded now: torch brings its own, and numba's np.dot is scipy's.
    import scipy.linalg  # noqa: F401  loads its BLAS

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """A context in which matrix products of numpy, scipy and numba take one thread: workers have the other cores."""
    return _blas("torch" in sys.modules).limit(limits=1, user_api="blas")
