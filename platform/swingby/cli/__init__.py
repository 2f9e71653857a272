"""The command `swingby`: its own verbs, and those that other packages add by entry point."""

from __future__ import annotations

import sys
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import typer
from typer.core import TyperGroup

from swingby.cli import archive, attach, cluster, data, describe, doctor, guide, imports, maintenance, new, sweeps
from swingby.cli.console import KEEP, LOOK, RUN, complain
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.broken import LoadError

BAD_INPUT = 2
OTHERS = "Other verbs"
"""The group of the help for offered verbs that name none."""
WITHOUT_ARROW = ("attach", "cluster", "sql")
"""Verbs that make no Arrow array in this process."""


class Verbs(TyperGroup):
    """The verbs of the platform, and those that packages offer; a `SwingbyError` becomes a message and exit code 2.

    An offered verb is imported only when it is used.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """The verbs of the platform, then the offered ones."""
        return [*super().list_commands(ctx), *sorted(registry.offered(registry.COMMANDS))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in registry.offered(registry.COMMANDS):
            return own
        offered, settings = typer.Typer(add_completion=False, rich_markup_mode="markdown"), dict[str, Any]()
        try:
            verb = registry.load(registry.COMMANDS, cmd_name)
        except LoadError as error:
            verb, settings = _refusing(error), {"ignore_unknown_options": True, "allow_extra_args": True}
        group = getattr(verb, "help_panel", OTHERS)
        offered.command(name=cmd_name, context_settings=settings, rich_help_panel=group)(verb)
        return typer.main.get_command(offered)

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
            arrow_without_pandas()
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except SwingbyError as error:
            complain(str(error))
            raise typer.Exit(BAD_INPUT) from error
        except BrokenPipeError:
            # The reader of a pipe went away (`swingby sql ... | head`): not an error of ours.
            sys.stderr.close()
            raise typer.Exit(0) from None


def _refusing(error: LoadError) -> Callable[[], None]:
    """A verb in place of one that cannot be loaded, which says why; the help lists it beside the others."""

    def refuse() -> None:
        raise error

    refuse.__doc__ = f"Cannot be loaded: {error.broken.reason.splitlines()[0]}"
    return refuse


class HiddenPandas:
    """A finder of modules by which pandas is not installed."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Where a module lies: not known to this finder.

        Raises:
            ModuleNotFoundError: it is pandas.
        """
        if name == "pandas":
            raise ModuleNotFoundError(name)


def arrow_without_pandas() -> None:
    """Lets Arrow find no pandas: at its first list it would import it, which takes longer than most verbs.

    Where a table of pandas is asked for, Arrow still imports it then.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    finder: Any = HiddenPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(finder)


app = typer.Typer(
    cls=Verbs,
    name="swingby",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Sweeps over learning dynamics: write a grid, spread it by Ray Tune, ask SQL, draw the phase diagram.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from swingby import __version__

        typer.echo(f"swingby {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """Options of the command itself."""


for verb in (new.new, sweeps.validate, sweeps.plan, sweeps.run, sweeps.extend, sweeps.replay):
    app.command(rich_help_panel=RUN)(verb)
app.add_typer(cluster.app, name="cluster", rich_help_panel=RUN)
app.command("list", rich_help_panel=LOOK)(guide.offers)
app.command(rich_help_panel=LOOK)(describe.describe)
for verb in (sweeps.status, data.sql, data.export, attach.attach):
    app.command(rich_help_panel=LOOK)(verb)
for verb in (data.ingest, data.rebuild, maintenance.merge, maintenance.retract, maintenance.gc):
    app.command(rich_help_panel=KEEP)(verb)
app.command("import", rich_help_panel=KEEP)(imports.import_runs)
for verb in (archive.pack, archive.unpack, doctor.doctor):
    app.command(rich_help_panel=KEEP)(verb)


def main() -> None:
    """The entry point of the command."""
    app()
