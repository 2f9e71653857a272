"""The figures of a sweep as files for a paper, from the command line and from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from altair.utils.schemapi import debug_mode

from swingby.data.files import entry, write_whole
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model.registry import nearest
from swingby.run.outcomes import derive, refresh
from swingby.store import Store
from swingby.store.lookup import find_sweep
from swingby_analysis.page import Figure
from swingby_analysis.page.paper import UNITS, PaperLook, laid_out
from swingby_analysis.report import data as report_data
from swingby_analysis.report.drawings import attempt
from swingby_analysis.report.examples import Examples
from swingby_analysis.report.figures import Figures

MAP, CURVES = "map", "curves"
"""What the diagram of a sweep, and the first of its figures of curves, can be called."""
INCLUDED = {"pdf": "\\includegraphics", "png": "\\includegraphics", "pgf": "\\input"}


class Written(NamedTuple):
    """A file of a figure, its size in the unit of the asked width, and the line by which LaTeX takes it."""

    path: Path
    width: float
    height: float
    unit: str
    line: str

    def __str__(self) -> str:
        kilobytes = self.path.stat().st_size / 1000
        return f"{self.path}  {self.width:.4g} x {self.height:.3g} {self.unit}, {kilobytes:,.0f} kB"


def write_paper(
    sweep: str,
    data: Path,
    out: Path,
    look: PaperLook,
    names: Sequence[str] = (MAP,),
    plane: tuple[int, int] = (1, 2),
    presentation: Mapping[str, Any] | None = None,
    say: Callable[[str], object] = lambda text: None,
) -> list[Written]:
    """Writes figures of a sweep into the folder `out/<sweep's name>-paper`, each file whole or not at all.

    Args:
        sweep: a sweep's name, its id (or the first digits), or a sweep file.
        names: of figures, as the files of a report are called, or `map` and `curves`; `all` for every one.
        plane, presentation: as `write_report` takes them.
        say: hears which figure is drawn.

    Raises:
        SwingbyError: no such sweep or figure (with those that there are), no finished cell, a font that is not
            installed, a width that is too small, or a mark that PGF cannot draw.
    """
    from swingby_analysis.report import presentation_of

    records = Records.open(data, create=False)
    published = refresh(records)
    with Store.open(records.data) as store:
        row = find_sweep(store, sweep)
        shown = presentation_of(sweep, row.sweep_id) if presentation is None else presentation
        if published is None:
            derive(records, [row.sweep_id], {row.sweep_id: shown["outcomes"]} if "outcomes" in shown else {})
        read = report_data.read(store, row.sweep_id, plane, shown)
        examples = Examples.of(read, store) if read.curves and set(names) != {MAP} else None
        figures = Figures(read, examples, *attempt(read, store))
    folder = entry(out.expanduser().absolute(), f"{row.folder}-paper")
    written = list[Written]()
    with debug_mode(False):  # Altair checks each part of a chart as it is made, and then the whole again
        drawn = chosen(figures, names)
    for figure in drawn:
        say(f"drawing {figure.slug} ...")
        laid = laid_out(figure.slug, figure.spec, look, figure.title)
        width, height = (side / UNITS[look.unit] for side in laid.size)
        for kind, content in laid.files(look.formats, look.dpi).items():
            path = folder / f"{figure.slug}.{kind}"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, lambda file, content=content: file.write_bytes(content))
            line = f"{INCLUDED[kind]}{{{path.name}}}" if kind in INCLUDED else ""
            written.append(Written(path, width, height, look.unit, line))
    return written


def chosen(figures: Figures, names: Sequence[str]) -> list[Figure]:
    """The figures of these names, in their order, each once.

    Raises:
        SwingbyError: there is none of a name; names all of them.
    """
    if set(names) == {MAP} and figures.has_main:
        return [figures.main]
    every = {figure.slug: figure for figure in figures.every}
    known: dict[str, Figure] = dict(every)
    known |= {MAP: figures.main} if figures.has_main else {}
    curves = next((figure for slug, figure in every.items() if CURVES in slug), None)
    known |= {CURVES: curves} if curves is not None else {}
    picked = dict[str, Figure]()
    for name in [slug for name_or_all in names for slug in (every if name_or_all == "all" else [name_or_all])]:
        if name not in known:
            raise SwingbyError(f"there is no figure {name!r}; {nearest(name, [*known, 'all'])}")
        picked.setdefault(known[name].slug, known[name])
    return list(picked.values())
