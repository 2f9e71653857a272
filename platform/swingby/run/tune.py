"""Ray Tune: batches as trials, over the cores of this machine or of a cluster. The only file that imports ray."""

from __future__ import annotations

import logging
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swingby.errors import SwingbyError
from swingby.experiment import Resources
from swingby.run import cluster
from swingby.run.batch import BatchDone, run_batch
from swingby.run.deal import Dealer, Trial
from swingby.run.drain import Drain, flag_for

if TYPE_CHECKING:  # workers import this file, and need neither the store nor the planner
    from swingby.records import Records
    from swingby.run.plan import Planned
    from swingby.run.progress import Progress

RETRIES = 3
"""How often a batch is tried again whose process died."""
OBJECT_STORE = 100 * 2**20
"""Bytes: trials hand over a few numbers, results go to shards."""
_NOISE = ("ray.tune.analysis.experiment_analysis", "ray.tune.tune")
"""Loggers that tell what is told here: each trial wrote no result file (results are in shards); some trials failed."""

_STARTING = ("ray._private.worker",)
"""Tells that it leaves SIGTERM alone where it does not start in the main thread, which is as it should be."""


def run_tune(
    planned: Sequence[Planned],
    records: Records,
    progress: Progress,
    drain: Drain | None = None,
    address: str | None = None,
    standby: Standby | None = None,
) -> dict[tuple[str, int], str]:
    """Runs every batch of the plans as a Tune trial; workers are reused, so a trial costs some 20 ms.

    Args:
        planned: what to run; their plans are written.
        drain: once asked, no batch begins any more and running ones finish.
        address: host:port of an existing cluster whose nodes all see the data folder; None: this machine.
        standby: Ray of this machine, perhaps up already.

    Returns:
        Batches (by plan and number) that were given up after their process died `RETRIES` + 1 times, with the reason.

    Raises:
        SwingbyError: an experiment broke its contract, a shard cannot be written, or the cluster does not fit.
    """
    drain = drain or Drain()
    with ExitStack() as stack:
        flag = stack.enter_context(drain.flagged(flag_for(records.data, planned[0].plan.plan_id)))
        workers = max(one.workers for one in planned)
        storage = standby.storage() if standby else stack.enter_context(_ray(workers, address, records.data))
        for one in planned:
            _check_resources(one)
        return _fit(_Run(planned, records, flag, progress, drain), storage)


class Standby:
    """Ray of this machine, started while the caller still plans.

    It lives in one thread from its start to its end: the processes of Ray end with the thread that started them. Its
    workers are left as they start: one that ran a task takes no trials any more, and another would be started.
    """

    def __init__(self, workers: int, data: Path) -> None:
        self._arguments = workers, data
        self._up, self._over = threading.Event(), threading.Event()
        self._storage: Path | None = None
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Starts it; a second call does nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._live, name="ray", daemon=True)
            self._thread.start()

    def storage(self) -> Path:
        """Waits until it is up; a folder for what Tune insists on writing.

        Raises:
            SwingbyError: it does not start.
        """
        self.begin()
        self._up.wait()
        if self._error is not None or self._storage is None:
            raise self._error or SwingbyError("Ray was stopped")
        return self._storage

    def __enter__(self) -> Standby:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _live(self) -> None:
        workers, data = self._arguments
        try:
            with _ray(workers, None, data) as storage:
                import ray.tune  # noqa: F401 - takes a second, which is free here

                self._storage = storage
                self._up.set()
                self._over.wait()
        except BaseException as error:
            self._error = error
        finally:
            self._up.set()


def cluster_cpus(address: str, data: Path) -> int:
    """How many CPUs an existing cluster has.

    Raises:
        SwingbyError: it has no authentication, cannot be reached, or refuses our token.
    """
    with _ray(0, address, data):
        import ray  # not before: it reads once whether to use a token

        return max(1, int(ray.cluster_resources().get("CPU", 1)))


def try_ray(data: Path) -> tuple[float, str]:
    """Starts Ray as a run does, lets a worker run one task, and stops it: the seconds that took, and what there was.

    Raises:
        SwingbyError: Ray does not start.
    """
    import ray

    began = time.perf_counter()
    with _ray(1, None, data):
        ray.get(ray.remote(_nothing).remote(), timeout=60)
        there = ray.cluster_resources()
    free = there.get("memory", 0.0) / 1e9
    return time.perf_counter() - began, f"ray {ray.__version__}, token authentication, {free:.1f} GB for its workers"


def _nothing() -> None:
    """The smallest task."""


@contextmanager
def _ray(workers: int, address: str | None, data: Path) -> Iterator[Path]:
    """Ray is up; a folder for what Tune insists on writing. Afterwards both are gone."""
    with ExitStack() as stack:
        stack.enter_context(cluster.settings(TUNE_MAX_PENDING_TRIALS_PG=str(max(1, workers))))
        late = "ray" in sys.modules
        if address is None:
            cluster.require_tokens()
            folder = stack.enter_context(cluster.private_folder())
        else:
            cluster.require_authentication(address)
            cluster.require_our_token(address)
            folder = stack.enter_context(_shared_folder(data))
        import ray
        from ray.exceptions import RayError

        if ray.is_initialized():
            raise SwingbyError("Ray already runs in this process; call ray.shutdown() first")
        options: dict[str, Any] = {"address": address}
        if address is None:
            options = {
                "address": "local",  # whatever RAY_ADDRESS says
                "num_cpus": workers,
                "include_dashboard": False,
                "object_store_memory": OBJECT_STORE,
                "_temp_dir": str(folder),
                "_plasma_directory": str(folder),  # objects are few and small: no need of /dev/shm, which may be tiny
            }
        stack.callback(ray.shutdown)
        on_sigterm = signal.getsignal(signal.SIGTERM)
        try:
            with _quiet(_STARTING), cluster.sigterm_kept():
                context: Any = ray.init(**options, log_to_driver=False, configure_logging=False)
        except (ConnectionError, RuntimeError, RayError) as error:
            raise SwingbyError(_told(error, address)) from error
        finally:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, on_sigterm)  # Ray puts its own in the place of the one that drains
        if address is None and late:  # somebody imported ray before it could be told to ask for a token
            cluster.require_authentication(context.address_info["gcs_address"])
        yield folder / "tune"


def _told(error: Exception, address: str | None) -> str:
    """Why Ray could not be reached."""
    if address is None:
        return f"Ray does not start: {str(error).splitlines()[0]}"
    mend = "is it one of its nodes? was ray imported before RAY_AUTH_MODE=token was set?"
    return f"the Ray cluster at {address} cannot be joined from this machine ({mend}): {error}"


@contextmanager
def _shared_folder(data: Path) -> Iterator[Path]:
    """A folder that every node of a cluster sees, removed afterwards."""
    (data / "work").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".tune-", dir=data / "work", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _check_resources(planned: Planned) -> None:
    """Refuses batches that would wait for ever."""
    import ray

    there = ray.cluster_resources()
    for shape, needed in planned.resources.items():
        for name, count in _bundle(needed, planned.chosen_device).items():
            if count > there.get(name, 0.0):
                raise SwingbyError(
                    f"a batch of shape {shape!r} needs {count:g} {name}, and there are {there.get(name, 0.0):g}"
                )


def _bundle(needed: Resources, device: str | None) -> dict[str, float]:
    """What a trial asks of Ray."""
    gpus = max(needed.gpus, 1.0) if (device or "").startswith("cuda") else needed.gpus
    asked = {"CPU": needed.cpus, "GPU": gpus, **needed.custom}
    return {name: count for name, count in asked.items() if count}


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
        self._fixed = {"data": str(records.data), "flag": str(flag)}
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
        bundle = _bundle(trial.planned.resources[trial.notes[0].shape], trial.planned.chosen_device)
        own = {"plan_id": plan_id, "batches": trial.batches, "after": trial.after, "device": trial.device}
        return {**self._fixed, **own, "bundle": bundle}

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
        self.progress.line(f"{_named(trial)} tried again: {_last(trial.get_error())}")

    def gave_up(self, trial: Any) -> None:
        """The process of a batch died once too often."""
        self.trials_lost += 1
        dealt = self._dealt.pop((trial.config["plan_id"], trial.config["batches"][0]), None)
        if dealt is not None and self.dealer.take_apart(dealt):
            self.progress.line(f"{_named(trial)} trained one by one: the process died {RETRIES + 1} times")
            return
        reason = f"its process died {RETRIES + 1} times; the last time: {_last(trial.get_error())}"
        self.lost |= {(trial.config["plan_id"], batch): reason for batch in trial.config["batches"]}
        self.progress.line(f"{_named(trial)} given up")


def _named(trial: Any) -> str:
    """A trial by its batches, as the subject of a sentence."""
    batches = ", ".join(map(str, trial.config["batches"]))
    return f"batch {batches} is" if len(trial.config["batches"]) == 1 else f"batches {batches} are"


def train(config: Mapping[str, Any]) -> dict[str, Any]:
    """One trial, in a worker: runs the batches that the configuration names, as one.

    What no second try would mend comes back as a "fault".
    """
    try:
        done = run_batch(
            config["data"],
            config["plan_id"],
            config["batches"],
            config["device"],
            Path(config["flag"]).exists,
            config["after"],
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
    with _quiet(_NOISE):
        results = tuner.fit()
    if run.fault is not None:
        raise SwingbyError(run.fault)
    if len(results.errors) != run.trials_lost:
        raise SwingbyError(f"Ray Tune failed: {results.errors[0]}")
    return run.lost


def _last(error: object) -> str:
    """The last line that is not blank, where Ray puts the reason."""
    return next((line.strip() for line in reversed(str(error).splitlines()) if line.strip()), type(error).__name__)


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
            return tune.PlacementGroupFactory([config["bundle"]])

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


@contextmanager
def _quiet(names: Sequence[str]) -> Iterator[None]:
    """Silences these loggers."""
    loggers = [logging.getLogger(name) for name in names]
    before = [logger.disabled for logger in loggers]
    try:
        for logger in loggers:
            logger.disabled = True
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled
