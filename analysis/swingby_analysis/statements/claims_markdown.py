"""The claims as a Markdown table, for a README."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from swingby import __version__
from swingby.store import Store
from swingby_analysis.query import ask
from swingby_analysis.statements.claims_page import COUNTS, Row, by_claim, made
from swingby_analysis.statements.statement import Statement
from swingby_analysis.statements.table import UNITS
from swingby_analysis.statements.verdict import MARK, MISSING, UNTOLD

HEADINGS = ("claim", "source", "verdict", "seeds in which it holds (95 % interval)")


def markdown(store: Store, claims: Sequence[Statement], command: str) -> str:
    """One row a claim, from the table `claims`, the seeds of all settings of a convention together; how it was made.

    In between: of which sweeps the results are recorded ones.
    """
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    shown = by_claim(store)
    after = {claim.slug for claim in claims if claim.after}
    for rows in shown:
        first = rows[0]
        told = first["measured"] if first["verdict"] == MISSING else "; ".join(_shares(rows))
        text = f"{first['text']} {MARK}" if first["claim"] in after else first["text"]
        cells = (text, first["source"], first["verdict"], told)
        lines.append("| " + " | ".join(map(_plain, cells)) + " |")
    recorded = dict.fromkeys(_plain(sentence) for rows in shown for sentence in rows[0]["recorded"])
    paragraphs = [line for sentence in recorded for line in (sentence, "")]
    return "\n".join([*lines, "", *paragraphs, _made(store, claims, command)]) + "\n"


def _made(store: Store, claims: Sequence[Statement], command: str) -> str:
    """The last line: command, claims by verdict, runs, seeds, date, and what the mark means."""
    of = made(store, claims)
    counts = ", ".join(f"{row['verdict']}: {row['claims']}" for row in ask(store, COUNTS).iter_rows(named=True))
    seeds = f"{of['fewest']} to {of['most']} seeds a sweep" if of["cells"] else "no seed"
    trained = f", the last trained on {of['trained']}" if of["trained"] else ""
    return (
        f"Made by `{command}` (swingby {__version__}). {of['claims']} claims; {counts}. "
        f"{of['cells']:,} runs of {of['sweeps']} sweeps, {seeds}{trained}. "
        f"{MARK}: added, split or repaired after results had been seen; the page says how."
    )


def _shares(rows: Sequence[Row]) -> Iterator[str]:
    """What is said of each convention: the one share with its interval, or the range over several settings."""
    for convention, group in groupby(rows, key=lambda row: row["convention"]):
        found = list(group)
        told = [row for row in found if row["n"] and row["row_verdict"] != UNTOLD]
        if not told:
            few = _together(rows) or any(row["n"] for row in found)
            yield f"{convention}: too few seeds to tell" if few else f"{convention}: no seed tells"
        elif _together(rows):
            yield f"{convention}: {_said(told)}"
        elif len(told) == 1:
            (row,) = told
            yield f"{convention}: {_count(row)} ({row['low']:.2f} to {row['high']:.2f})"
        else:
            least, most = (pick(told, key=lambda row: row["share"]) for pick in (min, max))
            span = _count(least) if _count(least) == _count(most) else f"{_count(least)} to {_count(most)}"
            yield f"{convention}: {span} in {len(told)} settings"


def _together(rows: Sequence[Row]) -> bool:
    """Its rows are statements about all seeds, of which no share is told."""
    return rows[0]["unit"] == UNITS[True]


def _said(rows: Sequence[Row]) -> str:
    """In how many settings statements about all seeds are true; of one setting, whether it is."""
    true = sum(row["k"] for row in rows)
    return f"true in {true} of {len(rows)} settings" if len(rows) > 1 else "true" if true else "false"


def _count(row: Row) -> str:
    return f"{row['k']} of {row['n']}"


def _plain(text: str) -> str:
    """Text that no Markdown reader takes for markup."""
    return re.sub(r"([\\|*_`<>\[\]])", r"\\\1", text).replace("\n", " ")
