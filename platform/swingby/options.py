"""Options as whoever reads of them writes them: `--seed-mode common` for a command, `seed_mode='common'` in Python."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

FLAGS = {("older", "keep"): "--keep", ("older", "retrain"): "--retrain", ("every", True): "--all"}
"""Flags that are not spelt as the keyword and its value."""
NAMES = {"ignored": "ignore", "outcomes": "outcome", "formats": "format"}
"""Options of a command that have another name than the keyword."""
_commands = 0
"""How many commands are being carried out in this process: none where Python calls."""


@contextmanager
def of_command() -> Iterator[None]:
    """While inside, options are named as a command has them."""
    global _commands
    _commands += 1
    try:
        yield
    finally:
        _commands -= 1


def option(name: str, value: Any = ...) -> str:
    """An option, perhaps with a value, for a message.

    Args:
        name: the keyword in Python.
        value: true and false make `--local` and `--no-local` of a command; ...: the option as such.
    """
    if not _commands:
        return name if value is ... else f"{name}={value!r}"
    flag = NAMES.get(name, name).replace("_", "-")
    if (name, value) in FLAGS:
        return FLAGS[name, value]
    if isinstance(value, bool):
        return f"--{'' if value else 'no-'}{flag}"
    if value is ...:
        return f"--{flag}"
    return f"--{flag} {f'{value:g}' if isinstance(value, float) else shlex.quote(str(value))}"


def setting(text: str) -> str:
    """An override such as `resources.gpus=1`, for a message."""
    return f"--set {text}" if _commands else text
