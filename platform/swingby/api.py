"""The Python interface of the platform, for scripts and notebooks; its nouns are those of the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from swingby.store import Store
from swingby.sweepfile import sweep as sweep_files

__all__ = ["Store", "Sweep"]


class Sweep(sweep_files.Sweep):
    """A named grid over one experiment; `Sweep.load("file.yaml")`, then `sweep.run(data="data")`."""

    def run(self, data: str | Path = "data", **options: Any) -> Any:
        """Trains every cell that has no result yet, on Ray Tune (or `local=True`: a plain for-loop).

        Takes the fields of `swingby.run.options.RunOptions` as keywords, and returns a `swingby.run.results.RunResult`.

        Raises:
            SwingbyError: the sweep is running already, or the data folder cannot be used.
        """
        from swingby.run.driver import run_sweep

        return run_sweep(self, data, **options)
