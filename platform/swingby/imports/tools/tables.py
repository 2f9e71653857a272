"""Small tables of one run: CSV with any delimiter, JSON, and JSON lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from swingby.errors import SwingbyError
from swingby.imports.exports import RAY_ABOUT
from swingby.imports.tools.run import Run, flat, json_of, number, of_text, record

ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")
STEPS = ("step", "_step", "global_step", "steps", "training_iteration", "iteration", "iter", "epoch")
"""What columns of steps are called, in lower case; the first that a table has is its column."""
TENSORBOARD = ["Wall time", "Step", "Value"]
MOST_BYTES = 256 * 2**20


def read_table(file: Path, run: Run, metric: str = "value") -> None:
    """Takes a file's values into a run: a row a step are curves, one row or one object are values at the end.

    Args:
        metric: what TensorBoard's column `Value` is of.

    Raises:
        SwingbyError: it cannot be read.
    """
    if file.stat().st_size > MOST_BYTES:
        raise SwingbyError(f"{file.name} is larger than {MOST_BYTES >> 20} MiB: import it alone")
    text = file.read_text(encoding="utf-8-sig", errors="replace")
    if not text.strip():
        raise SwingbyError(f"{file.name} is empty")
    if file.suffix.lower() in (".csv", ".tsv"):
        _rows(run, list(csv_rows(text)), metric)
        return
    try:
        value = json_of(text, file.name)
    except SwingbyError:
        value = _lines(text, file, run)
    if isinstance(value, Mapping) and "training_iteration" in value:
        _rows(run, [value], metric)
    elif isinstance(value, Mapping):
        _object(run, value)
    elif isinstance(value, list) and all(isinstance(row, Mapping) for row in value):
        _rows(run, value, metric)
    else:
        raise SwingbyError(f"{file.name} holds neither an object nor a list of them")


def csv_rows(text: str) -> Iterable[dict[str, str]]:
    """The rows of a CSV by its header; with semicolons a decimal comma is a point."""
    head = text[: text.find("\n") if "\n" in text else None]
    delimiter = max(",;\t|", key=head.count)
    comma = delimiter == ";"
    try:
        for row in csv.DictReader(io.StringIO(text), delimiter=delimiter):
            named = {name: value for name, value in row.items() if name is not None and isinstance(value, str)}
            yield {name: value.replace(",", ".") if comma else value for name, value in named.items()}
    except csv.Error as error:
        raise SwingbyError(f"a CSV that cannot be read: {error}") from None


def _lines(text: str, file: Path, run: Run) -> list[Any]:
    """The objects of JSON lines; a last line that is not whole is left out with a word."""
    rows, lines = list[Any](), [line for line in text.splitlines() if line.strip()]
    for place, line in enumerate(lines):
        try:
            rows.append(json_of(line, f"line {place + 1} of {file.name}"))
        except SwingbyError as error:
            if not rows or place < len(lines) - 1:
                raise
            run.notes.append(f"{error}: a line that was half written")
    return rows


def _rows(run: Run, rows: list[Any], metric: str) -> None:
    """Takes rows: each a step, or the only one the values at the end."""
    if not rows:
        raise SwingbyError("a table without rows")
    about = RAY_ABOUT if "training_iteration" in rows[0] else ()
    names = {name.lower(): name for name in rows[0]}
    step = next((names[one] for one in STEPS if one in names), None)
    if list(rows[0]) == TENSORBOARD:
        rows = [{"Step": row["Step"], metric: row["Value"]} for row in rows]
    settings = rows[-1].get("config")
    if isinstance(settings, Mapping) and not run.params:
        run.params = settings
    kept = [{name: value for name, value in row.items() if name not in about and name != "config"} for row in rows]
    if len(kept) == 1 and step is None:
        run.scalars = {**run.scalars, **{name: _plain(value) for name, value in flat(kept[0]) if value != ""}}
        return
    for place, (row, of) in enumerate(zip(kept, rows, strict=True)):
        at = number(of.get(step)) if step else place
        if at is None or at != round(at) or at < 0:
            raise SwingbyError(f"row {place + 1} has the step {of.get(step)!r}; allowed: 0, 1, 2, ...")
        logged = {name: value for name, value in row.items() if name != step and value not in ("", None)}
        record(run, round(at), logged)


def _object(run: Run, value: Mapping[str, Any]) -> None:
    """Takes an object: lists of numbers of one length are curves, anything else values at the end."""
    values = dict(flat(value))
    lists = {name: of for name, of in values.items() if isinstance(of, list) and of and None not in map(number, of)}
    step = next((name for name in lists if name.lower() in STEPS), None)
    length = len(lists[step]) if step else max(map(len, lists.values()), default=0)
    curves = {name: of for name, of in lists.items() if len(of) == length}
    steps = [round(number(x) or 0) for x in lists[step]] if step else range(length)
    for name, of in curves.items():
        if name != step:
            run.curves.setdefault(name, {}).update(zip(steps, map(number, of), strict=True))
    run.scalars = {**run.scalars, **{name: _plain(of) for name, of in values.items() if name not in curves}}


def _plain(value: Any) -> Any:
    plain = number(value) if isinstance(value, str) else None
    return plain if plain is not None and plain != plain else of_text(value) if isinstance(value, str) else value
