"""The surface fitted to counts at the points of a space, as a table: what maps draw, and what is kept of a search."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import numpy as np
import pyarrow as pa

from swingby.select.boundary.boundary import fitted
from swingby.select.boundary.kernel import Indices
from swingby.select.boundary.space import Space
from swingby.select.boundary.verdicts import VERDICTS, Goal

FEWEST_LABELS, FEWEST_POINTS = 3, 2
"""Labels, and points with labels, of a panel below which it has no surface."""
SCHEMA = pa.schema(
    [
        pa.field("point", pa.int64(), nullable=False),
        pa.field("k", pa.int64(), nullable=False),
        pa.field("n", pa.int64(), nullable=False),
        pa.field("mean", pa.float64()),
        pa.field("low", pa.float64()),
        pa.field("high", pa.float64()),
        pa.field("above", pa.float64()),
        pa.field("verdict", pa.string()),
    ]
)
"""A point (its place in the space), its labels that are yes and all of them, the mean of its fitted share with the ends
of the interval, the probability that the share exceeds the level, and one of VERDICTS. Null where there is no fit."""


def share_fit(space: Space, goal: Goal, k: Indices, n: Indices) -> pa.Table:
    """What counts say of the share at every point of a space: a row a point, in the order of the space.

    A surface needs a panel that has neighbours and a few labels; elsewhere the fit is null.

    Args:
        goal: the level, and the confidence of intervals and verdicts.
        k, n: labels of each point that are yes, and all of its labels, (N,).
    """
    panels = int(space.panel.max(initial=-1)) + 1
    labels = np.bincount(space.panel, n, panels)
    places = np.bincount(space.panel, n > 0, panels)
    kept = ((labels >= FEWEST_LABELS) & (places >= FEWEST_POINTS))[space.panel]
    fit = {name: np.full(len(space), np.nan) for name in ("mean", "low", "high", "above")}
    verdict = np.full(len(space), None, dtype=object)
    if kept.any():
        _, panel = np.unique(space.panel[kept], return_inverse=True)
        part = Space(space.shape, panel.astype(np.int64), space.place[kept], space.seeds)
        with one_blas_thread():
            estimates = fitted(part, goal, k[kept].astype(float), n[kept].astype(float))
        for name, values in zip(fit, (estimates.share, estimates.low, estimates.high, estimates.above), strict=True):
            fit[name][kept] = values
        verdict[kept] = np.array(VERDICTS, dtype=object)[estimates.verdict]
    columns = {name: pa.array(values, mask=~kept) for name, values in fit.items()}
    counts = {"point": np.arange(len(space)), "k": k, "n": n}
    return pa.table({**counts, **columns, "verdict": pa.array(verdict, pa.string())}, schema=SCHEMA)


def one_blas_thread() -> AbstractContextManager[object]:
    """A context in which products of matrices take one thread: those of a fit are small, and threads wait for others.

    On two cores a fit takes a quarter of the time so, and a twentieth where other programs want the cores, too.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:  # it comes with what training needs
        return nullcontext()
    return threadpool_limits(limits=1, user_api="blas")
