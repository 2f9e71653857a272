"""Batches as Ray Tune's trials, over the cores of this machine or of a cluster."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swingby.errors import SwingbyError
from swingby.gang import ALONE, LostWorkerError, SpoiledError
from swingby.remote.bucket import is_address
from swingby.run.abroad import at_hand
from swingby.run.batch import BatchDone, run_batch
from swingby.run.deal import Dealer, Trial
from swingby.run.door import OvertakenError
from swingby.run.drain import Drain, flag_for
from swingby.run.room import bundle, check_room, together
from swingby.run.tune.gang import Actors
from swingby.run.tune.session import Standby, machines, quiet
from swingby.run.warden import WARDEN

if TYPE_CHECKING:  # workers import this file, and need neither the store nor the planner
    from swingby.records import Records
    from swingby.run.planned import Planned
    from swingby.run.progress import Progress

_NOISE = ("ray.tune.analysis.experiment_analysis", "ray.tune.tune")
"""Loggers that tell what is told here: each trial wrote no result file (results are in shards); some trials failed."""
_LOST = f"{LostWorkerError.__module__}.{LostWorkerError.__name__}: "
NOTE_SECONDS = 5.0
"""How long a dead worker's warden may take to say what it died of."""


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
        return _fit(_Run(planned, records, flag, progress, drain), storage)


def _check_resources(planned: Planned, alone: bool) -> None:
    """Refuses batches that would wait for ever; `alone`: all processes of one have to be on one machine."""
    there = machines()
    for shape, each in planned.each.items():
        if alone:
            check_room(shape, bundle(together(each, planned.processes)), 1, there)
        else:
            check_room(shape, bundle(each), planned.processes, there)


class _Run:
    """What the parts of one run share."""

    def __init__(
        self,
        planned: Sequence[Planned],
        records: Records,
        flag: Path,
        progress: Progress,
        drain: Drain,
    ) -> None:
        from swingby.run.quarantine import Quarantine  # it needs the store, and workers import this file

        self.planned, self.progress, self.drain = planned, progress, drain
        self.fault: str | None = None
        self.deaths = 0
        self.dealer = Dealer(planned, max(one.workers for one in planned))
        self.quarantine = Quarantine(self.dealer, records, progress)
        self._notes = records.data / "work"
        self._fixed = {"data": str(records.where), "flag": str(flag)}
        self._dealt: dict[tuple[str, int, int], Trial] = {}

    def config(self) -> dict[str, Any] | None:
        """The configuration of the next trial; None if there is no more."""
        trial = self.dealer.next()
        if trial is None:
            return None
        self._dealt[trial.key] = trial
        plan_id = trial.planned.plan.plan_id
        asked = {"bundle": bundle(trial.planned.each[trial.notes[0].shape]), "processes": trial.planned.processes}
        own = {"plan_id": plan_id, "batches": trial.batches, "part": trial.part, "device": trial.device}
        watched = {"attempt": trial.attempt, "deadline": self.dealer.deadline(trial), "note": str(self._note(trial))}
        return {**self._fixed, **own, **asked, **watched, "key": trial.key}

    def _note(self, trial: Trial) -> Path:
        """Where it will stand how the process of a trial died."""
        return self._notes / f"{trial.planned.plan.plan_id}.b{trial.batches[0]}-{trial.attempt}.died"

    def out(self) -> bool:
        """Whether trials are out whose cells may have to be dealt again."""
        return not self.stopping() and bool(self._dealt)

    def stopping(self) -> bool:
        """Whether no batch should begin any more."""
        return self.drain() or self.fault is not None

    def reported(self, result: Mapping[str, Any]) -> None:
        """A batch came back."""
        trial = self._dealt.pop(_key(result), None)
        if result.get("fault"):
            self._end(result["fault"])
            return
        done = BatchDone(**result["batch_done"])
        try:
            self.quarantine.lives()
        except SwingbyError as error:
            self._end(str(error))
        if trial is not None and done.cells == trial.cells:
            self.dealer.took(trial, done.seconds)
        self.progress.batch_done(done)

    def died(self, tuned: Any) -> None:
        """The process of a batch died."""
        self.deaths += 1
        trial = self._dealt.pop(_key(tuned.config), None)
        if trial is None:
            return
        try:
            self.quarantine.died(trial, self._why(trial, tuned))
        except SwingbyError as error:
            self._end(str(error))

    def _end(self, fault: str) -> None:
        """Something that no second try would mend."""
        self.fault = self.fault or fault
        self.drain.ask()

    def _why(self, trial: Trial, tuned: Any) -> str:
        """What the process of a trial died of: its warden says so a moment later, if they were on one machine."""
        note, deadline = self._note(trial), time.monotonic() + NOTE_SECONDS
        said = _said(tuned)
        while not said.startswith(_LOST) and not note.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        try:
            return note.read_text()
        except OSError:
            return said.removeprefix(_LOST)
        finally:
            note.unlink(missing_ok=True)


def _key(of: Mapping[str, Any]) -> tuple[str, int, int]:
    """What tells a trial from the others, as it comes back from Tune."""
    plan_id, batch, low = of["key"]
    return plan_id, batch, low


def train(config: Mapping[str, Any]) -> dict[str, Any]:
    """One trial, in a worker: runs the batches that the configuration names, as one.

    What no second try would mend comes back as a "fault".

    Raises:
        LostWorkerError: a process of its gang died, this one can train no more, or another trains the same cells.
    """
    size, each = config["processes"], config["bundle"]
    told = {"done": True, "fault": None, "key": list(config["key"])}
    try:
        with WARDEN.watching(config["deadline"], Path(config["note"])) as beat:
            data, draining = at_hand(config)
            done = run_batch(
                data,
                config["plan_id"],
                config["batches"],
                config["device"],
                draining,
                config["part"],
                ALONE if size == 1 else Actors(size, each),
                each.get("CPU", 1.0),
                config["attempt"],
                beat,
            )
    except (OvertakenError, SpoiledError) as error:  # `_said` knows them by one name
        raise LostWorkerError(str(error)) from error
    except SwingbyError as error:
        return {**told, "fault": str(error)}
    return {**told, "batch_done": {**asdict(done), "plan_id": config["plan_id"]}}


def _fit(run: _Run, storage: Path) -> dict[tuple[str, str], str]:
    """Tunes; returns the cells given up. What dies is dealt again as another trial: Tune itself retries nothing."""
    from ray import tune

    tuner = tune.Tuner(
        _trainable(),
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


def _said(tuned: Any) -> str:
    """What Ray says of a trial that failed: the last line that is not blank, where it puts the reason."""
    file = Path(tuned.error_file or "")  # `get_error` would read a copy of it that is made later
    text = file.read_text() if file.is_file() else ""
    if "OutOfMemoryError" in text:
        return "out of memory: Ray ended it, since the machine had hardly any left"
    if "worker process has died" in text:
        return "it died, and nobody was left on its machine to tell of what"
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it did not say why")


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
            # Nothing now, but perhaps later: the process of a trial that is still out may die.
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

        def on_trial_error(self, iteration: int, trials: list[Any], trial: Any, **_: Any) -> None:
            self._guarded(self.run.died, trial)

        def _guarded(self, tell: Callable[[Any], None], what: Any) -> None:
            try:
                tell(what)
            except Exception:
                logging.getLogger(__name__).exception("progress could not be told; the run goes on")

    return Reports(run)
