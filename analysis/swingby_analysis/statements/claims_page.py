"""The page of the claims, in which every number is shown beside its query; its table of verdicts is for a README."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from swingby import __version__
from swingby.data.files import utc_now
from swingby.store import Store
from swingby_analysis.page import (
    Badge,
    Bar,
    Block,
    Code,
    Fold,
    Items,
    Link,
    Page,
    Part,
    QueryRows,
    Section,
    Several,
    Statement,
    Strong,
    Table,
    Text,
    Tone,
    Toned,
)
from swingby_analysis.query import Query, ask
from swingby_analysis.statements import origins
from swingby_analysis.statements.compose import said_alone, shared_of
from swingby_analysis.statements.judging import NO_PRESET, Judged
from swingby_analysis.statements.kinds import EXISTS, FAILS, HOLDS, LARGER, LAW, NOT_SHOWN, REVERSE, SHOWN, UNTOLD
from swingby_analysis.statements.statement import Statement as Claim
from swingby_analysis.statements.verdict import MARK, MISSING, RULE

ROWS, COUNTS = Query("statements/rows"), Query("statements/verdicts")
TITLE = "What is claimed, and what the seeds say of it"
HEADINGS = ("claim", "source", "kind", "verdict", "seeds in which it holds, or size of the effect (95 % interval)")
ROW_HEADINGS = ("convention", "setting", "seeds", "how strongly", "share of seeds", "measured", "verdict")
LEAD = "Every number below comes from a query that is shown with its result."
BARS = "A bar is the 95 % interval of a share of seeds and its dot the share, on a line from 0 (left) to 1 (right)."
COUNTED = "Shares, effects and intervals are computed from the result of a claim's query, and kept in claims."
LISTED = 6
"""Numbers of a list in the result of a query that are shown."""
AFTER = f"{MARK}: added, split, reworded, repaired or named in kind after results had been seen; the page says how."
_AFTERWARDS = f"""
The predicates and their thresholds stand in the queries below. They were written before results of these sweeps were
seen, except where a claim has the mark {MARK}: afterwards its query had to be repaired, as a comment in it says too, or
the claim was added, split, reworded or asked of other sweeps. What was done and why, and whether the predicate was
there already, stands below each of them.

The kinds of the claims, and their rules, were named when results had been seen, by reading what the source says: "can",
"may" and "we observe" claim that something exists; "tends to", "more" and "on average" a mean; a theorem, or "only if",
what always is, or a law. Where a verdict changed by that, it is said below the claim, too.

The words under "measured" and the reasons under "Why" were written after results were seen, and some queries made to
measure more for them; neither enters a verdict.
"""
AFTERWARDS = tuple(" ".join(paragraph.split()) for paragraph in _AFTERWARDS.strip().split("\n\n"))
"""What the page says below the rule, of the mark and of what was written later."""
TONES: Mapping[str, Tone] = {
    HOLDS: "yes", SHOWN: "yes", FAILS: "no", REVERSE: "no", MISSING: "none", UNTOLD: "none", NOT_SHOWN: "none",
}  # fmt: skip
"""The colour of a verdict; one of some settings, or under some conventions, is in between."""

Row = Mapping[str, Any]


def claims_page(store: Store, claims: Sequence[Claim], judged: Mapping[str, Judged], command: str) -> Page:
    """The page, from the table `claims`; its excerpt has a row a claim, and says how it was made.

    Args:
        claims: every installed claim.
        judged: by slug, what was judged in this run; claims judged before are shown from the table alone.
        command: by which the excerpt says it was made.
    """
    known, by_claim = {claim.slug: claim for claim in claims}, dict[str, list[Row]]()
    for row in ask(store, ROWS).iter_rows(named=True):
        by_claim.setdefault(row["claim"], []).append(row)
    shared = shared_of([known[slug] for slug in by_claim])
    counts = ask(store, COUNTS).to_dicts()
    experiments = dict.fromkeys(name for item in shared for name in item.experiments)
    sizes = [Query("statements/made", (name,)) for name in experiments if name in store.names()]
    every, size = sum(row["claims"] for row in counts), _size([ask(store, query).row(0, named=True) for query in sizes])
    ids: dict[str, dict[str, None]] = {}
    for item in judged.values():
        for experiment in item.claim.shared.experiments if item.query else ():
            ids.setdefault(experiment, {}).update(dict.fromkeys(item.sweep_ids))
    asked, rows = origins.origins(store, ids)
    verdicts = Table(HEADINGS, [_verdict(known[slug], own) for slug, own in by_claim.items()], name="statements")
    recorded = dict.fromkeys(sentence for own in by_claim.values() for sentence in own[0]["recorded"])
    return Page(
        kind="claims",
        tab="Claims",
        title=next(iter(said_alone(shared, "title of claims")), TITLE),
        lead=" ".join([*said_alone(shared, "lead of claims"), LEAD]),
        byline=Several(
            [
                f"Written {utc_now()[:16].replace('T', ' ')} UTC by swingby {__version__}. The table ",
                Code("claims"), " of the store has these rows, and its table ", Code("claims_queries"), " the queries.",
            ]
        ),
        sections=[
            Section(
                "verdicts",
                "Verdicts",
                [
                    Text(f"{every} claims, judged on {size}."),
                    Items([Several([_badge(row["verdict"]), f" {row['claims']}"]) for row in counts], "counts"),
                    Text(BARS, "note"),
                    verdicts,
                ],
            ),
            Section(
                "rule",
                "How a verdict is made",
                [Items([*RULE, *(text for item in shared for text in item.said("note on claims")), *AFTERWARDS])],
            ),
            Section(
                "details",
                "Every claim with its query",
                [_detail(known[slug], own, judged.get(slug)) for slug, own in by_claim.items()],
            ),
            Section(
                "made",
                "Where the numbers come from",
                [
                    Text("The sweeps asked in this run:"),
                    origins.table(rows),
                    Fold(
                        "The queries behind this table, the counts and the rows",
                        [Text(COUNTED), *(QueryRows(query) for query in [*asked, ROWS, COUNTS, *sizes])],
                    ),
                ],
            ),
        ],
        excerpt=[
            verdicts,
            *map(Text, recorded),
            Text(
                Several(
                    [
                        "Made by ", Code(command), f" (swingby {__version__}). {every} claims; ",
                        ", ".join(f"{row['verdict']}: {row['claims']}" for row in counts),
                        f". {size}. {AFTER}",
                    ]
                )
            ),
        ],
    )  # fmt: skip


def _size(made: Sequence[Row]) -> str:
    """The size of what was judged: runs, sweeps, fewest and most seeds a sweep, and the last run's day."""
    parts = [part for part in made if part["cells"]]
    if not parts:
        return "no run"
    sweeps, cells = (sum(part[name] for part in parts) for name in ("sweeps", "cells"))
    fewest, most = min(part["fewest"] for part in parts), max(part["most"] for part in parts)
    day = max(part["trained"] for part in parts)
    return f"{cells:,} runs of {sweeps} sweeps, {fewest} to {most} seeds a sweep, the last trained on {day}"


def _verdict(claim: Claim, rows: Sequence[Row]) -> list[Part]:
    """A claim's row of the table of verdicts."""
    first = rows[0]
    marked: list[Part] = [Link(first["text"], f"#{claim.slug}")]
    if claim.after:
        marked += [
            " ",
            Link(MARK, "#rule", "Added, split, reworded, repaired or named in kind after results had been seen"),
        ]
    shares = [[row["convention"], _bar(row), _size_of(row), row["setting"]] for row in rows]
    brief = Table((), shares, name="shares", brief="; ".join(_by_convention(rows)))
    shown = first["measured"] if first["verdict"] == MISSING else brief
    return [Several(marked), first["source"], first["kind"], _badge(first["verdict"]), shown]


def _by_convention(rows: Sequence[Row]) -> Iterator[str]:
    """Each convention in a few words: its one share or effect with the interval, or the range over several settings."""
    for convention, group in groupby(rows, key=lambda row: row["convention"]):
        named = "" if convention == NO_PRESET else f"{convention}: "
        every = list(group)
        decided = [row for row in every if row["effect"] is not None or row["share"] is not None]
        if not decided:
            few = any(row["n"] for row in every)
            yield f"{named}{'too few seeds to tell' if few else 'no seed tells'}"
        elif len(decided) == 1:
            yield f"{named}{_size_of(decided[0], interval=True)}{_example(decided)}"
        else:
            size = "share" if decided[0]["effect"] is None else "effect"
            first, last = (_size_of(pick(decided, key=lambda row: row[size])) for pick in (min, max))
            shown = first if first == last else f"{first} to {last if size == 'share' else last.split()[-1]}"
            yield f"{named}{shown} in {len(decided)} settings{_example(decided)}"


def _example(rows: Sequence[Row]) -> str:
    """The seed that shows what exists, with its setting where there are several."""
    found = next((row for row in rows if row["kind"] == EXISTS and row["example"] is not None), None)
    if found is None:
        return ""
    return f", such as seed {found['example']}" + (f" with {found['setting']}" if len(rows) > 1 else "")


def _size_of(row: Row, interval: bool = False) -> str:
    """The share of a row or its effect, in a few words."""
    if row["effect"] is None:
        ends = f" ({row['low']:.2f} to {row['high']:.2f})" if interval and row["low"] is not None else ""
        return f"{row['k']} of {row['n']}{ends}"
    named = LARGER if row["strength"].startswith(LARGER) else "exponent" if row["kind"] == LAW else "effect"
    ends = f" ({row['effect_low']:.3g} to {row['effect_high']:.3g})" if interval else ""
    return f"{named} {row['effect']:.3g}{ends}"


def _detail(claim: Claim, rows: Sequence[Row], judged: Judged | None) -> Statement:
    """A claim with what was done to it, its question, its rows, and its query with the result.

    Args:
        judged: None if it was not judged in this run.
    """
    first, badge = rows[0], _badge(rows[0]["verdict"])
    sweeps = [part for name in first["sweeps"] for part in (" ", Code(name))]
    blocks: list[Block] = []
    if claim.after:
        blocks.append(Text(Several([Strong(f"{MARK} After results were seen."), f" {claim.after}"])))
    if first["verdict"] == MISSING:
        trained: list[Part] = [Code("swingby claims"), " trains what is missing."]
        if claim.hours:
            command = [Code("swingby claims"), ": ", Code("swingby run"), " does it."]
            trained = ["That takes hours, and is not trained by ", *command]
        blocks.append(Text(Several([f"No verdict: {first['measured']}. ", *trained]), "warning"))
    else:
        if first["why"] and badge.tone != "yes":
            blocks.append(Text(Several([Strong("Why."), f" {first['why']}"])))
        blocks.append(Text(claim.question, "asked"))
        blocks += [Text(sentence, "note") for sentence in first["recorded"]]
        if first["lacking"]:
            blocks.append(Text(f"Not judged on {'; '.join(first['lacking'])}.", "note"))
        blocks.append(Table(ROW_HEADINGS, [_row(row) for row in rows], name="rows"))
        frame = None if judged is None else judged.frame
        if frame is None:
            earlier = Text("Judged in an earlier run; its rows above are those of the table.", "note")
            asked: list[Block] = [QueryRows(first["query"]), earlier]
        else:
            asked = [
                QueryRows(first["query"], frame.columns, [[_cell(value) for value in row] for row in frame.rows()])
            ]
        blocks.append(Fold("The query and its result", asked))
    blocks.append(Text(Link("back to the verdicts", "#verdicts"), "byline"))
    text = f"{first['text']} {MARK}" if claim.after else first["text"]
    kind = f" · {first['kind']}" if first["kind"] else ""
    byline = Several([f"{first['source']}{kind} · ", Code(claim.slug), " · sweeps", *sweeps])
    return Statement(claim.slug, text, badge, blocks, byline)


def _row(row: Row) -> list[Part]:
    """A row of a claim, with the share of its seeds where its rule counts them."""
    counted = row["share"] is not None
    seeds = f"{row['k']} of {row['n']}" if counted else f"{row['n']}" if row["n"] else "no seed tells"
    strength = row["strength"]
    if not strength and counted and row["low"] is not None:
        strength = f"{row['share']:.2f}, {row['low']:.2f} to {row['high']:.2f}"
    verdict = Toned(row["row_verdict"], TONES.get(row["row_verdict"], "some"))
    return [row["convention"], row["setting"], seeds, strength, _bar(row), row["measured"], verdict]


def _bar(row: Row) -> Part:
    if row["share"] is None or row["low"] is None:
        return ""
    return Bar(row["share"], row["low"], row["high"], TONES.get(row["row_verdict"], "some"))


def _cell(value: Any) -> Any:
    """A value of a claim's result; of a list of numbers the first, and how many there are."""
    if not isinstance(value, list):
        return value
    shown = ", ".join(f"{item:.4g}" if isinstance(item, float) else str(item) for item in value[:LISTED])
    return f"{shown}, ... ({len(value)} values)" if len(value) > LISTED else shown


def _badge(verdict: str) -> Badge:
    return Badge(verdict, TONES.get(verdict, "some"))
