"""Figures as PNG, SVG and PDF, each with its title in the picture: a file stands apart from the page's headings."""

from __future__ import annotations

import multiprocessing
import os
import signal
import textwrap
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import vl_convert

from swingby.errors import SwingbyError
from swingby_analysis.page import Figure
from swingby_analysis.page.flat import flat
from swingby_analysis.page.html import VEGA_LITE
from swingby_analysis.page.plain_files import DATA, csv_of, vega_lite_of

KINDS = ("png", "svg", "pdf")
SUBTITLE = 88
"""Characters of a line under the title of a picture."""
SHARPNESS = 3.0
"""Pixels of the PNG for each pixel of the figure: about 300 dpi where a figure fills the width of a page."""


def pictures(figures: Collection[Figure], kinds: Collection[str], sharpness: float = SHARPNESS) -> dict[str, bytes]:
    """Each figure as files for a paper, by file name: those of png, svg and pdf that are asked for.

    Beside each PNG lie the rows of the figure as CSV, and its spec.
    """
    files = {}
    for figure in figures if kinds else ():
        drawn = svg(figure)
        for kind in kinds:
            files[f"{figure.slug}.{kind}"] = _converted(drawn, kind, sharpness)
        if "png" in kinds:
            spec = titled(figure)
            files[f"{figure.slug}.csv"] = csv_of(spec).encode()
            files[f"{figure.slug}.vl.json"] = vega_lite_of(spec).encode()
    return files


def files_of(kinds: Collection[str]) -> list[str]:
    """The kinds of all files that `pictures` writes for a figure, in the order in which a page lists them."""
    return [*(kind for kind in KINDS if kind in kinds), *(DATA if "png" in kinds else ())]


def svg(figure: Figure) -> str:
    """A figure with its title as SVG."""
    return vl_convert.vegalite_to_svg(titled(figure), vl_version=VEGA_LITE)


def png(figure: Figure, scale: float) -> bytes:
    """A figure with its title as PNG, of so many pixels for each pixel of the figure."""
    return _converted(svg(figure), "png", scale)


class Drawn(NamedTuple):
    """A figure with its title: files by kind, and a smaller PNG that stands in a page."""

    files: Mapping[str, bytes]
    inside: bytes


def together(figures: Sequence[Figure], kinds: Collection[str], sharpness: float, inside: float) -> list[Drawn]:
    """Every figure, drawn by as many processes as there are cores: compiling takes the time.

    Args:
        sharpness, inside: pixels for each pixel of a figure, of the PNG files and of the PNG in the page.

    Raises:
        SwingbyError: Ctrl-C.
    """
    if not figures:
        return []
    # A fresh process each: what a fork copies of DuckDB's and Arrow's threads is not usable. Ctrl-C is for this one.
    workers, ignored = min(len(figures), len(os.sched_getaffinity(0))), (signal.SIGINT, signal.SIG_IGN)
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), signal.signal, ignored)
    try:
        return list(pool.map(_drawn, [(figure, tuple(kinds), sharpness, inside) for figure in figures]))
    except KeyboardInterrupt:
        raise SwingbyError("stopped while drawing; what is trained is kept, and the same command goes on") from None
    finally:
        pool.shutdown(cancel_futures=True)


def titled(figure: Figure) -> dict[str, Any]:
    """A figure's spec with its title and where it comes from above it."""
    title: dict[str, Any] = {"text": figure.title, "anchor": "start", "fontSize": 15, "subtitleFontSize": 11}
    # In lines: one of its whole length would make a small figure a wide picture that is mostly empty.
    facts = [f"{name.lower()} {figure.facts[name]}" for name in ("Sweep", "Seeds") if name in figure.facts]
    title["subtitle"] = textwrap.wrap("; ".join(facts), SUBTITLE)
    return {**figure.spec, "title": {**title, "subtitlePadding": 4, "offset": 14}}


def _drawn(task: tuple[Figure, tuple[str, ...], float, float]) -> Drawn:
    """The figure of one task of a process."""
    figure, kinds, sharpness, inside = task
    drawn = svg(figure)
    return Drawn({kind: _converted(drawn, kind, sharpness) for kind in kinds}, _converted(drawn, "png", inside))


def _converted(drawn: str, kind: str, sharpness: float) -> bytes:
    match kind:
        case "png":
            return vl_convert.svg_to_png(flat(drawn), scale=sharpness)
        case "pdf":
            return vl_convert.svg_to_pdf(drawn)
        case _:
            return drawn.encode()
