"""`make bench`: prints the benchmark tables of the project, all of them or those of the modules that are named."""

from __future__ import annotations

import argparse
import platform
from importlib import import_module

from rich.console import Console

from tests.benchmarks.tables import add_quick, show

NAMES = (
    "engine", "whole", "path", "parity", "diffusion", "grokking", "scaling", "layerwise", "scalar", "linear",
    "features", "unconstrained", "memorization", "pages", "study",
)  # fmt: skip
"""Modules with `TABLES`, in the order in which they are printed."""


def main() -> None:
    """Print the tables of the named modules of this folder, or of all."""
    arguments = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=main.__doc__)
    arguments.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(NAMES)}; default: all")
    add_quick(arguments)
    given = arguments.parse_args()
    if unknown := sorted({*given.names} - {*NAMES}):
        arguments.error(f"no tables of {', '.join(unknown)}; allowed: {', '.join(NAMES)}")
    console = Console(width=190)
    console.print(
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, one thread an engine"
    )
    for name in given.names or NAMES:
        show(console, import_module(f"tests.benchmarks.{name}").TABLES, given.quick)


if __name__ == "__main__":
    main()
