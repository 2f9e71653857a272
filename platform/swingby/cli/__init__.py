"""The command `swingby`: its own verbs, and those that other packages add by entry point."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from inspect import getdoc
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from swingby.cli import (
    archive,
    attach,
    cluster,
    data,
    describe,
    doctor,
    guide,
    imports,
    maintenance,
    new,
    replicate,
    sweeps,
)
from swingby.cli.console import KEEP, LOOK, RUN, complain
from swingby.data.arrow import arrow_without
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.broken import LoadError
from swingby.options import of_command

BAD_INPUT = 2
OTHERS = "Other verbs"
"""The group of the help for offered verbs that name none."""
WITHOUT_ARROW = ("attach", "cluster", "sql")
"""Verbs that make no Arrow array in this process, or say themselves what Arrow needs."""
LISTING = "swingby.listing"
"""The mark of a context in which verbs are listed, and none is called."""


class Verbs(TyperGroup):
    """The verbs of the platform, and those that packages offer; a `SwingbyError` becomes a message and exit code 2.

    An offered verb is imported only when it is used. The options of a verb are read when it is called: those of all
    verbs would take longer than most verbs do.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """The verbs of the platform, then the offered ones."""
        return [*VERBS, *super().list_commands(ctx), *sorted(registry.offered(registry.COMMANDS))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        group, broken = super().get_command(ctx, cmd_name), False
        if group is not None:
            return group
        if cmd_name in VERBS:
            panel, verb = VERBS[cmd_name]
        elif cmd_name in registry.offered(registry.COMMANDS):
            try:
                verb = registry.load(registry.COMMANDS, cmd_name)
            except LoadError as error:
                verb, broken = _refusing(error), True
            panel = getattr(verb, "help_panel", OTHERS)
        else:
            return None
        if ctx.meta.get(LISTING):
            return TyperCommand(cmd_name, help=getdoc(verb), rich_help_panel=panel)
        return _command(cmd_name, panel, verb, broken)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        ctx.meta[LISTING] = True
        super().format_help(ctx, formatter)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Finds a verb; the message about a misspelt one names the offered verbs that are near, too."""
        name = args[0] if args else ""
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            near = get_close_matches(name, self.list_commands(ctx))
            hint = (
                f"Did you mean {' or '.join(repr(verb) for verb in near)}?" if near else "`swingby --help` lists all."
            )
            ctx.fail(" ".join([f"No such command {name!r}. {hint}", *registry.perhaps_lost()]))
        if name not in WITHOUT_ARROW and "--help" not in args:
            arrow_without("pandas")  # at its first list Arrow would import it, which takes longer than most verbs
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            with of_command():
                return super().invoke(ctx)
        except SwingbyError as error:
            complain(str(error))
            raise typer.Exit(BAD_INPUT) from error
        except BrokenPipeError:
            # The reader of a pipe went away (`swingby sql ... | head`): not an error of ours.
            sys.stderr.close()
            raise typer.Exit(0) from None


@cache
def _command(name: str, panel: str, verb: Callable[..., None], broken: bool) -> Any:
    """A verb with its options; of a broken one nobody knows them."""
    alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    unread = {"ignore_unknown_options": True, "allow_extra_args": True} if broken else {}
    alone.command(name=name, context_settings=unread, rich_help_panel=panel)(verb)
    return typer.main.get_command(alone)


def _refusing(error: LoadError) -> Callable[[], None]:
    """A verb in place of one that cannot be loaded, which says why; the help lists it beside the others."""

    def refuse() -> None:
        raise error

    refuse.__doc__ = f"Cannot be loaded: {error.broken.reason.splitlines()[0]}"
    return refuse


app = typer.Typer(
    cls=Verbs,
    name="swingby",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Sweeps over learning dynamics: write a grid, spread it by Ray Tune, ask SQL, draw the phase diagram.",
)


def _print_version(requested: bool) -> None:
    if requested:
        from swingby import __version__

        typer.echo(f"swingby {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """Options of the command itself."""


app.add_typer(cluster.app, name="cluster", rich_help_panel=RUN)

VERBS: dict[str, tuple[str, Callable[..., None]]] = {
    name: (panel, verb)
    for panel, verbs in {
        RUN: {
            "new": new.new,
            "validate": sweeps.validate,
            "plan": sweeps.plan,
            "run": sweeps.run,
            "extend": sweeps.extend,
            "replicate": replicate.replicate,
            "replay": sweeps.replay,
        },
        LOOK: {
            "list": guide.offers,
            "describe": describe.describe,
            "status": sweeps.status,
            "failures": sweeps.failures,
            "sql": data.sql,
            "export": data.export,
            "attach": attach.attach,
        },
        KEEP: {
            "ingest": data.ingest,
            "rebuild": data.rebuild,
            "merge": maintenance.merge,
            "retract": maintenance.retract,
            "delete": maintenance.delete,
            "rename": maintenance.rename,
            "gc": maintenance.gc,
            "import": imports.import_runs,
            "pack": archive.pack,
            "unpack": archive.unpack,
            "get": archive.get,
            "doctor": doctor.doctor,
        },
    }.items()
    for name, verb in verbs.items()
}
"""The platform's own verbs, each with its group in the help and its function."""


def main() -> None:
    """The entry point of the command."""
    try:
        app()
    except SystemExit as end:
        _leave_threads(end.code)
        raise


def _leave_threads(status: str | int | None) -> None:
    """Ends the process if a thread would keep it from ending: one that a cell has started and left running."""
    mine = threading.main_thread()
    if all(thread is mine or thread.daemon for thread in threading.enumerate()):
        return
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 1 if status else 0)
