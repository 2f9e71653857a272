"""The pages: templates that escape every text, values as text, and example queries for the SQL page."""

from __future__ import annotations

import hashlib
import json
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

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.store.status import SweepStatus
from swingby.store.views import OUTCOMES_OF, literal, quoted
from swingby.sweepfile.parameters import PRESET
from swingby_analysis.page.html import asset
from swingby_analysis.serve.board import Standing
from swingby_analysis.serve.queries import Answer, Limits
from swingby_analysis.serve.reports import Written

SHOWN = 1_000
"""Rows of an answer that the page shows; the files have all rows."""
LONG = 300
"""Characters of a text that a table shows; longer texts are cut."""
FIRST = "select name, experiment, cells, created from sweeps order by created desc"
"""The first example on the SQL page."""
Tables = Mapping[str, Sequence[tuple[str, str]]]


@cache
def static() -> dict[str, tuple[str, bytes]]:
    """The files that pages refer to, by name: media type and content."""
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


def sweep(status: SweepStatus, report: Written, tables: Tables) -> HTMLResponse:
    """One sweep: how it stands, and its report in a frame."""
    content = {"sweep": status, "bar_parts": bar(status), "report": report, "sql": phase_query(status, tables)}
    return _page("sweep.html", content)


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


def sql(
    request: SqlRequest,
    limits: Limits,
    tables: Tables,
    standing: Standing,
    result: Answer | None = None,
    fault: str | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """The SQL page: the box, the tables beside it, and the result or what is wrong with the query."""
    newest = {one.name: one for one in reversed(standing.sweeps)}  # of each name
    examples = [(one.name, phase_query(one, tables)) for one in list(newest.values())[::-1][:5]]
    content = {
        "request": request,
        "limits": limits,
        "tables": tables,
        "examples": [("sweeps", FIRST), *examples],
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
        columns = [[_text(value) for value in column.to_pylist()] for column in rows.slice(0, SHOWN).columns]
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


# the example queries


def phase_query(sweep: SweepStatus, tables: Tables) -> str:
    """The SQL of a sweep's phase diagram: a row a point, with the parameters that vary, cells, and the outcome."""
    try:
        resolved: dict[str, Any] = json.loads(sweep.resolved)
        axes = [str(name) for axis in resolved.get("axes", ()) for name in axis["names"]]
        outcome = (resolved.get("diagram") or resolved).get("outcome")
    except (ValueError, KeyError, TypeError, AttributeError):
        axes, outcome = [], None
    if sweep.experiment not in tables:
        return f"select * from members where sweep_id = {literal(sweep.sweep_id)}"
    columns = {name for name, _ in tables[sweep.experiment]}
    value, join = _outcome(sweep, outcome, tables)
    parts = ["m.point"]
    for name in dict.fromkeys(axes):
        column, _, entry = name.partition(".")
        if column in columns or name == PRESET:
            # `rates.1` is entry 1, counted from 0, of the list rates; SQL counts from 1.
            code = f"{quoted(column)}[{int(entry) + 1}]" if entry.isdecimal() else quoted(column)
            parts.append(code if code == quoted(name) else f"{code} as {quoted(name)}")
    preset = "\njoin conventions using (sweep_id, point)" if PRESET in axes else ""
    return (
        f"select {', '.join([*parts, 'count(*) as cells', value])}\n"
        f"from members m join {quoted(sweep.experiment)} e using (cell_id){join}{preset}\n"
        f"where m.sweep_id = {literal(sweep.sweep_id)}\ngroup by all order by m.point"
    )


def _outcome(sweep: SweepStatus, outcome: str | None, tables: Tables) -> tuple[str, str]:
    """The outcome over seeds (None: the first one of a detector) as SQL, and the join with the table that has it."""
    experiment, view = sweep.experiment, f"{OUTCOMES_OF}{sweep.experiment}"
    if outcome is not None and outcome in dict(tables.get(view, ())):
        join = f" left join {quoted(view)} o on o.sweep_id = m.sweep_id and o.cell_id = m.cell_id"
        return _over_seeds("o", outcome, dict(tables[view])[outcome]), join
    try:
        detectors = registry.detectors_for(experiment)
    except SwingbyError:
        detectors = []
    for detector in detectors:
        table = f"outcomes_{detector.name}"
        chosen = outcome if outcome in detector.kinds else None if outcome else next(iter(detector.kinds), None)
        if chosen in {name for name, _ in tables.get(table, ())}:
            column = f"o.{quoted(chosen)}"
            by_kind = {"category": f"mode({column})", "number": f"avg({column})"}
            value = by_kind.get(detector.kinds[chosen], f"avg({column}::int)")
            return f"{value} as {quoted(chosen)}", f" join {quoted(table)} o using (cell_id)"
    if outcome is not None and outcome in dict(tables[experiment]):
        return _over_seeds("e", outcome, dict(tables[experiment])[outcome]), ""
    return "avg((e.status = 'ok')::int) as ok", ""


def _over_seeds(alias: str, outcome: str, type_: str) -> str:
    """A column over seeds as SQL: the most common text, the share of yes, or the mean."""
    column = f"{alias}.{quoted(outcome)}"
    value = {"VARCHAR": f"mode({column})", "BOOLEAN": f"avg({column}::int)"}.get(type_, f"avg({column})")
    return f"{value} as {quoted(outcome)}"
