"""The queries behind figures and statements: .sql files with their parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import polars as pl

from swingby.errors import SwingbyError
from swingby.store import Store
from swingby.store.sql import literal as text_literal

Parameter = str | int | float | tuple[int, ...] | tuple[str, ...]
OURS = "swingby_analysis.sql"
"""The folder of the queries that work for every experiment."""


@cache
def text_of(name: str, folder: str = OURS) -> str:
    """The text of the file `<name>.sql` in a folder, which is written as a package.

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
    """The path of a query's file, from the folder of its package on."""
    return f"{folder.replace('.', '/')}/{name}.sql"


@dataclass(frozen=True)
class Query:
    """A query with its parameters, for which `$1`, `$2`, ... stand in the text.

    Attributes:
        name: of the file, without ".sql"; with slashes in folders below `folder`.
        parameters: in order.
        folder: the folder of the file, written as a package, such as "my_package.drawings".
        inline: the text of a query that has no such file; `name` then says where the text is from.
    """

    name: str
    parameters: tuple[Parameter, ...] = ()
    folder: str = OURS
    inline: str | None = None

    @property
    def text(self) -> str:
        """The text that DuckDB gets; the parameters are bound."""
        return text_of(self.name, self.folder) if self.inline is None else self.inline

    @property
    def path(self) -> str:
        """The path of the file, or where the inline text is from."""
        return path_of(self.name, self.folder) if self.inline is None else self.name

    @property
    def arguments(self) -> list[Any]:
        """The parameters as DuckDB takes them."""
        return [list(value) if isinstance(value, tuple) else value for value in self.parameters]

    @property
    def readable(self) -> str:
        """The text with the parameters in it, for reading and for `swingby sql`."""
        return re.sub(r"\$(\d+)", lambda match: literal(self.parameters[int(match[1]) - 1]), self.text)


def ask(store: Store, query: Query) -> pl.DataFrame:
    """The rows of one query."""
    return store.sql(query.text, query.arguments).polars()


def literal(value: Parameter) -> str:
    """A value as an SQL literal."""
    if isinstance(value, str):
        return text_literal(value)
    return repr(value) if isinstance(value, int | float) else f"[{', '.join(map(literal, value))}]"
