"""The self-test: a tiny sweep of an installed experiment, from its file to its report."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from swingby.cli.console import Finding
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.sweepfile.sweep import Sweep
from swingby.units import counted, size

NAME = "self-test"
SEEDS = 3
STEPS = 50
"""About how many steps a cell is trained, where the experiment says which parameter decides that."""
SECONDS = 300.0
"""Seconds without a sign of life after which a batch is at fault."""


def self_test(experiment: str | None = None) -> Iterator[Finding]:
    """Takes the steps of a study, up to the first that fails, and yields the result of each.

    The files are removed at the end.

    Args:
        experiment: which one is trained; None: the installed one whose default run has the fewest steps.
    """
    with tempfile.TemporaryDirectory(prefix="swingby-self-test-") as folder:
        study = _Study(Path(folder), experiment)
        steps: list[tuple[str, Callable[[], str], str]] = [
            ("read a sweep file", study.read, "install a package with an experiment, or mend the one that is named"),
            (
                "train it by the for-loop",
                study.train,
                "see the message; mend the experiment, or the packages it needs",
            ),
            ("make the store from the records", study.rebuild, "the temporary folder's disk may be full: set TMPDIR"),
            ("derive outcomes", study.derive, "mend or uninstall the package of the detector that is named"),
            ("ask SQL in the sandbox", study.query, "processes of this machine may be too narrow: see ulimit -a"),
            ("read the results back", study.read_back, "reinstall swingby and what it requires (swingby doctor)"),
        ]
        if "report" in registry.offered(registry.COMMANDS):
            steps.append(("write a report", study.report, "reinstall the package that offers the verb report"))
        for subject, step, remedy in steps:
            try:
                yield Finding(subject, "ok", step())
            except Exception as error:  # of any kind: the test is there to report it
                lines = str(error).strip().splitlines()
                yield Finding(subject, "fault", lines[0] if lines else repr(error), remedy)
                return


@dataclass
class _Study:
    """A sweep in a folder of its own, and the steps of its study; each returns its result as text."""

    folder: Path
    experiment: str | None

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.folder / "data"

    @cached_property
    def sweep(self) -> Sweep:
        """The sweep of the chosen experiment.

        Raises:
            SwingbyError: no installed experiment can be trained with its defaults alone.
        """
        names = sorted(registry.offered(registry.EXPERIMENTS)) if self.experiment is None else [self.experiment]
        trainable, faults = list[tuple[int, Sweep]](), list[str]()
        for name in names:
            try:
                whole = Sweep.parse(f"name: {NAME}\nexperiment: {name}\n", NAME)
                params = whole.points[0].params
                trainable.append((whole.experiment.steps(params), whole))
            except SwingbyError as error:
                faults.append(" ".join(str(error).split()))
        if not trainable:
            raise SwingbyError("; ".join(faults) or "no package that is installed offers an experiment")
        return _shortened(min(trainable, key=lambda one: one[0])[1])

    def read(self) -> str:
        """Reads and checks the sweep file."""
        steps = self.sweep.experiment.steps(self.sweep.points[0].params)
        return f"{counted(len(self.sweep), 'cell')} of {self.sweep.experiment_name}, {counted(steps, 'step')} each"

    def train(self) -> str:
        """Trains every cell in this process."""
        from swingby.run.driver import run_sweep
        from swingby.run.progress import Progress

        result = run_sweep(self.sweep, self.data, local=True, pilot=False, deadline=SECONDS, progress=Progress())
        if result.failed or result.missing or result.bad:
            raise SwingbyError(" ".join(str(result).split()))
        return f"{result.ok} ok, {result.diverged} diverged, in {result.seconds:.1f} s"

    def rebuild(self) -> str:
        """Makes the store from the files alone."""
        from swingby.data.records import Records
        from swingby.store import rebuild

        taken = rebuild(Records.open(self.data, create=False))
        if taken.bad or not taken.rows:
            raise SwingbyError(f"{taken.rows} rows; left out: {taken.bad}")
        return f"{counted(taken.rows, 'row')} of {counted(taken.shards, 'shard')}"

    def derive(self) -> str:
        """Looks for the outcomes of every detector that reads the experiment."""
        from swingby.store import Store

        detectors = registry.detectors_for(self.sweep.experiment_name)
        with Store.open(self.data) as store:
            tables = store.names()
        without = [one.name for one in detectors if f"outcomes_{one.name}" not in tables]
        if without:
            raise SwingbyError(f"no outcomes of {', '.join(without)}")
        return f"by {', '.join(one.name for one in detectors) or 'no detector: none is installed for it'}"

    def query(self) -> str:
        """Counts the cells as a user's query does."""
        from swingby import sandbox
        from swingby.store.sql import quoted

        rows = sandbox.query(
            self.data, f"select status, count(*) as cells from {quoted(self.sweep.experiment_name)} group by all"
        )
        if sum(rows["cells"].to_pylist()) != len(self.sweep):
            raise SwingbyError(f"the query gave {rows.to_pylist()}, and {len(self.sweep)} cells were trained")
        return f"{len(self.sweep)} cells counted in a process of its own"

    def read_back(self) -> str:
        """Compares the cells of the rows with those of the sweep."""
        from swingby.store.lookup import sweep_rows

        rows = sweep_rows(self.data, NAME)
        if sorted(rows["cell_id"].to_pylist()) != sorted(self.sweep.cell_ids().to_pylist()):
            raise SwingbyError("the rows are not those of the cells that were trained")
        return f"{counted(rows.num_rows, 'row')} of {counted(rows.num_columns, 'column')}, {size(rows.nbytes)}"

    def report(self) -> str:
        """Writes the report by the verb that is installed."""
        printed = io.StringIO()
        with redirect_stdout(printed):
            write = registry.load(registry.COMMANDS, "report")
            write(NAME, data=self.data, out=self.folder / "out")
        page = Path(printed.getvalue().strip().splitlines()[-1])
        return f"{page.name}, {size(page.stat().st_size)}"


def _shortened(sweep: Sweep) -> Sweep:
    """The sweep with a few seeds and about `STEPS` steps, as far as its experiment takes them."""
    params = sweep.points[0].params
    length, steps = sweep.experiment.length(params), sweep.experiment.steps(params)
    text = f"name: {NAME}\nexperiment: {sweep.experiment_name}\nseeds: {{count: {SEEDS}}}\nrecord: {{points: 20}}\n"
    if length is not None and steps > STEPS:
        fewer = max(2, getattr(params, length) * STEPS // steps)
        try:
            return Sweep.parse(f"{text}base: {{{length}: {fewer}}}\n", NAME)
        except SwingbyError:  # its own checks want more
            pass
    return Sweep.parse(text, NAME)
