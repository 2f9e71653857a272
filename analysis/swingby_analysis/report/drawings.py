"""The drawings that a sweep file asks for, each tried by itself: one that fails is named, the others are drawn."""

from __future__ import annotations

import json
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.model.broken import Broken
from swingby.store import Store
from swingby_analysis.page import Figure
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.subject import Subject


class Attempts(NamedTuple):
    """The figures of all drawings, in the order of the sweep file, and a sentence for each drawing that failed."""

    figures: Sequence[Figure]
    faults: Sequence[str]


def attempt(read: ReportData, store: Store) -> Attempts:
    """Draws all that the sweep asks for; of a sweep that asks for nothing, what its experiment is drawn by.

    Of the latter, drawings are left out that need more than was recorded; where few results have curves, all drawings
    are that read some.
    """
    subject, figures, faults = Subject(read, store), list[Figure](), list[str]()
    entries: Sequence[Mapping[str, Any]] = read.resolved.get("drawings") or []
    if not entries:
        also = set(read.resolved["recording"]["also"])
        for name in read.reported.drawings:
            drawing = registry.sound(registry.DRAWINGS, name)
            if isinstance(drawing, Broken) or also.issuperset(drawing.recordings):  # a broken one is named below
                entries = [*entries, {"name": name, "options": {}}]
    for one in entries:
        try:
            drawing = registry.drawing(one["name"])
            if read.thin and drawing.reads_curves:
                continue
            figures += drawing.figures(subject, drawing.Options.model_validate_json(json.dumps(one["options"])))
        except Exception as error:  # a drawing may be anybody's, and no fault of it is worth the rest of the report
            options = [f"{name}: {json.dumps(value)}" for name, value in one["options"].items() if value is not None]
            called = f"`{one['name']}`" + (f" ({', '.join(options)})" if options else "")
            faults.append(f"The drawing {called} is left out, for it failed: {_reason(error)}.")
    return Attempts(figures, faults)


def _reason(error: Exception) -> str:
    """The message of an error; of one in the drawing's own code, also its kind and where it was raised."""
    text = " ".join(str(error).split()).rstrip(".")
    if isinstance(error, SwingbyError):
        return text
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {text} ({Path(last.filename).name}, line {last.lineno})"
