"""Batches as Ray Tune's trials, over the cores of this machine or of a cluster."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swingby.bucket import is_address
from swingby.errors import SwingbyError
from swingby.gang import ALONE, LostWorkerError
from swingby.run.abroad import at_hand
from swingby.run.batch import BatchDone, run_batch
from swingby.run.deal import RETRIES, Dealer, Trial, named
from swingby.run.drain import Drain, flag_for
from swingby.run.room import bundle, check_room
from swingby.run.room import together as occupied
from swingby.run.tune.gang import Actors
from swingby.run.tune.session import Standby, machines, quiet

if TYPE_CHECKING:  # workers import this file, and need neither the store nor the planner
    from swingby.records import Records
    from swingby.run.plan import Planned
    from swingby.run.progress import Progress

_NOISE = ("ray.tune.analysis.experiment_analysis", "ray.tune.tune")
"""Loggers that tell what is told here: each trial wrote no result file (results are in shards); some trials failed."""


def run_tune(
    planned: Sequence[Planned],
    records: Records,
    progress: Progress,
    drain: Drain,
    standby: Standby,
) -> dict[tuple[str, int], str]:
    """Runs every batch of the plans as a Tune trial; workers are reused, so a trial costs some 20 ms.

    Args:
        planned: what to run; their plans are written.
        drain: once asked, no batch begins any more and running ones finish.
        standby: Ray, perhaps up already; all machines of a cluster see the data folder.

    Returns:
        Batches (by plan and number) that were given up after their process died `RETRIES` + 1 times, with the reason.

    Raises:
        SwingbyError: an experiment broke its contract, a shard cannot be written, or the cluster does not fit.
    """
    with drain.flagged(flag_for(records.data, planned[0].plan.plan_id)) as flag:
        storage = standby.storage()
        for one in planned:
            _check_resources(one, records.mirror is not None)
        return _fit(_Run(planned, records, flag, progress, drain), storage)


def _check_resources(planned: Planned, together: bool) -> None:
    """Refuses batches that would wait for ever; `together`: all processes of one have to be on one machine."""
    there = machines()
    for shape, each in planned.each.items():
        if together:
            check_room(shape, bundle(occupied(each, planned.processes)), 1, there)
        else:
            check_room(shape, bundle(each), planned.processes, there)


class _Run:
    """What the parts of one run share."""

    def __init__(
        self, planned: Sequence[Planned], records: Records, flag: Path, progress: Progress, drain: Drain
    ) -> None:
        self.planned, self.progress, self.drain = planned, progress, drain
        self.fault: str | None = None
        self.lost: dict[tuple[str, int], str] = {}
        self.trials_lost = 0
        self.dealer = Dealer(planned, max(one.workers for one in planned))
        self._fixed = {"data": records.where, "flag": str(flag)}
        self._dealt: dict[tuple[str, int], Trial] = {}

    @property
    def count(self) -> int:
        """How many trials there are at most: one a batch, and one more where it is taken out of a larger one."""
        return 2 * sum(len(one.batches) for one in self.planned)

    def config(self) -> dict[str, Any] | None:
        """The configuration of the next trial; None if there is no more."""
        trial = self.dealer.next()
        if trial is None:
            return None
        plan_id = trial.planned.plan.plan_id
        self._dealt[plan_id, trial.batches[0]] = trial
        asked = {"bundle": bundle(trial.planned.each[trial.notes[0].shape]), "processes": trial.planned.processes}
        own = {"plan_id": plan_id, "batches": trial.batches, "after": trial.after, "device": trial.device}
        return {**self._fixed, **own, **asked}

    def out(self) -> bool:
        """Whether trials are out whose batches may have to be dealt again."""
        return not self.stopping() and any(len(trial.notes) > 1 for trial in self._dealt.values())

    def stopping(self) -> bool:
        """Whether no batch should begin any more."""
        return self.drain() or self.fault is not None

    def reported(self, result: Mapping[str, Any]) -> None:
        """A batch came back."""
        if result.get("fault"):
            self.fault = self.fault or result["fault"]
            self.drain.ask()
            return
        done = BatchDone(**result["batch_done"])
        trial = self._dealt.pop((done.plan_id, done.batch), None)
        if trial is not None and done.cells == trial.cells:
            self.dealer.took(trial, done.seconds)
        self.progress.batch_done(done)

    def died(self, trial: Any) -> None:
        """The process of a batch died; it is tried again."""
        self.progress.line(f"{named(trial.config['batches'])} tried again: {_why(trial)}")

    def gave_up(self, trial: Any) -> None:
        """The process of a batch died once too often."""
        self.trials_lost += 1
        dealt = self._dealt.pop((trial.config["plan_id"], trial.config["batches"][0]), None)
        if dealt is not None and self.dealer.take_apart(dealt):
            self.progress.line(
                f"{named(trial.config['batches'])} trained one by one: the process died {RETRIES + 1} times"
            )
            return
        reason = f"its process died {RETRIES + 1} times; the last time: {_why(trial)}"
        self.lost |= {(trial.config["plan_id"], batch): reason for batch in trial.config["batches"]}
        self.progress.line(f"{named(trial.config['batches'])} given up")


def train(config: Mapping[str, Any]) -> dict[str, Any]:
    """One trial, in a worker: runs the batches that the configuration names, as one.

    What no second try would mend comes back as a "fault".
    """
    size, each = config["processes"], config["bundle"]
    try:
        data, asked = at_hand(config)
        done = run_batch(
            data,
            config["plan_id"],
            config["batches"],
            config["device"],
            asked,
            config["after"],
            ALONE if size == 1 else Actors(size, each),
            each.get("CPU", 1.0),
        )
    except SwingbyError as error:
        return {"done": True, "fault": str(error)}
    return {"done": True, "fault": None, "batch_done": {**asdict(done), "plan_id": config["plan_id"]}}


def _fit(run: _Run, storage: Path) -> dict[tuple[str, int], str]:
    """Tunes; returns the batches given up."""
    from ray import tune

    tuner = tune.Tuner(
        _trainable(),
        tune_config=tune.TuneConfig(search_alg=_searcher(run), num_samples=run.count, reuse_actors=True),
        run_config=tune.RunConfig(
            storage_path=str(storage),
            verbose=0,
            failure_config=tune.FailureConfig(max_failures=RETRIES),
            checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
            callbacks=[_callback(run)],
        ),
    )
    with quiet(_NOISE):
        results = tuner.fit()
    if run.fault is not None:
        raise SwingbyError(run.fault)
    if len(results.errors) != run.trials_lost:
        raise SwingbyError(f"Ray Tune failed: {results.errors[0]}")
    return run.lost


def _why(trial: Any) -> str:
    """Why a trial failed the last time: the last line that is not blank, where Ray puts the reason."""
    file = Path(trial.error_file or "")  # `get_error` would read a copy of it that is made later
    lines = file.read_text().splitlines() if file.is_file() else []
    said = next((line.strip() for line in reversed(lines) if line.strip()), "it did not say why")
    return said.removeprefix(f"{LostWorkerError.__module__}.{LostWorkerError.__name__}: ")


def _trainable() -> type:
    """The class of all trials; an actor of it takes one configuration after another."""
    from ray import tune

    class Trial(tune.Trainable):
        def setup(self, config: dict[str, Any]) -> None:
            self.batch_config = config

        def reset_config(self, new_config: dict[str, Any]) -> bool:
            self.batch_config = new_config
            return True

        def step(self) -> dict[str, Any]:
            return train(self.batch_config)

        @classmethod
        def default_resource_request(cls, config: dict[str, Any]) -> tune.PlacementGroupFactory:
            # Where machines share no folder, checkpoints that one process leaves are seen on its machine alone.
            strategy = "STRICT_PACK" if is_address(config["data"]) else "PACK"
            return tune.PlacementGroupFactory([config["bundle"]] * config["processes"], strategy=strategy)

    return Trial


def _searcher(run: _Run) -> Any:
    """Hands out the batches in the plan's order, until there are no more or the run drains."""
    from ray.tune.search import Searcher

    class InOrder(Searcher):
        def __init__(self, run: _Run) -> None:
            super().__init__()
            self.run = run

        def __getstate__(self) -> dict[str, Any]:
            return {}  # Tune pickles what it would need to restore an experiment, which is not used

        def suggest(self, trial_id: str) -> Any:
            config = None if self.run.stopping() else self.run.config()
            # Nothing now, but perhaps later: a trial that is still out may have to be taken apart.
            return None if config is None and self.run.out() else config or self.FINISHED

        def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
            return

        def save(self, checkpoint_path: str) -> None:
            return

        def restore(self, checkpoint_path: str) -> None:
            return

    return InOrder(run)


def _callback(run: _Run) -> Any:
    """Tells the run what happens; Tune would end the sweep at the first exception of a callback, so none leaves it."""
    from ray import tune

    class Reports(tune.Callback):
        def __init__(self, run: _Run) -> None:
            self.run = run

        def __getstate__(self) -> dict[str, Any]:
            return {}

        def on_trial_result(
            self, iteration: int, trials: list[Any], trial: Any, result: dict[str, Any], **_: Any
        ) -> None:
            self._guarded(self.run.reported, result)

        def on_trial_recover(self, iteration: int, trials: list[Any], trial: Any, **_: Any) -> None:
            self._guarded(self.run.died, trial)

        def on_trial_error(self, iteration: int, trials: list[Any], trial: Any, **_: Any) -> None:
            self._guarded(self.run.gave_up, trial)

        def _guarded(self, tell: Callable[[Any], None], what: Any) -> None:
            try:
                tell(what)
            except Exception:
                logging.getLogger(__name__).exception("progress could not be told; the run goes on")

    return Reports(run)
