"""The pages of claims and of findings: every number stands beside its query; the excerpt of a page is for a README."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, cast

from swingby import __version__
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep
from swingby_analysis import page as on
from swingby_analysis.page import Badge, Block, Code, Fold, Items, Page, Part, QueryRows, Section, Strong, Text, Tone
from swingby_analysis.query import Query, ask
from swingby_analysis.report import prose
from swingby_analysis.report.prose import plural
from swingby_analysis.statements import origins
from swingby_analysis.statements.compose import shared_of
from swingby_analysis.statements.diagram import Diagram
from swingby_analysis.statements.fresh import FAILED, REPLICATED, WAITING, Again
from swingby_analysis.statements.judging import NO_PRESET, Judged, Sentence
from swingby_analysis.statements.kinds import EXISTS, FAILS, HOLDS, LARGER, LAW, NOT_SHOWN, REVERSE, SHOWN, UNTOLD
from swingby_analysis.statements.needed import Needed
from swingby_analysis.statements.statement import NO, UNSURE, YES, Shared, Statement
from swingby_analysis.statements.verdict import MARK, MISSING, RULE

ROWS, COUNTS = Query("statements/rows"), Query("statements/verdicts")
LISTED = 6
"""Numbers of a list in the result of a query that are shown."""
HEADINGS = ("claim", "source", "kind", "verdict", "seeds in which it holds, or size of the effect (95 % interval)")
ROW_HEADINGS = ("convention", "setting", "seeds", "how strongly", "share of seeds", "measured", "verdict")
BARS = "A bar is the 95 % interval of a share of seeds and its dot the share, on a line from 0 (left) to 1 (right)."
COUNTED = "Shares, effects and intervals are computed from the result of a claim's query, and kept in the table claims."
AFTER = f"{MARK}: added, split, reworded, repaired or named in kind after results had been seen; the page says how."
TONES: Mapping[str, Tone] = {
    HOLDS: "yes", SHOWN: "yes", FAILS: "no", REVERSE: "no", MISSING: "none", UNTOLD: "none", NOT_SHOWN: "none",
    YES: "yes", NO: "no", UNSURE: "none", REPLICATED: "yes", FAILED: "no", WAITING: "none",
}  # fmt: skip
"""The colour of a verdict; one of some settings, or under some conventions, is in between."""
NEW, NEW_HEADING = "new", "What we found that the paper did not say"
NEW_LEAD = (
    "Sentences that a phase diagram suggested, tested again by the same query on sweeps of fresh seeds, which nothing "
    "else uses. The numbers are those of the fresh seeds. The mark says whether the query chose the same wording there."
)
Row = Mapping[str, Any]


def _paragraphs(text: str) -> list[str]:
    return [" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")]


@dataclass(frozen=True)
class Kind:
    """What differs between the two pages.

    Attributes:
        name: "claims" or "findings".
        tab, title: of the page; an experiment may have a title of its own.
        lead: what the page says of every number.
        rules: the heading above the rules; `before` and `after` are those before and after an experiment's notes.
    """

    name: str
    tab: str
    title: str
    lead: str
    rules: str
    before: Sequence[str]
    after: Sequence[str] = ()


CLAIMS = Kind(
    "claims",
    "Claims",
    "What is claimed, and what the seeds say of it",
    "Every number below comes from a query that is shown with its result.",
    "How a verdict is made",
    RULE,
    _paragraphs(f"""
The predicates and their thresholds stand in the queries below. They were written before results of these sweeps were
seen, except where a claim has the mark {MARK}: afterwards its query had to be repaired, as a comment in it says too, or
the claim was added, split, reworded or asked of other sweeps. What was done and why, and whether the predicate was
there already, stands below each of them.

The kinds of the claims, and their rules, were named when results had been seen, by reading what the source says: "can",
"may" and "we observe" claim that something exists; "tends to", "more" and "on average" a mean; a theorem, or "only if",
what always is, or a law. Where a verdict changed by that, it is said below the claim, too.

The words under "measured" and the reasons under "Why" were written after results were seen, and some queries made to
measure more for them; neither enters a verdict.
"""),
)
FINDINGS = Kind(
    "findings",
    "What we found",
    "What we found: phase diagrams",
    "Each diagram is a sweep over many seeds; the query below a sentence chose its wording and filled in its numbers.",
    "How a sentence is made",
    _paragraphs("""
Each sentence has three wordings: for what its query may find, for the contrary, and for an undecided result. The result
of the query chooses the wording, and fills in every number. The mark beside a sentence says which wording it is.

Brackets hold 95 % intervals. A share of the runs of a grid is measured in every seed on its own, over all points of the
grid; the interval is Student's, of the mean over seeds. A sentence that compares is decided by the interval of the
difference, seed by seed: it has to lie on one side of zero.
"""),
)


def _framed(
    of: Kind,
    shared: Sequence[Shared],
    byline: Part,
    above: Sequence[Section],
    below: Sequence[Section],
    sources: Sequence[Block],
    excerpt: Sequence[Section | Block],
    notes: Sequence[str] = (),
) -> Page:
    """A page about statements; its own sections stand `above` and `below` the one that says how they are decided."""
    alone = shared[0] if len(shared) == 1 else Shared()  # a page about one experiment has its words
    rules = Items([*of.before, *(text for item in shared for text in item.notes_of(f"note on {of.name}")), *of.after])
    return Page(
        kind=of.name,
        tab=of.tab,
        title=next(iter(alone.notes_of(f"title of {of.name}")), of.title),
        lead=" ".join([*alone.notes_of(f"lead of {of.name}"), of.lead]),
        byline=byline,
        notes=notes,
        sections=[
            *above,
            Section("rule", of.rules, [rules]),
            *below,
            Section("made", "Where the numbers come from", sources),
        ],
        excerpt=excerpt,
    )


def _after(statement: Statement, mark: str = "") -> list[Block]:
    """What was done to a statement after results had been seen."""
    return [Text([Strong(f"{mark}After results were seen."), f" {statement.after}"])] if statement.after else []


def _badge(verdict: str) -> Badge:
    return Badge(verdict, TONES.get(verdict, "some"))


# claims


def claims_page(store: Store, claims: Sequence[Statement], judged: Mapping[str, Judged], command: str) -> Page:
    """The page, from the table `claims`; its excerpt has a row a claim, and says how it was made.

    Args:
        claims: every installed claim.
        judged: by slug, what was judged in this run; claims judged before are shown from the table alone.
        command: by which the excerpt says it was made.
    """
    known, by_claim = {claim.slug: claim for claim in claims}, dict[str, list[Row]]()
    for row in ask(store, ROWS).iter_rows(named=True):
        by_claim.setdefault(row["claim"], []).append(row)
    shared, counts = shared_of([known[slug] for slug in by_claim]), ask(store, COUNTS).to_dicts()
    experiments = dict.fromkeys(name for item in shared for name in item.experiments)
    sizes = [Query("statements/made", (name,)) for name in experiments if name in store.names()]
    every, size = sum(row["claims"] for row in counts), _size([ask(store, query).row(0, named=True) for query in sizes])
    ids: dict[str, dict[str, None]] = {}
    for item in judged.values():
        for experiment in item.claim.shared.experiments if item.query else ():
            ids.setdefault(experiment, {}).update(dict.fromkeys(item.sweep_ids))
    origin_queries, rows = origins.origins(store, ids)
    verdicts = on.Table(HEADINGS, [_verdict(known[slug], group) for slug, group in by_claim.items()], name="statements")
    recorded = dict.fromkeys(sentence for group in by_claim.values() for sentence in group[0]["recorded"])
    shown: list[Block] = [
        Text(f"{every} claims, judged on {size}."),
        Items([[_badge(row["verdict"]), f" {row['claims']}"] for row in counts], "counts"),
        Text(BARS, "note"),
        verdicts,
    ]
    details = [_claim(known[slug], group, judged.get(slug)) for slug, group in by_claim.items()]
    queries = [QueryRows(query) for query in [*origin_queries, ROWS, COUNTS, *sizes]]
    listed = ", ".join(f"{row['verdict']}: {row['claims']}" for row in counts)
    excerpt = f" (swingby {__version__}). {every} claims; {listed}. {size}. {AFTER}"
    sources = [
        Text("The sweeps asked in this run:"),
        origins.table(rows),
        Fold("The queries behind this table, the counts and the rows", [Text(COUNTED), *queries]),
    ]
    tables = [" The table ", Code("claims"), " of the store has these rows, and its table ", Code("claims_queries")]
    return _framed(
        CLAIMS,
        shared,
        [on.written(), *tables, " the queries."],
        [Section("verdicts", "Verdicts", shown)],
        [Section("details", "Every claim with its query", details)],
        sources,
        [verdicts, *map(Text, recorded), Text(["Made by ", Code(command), excerpt])],
    )


def _size(sizes: Sequence[Row]) -> str:
    """The size of what was judged: runs, sweeps, fewest and most seeds a sweep, and the last run's day."""
    parts = [part for part in sizes if part["cells"]]
    if not parts:
        return "no run"
    sweeps, cells = (sum(part[name] for part in parts) for name in ("sweeps", "cells"))
    fewest, most = min(part["fewest"] for part in parts), max(part["most"] for part in parts)
    day = max(part["trained"] for part in parts)
    return f"{cells:,} runs of {sweeps} sweeps, {fewest} to {most} seeds a sweep, the last trained on {day}"


def _verdict(claim: Statement, rows: Sequence[Row]) -> list[Part]:
    """A claim's row of the table of verdicts."""
    first, marked = rows[0], list[Part]()
    if claim.after:
        title = "Added, split, reworded, repaired or named in kind after results had been seen"
        marked = [" ", on.Link(MARK, "#rule", title)]
    shares = [[row["convention"], _bar(row), _size_of(row), row["setting"]] for row in rows]
    brief = on.Table((), shares, name="shares", brief="; ".join(_by_convention(rows)))
    shown = first["measured"] if first["verdict"] == MISSING else brief
    text = [on.Link(first["text"], f"#{claim.slug}"), *marked]
    return [text, first["source"], first["kind"], _badge(first["verdict"]), shown]


def _by_convention(rows: Sequence[Row]) -> Iterator[str]:
    """Each convention in a few words: its one share or effect with the interval, or the range over several settings."""
    for convention, group in groupby(rows, key=lambda row: row["convention"]):
        named = "" if convention == NO_PRESET else f"{convention}: "
        every = list(group)
        decided = [row for row in every if row["effect"] is not None or row["share"] is not None]
        if not decided:
            few = any(row["n"] for row in every)
            yield f"{named}{'too few seeds' if few else 'no seed has an answer'}"
        elif len(decided) == 1:
            yield f"{named}{_size_of(decided[0], interval=True)}{_example(decided)}"
        else:
            size = "share" if decided[0]["effect"] is None else "effect"
            first, last = (_size_of(pick(decided, key=lambda row: row[size])) for pick in (min, max))
            shown = first if first == last else f"{first} to {last if size == 'share' else last.split()[-1]}"
            yield f"{named}{shown} in {len(decided)} settings{_example(decided)}"


def _example(rows: Sequence[Row]) -> str:
    """The seed that shows what exists, with its setting where there are several."""
    shown = next((row for row in rows if row["kind"] == EXISTS and row["example"] is not None), None)
    if shown is None:
        return ""
    return f", such as seed {shown['example']}" + (f" with {shown['setting']}" if len(rows) > 1 else "")


def _size_of(row: Row, interval: bool = False) -> str:
    """The share of a row or its effect, in a few words."""
    if row["effect"] is None:
        ends = f" ({row['low']:.2f} to {row['high']:.2f})" if interval and row["low"] is not None else ""
        return f"{row['k']} of {row['n']}{ends}"
    named = LARGER if row["strength"].startswith(LARGER) else "exponent" if row["kind"] == LAW else "effect"
    ends = f" ({row['effect_low']:.3g} to {row['effect_high']:.3g})" if interval else ""
    return f"{named} {row['effect']:.3g}{ends}"


def _claim(claim: Statement, rows: Sequence[Row], judged: Judged | None) -> on.Statement:
    """A claim with what was done to it, its question, its rows, and its query with the result.

    Args:
        judged: None if it was not judged in this run.
    """
    first, badge, blocks = rows[0], _badge(rows[0]["verdict"]), _after(claim, f"{MARK} ")
    if first["verdict"] == MISSING:
        trained: list[Part] = [Code("swingby claims"), " trains what is missing."]
        if claim.hours:
            trained = ["It takes hours: ", Code("swingby run"), " trains it, and not ", Code("swingby claims"), "."]
        blocks.append(Text([f"No verdict: {first['measured']}. ", *trained], "warning"))
    else:
        if first["why"] and badge.tone != "yes":
            blocks.append(Text([Strong("Why."), f" {first['why']}"]))
        blocks.append(Text(claim.question, "asked"))
        blocks += [Text(sentence, "note") for sentence in first["recorded"]]
        if first["lacking"]:
            blocks.append(Text(f"Not judged on {'; '.join(first['lacking'])}.", "note"))
        blocks.append(on.Table(ROW_HEADINGS, [_row(row) for row in rows], name="rows"))
        frame = None if judged is None else judged.frame
        if frame is None:
            earlier = Text("Judged in an earlier run; its rows above are those of the table.", "note")
            details: list[Block] = [QueryRows(first["query"]), earlier]
        else:
            result = [[_cell(value) for value in row] for row in frame.rows()]
            details = [QueryRows(first["query"], frame.columns, result)]
        blocks.append(Fold("The query and its result", details))
    blocks.append(Text(on.Link("back to the verdicts", "#verdicts"), "byline"))
    text = f"{first['text']} {MARK}" if claim.after else first["text"]
    kind = f" · {first['kind']}" if first["kind"] else ""
    sweeps = [part for name in first["sweeps"] for part in (" ", Code(name))]
    byline = [f"{first['source']}{kind} · ", Code(claim.slug), " · sweeps", *sweeps]
    return on.Statement(claim.slug, text, badge, blocks, byline)


def _row(row: Row) -> list[Part]:
    """A row of a claim, with the share of its seeds where its rule counts them."""
    counted, strength = row["share"] is not None, row["strength"]
    seeds = f"{row['k']} of {row['n']}" if counted else f"{row['n']}" if row["n"] else "no seed has an answer"
    if not strength and counted and row["low"] is not None:
        strength = f"{row['share']:.2f}, {row['low']:.2f} to {row['high']:.2f}"
    verdict = on.Toned(row["row_verdict"], TONES.get(row["row_verdict"], "some"))
    return [row["convention"], row["setting"], seeds, strength, _bar(row), row["measured"], verdict]


def _bar(row: Row) -> Part:
    if row["share"] is None or row["low"] is None:
        return ""
    return on.Bar(row["share"], row["low"], row["high"], TONES.get(row["row_verdict"], "some"))


def _cell(value: Any) -> Any:
    """A value of a claim's result; of a list of numbers the first, and how many there are."""
    if not isinstance(value, list):
        return value
    shown = ", ".join(f"{item:.4g}" if isinstance(item, float) else str(item) for item in value[:LISTED])
    return f"{shown}, ... ({len(value)} values)" if len(value) > LISTED else shown


# findings


@dataclass(frozen=True)
class Shown:
    """A diagram with its sentences, and with its figures where its own sweep is finished."""

    diagram: Diagram
    needed: Needed
    sentences: Sequence[Sentence]
    figures: Sequence[on.Figure]


def findings_page(
    shown: Sequence[Shown],
    new: Sequence[Again],
    pictures: Mapping[str, bytes],
    shared: Sequence[Shared],
    queries: Sequence[Query],
    rows: Sequence[Row],
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
    diagrams = [_diagram(item, pictures) for item in shown]
    if new:
        list_of_new = on.Statements([_again(one) for one in new])
        diagrams.insert(0, Section(NEW, NEW_HEADING, [Text(NEW_LEAD), list_of_new], name="diagram"))
    folds = [Fold("The queries behind this table", [QueryRows(query) for query in queries])] if queries else []
    excerpt = Text(["Made by ", Code(command), " ".join([f" (swingby {__version__}).", *notes])])
    byline = on.written(f", from {sum(row['cells'] for row in rows):,} runs")
    sources = [origins.table(rows), *folds]
    return _framed(FINDINGS, shared, byline, diagrams, [], sources, [*diagrams, excerpt], notes)


def _again(one: Again) -> on.Statement:
    """A new finding with the numbers of the fresh seeds, and with those that suggested it."""
    finding, text = one.first.finding, one.fresh.text
    if one.verdict == WAITING:
        text = f"{one.first.text} {one.fresh.text}" if one.first.verdict != MISSING else one.first.text
    elif one.verdict == FAILED:
        text = f"{one.first.text} On fresh seeds: {one.fresh.text}"
    blocks: list[Block] = []
    if one.fresh.query and one.first.query:
        both = [
            Text(["On the sweep that suggested it, ", Code(finding.sweeps[-1]), f": {one.first.text}"]),
            Text(["On fresh seeds: sweep ", Code(", ".join(finding.fresh)), "."]),
            *_result(one.fresh),
        ]
        blocks = [Fold("The sweep that suggested it, and the query on fresh seeds", both)]
    title = [Strong(f"{finding.brief}."), f" {text}"]
    return on.Statement(f"new-{finding.slug}", title, _badge(one.verdict), blocks)


def _diagram(shown: Shown, pictures: Mapping[str, bytes]) -> Section:
    """The part of one diagram: its sweep, its figures, its sentences, and what all of its points share."""
    diagram, sweep = shown.diagram, cast("Sweep", shown.needed.sweep)  # a diagram is one of a sweep file
    size = f"{plural(len(sweep.points), 'point')}, {plural(len(sweep.seeds), 'seed')} each."
    if (refined := shown.needed.refined) is not None:
        size = f"{plural(len(sweep.points), 'point')}; {refined.spent}. {'; '.join(refined.lines())}."
    blocks: list[Block] = [
        Text(" ".join((sweep.description or "").split())),
        Text(["Sweep ", Code(diagram.sweep), f": {size}"], "byline"),
    ]
    if not shown.needed.finished:
        trains = [Code("swingby findings"), " trains it, ", Code("swingby findings --recorded")]
        blocks.append(Text([f"Not finished: {shown.needed}. ", *trains, " takes the shipped results."], "warning"))
    if shown.figures:
        images = [
            on.Picture(one.slug, pictures[one.slug], one.title, f"{one.caption} {one.reading}", f"{one.slug}.png",
                       "facet" in one.spec)
            for one in shown.figures
        ]  # fmt: skip
        blocks.append(on.Pictures(images))
    blocks.append(on.Statements([_finding(sentence) for sentence in shown.sentences]))
    common = ", ".join(f"{name} {prose.shown(value)}" for name, value in sweep.common.items() if value is not None)
    behind = [QueryRows(query) for figure in shown.figures[:1] for query in figure.queries]
    blocks.append(Fold("Parameters that all points share, and the query behind the figures", [Text(common), *behind]))
    return Section(diagram.slug, diagram.heading, blocks, name="diagram")


def _finding(sentence: Sentence) -> on.Statement:
    """A finding with its query and the row that decided it; before its sweeps are finished, without."""
    finding, blocks = sentence.finding, list[Block]()
    if sentence.query:
        details = [Text(finding.question, "asked"), *_after(finding), *_result(sentence)]
        blocks = [Fold("The query and its result", details)]
    return on.Statement(finding.slug, sentence.text, _badge(sentence.verdict), blocks)


def _result(sentence: Sentence) -> list[Block]:
    """A finding's query and the row that decided it."""
    return [
        QueryRows(sentence.query),
        on.Table((), list(zip(sentence.columns, sentence.row, strict=True)), name="result"),
    ]
