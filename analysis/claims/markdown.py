"""The claims as a Markdown table, for a README."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from analysis.claims.page import by_claim
from analysis.claims.verdict import MISSING
from swingby.store import Store

HEADINGS = ("claim", "source", "verdict", "seeds in which it holds (95 % interval)")


def markdown(store: Store) -> str:
    """One row a claim, from the table `claims`; the seeds of all settings of a convention together."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    for rows in by_claim(store):
        first = rows[0]
        told = first["measured"] if first["verdict"] == MISSING else "; ".join(map(_share, rows))
        cells = (first["text"], first["source"], first["verdict"], told)
        lines.append("| " + " | ".join(map(_plain, cells)) + " |")
    return "\n".join(lines) + "\n"


def _share(row: Mapping[str, Any]) -> str:
    if row["share"] is None:
        return f"{row['convention']}: no seed tells"
    return f"{row['convention']}: {row['k']} of {row['n']} ({row['low']:.2f} to {row['high']:.2f})"


def _plain(text: str) -> str:
    """Text that no Markdown reader takes for markup."""
    return re.sub(r"([\\|*_`<>\[\]])", r"\\\1", text).replace("\n", " ")
