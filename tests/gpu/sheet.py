"""Rows of measurements, each on disk as soon as it is known: what is cut short keeps them, and goes on from there."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

Row = Mapping[str, Any]
FAILURE = "failure"
"""The column of a row that could not be measured, with the reason."""


class Setting(NamedTuple):
    """How a part is run.

    Attributes:
        device: "cuda" or "cpu".
        quick: everything small: does it run?
        seconds: the part's limit.
        out: the folder of all results.
    """

    device: str
    quick: bool
    seconds: float
    out: Path


class Sheet:
    """The rows of one part, by their names, in a file.

    Attributes:
        rows: those so far, also of earlier runs.
        state: how the part ended; empty as long as it has not.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.rows: dict[str, dict[str, Any]] = kept.get("rows", {})
        self.state: str = kept.get("state", "")

    def row(self, name: str, measure: Callable[[], Row]) -> None:
        """Adds a row, if there is none; an error becomes the row, and the next one is gone on with.

        Raises:
            RuntimeError: the GPU answers this process with nothing but errors from now on; the row is there.
        """
        if name in self.rows:
            return
        try:
            self.put(name, measure())
        except Exception as error:
            traceback.print_exc()
            reason = (str(error).strip().splitlines() or [""])[0]
            self.put(name, {FAILURE: f"{type(error).__name__}: {reason}"})
            if type(error).__name__ == "AcceleratorError":
                raise

    def put(self, name: str, row: Row) -> None:
        """Writes a row, in the place of an earlier one of that name."""
        self.rows[name] = dict(row)
        self._save()

    def end(self, state: str) -> None:
        """Writes how the part ended."""
        self.state = state
        self._save()

    def _save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        aside = self.path.with_suffix(".tmp")
        aside.write_text(json.dumps({"state": self.state, "rows": self.rows}, indent=1) + "\n", encoding="utf-8")
        aside.replace(self.path)


def table(rows: Mapping[str, Row]) -> str:
    """Rows as a table in Markdown; a column for each key, in the order in which they come."""
    columns = list(dict.fromkeys(key for row in rows.values() for key in row))
    lines = ["| " + " | ".join(["", *columns]) + " |", "|" + "---|" * (len(columns) + 1)]
    for name, row in rows.items():
        lines.append("| " + " | ".join([name, *(shown(row.get(key, "")) for key in columns)]) + " |")
    return "\n".join(lines)


def shown(value: Any) -> str:
    """A value as an entry of a table: numbers to three digits."""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "/")
