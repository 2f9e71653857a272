"""The environment of a Ray run: variables, a private folder, a token, and the check that a cluster asks for one."""

from __future__ import annotations

import atexit
import ctypes
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from swingby.errors import SwingbyError
from swingby.options import option

SETTINGS: Mapping[str, str | None] = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AIR_NEW_OUTPUT": "0",  # with verbose=0 the old output is silent, the new one is not
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    "TUNE_DISABLE_SIGINT_HANDLER": "1",  # the first Ctrl-C drains, which is done here
    "TUNE_PRINT_ALL_TRIAL_ERRORS": "0",  # the driver prints one line, without a traceback of Ray's
    "TUNE_GLOBAL_CHECKPOINT_S": "86400",  # Tune's own restore is not used
    # Ray gives each worker as many compute threads as it has CPUs, unless these say otherwise.
    "OMP_NUM_THREADS": None,
    "MKL_NUM_THREADS": None,
    "OPENBLAS_NUM_THREADS": None,
    "NUMBA_NUM_THREADS": None,
    "TUNE_MAX_PENDING_TRIALS_PG": None,
    # Tune complains of its own slowness on a busy machine, where trials take minutes.
    "TUNE_WARN_THRESHOLD_S": "30",
}
"""Environment variables while Ray runs; None: must not be set."""
_PREFIX = "swingby-"
_REMEDY = (
    "start it with RAY_AUTH_MODE=token and a token on every node (`(umask 077; ray get-auth-token --generate)` makes "
    "one; RAY_AUTH_TOKEN_PATH says where it lies), and set the same here"
)


@contextmanager
def settings(**more: str) -> Iterator[None]:
    """While inside, the environment has `SETTINGS` and these variables."""
    values = {**SETTINGS, **more}
    before = {name: os.environ.get(name) for name in values}
    try:
        _set(values)
        yield
    finally:
        _set(before)


def _set(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@contextmanager
def private_folder() -> Iterator[Path]:
    """A private folder with a short name (names of sockets have at most 107 bytes), removed at the end.

    Those of this user's runs that were killed are removed at the beginning.
    """
    base = Path("/tmp")  # noqa: S108 - the folders made in it are private
    if not os.access(base, os.W_OK):
        base = Path(tempfile.gettempdir())
    for abandoned in base.glob(f"{_PREFIX}*-*"):
        match = re.fullmatch(rf"{_PREFIX}(\d+)-\w+", abandoned.name)
        with suppress(FileNotFoundError):
            if match and abandoned.stat().st_uid == os.getuid() and not Path(f"/proc/{match[1]}").exists():
                shutil.rmtree(abandoned, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=base))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def sigterm_kept() -> Iterator[None]:
    """Restores the system's action for SIGTERM, which Ray's core changes even where Python cannot restore it."""
    libc, action = ctypes.CDLL(None), ctypes.create_string_buffer(1024)
    known = libc.sigaction(signal.SIGTERM, None, action) == 0
    try:
        yield
    finally:
        if known:
            libc.sigaction(signal.SIGTERM, action, None)


def require_tokens() -> None:
    """Makes Ray use a token in this process and its children: the user's, or a fresh one with mode 600."""
    if os.environ.get("RAY_AUTH_MODE", "token").lower() != "token":
        raise SwingbyError(f"RAY_AUTH_MODE is {os.environ['RAY_AUTH_MODE']!r}; allowed: token, or leave it unset")
    if "ray" not in sys.modules:  # a Ray that is imported already turns tokens on when it starts
        os.environ["RAY_AUTH_MODE"] = "token"
    if not (os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH")):
        os.environ["RAY_AUTH_TOKEN_PATH"] = str(_token_file())


@cache
def _token_file() -> Path:
    """The file of a fresh token, mode 600, that lives as long as this process: Ray reads it once and keeps it."""
    manager = private_folder()
    folder = manager.__enter__()
    atexit.register(manager.__exit__, None, None, None)
    path = folder / "token"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_hex(32))
    return path


def require_authentication(address: str) -> None:
    """Refuses a cluster that accepts a wrong token, since anybody in the network could run code on it.

    Raises:
        SwingbyError: the cluster asks for no token, or cannot be reached.
    """
    if not re.fullmatch(r"[^\s/:]+:\d+", address):
        raise SwingbyError(
            f"{option('address', address)}: allowed is host:port of the head node, for example 10.0.0.5:6379"
        )
    host, port = address.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except (OSError, OverflowError) as error:
        raise SwingbyError(f"no Ray cluster answers at {address}: {error}") from error
    wrong = _status(address, {"RAY_AUTH_TOKEN": secrets.token_hex(32)})
    if wrong.returncode == 0:
        raise SwingbyError(f"the Ray cluster at {address} has no authentication; {_REMEDY}")
    if "AuthenticationError" not in wrong.stderr:
        reason = wrong.stderr.strip().splitlines()[-1:] or ["no answer"]
        raise SwingbyError(f"no Ray cluster answers at {address}: {reason[0]}")


def require_our_token(address: str) -> None:
    """Refuses a cluster whose token is not that of the user's environment (or of ~/.ray/auth_token).

    Raises:
        SwingbyError: the user has no token, others can read it, or the cluster refuses it.
    """
    path = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or "~/.ray/auth_token").expanduser()
    in_file = not os.environ.get("RAY_AUTH_TOKEN") and path.is_file()
    # `ray get-auth-token` makes the file by the umask.
    if in_file and (about := path.stat()).st_uid == os.getuid() and about.st_mode & 0o077:
        raise SwingbyError(
            f"the token of the Ray cluster lies in {path}, which others can read (mode {about.st_mode & 0o777:o}), and "
            f"whoever has it runs code on the cluster: chmod 600 {path}, and make a new one where somebody may have"
        )
    ours = {name: value for name, value in os.environ.items() if name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")}
    if _status(address, ours).returncode != 0:
        raise SwingbyError(
            f"the Ray cluster at {address} refuses our token: set RAY_AUTH_TOKEN_PATH to a file with the cluster's, "
            "or put it at ~/.ray/auth_token"
        )
    os.environ["RAY_AUTH_MODE"] = "token"


def _status(address: str, token: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """The result of `ray status` with this token, in a child process, since Ray reads a token only once."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH_")}
    command = [sys.executable, "-m", "ray.scripts.scripts", "status", "--address", address]
    environment = {**kept, **token, "RAY_AUTH_MODE": "token"}
    try:
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        raise SwingbyError(f"no Ray cluster answers at {address}") from None
