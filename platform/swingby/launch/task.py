"""The task of a batch script or manifest, and the checks of every option before it is written there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from swingby.data.remote.address import is_address
from swingby.data.remote.bucket import Bucket
from swingby.errors import SwingbyError
from swingby.options import option
from swingby.sweepfile.sweep import Sweep


@dataclass(frozen=True)
class Task:
    """The run of a sweep on a cluster.

    Attributes:
        sweep: the sweep, loaded and checked here.
        file: the sweep's file; None for a packaged sweep.
        data: the data folder: an absolute path, or an address of object storage.
        more: further options of `swingby run`.
    """

    sweep: Sweep
    file: Path | None
    data: str
    more: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        """The name of the job; a sweep's name has letters, digits and hyphens only."""
        return f"swingby-{self.sweep.name}"


def task_of(sweep: Sweep, named: str, data: str, more: Sequence[str]) -> Task:
    """The task of a sweep that was loaded by the name or path `named`.

    Raises:
        SwingbyError: a path has a line break in it.
    """
    path = Path(named)
    is_file = path.suffix in (".yaml", ".yml") or len(path.parts) > 1
    file = Path(one_line("the sweep file", str(path.absolute()))) if is_file else None
    return Task(sweep, file, place_of(data), tuple(more))


def command(task: Task, sweep: str, address: str) -> str:
    """The shell command that runs a task on the cluster at `address`, with the code that is installed there."""
    words = ["swingby", "run", sweep, "--data", task.data, "--code", "installed", *task.more]
    return f"{shlex.join(words)} --address {address}"


def place_of(data: str) -> str:
    """The data folder as an absolute path, or its address.

    Raises:
        SwingbyError: the text has a line break in it, or is an invalid address of object storage.
    """
    if is_address(data):
        Bucket(data)  # refuses invalid addresses, and keys in them
        return one_line("data", data)
    return one_line("data", str(Path(data).expanduser().absolute()))


def one_line(name: str, text: str) -> str:
    """The text, if all of its characters are printable.

    Raises:
        SwingbyError: a character is not, such as the end of a line.
    """
    if not text.isprintable():
        raise SwingbyError(
            f"{option(name)} {text!r}: has characters in it that cannot be printed, such as ends of lines"
        )
    return text


def matching(name: str, text: str, pattern: str, allowed: str) -> str:
    """The text, if it matches a pattern.

    Raises:
        SwingbyError: it does not.
    """
    if not re.fullmatch(pattern, text):
        raise SwingbyError(f"{option(name)} {text!r}: allowed is {allowed}")
    return text


def in_range(name: str, number: int, least: int = 1, most: int = 100_000) -> int:
    """The number, if it is in a range.

    Raises:
        SwingbyError: it is too small or too large.
    """
    if not least <= number <= most:
        raise SwingbyError(f"{option(name)} {number}: allowed is {least} to {most:,}")
    return number


def options(overrides: Sequence[str], processes: int, device: str | None, confirm_above: int) -> tuple[str, ...]:
    """The options of `swingby run` that differ from their defaults, as words of the command."""
    words = [word for override in overrides for word in ("--set", override)]
    words += ["--processes", str(processes)] if processes != 1 else []
    words += ["--device", device] if device else []
    words += ["--confirm-above", str(confirm_above)] if confirm_above != 100_000 else []
    return tuple(one_line("more", word) for word in words)
