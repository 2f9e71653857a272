"""Asks phenomena of the sweeps of a data folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from swingby.archive import shipped, unpack
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.run.outcomes import derive
from swingby.store import Store, ingest
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.phenomena.catalogue import Phenomenon
from swingby_analysis.phenomena.counting import sweeps_of, tells_nothing
from swingby_analysis.report.prose import plural
from swingby_analysis.statements.catalogue import diagrams
from swingby_analysis.statements.needed import Say

T = TypeVar("T")


def answers(
    data: Path,
    phenomena: Sequence[Phenomenon],
    count: Callable[[Store, Phenomenon, dict[str, Any]], T | None],
    *,
    sweeps: Sequence[str] = (),
    recorded: bool = False,
    say: Say,
) -> list[T]:
    """What `count` finds in each sweep of the experiments that the phenomena are about, in their order.

    Args:
        data: the data folder.
        count: gives None where no run of a sweep tells.
        sweeps: names of sweeps to count; () for all in the folder.
        recorded: unpack the shipped results of the experiments' diagrams first.
        say: hears each step.

    Raises:
        SwingbyError: there is no data folder, no sweep of that name, no run of such an experiment, or the disk refuses.
    """
    records = Records.open(data, create=recorded)
    if recorded:
        _unpack(records, phenomena, say)
    ingest(records)
    answered = list[T]()
    with Store.open(records.data) as store:
        names = {row["name"] for item in phenomena for row in sweeps_of(store, item.experiment)}
        if unknown := [name for name in sweeps if name not in names]:
            known = ", ".join(sorted(names)) or "(none)"
            raise SwingbyError(f"no sweep here that could show it is called {unknown[0]!r}; allowed: {known}")
        for item in phenomena:
            rows = [row for row in sweeps_of(store, item.experiment) if not sweeps or row["name"] in sweeps]
            derive(records, [row["sweep_id"] for row in rows])
            if tells_nothing(store.names(), item):
                continue
            answered += [one for row in rows if (one := count(store, item, row)) is not None]
            say(f"{item.slug}, {item.experiment}: {plural(len(rows), 'sweep')}")
    if not answered:
        experiments = ", ".join(sorted({item.experiment for item in phenomena}))
        raise SwingbyError(
            f"{data} has no run with an answer; the phenomena are about {experiments}: swingby run trains a sweep, "
            "swingby phenomena --recorded takes the results that are shipped"
        )
    return answered


def _unpack(records: Records, phenomena: Sequence[Phenomenon], say: Say) -> None:
    """Brings in the shipped results of the diagrams of these experiments, those that are not here yet."""
    known, experiments = shipped(), {item.experiment for item in phenomena}
    for diagram in diagrams():
        if diagram.experiment in experiments:
            path = known.get(Sweep.load(diagram.sweep, confirm_above=None).sweep_id)
            say(f"no recorded results of {diagram.sweep}" if path is None else str(unpack(records.data, path)))
