"""A site of all reports of a data folder: an index with pictures and search, and a page for each sweep."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import vl_convert
from markupsafe import Markup

from swingby.data.files import entry, write_whole
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.run.outcomes import refresh
from swingby.store import Store
from swingby.store.lookup import stamp
from swingby.store.recorded import recorded_results
from swingby.text import plain
from swingby.units import counted, duration
from swingby_analysis.page import Figure
from swingby_analysis.page.flat import flat
from swingby_analysis.page.html import VEGA_LITE, asset, environment, policy
from swingby_analysis.report import PAGE, write_report
from swingby_analysis.unchanged import unchanged

INDEX = "index.html"
PICTURES = "pictures"
SCALE = 0.6
"""Pixels of a small picture for each pixel of the figure."""
MARK = '<meta name="generator" content="swingby pages">'
"""What an index has that this wrote."""
PLANE = (1, 2)
_ENVIRONMENT = environment("swingby_analysis.publish")


@dataclass(frozen=True)
class Entry:
    """A sweep in the index.

    Attributes:
        about: what it is, in a sentence or two.
        facts: its size, experiment and tags, in a line.
        page: its report, relative to the index; "" where none could be drawn.
        picture: its main figure as PNG; empty where there is none.
        fault: why there is no report.
    """

    name: str
    title: str
    about: str
    facts: str
    page: str = ""
    picture: bytes = b""
    fault: str = ""

    @property
    def source(self) -> str:
        """The picture as the source of an image."""
        return f"data:image/png;base64,{base64.b64encode(self.picture).decode()}"

    @property
    def words(self) -> str:
        """What search looks through."""
        return " ".join([self.name, self.title, self.about, self.facts]).lower()


def write_site(
    folder: Path, data: Path, redraw: bool = False, say: Callable[[str], object] = lambda text: None
) -> Path:
    """Writes the reports of all sweeps into `folder`, each into a folder of its own, and the index; returns its path.

    Args:
        redraw: draw also reports that would be as they are.
        say: hears of each report, with an estimate of the time left.

    Raises:
        SwingbyError: no such data folder, no sweep in it, `folder` has an index of something else, or the disk refuses.
    """
    folder = folder.expanduser().absolute()
    index = folder / INDEX
    if index.exists() and MARK not in index.read_text(encoding="utf-8", errors="replace"):
        raise SwingbyError(f"{index} was not written by `swingby pages`; choose another folder")
    records = Records.open(data, create=False)
    refresh(records)
    with Store.open(records.data) as store:
        rows, older = _newest(store)
        recorded = {row.sweep_id: recorded_results(store, row.sweep_id) for row in rows}
    if not rows:
        raise SwingbyError(f"no sweep in {data} yet")
    entries, began = list[Entry](), time.monotonic()
    for number, row in enumerate(rows, 1):
        start, known = time.monotonic(), _picture(folder, row.name)
        same = None if redraw or known is None else unchanged(row.name, data, folder, (), PLANE)
        shown = _entry(row, recorded[row.sweep_id])
        if same is not None and known is not None:
            entries.append(_with_page(shown, known))
            say(f"[{number} of {len(rows)}] {row.name}: unchanged")
            continue
        try:
            report = write_report(row.name, data, folder, (), PLANE, noted=True)
        except SwingbyError as error:
            entries.append(Entry(shown.name, shown.title, shown.about, shown.facts, fault=plain(error)))
            say(f"warning: {row.name}: {plain(error)}")
            continue
        picture = _small(report.figures[0]) if report.figures else b""
        write_whole(_picture_path(folder, row.name), lambda path, picture=picture: path.write_bytes(picture))
        entries.append(_with_page(shown, picture))
        left = (time.monotonic() - began) / number * (len(rows) - number)
        rest = f", about {duration(left)} left" if number < len(rows) else ""
        say(f"[{number} of {len(rows)}] {row.name}: drawn in {duration(time.monotonic() - start)}{rest}")
    text = _index(entries, older)
    write_whole(index, lambda path: path.write_text(text, encoding="utf-8"))
    return index


def _newest(store: Store) -> tuple[Sequence[Any], int]:
    """The newest sweep of each name, by name, and how many older ones there are."""
    rows = store.sql(
        """select sweep_id, name, experiment, title, cells, resolved, created,
                  count(*) over (partition by name) as named
           from sweeps order by created desc, sweep_id"""
    ).rows()
    newest: dict[str, Any] = {}
    for row in rows:
        newest.setdefault(row.name, row)
    return [newest[name] for name in sorted(newest)], len(rows) - len(newest)


def _entry(row: Any, recorded: Any) -> Entry:
    resolved = json.loads(row.resolved)
    about = " ".join(str(resolved.get("description") or "").split())
    tags = [str(tag) for tag in resolved.get("tags") or []]
    facts = [f"experiment {row.experiment}", counted(row.cells, "run"), *tags]
    facts += [stamp(row.sweep_id, row.created)] if row.named > 1 else []
    if recorded is not None:
        facts.append("published by others" if recorded.origins else "recorded results")
    return Entry(row.name, plain(row.title or row.name), plain(about), ", ".join(map(plain, facts)))


def _with_page(of: Entry, picture: bytes) -> Entry:
    return Entry(of.name, of.title, of.about, of.facts, f"{of.name}/{PAGE}", picture)


def _small(figure: Figure) -> bytes:
    """A figure as a small PNG, without a title, which stands below it."""
    return vl_convert.svg_to_png(flat(vl_convert.vegalite_to_svg(dict(figure.spec), vl_version=VEGA_LITE)), scale=SCALE)


def _picture_path(folder: Path, name: str) -> Path:
    return entry(folder / PICTURES, name, ".png")


def _picture(folder: Path, name: str) -> bytes | None:
    """The small picture of a sweep that was drawn before."""
    path = _picture_path(folder, name)
    return path.read_bytes() if path.is_file() else None


def _index(entries: Sequence[Entry], older: int) -> str:
    """The index as HTML, with all of its pictures; it asks for nothing from outside."""
    templates = files("swingby_analysis.publish").joinpath("templates")
    sheet = asset("page.css") + templates.joinpath("site.css").read_text(encoding="utf-8")
    script = templates.joinpath("site.js").read_text(encoding="utf-8")
    return _ENVIRONMENT.get_template("site.html").render(
        entries=entries,
        older=older,
        policy=policy([script], sheet),
        mark=Markup(MARK),  # noqa: S704  our own text
        sheet=Markup(sheet),  # noqa: S704  our own file
        script=Markup(script),  # noqa: S704  our own file
    )
