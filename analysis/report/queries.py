"""The queries behind the figures: .sql files read as they stand, with the parameters of one use beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

Parameter = str | int | float | tuple[int, ...] | tuple[str, ...]


@cache
def text_of(name: str) -> str:
    """The text of `analysis/sql/<name>.sql`."""
    return files("analysis").joinpath("sql", f"{name}.sql").read_text(encoding="utf-8").strip()


@dataclass(frozen=True)
class Query:
    """One query as it was asked: `$1`, `$2`, ... in the text stand for the parameters in order."""

    name: str
    parameters: tuple[Parameter, ...] = ()

    @property
    def text(self) -> str:
        """What DuckDB is given, with the parameters apart."""
        return text_of(self.name)

    @property
    def readable(self) -> str:
        """The same with the parameters written in: for reading, and for pasting into `swingby sql`."""
        return re.sub(r"\$(\d+)", lambda match: literal(self.parameters[int(match[1]) - 1]), self.text)


def literal(value: Parameter) -> str:
    """A value as an SQL literal."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value) if isinstance(value, int | float) else f"[{', '.join(map(literal, value))}]"
