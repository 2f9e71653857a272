"""The page "What we found": static HTML without a script; each sentence stands beside the query that decided it."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swingby import __version__
from swingby.data.files import utc_now
from swingby.store import Store
from swingby_analysis.claims.claim import asked
from swingby_analysis.findings.diagram import Diagram
from swingby_analysis.findings.sentence import MISSING, NO, UNSURE, YES, Told
from swingby_analysis.query import Query, ask
from swingby_analysis.report.page import Figure, own, plain_page

KINDS = {YES: "yes", NO: "no", UNSURE: "none", MISSING: "none"}
_RULE = """
Each sentence has a wording for what its query may find, for its contrary, and for the case that neither can be told;
the result of the query chooses, and fills in every number. The mark beside it says which wording it is.

Brackets hold 95 % intervals. A share of the runs of a grid is measured in every seed on its own, over all points of the
grid; the interval is Student's, of the mean over seeds. A sentence that compares is decided by the interval of the
difference, seed by seed: it has to lie on one side of zero.

The wordings and predicates were written while the grids were chosen, on other seeds (from 1000 on) and coarse grids;
the seeds shown here had not been looked at.
Three things were repaired afterwards, as comments in their queries say too. Whether transient memorization is the
rule anywhere was decided by a single point, and of many points some lie above one half by chance: now more than one in
forty have to. The two lines over the gain had left out that the fan-in of the first layer is the dimension, not the
width. And the rise that eq 4.3 predicts had been read at the peak of the minor entry, not at the trough of the loss.

Added afterwards: that the spread counts for ReLU nets and not the distance, the line that would explain it, and the
sweep over the time of the run that puts this line to the test; one in six of its runs are those seen before, of the
diagram that suggested it.
"""
RULE = tuple(" ".join(paragraph.split()) for paragraph in _RULE.strip().split("\n\n"))


@dataclass(frozen=True)
class Shown:
    """A diagram as the page shows it.

    Attributes:
        told: its sentences.
        figures, pictures: its figures, each with its PNG; none without a finished sweep.
        description: of the sweep.
        conventions: the resolved parameters that all of its points share, in words.
        size: how many points and seeds.
        missing: what is not there, in words.
    """

    diagram: Diagram
    told: Sequence[Told]
    figures: Sequence[Figure]
    pictures: Sequence[bytes]
    description: str
    conventions: str
    size: str
    missing: Sequence[str]


def origins(store: Store, sweep_ids: Sequence[str]) -> tuple[Query, list[dict[str, Any]]]:
    """Where the cells of these sweeps come from, and the query that told it."""
    query = Query("findings/origins", (tuple(sweep_ids),))
    return query, ask(store, query).to_dicts()


def page(shown: Sequence[Shown], made: Query | None, rows: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> str:
    """The page.

    Args:
        made, rows: the query for the origins of the cells, and what it gave.
        notes: what has to be said of the results first, such as that they are recorded.
    """
    content = {
        "shown": [
            {
                "slug": item.diagram.slug,
                "heading": item.diagram.heading,
                "sweep": item.diagram.sweep,
                "description": item.description,
                "conventions": item.conventions,
                "size": item.size,
                "missing": item.missing,
                "told": item.told,
                "figures": [
                    {"figure": figure, "image": f"data:image/png;base64,{base64.b64encode(png).decode()}"}
                    for figure, png in zip(item.figures, item.pictures, strict=True)
                ],
            }
            for item in shown
        ],
        "kind": lambda verdict: KINDS[verdict],
        "asked": asked,
        "rule": RULE,
        "notes": notes,
        "made": made,
        "origins": rows,
        "cells": sum(row["cells"] for row in rows),
        "written": utc_now()[:16].replace("T", " ") + " UTC",
        "version": __version__,
    }
    return plain_page("findings.html", content, own("claims.css") + own("findings.css"))
