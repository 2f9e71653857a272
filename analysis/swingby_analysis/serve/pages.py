"""The pages: templates that escape every text, and values as text."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

import pyarrow as pa
from jinja2 import Environment
from starlette.responses import HTMLResponse

from swingby.cli.rows import values
from swingby.store.comments import ALL, OUTCOMES, POINTS, Described, Meaning
from swingby.store.meanings import TABLES
from swingby.store.status import SweepStatus
from swingby_analysis.page.html import asset, environment
from swingby_analysis.serve.board import Standing
from swingby_analysis.serve.examples import Tables, examples
from swingby_analysis.serve.queries import Answer, Limits
from swingby_analysis.serve.reports import Written

SHOWN = 1_000
"""Rows of an answer that the page shows; the files have all rows."""
LONG = 300
"""Characters of a text that a table shows; longer texts are cut."""


@cache
def static() -> dict[str, tuple[str, bytes]]:
    """The files that pages refer to, by name: media type and content."""
    texts = {
        "serve.css": ("text/css", asset("page.css") + _template("serve.css")),
        "serve.js": ("text/javascript", _template("serve.js")),
        "icon.svg": ("image/svg+xml", _template("icon.svg")),
    }
    return {name: (kind, text.encode()) for name, (kind, text) in texts.items()}


def _template(name: str) -> str:
    return files("swingby_analysis.serve").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    jinja = environment("swingby_analysis.serve")
    jinja.filters |= {"clock": clock, "number": "{:,}".format, "link": urlencode}
    jinja.globals["static"] = {
        name: f"/static/{name}?{hashlib.sha256(content).hexdigest()[:12]}" for name, (_, content) in static().items()
    }
    return jinja


def _page(template: str, content: Mapping[str, Any], status: int = 200, headers: Any = None) -> HTMLResponse:
    return HTMLResponse(_environment().get_template(template).render(**content), status, headers)


def clock(moment: datetime | float | None) -> str:
    """A time such as "2026-01-02 03:04:05 UTC"; a datetime without a zone is taken as UTC."""
    if moment is None:
        return "never"
    if isinstance(moment, float | int):
        moment = datetime.fromtimestamp(moment, UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def message(status: int, title: str, text: str, headers: Mapping[str, str] | None = None) -> HTMLResponse:
    """A page that says what went wrong."""
    return _page("message.html", {"heading": title, "text": text}, status, headers)


def token_form(wrong: bool, headers: Mapping[str, str]) -> HTMLResponse:
    """The page that asks for the token; `wrong`: after a token that was not right."""
    return _page("token.html", {"wrong": wrong}, 401, headers)


def sweeps(standing: Standing) -> HTMLResponse:
    """The list of sweeps."""
    return _page("sweeps.html", {"standing": standing, "bars": {one.sweep_id: bar(one) for one in standing.sweeps}})


def sweep(status: SweepStatus, report: Written) -> HTMLResponse:
    """One sweep: how it stands, and its report in a frame."""
    return _page("sweep.html", {"sweep": status, "bar_parts": bar(status), "report": report})


@dataclass(frozen=True)
class Part:
    """One stretch of a progress bar, in percent."""

    kind: str
    start: float
    width: float


def bar(sweep: SweepStatus) -> list[Part]:
    """The progress bar of a sweep: its cells by status, as shares of all planned cells."""
    parts, start, cells = [], 0.0, max(sweep.cells, 1)
    for kind in ("ok", "diverged", "failed", "in_progress"):
        width = 100 * getattr(sweep, kind) / cells
        parts.append(Part(kind, round(start, 3), round(width, 3)))
        start += width
    return [part for part in parts if part.width]


@dataclass(frozen=True)
class SqlRequest:
    """What a visitor asks for: the SQL, and at most how many rows."""

    sql: str
    limit: int

    @property
    def link(self) -> str:
        """The query string of the address that asks for it."""
        return urlencode({"q": self.sql, "limit": self.limit})

    @property
    def command(self) -> str:
        """The command that answers it in a terminal."""
        return f"swingby sql {shlex.quote(self.sql)} --limit {self.limit}"


@dataclass(frozen=True)
class Help:
    """The tables that a query can name, for people.

    Attributes:
        tables: name -> columns with their types.
        declared: what of them is declared.
    """

    tables: Tables
    declared: Mapping[str, Described]

    def shown(self) -> list[tuple[str, str, list[tuple[str, str, Meaning]]]]:
        """Name, meaning and columns (name, type, meaning) of each table: those of experiments first."""
        none = Described("", {})
        return [
            (name, of.meaning, [(column, type_, of.columns.get(column, Meaning(""))) for column, type_ in columns])
            for name, columns in sorted(self.tables.items(), key=lambda item: (_rank(item[0]), item[0]))
            for of in [self.declared.get(name, none)]
        ]


def _rank(table: str) -> int:
    """The place of a kind of tables in the list: experiments, recorded steps, outcomes, those of every store, old."""
    if table in TABLES:
        return 3
    if table.endswith(ALL):
        return 4
    return 2 if table.startswith(OUTCOMES) else int(table.endswith(POINTS))


def sql(
    request: SqlRequest,
    limits: Limits,
    known: Help,
    standing: Standing,
    result: Answer | None = None,
    fault: str | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """The SQL page: the box, the tables beside it, and the result or what is wrong with the query."""
    content = {
        "request": request,
        "limits": limits,
        "tables": known.shown(),
        "examples": examples(known.tables, standing.sweeps),
        "result": result,
        "table": None if result is None else RowTable.of(result.rows),
        "fault": fault,
        "shown": SHOWN,
    }
    return _page("sql.html", content, status, headers)


@dataclass(frozen=True)
class RowTable:
    """The first rows of an answer as text.

    Attributes:
        names, types: of the columns.
        kinds: "number" or "text" for each column, by which it is aligned.
        rows: texts; None for null.
    """

    names: Sequence[str]
    types: Sequence[str]
    kinds: Sequence[str]
    rows: Sequence[Sequence[str | None]]

    @classmethod
    def of(cls, rows: pa.Table) -> RowTable:
        """The table for these rows, of which the first `SHOWN` are in it."""
        types = [field.type for field in rows.schema]
        numbers = [pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_decimal(t) for t in types]
        # By columns: two of them may have one name.
        columns = [[_text(value) for value in values(column)] for column in rows.slice(0, SHOWN).columns]
        kinds = ["number" if number else "text" for number in numbers]
        return cls(rows.column_names, list(map(str, types)), kinds, list(zip(*columns, strict=True)))


def _text(value: Any) -> str | None:
    """A value as a short text; None for null."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        head = ", ".join(_text(item) or "null" for item in value[:4])
        return f"[{head}{f', … {len(value):,} in all' if len(value) > 4 else ''}]"
    if isinstance(value, bytes):
        return f"({len(value):,} bytes)"
    text = str(value)
    return text if len(text) <= LONG else f"{text[:LONG]}…"
