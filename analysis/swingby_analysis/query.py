"""The queries behind the figures: .sql files with what they include, and the parameters of one use beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from swingby.errors import SwingbyError

Parameter = str | int | float | tuple[int, ...] | tuple[str, ...]
_INCLUDE = re.compile(r"^-- include:(.*?)(,?)[ \t]*$", re.MULTILINE)


@cache
def text_of(name: str) -> str:
    """The text of `analysis/sql/<name>.sql`, whole: what is run is what is shown.

    A line `-- include: <other>` stands for the text of that file, `-- include: <other>,` for it and a comma. So queries
    share common table expressions; a file that is included includes none itself.

    Raises:
        SwingbyError: there is no such file, or an included one includes another.
    """
    return _INCLUDE.sub(lambda line: _part(line[1].strip(), name) + line[2], _read(name))


def _part(name: str, of: str) -> str:
    """The text of a file that the query `of` includes."""
    try:
        text = _read(name)
    except SwingbyError as error:
        raise SwingbyError(f"query {of}: cannot include {name!r}: {error}") from error
    if _INCLUDE.search(text):
        raise SwingbyError(f"query {of}: it includes {name!r}, which includes others; name them all in {of}")
    return text


def _read(name: str) -> str:
    path = files("swingby_analysis").joinpath("sql", f"{name}.sql")
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError as error:
        raise SwingbyError(f"there is no query analysis/sql/{name}.sql") from error


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
