"""The figures as pictures: small ones for the page, and files beside it."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import vl_convert

from swingby.errors import SwingbyError
from swingby_analysis.page import Figure
from swingby_analysis.page.html import VEGA_LITE
from swingby_analysis.page.pictures import titled
from swingby_analysis.statements.findings_page import Shown

SHARP, SMALL = 2.0, 1.0
"""Pixels for each pixel of a figure: in the files beside the page, and in the page."""
_IGNORED = (signal.SIGINT, signal.SIG_IGN)
"""Ctrl-C is for the process that leads."""


@dataclass(frozen=True)
class Drawn:
    """The diagrams with their pictures, and the files that lie beside the page."""

    shown: Sequence[Shown]
    files: Mapping[str, bytes]


def drawn(shown: Sequence[Shown], vector: bool = False) -> Drawn:
    """Every figure as PNG (and as SVG for `vector`), as many at once as there are cores: compiling takes the time.

    Raises:
        SwingbyError: it was stopped.
    """
    every = [figure for item in shown for figure in item.figures]
    if not every:
        return Drawn(shown, {})
    files: dict[str, bytes] = {}
    small: dict[str, bytes] = {}
    # A fresh process each: what a fork copies of DuckDB's and Arrow's threads is not usable.
    workers = min(len(every), len(os.sched_getaffinity(0)))
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), signal.signal, _IGNORED)
    try:
        for figure, (svg, sharp, one) in zip(every, pool.map(_picture, every), strict=True):
            files[f"{figure.slug}.png"], small[figure.slug] = sharp, one
            if vector:
                files[f"{figure.slug}.svg"] = svg.encode()
    except KeyboardInterrupt:
        raise SwingbyError("stopped while drawing; what is trained is kept, and the same command goes on") from None
    finally:
        pool.shutdown(cancel_futures=True)
    with_pictures = [replace(item, pictures=[small[figure.slug] for figure in item.figures]) for item in shown]
    return Drawn(with_pictures, files)


def _picture(figure: Figure) -> tuple[str, bytes, bytes]:
    svg = vl_convert.vegalite_to_svg(json.dumps(titled(figure)), vl_version=VEGA_LITE)
    return svg, vl_convert.svg_to_png(svg, scale=SHARP), vl_convert.svg_to_png(svg, scale=SMALL)
