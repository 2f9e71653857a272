"""Batches as Ray Tune's trials, over the cores of this machine or of a cluster."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.run.drain import Drain, flag_for
from swingby.run.planned import Planned
from swingby.run.progress import Progress
from swingby.run.ray.in_flight import Dealt
from swingby.run.ray.session import Standby, machines, quiet
from swingby.run.ray.trainable import trainable
from swingby.run.resources import bundle, check_room, together

_NOISE = ("ray.tune.analysis.experiment_analysis", "ray.tune.tune")
"""Loggers that tell what is told here: each trial wrote no result file (results are in shards); some trials failed."""


def run_tune(
    planned: Sequence[Planned],
    records: Records,
    progress: Progress,
    drain: Drain,
    standby: Standby,
) -> dict[tuple[str, str], str]:
    """Runs every batch of the plans as a Tune trial; workers are reused, so a trial costs some 20 ms.

    Args:
        planned: what to run; their plans are written.
        drain: once asked, no batch begins any more and running ones finish.
        standby: Ray, perhaps up already; all machines of a cluster see the data folder.

    Returns:
        Cells (by plan and id) that failed because their process died again and again, with the reason.

    Raises:
        SwingbyError: an experiment broke its contract, a shard cannot be written, the cluster does not fit, or every
            process dies.
    """
    with drain.flagged(flag_for(records.data, planned[0].plan.plan_id)) as flag:
        storage = standby.storage()
        for one in planned:
            _check_resources(one, records.mirror is not None)
        return _fit(Dealt(planned, records, flag, progress, drain), storage)


def _check_resources(planned: Planned, alone: bool) -> None:
    """Refuses batches that would wait for ever; `alone`: all processes of one have to be on one machine."""
    there = machines()
    for shape, each in planned.each.items():
        if alone:
            check_room(shape, bundle(together(each, planned.processes)), 1, there)
        else:
            check_room(shape, bundle(each), planned.processes, there)


def _fit(run: Dealt, storage: Path) -> dict[tuple[str, str], str]:
    """Tunes; returns the cells given up. What dies is dealt again as another trial: Tune itself retries nothing."""
    from ray import tune

    tuner = tune.Tuner(
        trainable(),
        tune_config=tune.TuneConfig(search_alg=_searcher(run), num_samples=-1, reuse_actors=True),
        run_config=tune.RunConfig(
            storage_path=str(storage),
            verbose=0,
            failure_config=tune.FailureConfig(max_failures=0),
            checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
            callbacks=[_callback(run)],
        ),
    )
    with quiet(_NOISE):
        results = tuner.fit()
    if run.fault is not None:
        raise SwingbyError(run.fault)
    if len(results.errors) != run.deaths:
        raise SwingbyError(f"Ray Tune failed: {results.errors[0]}")
    run.quarantine.end()
    return run.quarantine.given_up


def _searcher(run: Dealt) -> Any:
    """Hands out the batches in the plan's order, until there are no more or the run drains."""
    from ray.tune.search import Searcher

    class InOrder(Searcher):
        def __init__(self, run: Dealt) -> None:
            super().__init__()
            self.run = run

        def __getstate__(self) -> dict[str, Any]:
            return {}  # Tune pickles what it would need to restore an experiment, which is not used

        def suggest(self, trial_id: str) -> Any:
            config = None if self.run.stopping() else self.run.config()
            # Nothing now, but perhaps later: the process of a trial that is still out may die.
            return None if config is None and self.run.out() else config or self.FINISHED

        def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
            return

        def save(self, checkpoint_path: str) -> None:
            return

        def restore(self, checkpoint_path: str) -> None:
            return

    return InOrder(run)


def _callback(run: Dealt) -> Any:
    """Tells the run what happens; Tune would end the sweep at the first exception of a callback, so none leaves it."""
    from ray import tune

    class Reports(tune.Callback):
        def __init__(self, run: Dealt) -> None:
            self.run = run

        def __getstate__(self) -> dict[str, Any]:
            return {}

        def on_trial_result(
            self, iteration: int, trials: list[Any], trial: Any, result: dict[str, Any], **_: Any
        ) -> None:
            self._guarded(self.run.reported, result)

        def on_trial_error(self, iteration: int, trials: list[Any], trial: Any, **_: Any) -> None:
            self._guarded(self.run.died, trial)

        def _guarded(self, tell: Callable[[Any], None], what: Any) -> None:
            try:
                tell(what)
            except Exception:
                logging.getLogger(__name__).exception("progress could not be told; the run goes on")

    return Reports(run)
