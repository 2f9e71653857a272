"""The files that hold a figure's rows and its spec, for whoever draws it again: CSV and Vega-Lite."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

DATA = ("csv", "vl.json")
"""Kinds of the files that lie beside each PNG."""


def rows_of(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows that a Vega-Lite spec holds, of one data set after the other."""
    sets = list(spec.get("datasets", {}).values())
    for part in _parts(spec):
        data = part.get("data")
        if isinstance(data, Mapping) and "values" in data:
            sets.append(data["values"])
    return [row for rows in sets for row in rows if isinstance(row, dict)]


def csv_of(spec: Mapping[str, Any]) -> str:
    """The rows of a figure as CSV, a column for each name that occurs; pictures inside the rows are left out.

    Rows of different kinds, such as tiles and the pieces of a line, stand below each other.
    """
    rows = rows_of(spec)
    names = dict.fromkeys(name for row in rows for name, value in row.items() if not _is_picture(value))
    text = io.StringIO()
    table = csv.DictWriter(text, list(names), extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def vega_lite_of(spec: Mapping[str, Any]) -> str:
    """A figure's spec, its rows inside, as JSON that any Vega-Lite viewer draws."""
    return json.dumps(spec, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def _parts(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The spec and all of its charts inside."""
    inner = [spec.get("spec"), *(spec.get(name) for name in ("layer", "hconcat", "vconcat", "concat"))]
    charts = [chart for one in inner for chart in (one if isinstance(one, list) else [one])]
    return [spec, *(part for chart in charts if isinstance(chart, Mapping) for part in _parts(chart))]


def _is_picture(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("data:")
