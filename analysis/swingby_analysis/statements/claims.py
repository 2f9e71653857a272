"""The claims of papers: trained where need be, judged by queries, kept as a table, shown as page and Markdown."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from swingby.store import Store
from swingby_analysis.page.folder import write_page
from swingby_analysis.statements import table
from swingby_analysis.statements.catalogue import catalogue, claims
from swingby_analysis.statements.judging import Judged, judge
from swingby_analysis.statements.needed import Say, needed_sweeps, prepare
from swingby_analysis.statements.page import claims_page
from swingby_analysis.statements.verdict import MISSING

FOLDER, PAGE = "claims", "claims.html"


@dataclass(frozen=True)
class Written:
    """What a run left: the page, how many claims it judged, how many of them lack a sweep, and seconds of training.

    Attributes:
        waiting: how many lack sweeps that take hours, and are not trained here.
        hours: the names of these sweeps.
    """

    page: Path
    claims: int
    missing: int
    training: float
    waiting: int = 0
    hours: Sequence[str] = ()


def write_claims(
    data: Path,
    out: Path,
    *,
    experiment: str | None = None,
    overrides: Sequence[str] = (),
    run: Sequence[str] | None = (),
    only: Sequence[str] = (),
    markdown_file: Path | None = None,
    command: str = "swingby claims",
    say: Say = lambda text: None,
) -> Written:
    """Judges the claims, and writes the table `claims`, the folder `out/claims` with the page, and the Markdown.

    Sweeps that take hours are never trained here: where they were not run, their shipped results are unpacked.

    Args:
        data: the data folder.
        experiment: only claims about it; None: all. The verdicts on the others stay as they are.
        overrides: laid over every other sweep, such as "seeds.count=3".
        run: further options of `swingby run`, by which missing sweeps are trained; None: train nothing.
        only: slugs; () for all.
        markdown_file: where the Markdown goes besides.
        command: by which the Markdown says it was made.
        say: hears each step.

    Raises:
        SwingbyError: no such claim, a sweep cannot be trained, a query is wrong, or the disk refuses.
    """
    chosen = claims(experiment, only)
    records, needed, training = prepare(data, needed_sweeps(chosen, overrides, data), overrides, run, False, say)
    known = [item for item in catalogue() if item.claims]
    with Store.open(records.data) as store:
        judged: list[Judged] = []
        for claim in chosen:
            began = time.perf_counter()
            judged.append(judge(store, claim, needed))
            say(f"{claim.slug}, {claim.rule}: {judged[-1].verdict} ({time.perf_counter() - began:.1f} s)")
        ranks = {claim.slug: rank for rank, claim in enumerate(known)}
        table.write(records, store, [(ranks[item.claim.slug], item) for item in judged], ranks)
    with Store.open(records.data) as store:
        page = claims_page(store, known, {item.claim.slug: item for item in judged}, command)
    path = write_page(out / FOLDER / PAGE, lambda _: page, also=markdown_file)
    lacking = [item.claim for item in judged if item.verdict == MISSING]
    waiting = [claim for claim in lacking if claim.hours]
    names = tuple(dict.fromkeys(name for claim in waiting for name in claim.sweeps))
    return Written(path, len(judged), len(lacking) - len(waiting), training, len(waiting), names)
