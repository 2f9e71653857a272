"""The page "What we found": diagrams as pictures, and sentences, each beside the query that decided it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from swingby import __version__
from swingby.data.files import utc_now
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.page import (
    Badge,
    Block,
    Code,
    Figure,
    Fold,
    Items,
    Page,
    Picture,
    Pictures,
    QueryRows,
    Section,
    Several,
    Statement,
    Statements,
    Strong,
    Table,
    Text,
    Tone,
)
from swingby_analysis.query import Query
from swingby_analysis.report import prose
from swingby_analysis.report.prose import plural
from swingby_analysis.statements import origins
from swingby_analysis.statements.compose import said_alone
from swingby_analysis.statements.diagram import Diagram
from swingby_analysis.statements.fresh import FAILED, REPLICATED, WAITING, Again
from swingby_analysis.statements.judging import Sentence
from swingby_analysis.statements.needed import Needed
from swingby_analysis.statements.statement import NO, UNSURE, YES, Shared
from swingby_analysis.statements.verdict import MISSING

TITLE = "What we found: phase diagrams"
LEAD = (
    "Each diagram is a sweep over many seeds; the query below a sentence chose its wording and filled in its numbers."
)
TONES: Mapping[str, Tone] = {YES: "yes", NO: "no", UNSURE: "none", MISSING: "none"}
_RULE = """
Each sentence has a wording for what its query may find, for its contrary, and for the case that neither can be told;
the result of the query chooses, and fills in every number. The mark beside it says which wording it is.

Brackets hold 95 % intervals. A share of the runs of a grid is measured in every seed on its own, over all points of the
grid; the interval is Student's, of the mean over seeds. A sentence that compares is decided by the interval of the
difference, seed by seed: it has to lie on one side of zero.
"""
RULE = tuple(" ".join(paragraph.split()) for paragraph in _RULE.strip().split("\n\n"))


NEW, NEW_HEADING = "new", "What we found that the paper did not say"
NEW_LEAD = (
    "Sentences that a phase diagram suggested, asked again by the same query of sweeps on fresh seeds, which nothing "
    "else uses. The numbers are those of the fresh seeds. Where the query does not choose the same wording there, the "
    "mark says so."
)


@dataclass(frozen=True)
class Shown:
    """A diagram with its sentences, and with its figures where its own sweep is finished."""

    diagram: Diagram
    own: Needed
    sentences: Sequence[Sentence]
    figures: Sequence[Figure]


def findings_page(
    shown: Sequence[Shown],
    new: Sequence[Again],
    pictures: Mapping[str, bytes],
    shared: Sequence[Shared],
    queries: Sequence[Query],
    rows: Sequence[Mapping[str, Any]],
    notes: Sequence[str],
    command: str,
) -> Page:
    """The page; its excerpt has the diagrams, and says how it was made.

    Args:
        new: what the paper did not say, with the answers of fresh seeds.
        pictures: the figures as PNG, by slug.
        shared: what the experiments of these diagrams say of themselves.
        queries, rows: the queries for the origins of the cells, and their rows.
        notes: what a reader must know of the results first, such as that they are recorded.
        command: by which the excerpt says it was made.
    """
    diagrams = [*([_new(new)] if new else []), *(_diagram(item, pictures) for item in shown)]
    asked = Fold("The queries behind this table", [QueryRows(query) for query in queries])
    made: list[Block] = [origins.table(rows), *([asked] if queries else [])]
    cells = f"from {sum(row['cells'] for row in rows):,} runs"
    return Page(
        kind="findings",
        tab="What we found",
        title=next(iter(said_alone(shared, "title of findings")), TITLE),
        lead=" ".join([*said_alone(shared, "lead of findings"), LEAD]),
        byline=f"Written {utc_now()[:16].replace('T', ' ')} UTC by swingby {__version__}, {cells}.",
        notes=notes,
        sections=[
            *diagrams,
            Section(
                "rule",
                "How a sentence is made",
                [Items([*RULE, *(text for item in shared for text in item.said("note on findings"))])],
            ),
            Section("made", "Where the numbers come from", made),
        ],
        excerpt=[
            *diagrams,
            Text(Several(["Made by ", Code(command), " ".join([f" (swingby {__version__}).", *notes])])),
        ],
    )


def _new(new: Sequence[Again]) -> Section:
    """The list of what is new: each sentence with the numbers of the fresh seeds, and with those that suggested it."""
    listed = [_again(one) for one in new]
    return Section(NEW, NEW_HEADING, [Text(NEW_LEAD), Statements(listed)], name="diagram")


def _again(one: Again) -> Statement:
    finding, text = one.first.finding, one.fresh.text
    if one.verdict == WAITING:
        text = f"{one.first.text} {one.fresh.text}" if one.first.verdict != MISSING else one.first.text
    elif one.verdict == FAILED:
        text = f"{one.first.text} On fresh seeds: {one.fresh.text}"
    blocks: list[Block] = []
    if one.fresh.query and one.first.query:
        blocks = [
            Text(Several(["On the sweep that suggested it, ", Code(finding.sweeps[-1]), f": {one.first.text}"])),
            Text(Several(["On fresh seeds: sweep ", Code(", ".join(finding.fresh)), "."])),
            QueryRows(one.fresh.query),
            Table((), list(zip(one.fresh.columns, one.fresh.row, strict=True)), name="result"),
        ]
        blocks = [Fold("The sweep that suggested it, and the query on fresh seeds", blocks)]
    tones: Mapping[str, Tone] = {REPLICATED: "yes", FAILED: "no", WAITING: "none"}
    title = Several([Strong(f"{finding.brief}."), f" {text}"])
    return Statement(f"new-{finding.slug}", title, Badge(one.verdict, tones[one.verdict]), blocks)


def _diagram(shown: Shown, pictures: Mapping[str, bytes]) -> Section:
    """The part of one diagram: its sweep, its figures, its sentences, and what all of its points share."""
    diagram, sweep = shown.diagram, cast("Sweep", shown.own.sweep)  # a diagram is one of a sweep file
    size = f"{plural(len(sweep.points), 'point')}, {plural(len(sweep.seeds), 'seed')} each."
    if (refined := shown.own.refined) is not None:
        size = f"{plural(len(sweep.points), 'point')}; {refined.spent}. {'; '.join(refined.lines())}."
    blocks: list[Block] = [
        Text(" ".join((sweep.description or "").split())),
        Text(Several(["Sweep ", Code(diagram.sweep), f": {size}"]), "byline"),
    ]
    if not shown.own.finished:
        trains = [Code("swingby findings"), " trains it, ", Code("swingby findings --recorded")]
        blocks.append(
            Text(Several([f"Not finished: {shown.own}. ", *trains, " takes the shipped results."]), "warning")
        )
    if shown.figures:
        images = [
            Picture(
                figure.slug, pictures[figure.slug], figure.title, f"{figure.caption} {figure.reading}",
                f"{figure.slug}.png", "facet" in figure.spec,
            )
            for figure in shown.figures
        ]  # fmt: skip
        blocks.append(Pictures(images))
    blocks.append(Statements([_statement(sentence) for sentence in shown.sentences]))
    common = ", ".join(f"{name} {prose.shown(value)}" for name, value in sweep.common.items() if value is not None)
    behind = [QueryRows(query) for figure in shown.figures[:1] for query in figure.queries]
    blocks.append(Fold("Parameters that all points share, and the query behind the figures", [Text(common), *behind]))
    return Section(diagram.slug, diagram.heading, blocks, name="diagram")


def _statement(sentence: Sentence) -> Statement:
    """A finding with its query and the row that decided it; before its sweeps are finished, without."""
    blocks: list[Block] = []
    if sentence.query:
        blocks.append(Text(sentence.finding.question, "asked"))
        if sentence.finding.after:
            blocks.append(Text(Several([Strong("After results were seen."), f" {sentence.finding.after}"])))
        blocks += [
            QueryRows(sentence.query),
            Table((), list(zip(sentence.columns, sentence.row, strict=True)), name="result"),
        ]
        blocks = [Fold("The query and its result", blocks)]
    return Statement(sentence.finding.slug, sentence.text, Badge(sentence.verdict, TONES[sentence.verdict]), blocks)
