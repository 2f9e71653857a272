"""The verb watch: how sweeps stand, on a terminal that follows them, as one frame, or as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from swingby.cli.console import DEFAULT_DATA, DataFolder
from swingby.errors import SwingbyError
from swingby.text import legible

if TYPE_CHECKING:
    from swingby_analysis.live import Facts, Watch

SOME_FAILED = 3
PLAIN_HEIGHT = 60
"""Lines of a frame that goes into a file or a pipe."""


def watch(
    sweeps: Annotated[
        list[str] | None,
        typer.Argument(help="Sweeps by name, id or file; without, those that run.", show_default=False),
    ] = None,
    data: DataFolder = DEFAULT_DATA,
    once: Annotated[bool, typer.Option("--once", help="Print one frame and end.")] = False,
    every: Annotated[float, typer.Option(min=0.2, help="Seconds between two looks.")] = 2.0,
    as_json: Annotated[bool, typer.Option("--json", help="The facts as one JSON object, and end.")] = False,
    outcome: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[=VALUE]", help="What the diagram shows: an outcome of a detector, or one of its values."
        ),
    ] = None,
    at: Annotated[
        list[str] | None, typer.Option("--at", metavar="AXIS=VALUE", help="Hold an axis; repeatable.")
    ] = None,
) -> None:
    """How sweeps stand while they run: progress, rate, time left, nodes, failures, and the phase diagram filling in.

    Reads only; any number of people may watch, also where the data folder cannot be written. It ends when the sweeps
    are finished, or by Ctrl-C.
    Exit code 0: no cell has failed; 3: some have (finished or not is in the JSON); 2: bad input.

    Example:

        swingby watch --once --data data
    """
    from swingby.store.remote_ingest import followed
    from swingby_analysis.live import Watch, facts_json

    held = [_pair(one) for one in at or ()]
    with Watch(data, sweeps or (), outcome, held) as watching:
        if as_json:
            found = watching.poll(time.time())
            typer.echo(json.dumps({"data": str(data), "sweeps": [facts_json(one) for one in found]}, allow_nan=False))
        elif once:
            found = watching.poll(time.time())
            _print(found)
        else:
            with followed(data, _tell):
                found = _follow(watching, every)
    if any(one.counts["failed"] for one in found):
        raise typer.Exit(SOME_FAILED)


def _tell(text: str) -> None:
    """A line above the frame: `Live` takes what goes to the error output by its present name."""
    sys.stderr.write(f"{legible(text)}\n")


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise SwingbyError(f"--at {text!r}: it should be AXIS=VALUE, such as layers=2")
    return name.strip(), value.strip()


def _print(found: Sequence[Facts]) -> None:
    from swingby_analysis.live import frame

    console = Console(highlight=False)
    console.print(frame(found, console.width, PLAIN_HEIGHT, console.color_system is not None))


def _follow(watching: Watch, every: float) -> Sequence[Facts]:
    """Looks again and again, until the sweeps are finished or somebody interrupts."""
    from swingby.run.drain import Drain

    # Not by KeyboardInterrupt: it would come out of the middle of a query as whatever the database makes of it.
    interrupted = Drain()
    with interrupted.on_signals(), ExitStack() as stack:
        found: Sequence[Facts] = watching.poll(time.time())
        console = Console(highlight=False)
        show = stack.enter_context(_Following(console)) if console.is_terminal else _Anew().show
        while True:
            show(found)
            if _over(found):
                return found
            looked = time.monotonic()
            while time.monotonic() < looked + every:
                if interrupted():
                    return found
                time.sleep(0.05)
            found = _again(watching, found)


def _over(found: Sequence[Facts]) -> bool:
    """Whether there is nothing to wait for; a data folder without any sweep may have one soon."""
    return bool(found) and all(one.finished for one in found)


def _again(watching: Watch, before: Sequence[Facts]) -> Sequence[Facts]:
    """A later look; the earlier one where the store is being made anew."""
    try:
        return watching.poll(time.time())
    except SwingbyError:
        return before


class _Anew:
    """No terminal: a frame whenever the store was published, or somebody came or went."""

    def __init__(self) -> None:
        self._shown: list[tuple[int, str | None]] | None = None

    def show(self, found: Sequence[Facts]) -> None:
        """The newest frame, if it is new."""
        stand = [(one.seen.generation, one.holder) for one in found]
        if stand != self._shown:
            _print(found)
        self._shown = stand


class _Following:
    """A frame that stands where the last one stood."""

    def __init__(self, console: Console) -> None:
        from rich.live import Live

        self._console = console
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="ellipsis")

    def __enter__(self) -> Any:
        self._live.__enter__()
        return self.show

    def __exit__(self, *error: Any) -> None:
        self._live.__exit__(*error)

    def show(self, found: Sequence[Facts]) -> None:
        """The newest frame."""
        from swingby_analysis.live import frame

        console = self._console
        drawn = frame(found, console.width, console.height - 1, console.color_system is not None)
        self._live.update(drawn, refresh=True)
