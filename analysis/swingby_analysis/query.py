"""The queries behind figures and statements: .sql files, and the parameters of one use beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import polars as pl

from swingby.errors import SwingbyError
from swingby.store import Store

Parameter = str | int | float | tuple[int, ...] | tuple[str, ...]
OURS = "swingby_analysis.sql"
"""The folder of the queries that every experiment can be asked."""


@cache
def text_of(name: str, folder: str = OURS) -> str:
    """The text of the file `<name>.sql` in a folder, written as a package: what is run is what is shown.

    Raises:
        SwingbyError: there is no such file.
    """
    package, _, inner = folder.partition(".")
    path = files(package).joinpath(*inner.split("."), f"{name}.sql")
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError as error:
        raise SwingbyError(f"there is no query {path_of(name, folder)}") from error


def path_of(name: str, folder: str = OURS) -> str:
    """Where the file of a query lies, from the folder of its package on."""
    return f"{folder.replace('.', '/')}/{name}.sql"


@dataclass(frozen=True)
class Query:
    """One query as it was asked: `$1`, `$2`, ... in the text stand for the parameters in order.

    Attributes:
        name: of the file, without ".sql"; in folders below `folder` with slashes.
        parameters: in order.
        folder: where the file lies, written as a package, such as "my_package.drawings".
        given: the text itself, of a query that stands in no such file; `name` then says where it stands.
    """

    name: str
    parameters: tuple[Parameter, ...] = ()
    folder: str = OURS
    given: str | None = None

    @property
    def text(self) -> str:
        """What DuckDB is given, with the parameters apart."""
        return text_of(self.name, self.folder) if self.given is None else self.given

    @property
    def path(self) -> str:
        """Where the text stands."""
        return path_of(self.name, self.folder) if self.given is None else self.name

    @property
    def arguments(self) -> list[Any]:
        """The parameters as DuckDB takes them."""
        return [list(value) if isinstance(value, tuple) else value for value in self.parameters]

    @property
    def readable(self) -> str:
        """The text with the parameters written in: for reading, and for pasting into `swingby sql`."""
        return re.sub(r"\$(\d+)", lambda match: literal(self.parameters[int(match[1]) - 1]), self.text)


def ask(store: Store, query: Query) -> pl.DataFrame:
    """The rows of one query."""
    return store.sql(query.text, query.arguments).polars()


def literal(value: Parameter) -> str:
    """A value as an SQL literal."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value) if isinstance(value, int | float) else f"[{', '.join(map(literal, value))}]"
