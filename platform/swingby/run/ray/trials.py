"""Batches as Ray Tune's trials, over the cores of this machine or of a cluster; and the trials in flight."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.run.drain import Drain, flag_for
from swingby.run.forecast import Planned
from swingby.run.progress import Progress
from swingby.run.ray.session import Standby, machines, quiet
from swingby.run.ray.slots import Slots
from swingby.run.ray.trainable import LOST, trainable
from swingby.run.resources import bundle, check_fits, lacks_memory
from swingby.run.retries import Retries
from swingby.run.scheduler import Scheduler, Source, Trial
from swingby.run.worker.batch import BatchDone

NOTE_SECONDS = 5.0
"""Seconds for the watchdog of a dead worker to note the cause of death."""
_NOISE = ("ray.tune.analysis.experiment_analysis", "ray.tune.tune")
"""Loggers of messages that the driver gives itself: trials wrote no result file (shards hold results), some failed."""


def run_tune(
    planned: Sequence[Planned],
    records: Records,
    progress: Progress,
    drain: Drain,
    standby: Standby,
    source: Source | None = None,
) -> dict[tuple[str, str], str]:
    """Runs every batch of the plans as a Tune trial; workers are reused, so a trial costs some 20 ms.

    Args:
        planned: the plans to run; on disk.
        drain: once asked, no batch begins any more and running ones finish.
        standby: Ray, perhaps up already; all machines of a cluster see the data folder.
        source: of plans that are made meanwhile.

    Returns:
        Cells (by plan and id) that failed because their process died again and again, with the reason.

    Raises:
        SwingbyError: an experiment broke its contract, a shard cannot be written, the cluster does not fit, or every
            process dies.
    """
    with drain.flagged(flag_for(records.data, planned[0].plan.plan_id)) as flag:
        storage = standby.storage()
        from ray import tune  # not before Ray is up: it reads only once whether to use a token

        available = machines()
        shared_folder = records.mirror is None
        for one in planned:
            _check_plan(one, available, shared_folder)
        checked = None if source is None else _Checked(source, lambda one: _check_plan(one, available, shared_folder))
        slots = Slots.of(planned, available, progress)
        flight = TrialsInFlight(planned, records, flag, progress, drain, checked, slots)
        tuner = tune.Tuner(
            trainable(),
            tune_config=tune.TuneConfig(search_alg=_searcher(flight), num_samples=-1, reuse_actors=True),
            run_config=tune.RunConfig(
                storage_path=str(storage),
                verbose=0,
                failure_config=tune.FailureConfig(max_failures=0),  # retries are trials of their own
                checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
                callbacks=[_callback(flight)],
            ),
        )
        with quiet(_NOISE):
            results = tuner.fit()
        if flight.fault is not None:
            raise SwingbyError(flight.fault)
        if len(results.errors) != flight.deaths:
            raise SwingbyError(f"Ray Tune failed: {results.errors[0]}")
        flight.retries.fail_suspects()
        return flight.retries.given_up


def _check_plan(planned: Planned, available: Any, shared_folder: bool) -> None:
    """Refuses a plan with a batch that fits no machine.

    Args:
        shared_folder: machines see one folder; else all processes of a batch have to be on one of them.
    """
    for shape, each in planned.process_resources.items():
        if shared_folder:
            check_fits(shape, bundle(each), planned.options.processes, available)
        else:
            check_fits(shape, bundle(planned.batch_resources[shape]), 1, available)


class _Checked:
    """A source whose plans are checked before they are run."""

    def __init__(self, source: Source, check: Callable[[Planned], None]) -> None:
        self._source, self._check = source, check

    @property
    def ended(self) -> bool:
        return self._source.ended

    def take(self) -> Planned | None:
        planned = self._source.take()
        if planned is not None:
            self._check(planned)
        return planned


class TrialsInFlight:
    """The trials of one run from their configurations to their ends.

    Attributes:
        fault: the first error that no retry can mend; it ends the run.
        deaths: how many trials ended with the death of their process.
        retries: what is done about trials whose process died.

    Args:
        flag: the file whose presence tells workers to begin no batch any more.
        slots: those on GPUs that trials share; None: each trial takes what its plan says.
    """

    def __init__(
        self,
        planned: Sequence[Planned],
        records: Records,
        flag: Path,
        progress: Progress,
        drain: Drain,
        source: Source | None = None,
        slots: Slots | None = None,
    ) -> None:
        self.fault: str | None = None
        self.deaths = 0
        self._drain, self._slots = drain, slots
        self._scheduler = Scheduler(planned, max(one.workers for one in planned), source)
        self.retries = Retries(self._scheduler, records, progress)
        self._notes = records.data / "work"
        self._shared = {"data": str(records.where), "flag": str(flag)}
        self._trials: dict[tuple[str, int, int], Trial] = {}
        self._lacked_memory: Counter[tuple[str, int, int]] = Counter()

    def config(self) -> dict[str, Any] | None:
        """The configuration of the next trial, for `trainable.train`; None if there is none, or no slot for it."""
        slot = None
        if self._slots is not None:
            self._slots.look()
            slot = self._slots.free
            if slot is None:
                return None
        try:
            trial = self._scheduler.next()
        except SwingbyError as error:  # a further plan cannot be run
            self._stop(str(error))
            return None
        if trial is None:
            return None
        self._trials[trial.key] = trial
        planned, meter = trial.planned, None
        amounts = bundle(planned.process_resources[trial.notes[0].shape])
        if self._slots is not None and slot is not None:
            if self._lacked_memory[trial.key] > 1:  # only such trials are left
                self._slots.stop_sharing()
            amounts, meter = {**amounts, "GPU": self._slots.part(slot)}, self._note(trial, "meter")
            self._slots.begin(slot, trial.key, meter)
            if amounts["GPU"] == 1:
                meter = None  # nobody is beside it: a lack of memory is its own fault
        return {
            **self._shared,
            "key": trial.key,
            "plan_id": planned.plan.plan_id,
            "batches": trial.batches,
            "part": trial.part,
            "attempt": trial.attempt,
            "device": trial.device,
            "processes": planned.options.processes,
            "bundle": amounts,
            "meter": None if meter is None else str(meter),
            "deadline": self._scheduler.deadline(trial),
            "note": str(self._note(trial, "died")),
        }

    def _note(self, trial: Trial, what: str) -> Path:
        """The file in which the watchdog of a trial notes how its process died, or in which its meter reports."""
        return self._notes / f"{trial.planned.plan.plan_id}.b{trial.batches[0]}-{trial.attempt}.{what}"

    def may_return(self) -> bool:
        """Whether there may be trials later: some in flight may have to be tried again, or a plan is still to come."""
        return not self.stopping() and (bool(self._trials) or self._scheduler.may_go_on)

    def stopping(self) -> bool:
        """Whether no batch should begin any more."""
        return self._drain() or self.fault is not None

    def finished(self, result: Mapping[str, Any]) -> None:
        """Counts a trial that came back with this result of `trainable.train`."""
        trial = self._trials.pop(_key(result), None)
        if self._slots is not None:
            self._slots.end(_key(result))
        if result.get("fault"):
            self._stop(result["fault"])
            return
        try:
            self.retries.came_back(trial, BatchDone(**result["batch_done"]))
        except SwingbyError as error:
            self._stop(str(error))

    def died(self, tuned: Any) -> None:
        """Schedules the retry of a trial whose process died; `tuned` is Tune's trial."""
        self.deaths += 1
        trial = self._trials.pop(_key(tuned.config), None)
        if trial is None:
            return
        cause = self._cause_of_death(trial, tuned)
        beside = tuned.config["meter"] is not None and lacks_memory(cause)
        if self._slots is not None:
            self._slots.end(trial.key, beside)
        try:
            if beside:
                self._lacked_memory[trial.key] += 1
                self.retries.lacked_memory(trial, cause, at_last=self._lacked_memory[trial.key] > 1)
            else:
                self.retries.died(trial, cause)
        except SwingbyError as error:
            self._stop(str(error))

    def _stop(self, fault: str) -> None:
        """Ends the run after an error that no retry can mend."""
        self.fault = self.fault or fault
        self._drain.ask()

    def _cause_of_death(self, trial: Trial, tuned: Any) -> str:
        """The cause that the watchdog notes a moment later, if it was on the process's machine; else Ray's message."""
        file = Path(tuned.error_file or "")  # `get_error` would read a copy of it that is made later
        text = file.read_text() if file.is_file() else ""
        # The last line that is not blank has the reason; the process's own message may name the errors of others.
        last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it did not say why")
        if last.startswith(LOST):
            message = last
        elif "OutOfMemoryError" in text:
            message = "out of memory: Ray ended it, since the machine had hardly any left"
        elif "worker process has died" in text:
            message = "it died, and no watchdog was left on its machine to note the cause"
        else:
            message = last
        note, deadline = self._note(trial, "died"), time.monotonic() + NOTE_SECONDS
        while not message.startswith(LOST) and not note.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        try:
            return note.read_text()
        except OSError:
            return message.removeprefix(LOST)
        finally:
            note.unlink(missing_ok=True)


def _key(of: Mapping[str, Any]) -> tuple[str, int, int]:
    """`Trial.key` as it comes back from Tune."""
    plan_id, batch, low = of["key"]
    return plan_id, batch, low


def _searcher(flight: TrialsInFlight) -> Any:
    """Tune's search algorithm that takes trials from the scheduler, until there are no more or the run drains."""
    from ray.tune.search import Searcher

    class InOrder(Searcher):
        def __init__(self, flight: TrialsInFlight) -> None:
            super().__init__()
            self.flight = flight

        def __getstate__(self) -> dict[str, Any]:
            return {}  # Tune pickles what it would need to restore an experiment, which is not used

        def suggest(self, trial_id: str) -> Any:
            config = None if self.flight.stopping() else self.flight.config()
            # None means "nothing now": the process of a trial in flight may still die.
            return None if config is None and self.flight.may_return() else config or self.FINISHED

        def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
            return

        def save(self, checkpoint_path: str) -> None:
            return

        def restore(self, checkpoint_path: str) -> None:
            return

    return InOrder(flight)


def _callback(flight: TrialsInFlight) -> Any:
    """Tune's callback that reports ends of trials; Tune would end the run at its first exception, so none leaves it."""
    from ray import tune

    class Reports(tune.Callback):
        def __init__(self, flight: TrialsInFlight) -> None:
            self.flight = flight

        def __getstate__(self) -> dict[str, Any]:
            return {}

        def on_trial_result(
            self, iteration: int, trials: list[Any], trial: Any, result: dict[str, Any], **_: Any
        ) -> None:
            self._guarded(self.flight.finished, result)

        def on_trial_error(self, iteration: int, trials: list[Any], trial: Any, **_: Any) -> None:
            self._guarded(self.flight.died, trial)

        def _guarded(self, report: Callable[[Any], None], what: Any) -> None:
            try:
                report(what)
            except Exception:
                logging.getLogger(__name__).exception("the end of a trial could not be counted; the run goes on")

    return Reports(flight)
