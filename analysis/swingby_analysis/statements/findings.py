"""What the project's own phase diagrams show: sentences that queries decide, beside the diagrams, on one page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swingby import archive as recordings
from swingby.data.files import write_whole
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.run.outcomes import derive
from swingby.store import Store, ingest
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.claims.judging import Needed, progress
from swingby_analysis.findings.catalogue import CATALOGUE
from swingby_analysis.findings.diagram import PREFIX, Diagram
from swingby_analysis.findings.figures import figures
from swingby_analysis.findings.markdown import markdown
from swingby_analysis.findings.page import Shown, origins, page
from swingby_analysis.findings.pictures import drawn
from swingby_analysis.findings.sentence import Told, missing, tell
from swingby_analysis.report import replace_folder
from swingby_analysis.report.prose import plural
from swingby_analysis.train import train

FOLDER, PAGE, TEXT = "findings", "findings.html", "findings.md"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Written:
    """What a call left: the page, how many diagrams it has, and how many of them lack a finished sweep."""

    page: Path
    diagrams: int
    missing: int


def write_findings(
    data: Path,
    out: Path,
    *,
    overrides: Sequence[str] = (),
    run: Sequence[str] | None = (),
    recorded: bool = False,
    only: Sequence[str] = (),
    vector: bool = False,
    markdown_file: Path | None = None,
    command: str = "swingby findings",
    say: Say = lambda text: None,
) -> Written:
    """Writes the folder `out/findings`: the page, every figure as PNG, and the sentences as Markdown.

    Args:
        data: the data folder.
        overrides: laid over every sweep, such as "seeds.count=4".
        run: further options of `swingby run`, by which missing sweeps are trained; None: train nothing.
        recorded: bring in the shipped recorded results of sweeps that are not finished here.
        only: diagrams, with or without `PREFIX`; () for all.
        vector: each figure as SVG too.
        markdown_file: where the Markdown goes besides.
        command: what the Markdown says it was made by.
        say: told what goes on.

    Raises:
        SwingbyError: no such diagram, a sweep cannot be trained or unpacked, a query is wrong, or the disk refuses.
    """
    diagrams = chosen(only)
    sweeps = {name: Sweep.load(name, overrides) for name in dict.fromkeys(n for d in diagrams for n in d.sweeps)}
    records = Records.open(data, create=run is not None or recorded)
    needed = {name: Needed(name, sweep.sweep_id, sweep.experiment_name, len(sweep)) for name, sweep in sweeps.items()}
    ingest(records)
    with Store.open(records.data) as store:
        needed = progress(store, needed)
    lacking = [name for name, item in needed.items() if not item.finished]
    if recorded:
        _unpack(records, needed, lacking, say)
    if run is not None and lacking:
        say(f"training {len(lacking)} of {len(needed)} sweeps: {', '.join(lacking)}")
        train(lacking, records.data, overrides, run)
        ingest(records)
    with Store.open(records.data) as store:
        needed = progress(store, needed)
        derive(records, [item.sweep_id for item in needed.values() if item.done])
        shown = [_shown(store, diagram, needed, sweeps, say) for diagram in diagrams]
        there = [item.sweep_id for item in needed.values() if item.finished]
        made, rows = origins(store, there) if there else (None, [])
    say(f"drawing {plural(sum(len(item.figures) for item in shown), 'figure')} ...")
    made_of = drawn(shown, vector)
    notes = _notes(rows, overrides)
    text = markdown(made_of.shown, notes, command)
    html = page(made_of.shown, made, rows, notes)
    folder = out.expanduser().absolute() / FOLDER
    replace_folder(folder, {PAGE: html.encode(), TEXT: text.encode(), **made_of.files})
    if markdown_file is not None:
        write_whole(markdown_file.expanduser().absolute(), lambda path: path.write_text(text, encoding="utf-8"))
    return Written(folder / PAGE, len(shown), sum(bool(item.missing) for item in shown))


def chosen(only: Sequence[str]) -> list[Diagram]:
    """The diagrams of these names, in the catalogue's order; () for all.

    Raises:
        SwingbyError: a name is no diagram's; with the nearest one.
    """
    known = [diagram.slug for diagram in CATALOGUE]
    wanted = [name.removeprefix(PREFIX) for name in only]
    for name in wanted:
        if name not in known:
            raise SwingbyError(f"no diagram is called {name!r}; {registry.nearest(name, known)}")
    return [diagram for diagram in CATALOGUE if not only or diagram.slug in wanted]


def _unpack(records: Records, needed: Mapping[str, Needed], lacking: Sequence[str], say: Say) -> None:
    known = recordings.shipped()
    for name in lacking:
        path = known.get(needed[name].sweep_id)
        if path is None:
            say(f"no recorded results of {name} as it is written here are shipped")
        else:
            say(str(recordings.unpack(records.data, path)))


def _shown(
    store: Store, diagram: Diagram, needed: Mapping[str, Needed], sweeps: Mapping[str, Sweep], say: Say
) -> Shown:
    """A diagram with its sentences and figures, of which none is drawn yet."""
    sweep, own = sweeps[diagram.sweep], needed[diagram.sweep]
    told = [_told(store, diagram, sentence, needed) for sentence in diagram.sentences]
    made = figures(store, diagram, own.sweep_id) if own.finished else []
    verdicts = Counter(item.verdict for item in told)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    say(f"{diagram.slug}: {plural(len(told), 'question')} asked of it: {counts}")
    common = sweep.common
    return Shown(
        diagram,
        told,
        made,
        [],
        " ".join((sweep.description or "").split()),
        ", ".join(f"{name} {_value(value)}" for name, value in common.items() if value is not None),
        f"{plural(len(sweep.points), 'point')}, {plural(len(sweep.seeds), 'seed')} each",
        [] if own.finished else [str(own)],
    )


def _value(value: Any) -> str:
    return f"({', '.join(map(_value, value))})" if isinstance(value, list) else str(value)


def _told(store: Store, diagram: Diagram, sentence: Any, needed: Mapping[str, Needed]) -> Told:
    asked = [needed[name] for name in sentence.sweeps or (diagram.sweep,)]
    lacking = [str(item) for item in asked if not item.finished]
    return missing(sentence, lacking) if lacking else tell(store, sentence, tuple(item.sweep_id for item in asked))


def _notes(rows: Sequence[Mapping[str, Any]], overrides: Sequence[str]) -> list[str]:
    """What has to be said of the results first."""
    found = []
    of_record = [row for row in rows if row["recorded"]]
    if of_record:
        cells, every = sum(row["cells"] for row in of_record), sum(row["cells"] for row in rows)
        hosts = ", ".join(sorted({row["hosts"].replace(" (recorded)", "") for row in of_record}))
        days = sorted({row["first_day"] for row in of_record} | {row["last_day"] for row in of_record})
        span = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
        found.append(
            f"{cells:,} of {every:,} results are recorded ones: computed on {hosts}, {span}, not here. Outcomes are "
            "as found on the full curves; numbers are rounded. swingby run with a sweep's name trains it here."
        )
    if overrides:
        found.append(f"Every sweep was laid over with {', '.join(overrides)}: a first look, not the result.")
    return found
