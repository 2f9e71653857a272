"""The claims of the paper: trained where need be, judged by queries, kept as a table, shown as page and Markdown."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from swingby.archive import bring
from swingby.data.files import write_whole
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.model import registry
from swingby.run.outcomes import derive
from swingby.store import Store, ingest
from swingby_analysis.claims import table
from swingby_analysis.claims.catalogue import CATALOGUE
from swingby_analysis.claims.claim import Claim
from swingby_analysis.claims.judging import Judged, Needed, judge, progress, wanted
from swingby_analysis.claims.markdown import markdown
from swingby_analysis.claims.page import page
from swingby_analysis.claims.verdict import MISSING
from swingby_analysis.report import replace_folder
from swingby_analysis.train import train

FOLDER, PAGE, TABLE = "claims", "claims.html", "claims.md"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Written:
    """What a run left: the page, how many claims it asked, how many of them lack a sweep, and seconds of training.

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
        overrides: laid over every other sweep, such as "seeds.count=3".
        run: further options of `swingby run`, by which missing sweeps are trained; None: train nothing.
        only: slugs; () for all. What was said of the others before stays.
        markdown_file: where the Markdown goes besides.
        command: what the Markdown says it was made by.
        say: told what goes on.

    Raises:
        SwingbyError: no such claim, a sweep cannot be trained, a query is wrong, or the disk refuses.
    """
    claims = chosen(only)
    needed = wanted(claims, overrides)
    records = Records.open(data, create=run is not None)
    training = 0.0
    if run is not None:
        training = _train(records, needed, overrides, run, say)
    _bring(records, needed, say)
    ingest(records)
    ranks = {claim.slug: rank for rank, claim in enumerate(CATALOGUE)}
    with Store.open(records.data) as store:
        needed = progress(store, needed)
        derive(records, [item.sweep_id for item in needed.values() if item.done])
        judged = [_judged(store, claim, needed, say) for claim in claims]
        table.write(records, store, [(ranks[item.claim.slug], item) for item in judged], ranks)
        shown = page(store, {item.claim.slug: item for item in judged})
        text = markdown(store, command)
    folder = out.expanduser().absolute() / FOLDER
    replace_folder(folder, {PAGE: shown.encode(), TABLE: text.encode()})
    if markdown_file is not None:
        write_whole(markdown_file.expanduser().absolute(), lambda path: path.write_text(text, encoding="utf-8"))
    lacking = [item.claim for item in judged if item.verdict == MISSING]
    waiting = [claim for claim in lacking if claim.hours]
    names = tuple(dict.fromkeys(name for claim in waiting for name in claim.sweeps))
    return Written(folder / PAGE, len(judged), len(lacking) - len(waiting), training, len(waiting), names)


def chosen(only: Sequence[str]) -> list[Claim]:
    """The claims of these slugs, in the catalogue's order; () for all.

    Raises:
        SwingbyError: a slug is no claim's; with the nearest one.
    """
    known = [claim.slug for claim in CATALOGUE]
    for slug in only:
        if slug not in known:
            raise SwingbyError(f"no claim is called {slug!r}; {registry.nearest(slug, known)}")
    return [claim for claim in CATALOGUE if not only or claim.slug in only]


def _train(
    records: Records, needed: Mapping[str, Needed], overrides: Sequence[str], options: Sequence[str], say: Say
) -> float:
    """Trains the sweeps that are not finished and do not take hours; the seconds it took, 0 if there are none."""
    needed = {name: item for name, item in needed.items() if not item.hours}
    if records.plans():
        ingest(records)
        with Store.open(records.data) as store:
            needed = progress(store, needed)
    names = [name for name, item in needed.items() if not item.finished]
    if not names:
        return 0
    say(f"training {len(names)} of {len(needed)} sweeps: {', '.join(names)}")
    began = time.perf_counter()
    # Cells that failed or are missing are told on the page, claim by claim.
    train(names, records.data, overrides, options)
    return time.perf_counter() - began


def _bring(records: Records, needed: Mapping[str, Needed], say: Say) -> None:
    """Unpacks the shipped results of sweeps that take hours and were never begun here.

    What cannot be unpacked is told, and no fault: the claims on it then have no verdict.
    """
    for item in needed.values():
        if item.hours:
            try:
                bring(records.data, item.sweep_id, say)
            except SwingbyError as error:
                say(f"recorded results of {item.name} cannot be used: {error}")


def _judged(store: Store, claim: Claim, needed: Mapping[str, Needed], say: Say) -> Judged:
    began = time.perf_counter()
    found = judge(store, claim, needed)
    say(f"{claim.slug}: {found.verdict} ({time.perf_counter() - began:.1f} s)")
    return found
