"""The pages: templates that escape every text, and values as a reader wants them."""

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
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from swingby.store.status import SweepStatus
from swingby_analysis.page.html import asset
from swingby_analysis.serve.board import Seen
from swingby_analysis.serve.phase import FIRST, phase_query
from swingby_analysis.serve.queries import Answer, Limits
from swingby_analysis.serve.reports import Written

SHOWN = 1_000
"""Rows of an answer that the page shows; the files have all."""
LONG = 300
"""Characters of a text in a table."""
Tables = Mapping[str, Sequence[tuple[str, str]]]


@cache
def static() -> dict[str, tuple[str, bytes]]:
    """What pages refer to, by name: media type and content."""
    texts = {
        "serve.css": ("text/css", asset("page.css") + _own("serve.css")),
        "serve.js": ("text/javascript", _own("serve.js")),
        "icon.svg": ("image/svg+xml", _own("icon.svg")),
    }
    return {name: (kind, text.encode()) for name, (kind, text) in texts.items()}


def _own(name: str) -> str:
    return files("swingby_analysis.serve").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("swingby_analysis.serve"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"clock": clock, "number": "{:,}".format, "link": urlencode}
    made.globals["static"] = {
        name: f"/static/{name}?{hashlib.sha256(content).hexdigest()[:12]}" for name, (_, content) in static().items()
    }
    return made


def _page(template: str, content: Mapping[str, Any], status: int = 200, headers: Any = None) -> HTMLResponse:
    return HTMLResponse(_environment().get_template(template).render(**content), status, headers)


def clock(moment: datetime | float | None) -> str:
    """A time as a reader wants it, in UTC; a datetime without a zone is in UTC already."""
    if moment is None:
        return "never"
    if isinstance(moment, float | int):
        moment = datetime.fromtimestamp(moment, UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def message(status: int, title: str, text: str, headers: Mapping[str, str] | None = None) -> HTMLResponse:
    """A page that says what went wrong."""
    return _page("message.html", {"heading": title, "text": text}, status, headers)


def asking(wrong: bool, headers: Mapping[str, str]) -> HTMLResponse:
    """The page that asks for the token."""
    return _page("token.html", {"wrong": wrong}, 401, headers)


def sweeps(seen: Seen) -> HTMLResponse:
    """The list of sweeps."""
    return _page("sweeps.html", {"seen": seen, "bars": {one.sweep_id: bar(one) for one in seen.sweeps}})


def sweep(standing: SweepStatus, written: Written, generation: int | None, tables: Tables) -> HTMLResponse:
    """One sweep: how it stands, and its report in a frame."""
    content = {
        "sweep": standing,
        "bar_parts": bar(standing),
        "written": written,
        "generation": generation,
        "sql": phase_query(standing, tables),
    }
    return _page("sweep.html", content)


@dataclass(frozen=True)
class Part:
    """One stretch of a progress bar, in percent."""

    kind: str
    start: float
    width: float


def bar(sweep: SweepStatus) -> list[Part]:
    """The bar of a sweep: cells by status, of all that are planned."""
    parts, start, cells = [], 0.0, max(sweep.cells, 1)
    for kind in ("ok", "diverged", "failed", "in_progress"):
        width = 100 * getattr(sweep, kind) / cells
        parts.append(Part(kind, round(start, 3), round(width, 3)))
        start += width
    return [part for part in parts if part.width]


@dataclass(frozen=True)
class Asked:
    """What a visitor typed: the SQL, and at most how many rows."""

    sql: str
    limit: int

    @property
    def link(self) -> str:
        """What of an address asks it again."""
        return urlencode({"q": self.sql, "limit": self.limit})

    @property
    def command(self) -> str:
        """The same in a terminal."""
        return f"swingby sql {shlex.quote(self.sql)} --limit {self.limit}"


def sql(
    asked: Asked,
    limits: Limits,
    tables: Tables,
    seen: Seen,
    result: Answer | None = None,
    fault: str | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """The SQL box with the tables beside it, and what a query gave."""
    content = {
        "asked": asked,
        "limits": limits,
        "tables": tables,
        "examples": [("sweeps", FIRST), *((one.name, phase_query(one, tables)) for one in _few(seen))],
        "result": result,
        "grid": None if result is None else Grid.of(result.rows),
        "fault": fault,
        "shown": SHOWN,
    }
    return _page("sql.html", content, status, headers)


def _few(seen: Seen) -> list[SweepStatus]:
    """A few sweeps for examples, one of each name."""
    return list({one.name: one for one in reversed(seen.sweeps)}.values())[::-1][:5]


@dataclass(frozen=True)
class Grid:
    """The first rows of an answer as text; `kinds` says how each column is set."""

    names: Sequence[str]
    types: Sequence[str]
    kinds: Sequence[str]
    rows: Sequence[Sequence[str | None]]

    @classmethod
    def of(cls, rows: pa.Table) -> Grid:
        """Of an answer."""
        first = rows.slice(0, SHOWN)
        kinds = ["number" if _is_number(field.type) else "text" for field in rows.schema]
        # By columns: two of them may have one name.
        columns = [[_told(value) for value in column.to_pylist()] for column in first.columns]
        return cls(
            rows.column_names, [str(field.type) for field in rows.schema], kinds, list(zip(*columns, strict=True))
        )


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _told(value: Any) -> str | None:
    """A value as it is read best; None stays, and is shown as no value."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        head = ", ".join(_told(item) or "null" for item in value[:4])
        return f"[{head}{f', … {len(value):,} in all' if len(value) > 4 else ''}]"
    if isinstance(value, bytes):
        return f"({len(value):,} bytes)"
    text = str(value)
    return text if len(text) <= LONG else f"{text[:LONG]}…"
