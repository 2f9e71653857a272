"""Findings: what the phase diagrams of installed experiments show, as sentences that queries decide, on one page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swingby.data.files import write_whole
from swingby.run.outcomes import derive
from swingby.store import Store
from swingby_analysis.report import replace_folder
from swingby_analysis.report.prose import plural
from swingby_analysis.statements import catalogue
from swingby_analysis.statements.compose import shared_of
from swingby_analysis.statements.diagram import Diagram
from swingby_analysis.statements.figures import figures
from swingby_analysis.statements.findings_markdown import markdown
from swingby_analysis.statements.findings_page import Shown, origins, page
from swingby_analysis.statements.judging import Told, not_run, tell
from swingby_analysis.statements.needed import Needed, Say, prepare, progress, wanted
from swingby_analysis.statements.pictures import drawn
from swingby_analysis.statements.statement import Statement

FOLDER, PAGE, TEXT = "findings", "findings.html", "findings.md"


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
    experiment: str | None = None,
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
        experiment: only diagrams of it; None: all.
        overrides: laid over every sweep, such as "seeds.count=4".
        run: further options of `swingby run`, by which missing sweeps are trained; None: train nothing.
        recorded: bring in the shipped recorded results of sweeps that are not finished here.
        only: diagrams, by the names of their sweeps; () for all.
        vector: each figure as SVG too.
        markdown_file: where the Markdown goes besides.
        command: what the Markdown says it was made by.
        say: told what goes on.

    Raises:
        SwingbyError: no such diagram, a sweep cannot be trained or unpacked, a query is wrong, or the disk refuses.
    """
    diagrams = catalogue.diagrams(experiment, only)
    asked = {diagram.slug: catalogue.findings(diagram) for diagram in diagrams}
    needed = wanted([item for found in asked.values() for item in found], overrides)
    records, _ = prepare(data, needed, overrides, run, recorded, say)
    with Store.open(records.data) as store:
        needed = progress(store, needed)
        derive(records, [item.sweep_id for item in needed.values() if item.done])
        shown = [_shown(store, diagram, asked[diagram.slug], needed, say) for diagram in diagrams]
        made, rows = origins(store, [item for item in needed.values() if item.finished])
    say(f"drawing {plural(sum(len(item.figures) for item in shown), 'figure')} ...")
    made_of = drawn(shown, vector)
    notes = _notes(rows, overrides)
    text = markdown(made_of.shown, notes, command)
    shared = shared_of([item for found in asked.values() for item in found])
    html = page(made_of.shown, shared, made, rows, notes)
    folder = out.expanduser().absolute() / FOLDER
    replace_folder(folder, {PAGE: html.encode(), TEXT: text.encode(), **made_of.files})
    if markdown_file is not None:
        write_whole(markdown_file.expanduser().absolute(), lambda path: path.write_text(text, encoding="utf-8"))
    return Written(folder / PAGE, len(shown), sum(bool(item.missing) for item in shown))


def _shown(store: Store, diagram: Diagram, asked: Sequence[Statement], needed: Mapping[str, Needed], say: Say) -> Shown:
    """A diagram with its findings and figures, of which none is drawn yet."""
    own = needed[diagram.sweep]
    sentences = [told(store, finding, needed) for finding in asked]
    verdicts = Counter(item.verdict for item in sentences)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    say(f"{diagram.slug}: {plural(len(sentences), 'question')} asked of it: {counts}")
    sweep = own.sweep
    return Shown(
        diagram,
        sentences,
        figures(store, diagram, own.sweep_id) if own.finished else [],
        [],
        " ".join((sweep.description or "").split()),
        ", ".join(f"{name} {_value(value)}" for name, value in sweep.common.items() if value is not None),
        f"{plural(len(sweep.points), 'point')}, {plural(len(sweep.seeds), 'seed')} each",
        [] if own.finished else [str(own)],
    )


def _value(value: Any) -> str:
    return f"({', '.join(map(_value, value))})" if isinstance(value, list) else str(value)


def told(store: Store, finding: Statement, needed: Mapping[str, Needed]) -> Told:
    """What a finding says, or which of its sweeps are not finished."""
    sweeps = [needed[name] for name in finding.sweeps]
    lacking = [str(item) for item in sweeps if not item.finished]
    return not_run(finding, lacking) if lacking else tell(store, finding, [item.asked for item in sweeps])


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
