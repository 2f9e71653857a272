"""The page of a comparison: static HTML without a script, with the queries behind every number."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection
from pathlib import Path

import vl_convert

from swingby import __version__
from swingby.data.files import utc_now
from swingby_analysis.diff import Diff, names_of, words
from swingby_analysis.diff.curves import curve_query
from swingby_analysis.diff.figures import figures
from swingby_analysis.diff.tables import tables
from swingby_analysis.query import Query
from swingby_analysis.report import pictures, replace_folder, titled
from swingby_analysis.report.page import VEGA_LITE, own, plain_page

PAGE = "diff.html"
MOST_POINTS = 40
"""Rows of the table of points."""


def write_page(diff: Diff, out: Path, worst: int, kinds: Collection[str] = ()) -> Path:
    """Writes the page, and each figure beside it as files of these kinds, whole or not at all; where it lies.

    Raises:
        SwingbyError: the disk refuses.
    """
    folder = out.expanduser().absolute() / f"diff-{'-'.join(names_of(diff.a, diff.b))}"
    drawn = figures(diff)
    images = [
        vl_convert.vegalite_to_png(json.dumps(titled(figure)), vl_version=VEGA_LITE, scale=1.5) for figure in drawn
    ]
    content = {
        "title": f"{diff.a.sweep['name']} against {diff.b.sweep['name']}",
        "sides": diff.sides,
        "headline": words.headline(diff),
        "same": diff.same,
        "sentences": words.sentences(diff)[1:],
        "warnings": [text for side in diff.sides for text in side.warnings],
        "settings": [*words.settings(diff, diff.pairing.points.height), *words.makings(diff)],
        "figures": [
            {"figure": figure, "image": f"data:image/png;base64,{base64.b64encode(png).decode()}"}
            for figure, png in zip(drawn, images, strict=True)
        ],
        "tables": tables(diff, worst, MOST_POINTS),
        "rules": words.RULES,
        "queries": [(side, [*side.queries, *_example(diff, side.letter)]) for side in diff.sides],
        "written": utc_now()[:16].replace("T", " ") + " UTC",
        "version": __version__,
    }
    text = plain_page("diff.html", content, own("claims.css") + own("findings.css") + own("diff.css"))
    replace_folder(folder, {PAGE: text.encode(), **pictures(drawn, kinds)})
    return folder / PAGE


def _example(diff: Diff, letter: str) -> list[Query]:
    """The query that read the first curve, of the pair that lies farthest apart."""
    worst = diff.worst(1)
    if worst.is_empty() or worst["column"][0] not in diff.common[0]:
        return []
    side = diff.a if letter == "A" else diff.b
    return [curve_query(side, [worst[f"cell_{letter.lower()}"][0]], worst["column"][0])]
