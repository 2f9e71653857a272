"""The verb that SIM adds to the command: `theory`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from swingby.cli.console import DEFAULT_DATA, PAPERS, DataFolder, panel, say, table
from swingby.errors import SwingbyError

if TYPE_CHECKING:
    from .comparison import PointComparison

HEADS = ("D.1", "D.2", "D.3", "D.4", "D.5 log <", "D.5 log >", "D.5 gap <", "D.5 gap >", "all <")
"""Heads of the columns of assumptions: < with the a_p ascending, > descending."""
MOST_NAMED = 10
"""The most points without predictions that are named; further ones are only counted."""


@panel(PAPERS)
def theory(
    sweep: Annotated[
        str, typer.Argument(help="A sweep's name, its id (or the first digits), or a sweep file.", show_default=False)
    ],
    data: DataFolder = DEFAULT_DATA,
    K: Annotated[float, typer.Option("--K", help="Constant of App. D.1, which asks for 20 or more.")] = 20.0,
    C: Annotated[float, typer.Option("--C", help="Constant of App. D.1; more than 1.")] = 10.0,
    P: Annotated[float, typer.Option("--P", help="Constant of App. D.1; 2 or more.")] = 2.0,
    kappa: Annotated[float, typer.Option("--kappa", help="Constant of App. D.1; over 1.1, at most 1 + K/(2C).")] = 2.0,
) -> None:
    """Compares SIM's theory with its runs: when concepts should arrive and did, and which assumptions hold.

    There are predictions for the symmetric family (arrivals of w_pp at 0.9, eq 4.3; App. D's assumptions) and for one
    layer without bias (r_k at 0.9, Theorem 4.1). Measured times of the symmetric family need `record: {also:
    [jacobian]}`. The table `assumptions` (key cell_id, K, C, P, kappa) keeps which assumptions hold under the given
    constants; the predictions of every cell are in `outcomes_theory`.

    Example:

        swingby theory figure-5 --P 4 --kappa 1.5
    """
    from swingby.data.records import Records

    from .assumptions import Constants
    from .comparison import compare, unmet

    for name, value in (("K", K), ("C", C), ("P", P), ("kappa", kappa)):
        if not (math.isfinite(value) and value > 0):
            raise SwingbyError(f"--{name} {value}: a constant of App. D.1 is a finite number above 0")
    constants = Constants(K, C, P, kappa)
    comparison = compare(Records.open(data, create=False), sweep, constants)
    say("Arrival at 0.9 in steps, for each concept; medians over the runs of a point. Concepts count from 1.")
    columns = ("point", "runs", "a_p", "predicted order", "predicted", "measured", "order right", "within 10 %")
    table(columns, map(_row, comparison.points))
    if comparison.silent:
        count = len(comparison.silent)
        named = "; ".join(comparison.silent[:MOST_NAMED]) + ("; ..." if count > MOST_NAMED else "")
        say(
            f"Theory is silent on {count} of the sweep's {count + len(comparison.points)} points: {named}. It speaks "
            "of the symmetric family, and of one layer without bias, trained on whole clusters (not truncate)."
        )
    in_family = [point for point in comparison.points if point.assumptions is not None]
    if not in_family:
        say("App. D's assumptions are about the symmetric family; this sweep has none of it.")
        return
    say()
    names = f"K = {K:g}, C = {C:g}, P = {P:g}, kappa = {kappa:g}"
    say(f"Runs that meet App. D.1's assumptions under {names}; < with the a_p ascending, > descending:")
    for line in unmet(constants):
        say(f"{line}: so no run meets it.")
    counts = [(point.label or "the only one", point.runs, *(point.assumptions or {}).values()) for point in in_family]
    table(("point", "runs", *HEADS), counts)


def _row(point: PointComparison) -> Sequence[object]:
    """A point's row in the table of arrivals."""
    (order, count), *others = point.orders
    order = " > ".join(map(str, order)) + (f" ({count} of {point.runs})" if others else "")
    right, within = (f"{k} of {n}" if n else "not recorded" for k, n in (point.right, point.within))
    numbers = (_numbers(point.a), order, _numbers(point.predicted), _numbers(point.measured))
    return (point.label or "the only one", point.runs, *numbers, right, within)


def _numbers(values: Iterable[float]) -> str:
    return ", ".join("never" if math.isinf(v) else "-" if math.isnan(v) else f"{v:.4g}" for v in values)
