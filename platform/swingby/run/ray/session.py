"""A Ray session: started on this machine or joined, up while a run lasts, and removed without a trace."""

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

from swingby.data.remote.mirror import mirrored
from swingby.errors import SwingbyError
from swingby.model.needed import require
from swingby.options import option
from swingby.run.ray import environment
from swingby.run.ray.machines import RAY, Code, check_machines, runtime_env
from swingby.units import duration

OBJECT_STORE = 100 * 2**20
"""Bytes of Ray's object store: trials return a few numbers, results go to shards."""
WORTH_TELLING = 2.0
"""Seconds that Ray may take to start before the user hears how long it took."""
_STARTING = ("ray._private.worker",)
"""Loggers that warn that Ray leaves SIGTERM alone outside the main thread, as it should."""


class Standby:
    """Ray, started (or a cluster joined, where an address is given) while the caller still plans.

    It lives in one thread from its start to its end: the processes of Ray end with the thread that started them. No
    task is run on its workers before the trials: a worker that ran a task takes no trials any more.

    Args:
        tell: shows a line of text to the user.
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
        """Starts Ray; a second call does nothing.

        Raises:
            SwingbyError: Ray is not installed.
        """
        if self._thread is None:
            require(RAY, "training on Ray", f"or {option('local', True)}: in this process, one batch after the other")
            address = self._arguments[1]
            what = "starting Ray on this machine" if address is None else f"joining the Ray cluster at {address}"
            self._tell(f"{what} ...")
            self._thread = threading.Thread(target=self._live, name="ray", daemon=True)
            self._thread.start()

    def storage(self) -> Path:
        """Waits until Ray is up; returns a folder for the files that Tune writes.

        Raises:
            SwingbyError: Ray does not start.
        """
        self.begin()
        self._up.wait()
        if self._error is not None or self._storage is None:
            raise self._error or SwingbyError("Ray was stopped")
        return self._storage

    def machines(self) -> tuple[float, ...]:
        """Waits until Ray is up; returns how many CPUs each machine has.

        Raises:
            SwingbyError: Ray does not start; a cluster has no authentication, cannot be reached, or refuses our token;
                a machine does not see the data, or has other code.
        """
        self.storage()
        return tuple(machine.get("CPU", 0.0) for machine in machines())

    def gpus(self) -> int:
        """Waits until Ray is up; returns how many GPUs all machines have.

        Raises:
            SwingbyError: as `machines`.
        """
        self.storage()
        return int(sum(machine.get("GPU", 0.0) for machine in machines()))

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

                self._storage, seconds = storage, time.monotonic() - began
                if seconds > WORTH_TELLING:
                    self._tell(f"Ray is up after {duration(seconds)}")
                self._up.set()
                self._over.wait()
        except BaseException as error:
            self._error = error
        finally:
            self._up.set()


def machines() -> list[dict[str, float]]:
    """The resources of each machine, while Ray is up."""
    import ray  # imported late: Ray reads only once whether to use a token

    return [node["Resources"] for node in ray.nodes() if node["Alive"]]


def try_ray(data: Path) -> tuple[float, str]:
    """Starts Ray as a run does, runs one task, and stops it; returns the seconds, and a description of Ray.

    Raises:
        SwingbyError: Ray does not start.
    """
    began = time.perf_counter()
    with up(1, None, data):
        import ray  # not before it is up: imported without the settings of `up`, it speaks of tokens

        of_worker = ray.get(ray.remote(version).remote(), timeout=60)
        resources = ray.cluster_resources()
    free = resources.get("memory", 0.0) / 1e9
    return time.perf_counter() - began, f"ray {of_worker}, token authentication, {free:.1f} GB for its workers"


def version() -> str:
    """The installed version of Ray, read without importing it."""
    return metadata.version("ray")


@contextmanager
def up(workers: int | None, address: str | None, data: Path, code: Code | None = None) -> Iterator[Path]:
    """While inside, Ray is up; gives a folder for the files that Tune writes. `workers` None: one for each CPU."""
    with ExitStack() as stack:
        stack.enter_context(environment.settings())
        late = "ray" in sys.modules
        if address is None:
            environment.require_tokens()
            folder = stack.enter_context(environment.private_folder())
        else:
            environment.require_authentication(address)
            environment.require_our_token(address)
            (data / "work").mkdir(parents=True, exist_ok=True)  # every node of the cluster sees the data folder
            shared = tempfile.TemporaryDirectory(prefix=".tune-", dir=data / "work", ignore_cleanup_errors=True)
            folder = Path(stack.enter_context(shared))
        import ray
        from ray.exceptions import RayError

        if ray.is_initialized():
            raise SwingbyError("Ray already runs in this process; call ray.shutdown() first")
        options: dict[str, Any] = {"address": address}
        if address is not None and code is not None:
            options["runtime_env"] = runtime_env(code, stack.enter_context(environment.private_folder()))
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
            raise SwingbyError(_start_message(error, address)) from error
        except Exception as error:
            if type(error) is not Exception:  # Ray raises a bare Exception if a node is not up within half a minute
                raise
            raise SwingbyError(_start_message(error, address)) from error
        finally:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, on_sigterm)  # Ray puts its own in the place of the one that drains
        if address is None and late:  # ray was imported before the environment asked for tokens
            environment.require_authentication(context.address_info["gcs_address"])
        if address is not None and code is not None:
            check_machines(code, None if mirrored(data) else folder, data)
        pending = workers or int(ray.cluster_resources().get("CPU", 1))
        stack.enter_context(environment.settings(TUNE_MAX_PENDING_TRIALS_PG=str(max(1, pending))))
        yield folder / "tune"


def _start_message(error: Exception, address: str | None) -> str:
    """The message for a Ray that does not start, or cannot be joined."""
    if address is None:
        reason, without = str(error).partition("\n")[0].rstrip("."), f"{option('local', True)} does without Ray"
        return f"Ray does not start: {reason}; where the machine was busy, try again; {without}"
    mend = "is it one of its nodes? was ray imported before RAY_AUTH_MODE=token was set?"
    return f"the Ray cluster at {address} cannot be joined from this machine ({mend}): {error}"


@contextmanager
def quiet(names: Sequence[str]) -> Iterator[None]:
    """While inside, silences these loggers."""
    loggers = [logging.getLogger(name) for name in names]
    before = [logger.disabled for logger in loggers]
    try:
        for logger in loggers:
            logger.disabled = True
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled
