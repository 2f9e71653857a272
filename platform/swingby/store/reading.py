"""As which sweeps a query reads cells, of which each may have several recordings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from swingby.store.sql import literal

READ_AS = "read_as"
"""The variable of a connection that says as which sweeps its queries read cells: a list of sweep ids; unset: as none.
A cell of these sweeps is then shown as they recorded it (of several, by the finest of their rows); any other cell, or
all if it is unset, by the finest row there is. With `EVERY_ROW` in the list each recording of a cell is a row.
A query that names sweeps by their ids reads as these (`sweeps_named`), so that what one run says of a sweep is what any
later run says of it."""
EVERY_ROW = "*"
_ID = re.compile(r"[0-9a-f]{16}")
_QUOTED_ID = re.compile(rf"'({_ID.pattern})'")


def read_as(sweep_ids: Sequence[str]) -> str:
    """The statement after which a connection reads cells as these sweeps do."""
    return f"set variable {READ_AS} = [{', '.join(map(literal, sweep_ids))}]"


def sweeps_named(query: str, parameters: Iterable[Any] = ()) -> tuple[str, ...]:
    """The texts in a query, and among its parameters, that have the form of a sweep's id."""
    ids = dict.fromkeys(_QUOTED_ID.findall(query))
    for value in parameters:
        for text in value if isinstance(value, list | tuple) else (value,):
            if isinstance(text, str) and _ID.fullmatch(text):
                ids[text] = None
    return tuple(ids)
