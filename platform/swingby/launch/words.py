"""What may stand in a batch script or a manifest: each option is held to the form it has, before it is written."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from swingby.data.remote.address import is_address
from swingby.data.remote.bucket import Bucket
from swingby.errors import SwingbyError
from swingby.sweepfile.sweep import Sweep


@dataclass(frozen=True)
class Task:
    """What is to be run, wherever that is.

    Attributes:
        sweep: as it was checked here.
        file: its file; None: it is a packaged one.
        data: the data folder: an absolute path, or an address of object storage.
        more: further options of `swingby run`.
    """

    sweep: Sweep
    file: Path | None
    data: str
    more: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        """A name for the job: that of the sweep has letters, digits and hyphens."""
        return f"swingby-{self.sweep.name}"


def task_of(sweep: Sweep, named: str, data: str, more: Sequence[str]) -> Task:
    """The task of a sweep that was loaded by this name; files by their whole paths.

    Raises:
        SwingbyError: a path has a line break in it.
    """
    path = Path(named)
    is_file = path.suffix in (".yaml", ".yml") or len(path.parts) > 1
    file = Path(one_line("the sweep file", str(path.absolute()))) if is_file else None
    return Task(sweep, file, place_of(data), tuple(more))


def command(task: Task, sweep: str, address: str) -> str:
    """The shell's words for running it on the cluster of which `address` is told, with the code that is there."""
    words = ["swingby", "run", sweep, "--data", task.data, "--code", "installed", *task.more]
    return f"{shlex.join(words)} --address {address}"


def place_of(data: str) -> str:
    """Where the data is, as every machine is told.

    Raises:
        SwingbyError: it has a line break in it, or is no address of object storage though it looks like one.
    """
    if is_address(data):
        Bucket(data)  # refuses what is none, and keys in it
        return one_line("--data", data)
    return one_line("--data", str(Path(data).expanduser().absolute()))


def one_line(option: str, text: str) -> str:
    """A text without anything that ends a line or cannot be read.

    Raises:
        SwingbyError: it has.
    """
    if not text.isprintable():
        raise SwingbyError(f"{option} {text!r}: has characters in it that cannot be printed, such as ends of lines")
    return text


def formed(option: str, text: str, pattern: str, allowed: str) -> str:
    """A text of one form.

    Raises:
        SwingbyError: it is of another.
    """
    if not re.fullmatch(pattern, text):
        raise SwingbyError(f"{option} {text!r}: allowed is {allowed}")
    return text


def counted(option: str, number: int, least: int = 1, most: int = 100_000) -> int:
    """A number of something.

    Raises:
        SwingbyError: it is too small or too large.
    """
    if not least <= number <= most:
        raise SwingbyError(f"{option} {number}: allowed is {least} to {most:,}")
    return number


def options(overrides: Sequence[str], processes: int, device: str | None, confirm_above: int) -> tuple[str, ...]:
    """The options of `swingby run` that are not as they are without being given."""
    found = [word for override in overrides for word in ("--set", override)]
    found += ["--processes", str(processes)] if processes != 1 else []
    found += ["--device", device] if device else []
    found += ["--confirm-above", str(confirm_above)] if confirm_above != 100_000 else []
    return tuple(one_line("an option", word) for word in found)
