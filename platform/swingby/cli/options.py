"""Arguments and options that several commands on sweeps share, and what two of them mean together."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from swingby.cli.console import sweep_names
from swingby.errors import SwingbyError

SweepName = Annotated[
    str,
    typer.Argument(
        help="A sweep file, or the name of a packaged sweep.", show_default=False, autocompletion=sweep_names
    ),
]
ConfirmAbove = Annotated[
    int, typer.Option("--confirm-above", metavar="CELLS", help="Refuse a sweep of more cells than this.")
]
Local = Annotated[bool, typer.Option("--local", help="Train in a plain for-loop instead of Ray.")]
Address = Annotated[
    str | None, typer.Option("--address", help="host:port of an existing Ray cluster; default: a Ray of this run.")
]
Processes = Annotated[
    int,
    typer.Option(
        "--processes", metavar="N", help="Processes that train a batch together, for experiments that spread a run."
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        metavar="cpu|cuda",
        help="Where batches are trained; with cuda, as many runs share a GPU as its memory and a measured gain allow; "
        "--set resources.gpus=1 gives each a whole one, =0.25 a part.",
        show_default="as the experiment asks",
    ),
]
Code = Annotated[
    str | None,
    typer.Option(
        metavar="wheel|installed",
        help="With --address: the code is sent to the machines, or every machine has it installed.",
        show_default="wheel",
    ),
]
Deadline = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Seconds without new rows after which a batch is ended and tried again, as if its process had died.",
        show_default="30 times the forecast of the batch, at least 300; a day where there is none",
    ),
]
Refine = Annotated[
    bool | None,
    typer.Option(
        "--refine/--no-refine",
        help="Train only cells that tell where an outcome changes, or the whole grid.",
        show_default="--refine if the sweep file has refine:",
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE|CELLS",
        help="Of a refined sweep, the most cells: '20%' of the grid's, or a number.",
        show_default="that of the sweep file, else 20%",
    ),
]
CELLS_FAILED = 1
"""Exit status of a command that ends with failed cells."""


def with_budget(overrides: list[str] | None, budget: str | None) -> list[str]:
    """The overrides, with a budget."""
    return [*(overrides or ()), *([f"refine.budget='{budget}'"] if budget is not None else [])]


def is_refined(sweep: Any, refine: bool | None, budget: str | None) -> bool:
    """Whether a sweep is to be refined: as the options say, else as its file does.

    Raises:
        SwingbyError: there is a budget, but it is not to be refined.
    """
    if refine is False and budget is not None:
        raise SwingbyError("--budget is that of a refined sweep: leave --no-refine out")
    return sweep.refine_section is not None if refine is None else refine


def older(keep: bool, retrain: bool) -> Any:
    """The option on results of other versions of the code."""
    if keep and retrain:
        raise SwingbyError("--keep and --retrain exclude each other: older results count, or are trained again")
    return "keep" if keep else "retrain" if retrain else None
