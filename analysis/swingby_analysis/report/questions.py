"""The parts of a page in which readers ask questions of their own: Explore, and SQL over every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from swingby.store import Store
from swingby_analysis.page import Block, Heading, Text, Widget
from swingby_analysis.page.engine import LICENCES, VERSION, Engine
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.explore import explored, share_query
from swingby_analysis.report.point_query import point_query

EXPLORE, SQL = ("explore.js",), ("explore.js", "sql.js")
"""The scripts of a page without a box for SQL, and with one."""
ENGINE = {"script-src": "'wasm-unsafe-eval'", "worker-src": "blob:"}
"""What the policy of a page with an engine allows besides: a worker out of the page, and WebAssembly."""
SERVER = {"connect-src": "'self'"}
"""What that of a page allows whose SQL its server answers."""


@dataclass(frozen=True)
class Questions:
    """What a page needs so that its readers can ask.

    Attributes:
        blocks: Explore and SQL, as far as they can be had.
        data, attachments, scripts, allowed: see `swingby_analysis.page.html.html`.
    """

    blocks: Sequence[Block] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    attachments: Mapping[str, bytes] = field(default_factory=dict)
    scripts: Sequence[str] = ()
    allowed: Mapping[str, str] = field(default_factory=dict)


def questions(data: ReportData, store: Store, engine: Engine | None = None, served: str = "") -> Questions:
    """The parts of a report's page that answer its readers.

    Args:
        engine: of a supplement, which answers SQL by itself.
        served: the path at which a server answers SQL; "" for none.
    """
    runs = explored(data, store, whole=engine is not None)
    table = data.sweep["experiment"]
    blocks, facts, attachments = list[Block](), dict[str, Any](), dict[str, bytes]()
    if runs is not None:
        blocks.append(Widget("explore"))
        facts["explore"], attachments["rows"] = runs.facts, runs.rows
    if engine is not None and runs is not None:
        dropped = ", ".join(runs.facts["dropped"])
        words = (
            f"DuckDB answers in this page, without a network. The table {table} has a row for each of "
            f"{data.cells.height:,} runs: its parameters, scalars and outcomes, but no curves. Numbers are rounded to "
            f"seven digits (float32). {f'Left out, since the page would be too large: {dropped}. ' if dropped else ''}"
            f"The engine is DuckDB-WASM {VERSION} ({LICENCES})."
        )
        blocks += [Heading("SQL over every run"), Text(words), Widget("sql")]
        facts["sql"] = {"table": table, "query": share_query(data, runs.columns), "columns": runs.columns}
        attachments |= {"engine-worker": engine.worker.encode(), "engine-module": engine.module}
        return Questions(blocks, facts, attachments, SQL, ENGINE)
    if served:
        blocks += [Heading("SQL over the whole store"), Widget("sql")]
        query = point_query(data.sweep["sweep_id"], table, data.resolved, store.tables())
        facts["sql"] = {"path": served, "query": query}
        return Questions(blocks, facts, attachments, SQL, SERVER)
    return Questions(blocks, facts, attachments, EXPLORE if blocks else ())
