"""The verbs that SIM adds to the command: `theory` and `figures`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swingby.cli.console import DEFAULT_DATA, PAPERS, DataFolder, Overrides, panel, say, table, tell
from swingby.errors import SwingbyError

if TYPE_CHECKING:
    from .comparison import PointComparison

HEADS = ("D.1", "D.2", "D.3", "D.4", "D.5 log <", "D.5 log >", "D.5 gap <", "D.5 gap >", "all <")
"""Heads of the columns of assumptions: < with the a_p ascending, > descending."""
MOST_NAMED = 10
"""The most points without predictions that are named; further ones are only counted."""
GALLERY_TITLE = "The figures of the swing-by paper on the identity-mapping task"
GALLERY_LEAD = (
    "Each redrawn from its own sweep, over many seeds, under the conventions of the paper's text and under those of "
    "the code behind its figures."
)


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
    """Compares theory with experiment at each point: when concepts should arrive and did, and which assumptions hold.

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


@panel(PAPERS)
def figures(
    names: Annotated[
        list[str] | None, typer.Argument(help="Figures such as 2a or figure-7; all, without.", show_default=False)
    ] = None,
    data: DataFolder = DEFAULT_DATA,
    out: Annotated[Path, typer.Option(help="Folder for the page and for the folders with the reports.")] = Path("out"),
    quick: Annotated[bool, typer.Option("--quick", help="A few seeds of each figure; a full run reuses them.")] = False,
    overrides: Overrides = None,
    run: Annotated[bool, typer.Option("--run/--no-run", help="Train what is missing first, or only draw.")] = True,
    local: Annotated[bool, typer.Option("--local", help="Train in a plain for-loop instead of Ray.")] = False,
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Each figure as PNG, SVG and PDF, ready for a paper.")
    ] = True,
) -> None:
    """Redraws the figures of the swing-by paper: trains their sweeps, writes each one's report, and a page with all.

    Every figure is a sweep of its own, over many seeds and under both presets; for a single one, `swingby run
    figure-2a` and `swingby report figure-2a` do this too. A second call trains nothing.

    Example:

        swingby figures 2a 5 --quick
    """
    from swingby_analysis.gallery import figure_names, write_gallery
    from swingby_analysis.page.pictures import KINDS
    from swingby_analysis.train import QUICK_SEEDS

    page = write_gallery(
        figure_names(names or (), "sim"),
        data,
        out,
        overrides=[*([f"seeds.count={QUICK_SEEDS}"] if quick else []), *(overrides or ())],
        run=(["--local"] if local else []) if run else None,
        kinds=KINDS if pictures else (),
        title=GALLERY_TITLE,
        lead=GALLERY_LEAD,
        say=tell,
    )
    say(str(page))
