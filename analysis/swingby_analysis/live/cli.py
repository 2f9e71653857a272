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

from swingby.cli.console import DEFAULT_DATA, LOOK, DataFolder, panel
from swingby.errors import SwingbyError
from swingby.text import legible

if TYPE_CHECKING:
    from swingby_analysis.live.facts import Facts
    from swingby_analysis.live.poll import Watch

SOME_FAILED = 3
PLAIN_HEIGHT = 60
"""Lines of a frame that goes into a file or a pipe."""


@panel(LOOK)
def watch(
    sweeps: Annotated[
        list[str] | None,
        typer.Argument(
            help="Sweeps by name, id or file; default: those that run, else the newest.", show_default=False
        ),
    ] = None,
    data: DataFolder = DEFAULT_DATA,
    once: Annotated[bool, typer.Option("--once", help="Print one frame and end.")] = False,
    every: Annotated[float, typer.Option(min=0.2, help="Seconds from one frame to the next.")] = 2.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the facts as one JSON object and end.")] = False,
    outcome: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[=VALUE]",
            help="The outcome that the diagram shows, or how often it has that value. Default: the sweep's own.",
        ),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option("--at", metavar="AXIS=VALUE", help="Show only cells at this value of an axis; repeatable."),
    ] = None,
) -> None:
    """Watches sweeps while they run: progress, rate, time left, nodes, failures, and the phase diagram filling in.

    Reads only; any number of people may watch, also where the data folder cannot be written. It ends when the sweeps
    are finished, or by Ctrl-C.
    Exit code 0: no cell has failed; 3: some cells have failed; 2: bad input. Whether a sweep is finished, --json says.

    Example:

        swingby watch --once --data data
    """
    from swingby.store.remote_ingest import followed
    from swingby_analysis.live.facts import facts_json
    from swingby_analysis.live.poll import Watch

    held = []
    for text in at or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise SwingbyError(f"--at {text!r}: it should be AXIS=VALUE, such as layers=2")
        held.append((name.strip(), value.strip()))
    with Watch(data, sweeps or (), outcome, held) as watching:
        if as_json:
            shown = watching.poll(time.time())
            typer.echo(json.dumps({"data": str(data), "sweeps": [facts_json(one) for one in shown]}, allow_nan=False))
        elif once:
            shown = watching.poll(time.time())
            _print(shown)
        else:
            with followed(data, _tell):
                shown = _follow(watching, every)
    if any(one.counts["failed"] for one in shown):
        raise typer.Exit(SOME_FAILED)


def _tell(text: str) -> None:
    """Prints a line above the frame: rich's `Live` moves what is written to `sys.stderr`, looked up at each call."""
    sys.stderr.write(f"{legible(text)}\n")


def _print(sweeps: Sequence[Facts]) -> None:
    from swingby_analysis.live.frame import frame

    console = Console(highlight=False)
    console.print(frame(sweeps, console.width, PLAIN_HEIGHT, console.color_system is not None))


def _follow(watching: Watch, every: float) -> Sequence[Facts]:
    """Polls and shows until the sweeps are finished or somebody interrupts; returns the facts shown last."""
    from swingby.run.drain import Drain

    # Not by KeyboardInterrupt: it would come out of the middle of a query as whatever the database makes of it.
    interrupted = Drain()
    with interrupted.on_signals(), ExitStack() as stack:
        shown: Sequence[Facts] = watching.poll(time.time())
        console = Console(highlight=False)
        show = stack.enter_context(_OnTerminal(console)) if console.is_terminal else _OneByOne().show
        while True:
            show(shown)
            # A data folder without any sweep may have one soon.
            if shown and all(one.finished for one in shown):
                return shown
            polled = time.monotonic()
            while time.monotonic() < polled + every:
                if interrupted():
                    return shown
                time.sleep(0.05)
            shown = _again(watching, shown)


def _again(watching: Watch, before: Sequence[Facts]) -> Sequence[Facts]:
    """The facts now; those from before where the store is being made anew."""
    try:
        return watching.poll(time.time())
    except SwingbyError:
        return before


class _OneByOne:
    """Prints frames one below the other, where there is no terminal: one whenever the store was published, or a run of
    a sweep began or ended."""

    def __init__(self) -> None:
        self._shown: list[tuple[int, str | None]] | None = None

    def show(self, sweeps: Sequence[Facts]) -> None:
        """Prints the frame if it is new."""
        state = [(one.snapshot.generation, one.holder) for one in sweeps]
        if state != self._shown:
            _print(sweeps)
        self._shown = state


class _OnTerminal:
    """Draws each frame where the last one stood."""

    def __init__(self, console: Console) -> None:
        from rich.live import Live

        self._console = console
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="ellipsis")

    def __enter__(self) -> Any:
        self._live.__enter__()
        return self.show

    def __exit__(self, *error: Any) -> None:
        self._live.__exit__(*error)

    def show(self, sweeps: Sequence[Facts]) -> None:
        """Draws the frame."""
        from swingby_analysis.live.frame import frame

        console = self._console
        drawn = frame(sweeps, console.width, console.height - 1, console.color_system is not None)
        self._live.update(drawn, refresh=True)
