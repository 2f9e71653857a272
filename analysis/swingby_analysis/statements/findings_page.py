"""The page "What we found": static HTML without a script; each sentence stands beside the query that decided it."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swingby import __version__
from swingby.data.files import utc_now
from swingby.store import Store
from swingby_analysis.page import Figure
from swingby_analysis.query import Query, ask
from swingby_analysis.statements.diagram import Diagram
from swingby_analysis.statements.judging import Told
from swingby_analysis.statements.needed import Needed
from swingby_analysis.statements.pages import own, plain_page
from swingby_analysis.statements.statement import NO, UNSURE, YES, Shared
from swingby_analysis.statements.verdict import MISSING

KINDS = {YES: "yes", NO: "no", UNSURE: "none", MISSING: "none"}
_RULE = """
Each sentence has a wording for what its query may find, for its contrary, and for the case that neither can be told;
the result of the query chooses, and fills in every number. The mark beside it says which wording it is.

Brackets hold 95 % intervals. A share of the runs of a grid is measured in every seed on its own, over all points of the
grid; the interval is Student's, of the mean over seeds. A sentence that compares is decided by the interval of the
difference, seed by seed: it has to lie on one side of zero.
"""
RULE = tuple(" ".join(paragraph.split()) for paragraph in _RULE.strip().split("\n\n"))
TITLE = "What we found: phase diagrams"


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


def origins(store: Store, sweeps: Sequence[Needed]) -> tuple[list[Query], list[dict[str, Any]]]:
    """Where the cells of these sweeps come from, and the queries that told it, one an experiment."""
    ids: dict[str, list[str]] = {}
    for item in sweeps:
        ids.setdefault(item.sweep.experiment_name, []).append(item.sweep_id)
    queries = [Query("statements/origins", (tuple(names), experiment)) for experiment, names in sorted(ids.items())]
    return queries, [row for query in queries for row in ask(store, query).to_dicts()]


def page(
    shown: Sequence[Shown],
    shared: Sequence[Shared],
    made: Sequence[Query],
    rows: Sequence[Mapping[str, Any]],
    notes: Sequence[str],
) -> str:
    """The page.

    Args:
        shared: what the experiments of these diagrams say of themselves.
        made, rows: the queries for the origins of the cells, and what they gave.
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
        "title": next((text for item in shared for text in item.said("title of findings")), TITLE),
        "lead": [text for item in shared for text in item.said("lead of findings")],
        "rule": [*RULE, *(text for item in shared for text in item.said("note on findings"))],
        "notes": notes,
        "made": made,
        "origins": rows,
        "cells": sum(row["cells"] for row in rows),
        "written": utc_now()[:16].replace("T", " ") + " UTC",
        "version": __version__,
    }
    return plain_page("findings.html", content, own("claims.css") + own("findings.css"))
