"""Labels of an axis over a grid: every value where that can be read, else so many that they stay apart."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

EVERY = 12
"""An axis of at most so many values has a label at each of them, in several rows where one has no room."""
CHARACTER, GAP, LINE, CLOSE, ROW = 0.59, 0.73, 1.64, 1.1, 1.25
"""In sizes of the type: a character's width, what lies between labels side by side and between lines of thinned labels,
the least distance of two lines, and that of the rows of labels."""
LONGEST = 30
"""Characters of a name that an axis or a legend shows; the tooltip has the whole name."""
PAD, HOLD = "\u00a0", "\u200b"
"""A space that is drawn, and a character without width: renderers drop empty lines and spaces at the end."""
_LOOK_UP = re.compile(r"^(\[.*\])\[indexof\((\[.*?\]), datum\.value\)\]$", re.DOTALL)


class Labels(NamedTuple):
    """The labels of an axis.

    Attributes:
        kept: ranks of the values that have one.
        texts: a text or its lines for each of all values.
        upright: whether they are turned by a quarter.
    """

    kept: list[int]
    texts: list[str | list[str]]
    upright: bool = False

    def axis(self, positions: Sequence[float]) -> dict[str, Any]:
        """What a Vega-Lite axis needs to show them; its expression holds the values that are left out, too."""
        # A look-up, because the values of an ordinal axis are text and those of a log axis are not powers of ten.
        expression = f"{json.dumps(self.texts)}[indexof({json.dumps(list(positions))}, datum.value)]"
        turned = {"labelAngle": -90, "labelAlign": "right", "labelBaseline": "middle"} if self.upright else {}
        values = [positions[rank] for rank in self.kept]
        return {"values": values, "labelExpr": expression, "labelOverlap": False, "labelLimit": 0, **turned}


def labels(at: Sequence[float], texts: Sequence[str], across: bool, size: float) -> Labels:
    """The labels at ascending places of an axis, none over another one.

    Up to `EVERY` values, and names wherever a line has room, are all labelled: in one row, else names upright and
    numbers in rows one below the other (beside the other on an upright axis). Of more values some are left out, never
    the first or the last.

    Args:
        at: places in px.
        across: whether the axis runs across; else it stands upright.
        size: that of the type, in px.
    """
    short = list(map(shortened, texts))
    widths = [size * (CHARACTER * len(text) + GAP) for text in short]
    names, least = are_names(short), CLOSE * size
    if across:
        room = [(a + b) / 2 for a, b in pairwise(widths)]
        if not _apart(at, room) and names and _apart(at, [least] * len(room)):
            return Labels(list(range(len(at))), list(short), upright=True)
    else:
        room = [least if names or len(at) <= EVERY else LINE * size] * (len(at) - 1)
    if _apart(at, room):
        return Labels(list(range(len(at))), list(short))
    if len(at) <= EVERY:
        return Labels(list(range(len(at))), _in_rows(at, short, widths if across else None, least))
    if across and names:
        return Labels(thinned(at, least), list(short), upright=True)
    return Labels(thinned(at, max(widths) if across else least if names else LINE * size), list(short))


def shortened(text: str) -> str:
    """A name of at most `LONGEST` characters."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}\u2026"


def thinned(at: Sequence[float], room: float) -> list[int]:
    """Ranks of places that are at least `room` px apart, the first and the last among them if these are."""
    kept = [0]
    for rank in range(1, len(at)):
        if at[rank] - at[kept[-1]] >= room - 1e-6:
            kept.append(rank)
    last = len(at) - 1
    while kept[-1] != last and len(kept) > 1 and at[last] - at[kept[-1]] < room - 1e-6:
        kept.pop()
    return kept if at[last] - at[kept[-1]] < room - 1e-6 else [*kept, last]


def are_names(texts: Sequence[str]) -> bool:
    """Whether a text is no number, so that a reader cannot tell the texts between two labels."""
    try:
        list(map(float, texts))
    except ValueError:
        return True
    return False


def of_axis(axis: Mapping[str, Any]) -> tuple[list[float], list[str]] | None:
    """All positions and texts of an axis that `Labels.axis` made; None of any other."""
    match = _LOOK_UP.match(str(axis.get("labelExpr", "")))
    if match is None:
        return None
    rows = [text if isinstance(text, str) else text[-1] for text in json.loads(match[1])]
    return json.loads(match[2]), [text.rstrip(PAD + HOLD) for text in rows]


def _apart(at: Sequence[float], room: Sequence[float]) -> bool:
    return all(b - a >= least - 1e-6 for (a, b), least in zip(pairwise(at), room, strict=True))


def _in_rows(
    at: Sequence[float], texts: Sequence[str], widths: Sequence[float] | None, least: float
) -> list[str | list[str]]:
    """Each text in the first row that has room for it: lower lines, or further from an upright axis (no `widths`)."""
    last = list[int]()
    rows = list[int]()
    for rank, place in enumerate(at):
        room = [least if widths is None else (widths[before] + widths[rank]) / 2 for before in last]
        free = (row for row, before in enumerate(last) if place - at[before] >= room[row] - 1e-6)
        row = next(free, len(last))
        last[row : row + 1] = [rank]
        rows.append(row)
    if widths is not None:
        return [[HOLD] * row + [text] if row else text for text, row in zip(texts, rows, strict=True)]
    # Right-aligned, so that spaces behind it push a text away from the axis; one is about half as wide as a digit.
    wide = max(map(len, texts)) + 1
    return [text + PAD * round(1.8 * wide * row) + HOLD if row else text for text, row in zip(texts, rows, strict=True)]
