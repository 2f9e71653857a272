"""The prompt of `sql`: queries typed on a terminal, with a history that outlives the command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from swingby.cli.console import tell
from swingby.cli.describe import names

FIRST, MORE = "swingby> ", "    ...> "
LEAVE = {"quit", "exit", "\\q"}
KEPT = 1_000
"""Lines of the history that are kept."""


def typed() -> Iterator[str]:
    """The queries that are typed, each ended by a semicolon; Ctrl-C forgets a line, Ctrl-D or `quit` ends them."""
    with suppress(ImportError):  # a Python without readline has a prompt without a history
        _remember()
    tell("a query ends with ;  quit or Ctrl-D leaves; `show tables;` lists what there is, Tab completes it")
    lines = list[str]()
    while True:
        try:
            line = input(MORE if lines else FIRST)
        except EOFError:
            tell("")
            return
        except KeyboardInterrupt:
            tell("")
            lines.clear()
            continue
        if not lines and line.strip().rstrip(";").lower() in LEAVE:
            return
        if line.strip() or lines:
            lines.append(line)
        if line.rstrip().endswith(";"):
            yield "\n".join(lines).rstrip().rstrip(";")
            lines.clear()


def _remember() -> None:
    """Reads the history and has it written at the end; completes the names of tables."""
    import atexit
    import readline

    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    file = Path(state).expanduser() / "swingby" / "sql_history"
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        readline.read_history_file(file)
    readline.set_history_length(KEPT)

    def keep() -> None:
        with suppress(OSError):
            readline.write_history_file(file)

    atexit.register(keep)
    readline.set_completer(lambda text, place: dict(enumerate(names(text))).get(place))
    readline.parse_and_bind("tab: complete")
