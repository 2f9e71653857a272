"""The Python interface of the platform, for scripts and notebooks; its nouns are those of the command."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

import polars as pl
import yaml

from swingby.errors import SwingbyError
from swingby.function.experiment import FunctionExperiment
from swingby.function.experiment import experiment as made_of
from swingby.function.nested import flat_value
from swingby.function.source import own_source
from swingby.model import registry
from swingby.store import Store
from swingby.store.status import SweepStatus, sweep_status
from swingby.sweepfile import sweep as sweep_files
from swingby.sweepfile.yaml import Dumper

if TYPE_CHECKING:
    from swingby.run.options import RunKeywords
    from swingby.run.progress import Progress

__all__ = ["Results", "Store", "Sweep"]


def data_folder(data: str | Path | None) -> Path:
    """The data folder that is meant: the given one, that of the environment's SWINGBY_DATA, or `data`."""
    return Path(data or os.environ.get("SWINGBY_DATA") or "data")


class Sweep(sweep_files.Sweep):
    """A named grid over one experiment; `Sweep.load("file.yaml")` or `Sweep.of(train, axes={...})`, then `.run()`."""

    @classmethod
    def of(
        cls,
        experiment: Any,
        *,
        axes: Mapping[str, Any] | None = None,
        seeds: int | Sequence[int] | Mapping[str, Any] = 1,
        name: str | None = None,
        **keys: Any,
    ) -> Self:
        """A sweep without a file: a dictionary's worth of keys.

        Args:
            experiment: a function with `@experiment`, any function `train(cell, ...)`, or the name of an experiment.
            axes, seeds: as in a sweep file.
            name: by default that of the experiment.
            keys: further keys of a sweep file, such as `base`, `where`, `record`, `diagram` or `title`.

        Raises:
            InputFaults: something in it is wrong; it lists everything that is.
            SwingbyError: a parameter of the function has no type that a column could hold.
        """
        if not isinstance(experiment, str):
            function = experiment
            if not isinstance(experiment, FunctionExperiment):
                function = made_of(experiment)
                function.source = own_source(experiment)  # without its decorator other processes would not find it
            registry.adopt(function)
            experiment = function.name
        name = name or experiment.replace("_", "-").lower()
        return cls.of_dict({"name": name, "experiment": experiment, "axes": axes or {}, "seeds": seeds, **keys})

    @classmethod
    def of_dict(cls, content: Mapping[str, Any]) -> Self:
        """The sweep of a dictionary with the keys of a sweep file.

        Raises:
            InputFaults: something in it is wrong; it lists everything that is.
        """
        text = yaml.dump(_plain(content), Dumper=Dumper, sort_keys=False)
        return cls.parse(text, "the sweep")

    def __repr__(self) -> str:
        return f"<Sweep {self.name}: {len(self.points):,} points x {len(self.seeds)} seeds of {self.experiment_name}>"

    def run(
        self, data: str | Path | None = None, *, progress: Progress | None = None, **options: Unpack[RunKeywords]
    ) -> Results:
        """Trains every cell that has no result yet, on Ray Tune (or `local=True`: a plain for-loop).

        Takes the fields of `swingby.run.options.RunOptions` as keywords. A function that is defined in a notebook is
        trained in this process: others could not have it.

        Args:
            data: the data folder; None: SWINGBY_DATA, or `data`.
            progress: the display; None: one on standard error.

        Raises:
            SwingbyError: the sweep is running already, or the data folder cannot be used.
        """
        from swingby.maintenance.retract import retract_older
        from swingby.run.driver import run_sweep

        folder = data_folder(data)
        self._keep_here(options)
        if options.get("older") == "retrain":
            retract_older(folder, self)
        return Results(self, folder, run_sweep(self, folder, progress=progress, **options))

    def _keep_here(self, options: RunKeywords) -> None:
        """Has a function of a notebook trained in this process, unless the options say otherwise."""
        of = self.experiment
        if isinstance(of, FunctionExperiment) and of.source is not None and not of.source.file:
            options.setdefault("local", True)

    def refine(
        self,
        data: str | Path | None = None,
        *,
        outcome: str | Sequence[str] | None = None,
        share: float | None = None,
        within: float | None = None,
        confidence: float | None = None,
        wrong: float | None = None,
        budget: str | int | None = None,
        progress: Progress | None = None,
        **options: Unpack[RunKeywords],
    ) -> Results:
        """Trains only cells that tell where an outcome changes, in rounds, until that is known well enough.

        The grid of the sweep is the space, and its seeds are the most that a point gets. Takes the fields of
        `swingby.run.options.RunOptions` as keywords, as `run` does. Afterwards `run` trains the rest of the grid.

        Args:
            data: the data folder; None: SWINGBY_DATA, or `data`.
            outcome: as in a sweep file, such as "learned", "kind = late" or "median height = 0.05"; several share the
                cells. None: what the sweep says, else the outcome of its diagram.
            share, within, confidence, wrong, budget: as in a sweep file; None: what the sweep says, else the default.

        Raises:
            InputFaults: a value is not allowed.
            SwingbyError: no outcome is named and none can be taken instead, or the sweep cannot be run.
        """
        from swingby.run.driver import run_sweep
        from swingby.sweepfile.refinement import checked_section

        values = {"outcome": outcome, "share": share, "within": within, "confidence": confidence, "wrong": wrong}
        section = {
            **(self.refine_section or {}),
            **{k: v for k, v in {**values, "budget": budget}.items() if v is not None},
        }
        sweep = replace(self, refine_section=checked_section(_plain(section)))
        folder = data_folder(data)
        self._keep_here(options)
        options["refine"] = True
        return Results(sweep, folder, run_sweep(sweep, folder, progress=progress, **options))

    def replicate(
        self,
        data: str | Path | None = None,
        *,
        outcome: str | None = None,
        top: int = 3,
        seeds: int = 200,
        progress: Progress | None = None,
        **options: Unpack[RunKeywords],
    ) -> Any:
        """Trains the extreme points of the finished sweep on fresh seeds: what they show as seen, shrunken, and fresh.

        Takes the fields of `swingby.run.options.RunOptions` as keywords, as `run` does.

        Args:
            data: the data folder; None: SWINGBY_DATA, or `data`.
            outcome: of yes or no, or a number; None: that of the diagram.
            top: points at either end of the map.
            seeds: fresh seeds of each point.

        Returns:
            A `swingby_analysis.replication.Replication`: its table, `plain()` values, and a frame by `polars()`.

        Raises:
            SwingbyError: the sweep is not finished there, or there is no such outcome.
        """
        from swingby.run.options import RunOptions
        from swingby.run.replicate import replicate

        self._keep_here(options)
        return replicate(self, data_folder(data), outcome, top, seeds, RunOptions(**options), progress)


@dataclass(frozen=True)
class Results:
    """The results of a sweep: those that `Sweep.run` returns, or those that are there, by `Results.load`.

    Attributes:
        sweep: the sweep; of loaded results how it stands.
        data: the data folder.
        run: how the run went, or how the sweep stands; its fields (ok, failed, diverged, missing, ...) can be asked of
            the results as well.
    """

    sweep: Sweep | SweepStatus
    data: Path
    run: Any

    @classmethod
    def load(cls, sweep: str | Path, data: str | Path | None = None) -> Self:
        """What there is of a sweep that was run or imported, by anyone; trains nothing, and needs no code of it.

        Args:
            sweep: its name, its id (or the first digits), or its file.
            data: the data folder; None: SWINGBY_DATA, or `data`.

        Raises:
            SwingbyError: no such folder, or no such sweep in it (with the nearest name).
        """
        folder = data_folder(data)
        (status,) = sweep_status(folder, str(sweep))
        return cls(status, folder, status)

    @property
    def _presentation(self) -> dict[str, Any] | None:
        """How the sweep is shown; None: as its last run had it."""
        return self.sweep.presentation if isinstance(self.sweep, Sweep) else None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.run, name)

    def __repr__(self) -> str:
        return f"<Results {self.run}>"

    def __str__(self) -> str:
        return str(self.run)

    def _repr_html_(self) -> str:
        frame = self.polars()
        return f"<p>{escape(str(self.run))}</p>{frame.head(10)._repr_html_()}"

    def polars(self) -> pl.DataFrame:
        """Every finished cell as a row: parameters (those on axes first), outcomes, scalars, seed and status, curves;
        then what the platform keeps of it, such as its id."""
        from swingby.store.lookup import sweep_rows

        frame = pl.from_arrow(sweep_rows(self.data, self.sweep.sweep_id))
        return frame if isinstance(frame, pl.DataFrame) else frame.to_frame()

    def pandas(self) -> Any:
        """The same as a pandas frame.

        Raises:
            SwingbyError: pandas is not installed.
        """
        try:
            return self.polars().to_pandas()
        except ModuleNotFoundError as error:
            raise SwingbyError(f"pandas is not installed ({error}); pip install pandas, or use .polars()") from None

    def sql(self, query: str, parameters: Sequence[Any] = ()) -> Any:
        """A query over all results of the data folder; cells of this sweep are read as it recorded them."""
        with Store.open(self.data) as store, store.reading_as(self.sweep.sweep_id):
            return store.sql(query, parameters)

    def chart(self, what: str | None = None, *, x: str | None = None, y: str | None = None) -> Any:
        """An Altair chart of an outcome, a scalar or a curve: a map, marks with intervals along one axis, or bands.

        Args:
            what: its name; None: the outcome of the sweep's diagram.
            x, y: axes of the sweep: with both an outcome is a map, with x alone marks along it; every other axis has a
                panel for each of its values. Without them those of the sweep's diagram, else its first two.

        Raises:
            SwingbyError: no such outcome, curve or axis (with those that there are), or nothing is finished.
        """
        draw = registry.function("swingby_analysis.report.chart:chart")
        return draw(self.sweep.sweep_id, self.data, what, x, y, self._presentation)

    def paper(self, out: str | Path = "out", *, figure: str | Sequence[str] = "map", **look: Any) -> list[Any]:
        """Writes figures for a paper, as `swingby report --paper` does: each file with its size.

        Args:
            out: the folder in which they get a folder of their own.
            figure: names: map, curves, all, or those of a report's files.
            look: width ("3.3in"), font, size (pt), title, legend ("right", "bottom"), formats ("pdf", "pgf", "svg",
                "png") and dpi: the fields of `swingby_analysis.page.paper.PaperLook`.

        Raises:
            SwingbyError: no such figure, a font that is not installed, or a width that is too small.
        """
        settings = registry.function("swingby_analysis.page.paper:PaperLook")(**look)
        write = registry.function("swingby_analysis.report.paper:write_paper")
        names = [figure] if isinstance(figure, str) else figure
        return write(self.sweep.sweep_id, self.data, Path(out), settings, names, presentation=self._presentation)

    def report(self, out: str | Path = "out", kinds: Collection[str] = ()) -> Path:
        """Draws the report of the sweep; the path of its page.

        Args:
            kinds: as which of png, svg and pdf each figure is written beside the page.

        Raises:
            SwingbyError: nothing of it is finished.
        """
        write = registry.function("swingby_analysis.report:write_report")
        return Path(write(self.sweep.sweep_id, self.data, Path(out), kinds, presentation=self._presentation).page)


def _plain(value: Any) -> Any:
    """Numpy's numbers and arrays, ranges, tuples, dataclasses, models, enums and paths as plain values."""
    value = flat_value(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value
