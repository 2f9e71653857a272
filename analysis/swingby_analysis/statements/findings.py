"""Findings: what the phase diagrams of installed experiments show, as sentences that queries decide, on one page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swingby.store import Store
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.page import Page
from swingby_analysis.page.folder import write_page
from swingby_analysis.report.prose import plural
from swingby_analysis.statements import catalogue
from swingby_analysis.statements.compose import shared_of
from swingby_analysis.statements.figures import figures
from swingby_analysis.statements.fresh import REPLICATED, again, on_fresh_seeds
from swingby_analysis.statements.judging import conclude
from swingby_analysis.statements.needed import Needed, Say, needed_sweeps, prepare
from swingby_analysis.statements.origins import origins
from swingby_analysis.statements.page import Shown, findings_page

FOLDER, PAGE = "findings", "findings.html"


@dataclass(frozen=True)
class Written:
    """What a run left: the page, how many diagrams it has, and how many of them lack a finished sweep."""

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
        recorded: unpack the shipped recorded results of sweeps that are not finished here.
        only: diagrams, by the names of their sweeps; () for all.
        vector: each figure as SVG too.
        markdown_file: where the Markdown goes besides.
        command: by which the Markdown says it was made.
        say: hears each step.

    Raises:
        SwingbyError: no such diagram, a sweep cannot be trained or unpacked, a query is wrong, or the disk refuses.
    """
    diagrams = catalogue.diagrams(experiment, only)
    questions = {diagram.slug: catalogue.findings(diagram) for diagram in diagrams}
    every = [finding for diagram in diagrams for finding in questions[diagram.slug]]
    new = [on_fresh_seeds(finding) for finding in every if finding.fresh]
    needed = needed_sweeps([*every, *new], overrides, data)
    for name in {diagram.sweep for diagram in diagrams} - set(needed):  # A diagram of which nothing is found has maps.
        needed[name] = Needed(name, Sweep.load(name, overrides))
    records, needed, _ = prepare(data, needed, overrides, run, recorded, say)
    with Store.open(records.data) as store:
        shown: list[Shown] = []
        for diagram in diagrams:
            requirement = needed[diagram.sweep]
            sentences = [conclude(store, finding, needed) for finding in questions[diagram.slug]]
            shown.append(
                Shown(
                    diagram,
                    requirement,
                    sentences,
                    figures(store, diagram, requirement.sweep_id) if requirement.finished else [],
                )
            )
            counts = Counter(item.verdict for item in sentences).items()
            verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts)
            say(f"{diagram.slug}: {plural(len(sentences), 'question')}: {verdicts}")
        replicated = again(store, [sentence for item in shown for sentence in item.sentences], needed)
        if replicated:
            count = sum(one.verdict == REPLICATED for one in replicated)
            say(f"{count} of {plural(len(replicated), 'new finding')} came out again on fresh seeds")
        ids: dict[str, list[str]] = {}
        for item in needed.values():
            if item.finished:
                ids.setdefault(item.sweep.experiment_name, []).append(item.sweep_id)
        queries, rows = origins(store, ids)
    drawn = [figure for item in shown for figure in item.figures]
    say(f"drawing {plural(len(drawn), 'figure')} ...")
    notes = _notes(rows, overrides)

    def page(inside: Mapping[str, bytes]) -> Page:
        return findings_page(shown, replicated, inside, shared_of(every), queries, rows, notes, command)

    path = write_page(out / FOLDER / PAGE, page, drawn, ("png", "svg") if vector else ("png",), markdown_file)
    return Written(path, len(shown), sum(not item.needed.finished for item in shown))


def _notes(rows: Sequence[Mapping[str, Any]], overrides: Sequence[str]) -> list[str]:
    """The notes above all diagrams: of recorded results, and of overrides."""
    notes = []
    recorded = [row for row in rows if row["recorded"]]
    if recorded:
        cells, every = sum(row["cells"] for row in recorded), sum(row["cells"] for row in rows)
        hosts = ", ".join(sorted({row["hosts"].replace(" (recorded)", "") for row in recorded}))
        days = sorted({row["first_day"] for row in recorded} | {row["last_day"] for row in recorded})
        span = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
        notes.append(
            f"{cells:,} of {every:,} results are recorded ones: computed on {hosts}, {span}, not here. Outcomes were "
            "computed from the full curves; numbers are rounded. swingby run with a sweep's name trains it here."
        )
    if overrides:
        notes.append(f"Every sweep was run with {', '.join(overrides)}: a first look, not the result.")
    return notes
