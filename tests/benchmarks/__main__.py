"""`make bench`: prints every benchmark table of the project."""

from __future__ import annotations

import argparse
import platform

from rich.console import Console
from rich.table import Table

from tests.benchmarks import diffusion, engine, grokking, layerwise, parity, path, scalar, scaling, whole


def main() -> None:
    """Run all, or the small form of all with --quick."""
    arguments = argparse.ArgumentParser(description=main.__doc__)
    arguments.add_argument("--quick", action="store_true", help="fewer shapes and cells, one repeat")
    quick = arguments.parse_args().quick
    console = Console(width=190)
    console.print(
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, one thread an engine"
    )
    show(
        console,
        "A run of 10,000 points, batch 128, 40 epochs, float32 (flow: float64): ms a run, median (least .. most)",
        engine.COLUMNS,
        engine.table(quick),
    )
    show(
        console,
        "The same through everything: linear d=2 L=2 w=2",
        whole.COLUMNS,
        whole.table(quick),
    )
    show(
        console,
        "From plan to diagram: curves of 200 points made up for the purpose, four a cell",
        ("cells", "stage", "seconds", "cells/s", "peak MB"),
        path.table(quick),
    )
    show(
        console,
        "A ReLU net on multitask sparse parity, float64: CPU time of a step, median",
        parity.COLUMNS,
        parity.table(quick),
    )
    show(
        console,
        "Image diffusion: a step of our loop beside a bare one, median (least .. most); on a CPU, its own time",
        diffusion.LOOP_COLUMNS,
        diffusion.loops(quick),
    )
    show(
        console,
        "Image diffusion: the bare loop by precision and memory format, its memory in a process of its own",
        diffusion.FORMAT_COLUMNS,
        diffusion.formats(quick),
    )
    show(
        console,
        "Nets on digits, batches of the preset, float32: CPU time of a step, least of several",
        grokking.COLUMNS,
        grokking.table(quick),
    )
    show(
        console,
        "Curves of the multilinear model beside a plain sum over every skill, CPU time in turn: medians",
        scaling.COLUMNS,
        scaling.table(quick),
    )
    show(
        console,
        "Layerwise linear models: cells a second by CPU time of one thread, beside a plain loop",
        layerwise.COLUMNS,
        layerwise.table(quick),
    )
    show(
        console,
        "Scalar nets beside plain loops, whole rows with their curves: CPU time",
        scalar.COLUMNS,
        scalar.table(quick),
    )


def show(console: Console, title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """One table."""
    drawn = Table(*columns, title=title, title_justify="left")
    for row in rows:
        drawn.add_row(*row)
    console.print(drawn)


if __name__ == "__main__":
    main()
