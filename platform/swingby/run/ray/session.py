"""A Ray session: it is started or joined, holds while a run lasts, and leaves nothing behind."""

from __future__ import annotations

import logging
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from swingby.data.remote.mirrors import mirrored
from swingby.errors import SwingbyError
from swingby.run.ray import environment
from swingby.run.ray.join import check_machines, luggage
from swingby.run.ray.machines import Code
from swingby.units import duration

OBJECT_STORE = 100 * 2**20
"""Bytes: trials hand over a few numbers, results go to shards."""
WORTH_TELLING = 2.0
"""Seconds that Ray may take to be up before they are told."""
_STARTING = ("ray._private.worker",)
"""Tells that it leaves SIGTERM alone where it does not start in the main thread, which is as it should be."""


class Standby:
    """Ray, started (or a cluster joined, where an address is given) while the caller still plans.

    It lives in one thread from its start to its end: the processes of Ray end with the thread that started them. Its
    workers are left as they start: one that ran a task takes no trials any more, and another would be started.

    Args:
        tell: hears that it starts, and after how long it was up.
    """

    def __init__(
        self,
        workers: int | None,
        data: Path,
        address: str | None = None,
        code: Code | None = None,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._arguments, self._tell = (workers, address, data, code), tell
        self._up, self._over = threading.Event(), threading.Event()
        self._storage: Path | None = None
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Starts it; a second call does nothing."""
        if self._thread is None:
            address = self._arguments[1]
            what = "starting Ray on this machine" if address is None else f"joining the Ray cluster at {address}"
            self._tell(f"{what} ...")
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

    def machines(self) -> tuple[float, ...]:
        """How many CPUs each machine has, once it is up.

        Raises:
            SwingbyError: it does not start; a cluster has no authentication, cannot be reached, or refuses our token; a
                machine of it does not see the data, or has other code.
        """
        self.storage()
        return tuple(machine.get("CPU", 0.0) for machine in machines())

    def __enter__(self) -> Standby:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _live(self) -> None:
        began = time.monotonic()
        try:
            with up(*self._arguments) as storage:
                import ray.tune  # noqa: F401 - takes a second, which is free here

                self._storage, took = storage, time.monotonic() - began
                if took > WORTH_TELLING:
                    self._tell(f"Ray is up after {duration(took)}")
                self._up.set()
                self._over.wait()
        except BaseException as error:
            self._error = error
        finally:
            self._up.set()


def machines() -> list[dict[str, float]]:
    """What there is on each machine, while Ray is up."""
    import ray  # not before: it reads once whether to use a token

    return [node["Resources"] for node in ray.nodes() if node["Alive"]]


def try_ray(data: Path) -> tuple[float, str]:
    """Starts Ray as a run does, lets a worker run one task, and stops it: the seconds that took, and what there was.

    Raises:
        SwingbyError: Ray does not start.
    """
    import ray

    began = time.perf_counter()
    with up(1, None, data):
        ray.get(ray.remote(_nothing).remote(), timeout=60)
        there = ray.cluster_resources()
    free = there.get("memory", 0.0) / 1e9
    return time.perf_counter() - began, f"ray {ray.__version__}, token authentication, {free:.1f} GB for its workers"


def version() -> str:
    """The version of Ray that is installed; it is not imported for that."""
    return metadata.version("ray")


def _nothing() -> None:
    """The smallest task."""


@contextmanager
def up(workers: int | None, address: str | None, data: Path, code: Code | None = None) -> Iterator[Path]:
    """Ray is up; a folder for what Tune insists on writing. Afterwards both are gone. No workers: one a CPU."""
    with ExitStack() as stack:
        stack.enter_context(environment.settings())
        late = "ray" in sys.modules
        if address is None:
            environment.require_tokens()
            folder = stack.enter_context(environment.private_folder())
        else:
            environment.require_authentication(address)
            environment.require_our_token(address)
            folder = stack.enter_context(_shared_folder(data))
        import ray
        from ray.exceptions import RayError

        if ray.is_initialized():
            raise SwingbyError("Ray already runs in this process; call ray.shutdown() first")
        options: dict[str, Any] = {"address": address}
        if address is not None and code is not None:
            options["runtime_env"] = luggage(code, stack.enter_context(environment.private_folder()))
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
            with quiet(_STARTING), environment.sigterm_kept():
                context: Any = ray.init(**options, log_to_driver=False, configure_logging=False)
        except (ConnectionError, RuntimeError, ValueError, RayError) as error:
            raise SwingbyError(_told(error, address)) from error
        except Exception as error:
            if type(error) is not Exception:  # what Ray raises where a node is not there within its half a minute
                raise
            raise SwingbyError(_told(error, address)) from error
        finally:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, on_sigterm)  # Ray puts its own in the place of the one that drains
        if address is None and late:  # somebody imported ray before it could be told to ask for a token
            environment.require_authentication(context.address_info["gcs_address"])
        if address is not None and code is not None:
            check_machines(code, None if mirrored(data) else folder, data)
        pending = workers or int(ray.cluster_resources().get("CPU", 1))
        stack.enter_context(environment.settings(TUNE_MAX_PENDING_TRIALS_PG=str(max(1, pending))))
        yield folder / "tune"


def _told(error: Exception, address: str | None) -> str:
    """Why Ray could not be reached."""
    if address is None:
        said = str(error).partition("\n")[0].rstrip(".")
        return f"Ray does not start: {said}; where the machine was busy, try again; --local does without Ray"
    mend = "is it one of its nodes? was ray imported before RAY_AUTH_MODE=token was set?"
    return f"the Ray cluster at {address} cannot be joined from this machine ({mend}): {error}"


@contextmanager
def _shared_folder(data: Path) -> Iterator[Path]:
    """A folder that every node of a cluster sees, removed afterwards."""
    (data / "work").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".tune-", dir=data / "work", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def quiet(names: Sequence[str]) -> Iterator[None]:
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
