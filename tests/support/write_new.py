"""Writes what findings say that a paper did not into .md files: `python -m tests.support.write_new DATA`.

DATA is a data folder in which the diagrams with new findings and their sweeps on fresh seeds were run, or unpacked;
nothing is trained. A file has the sentences between two marks; no test can hold them against the code.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from swingby.data.records import Records
from swingby.run.outcomes import derive
from swingby.store import Store
from swingby_analysis.page.markdown import plain
from swingby_analysis.statements.catalogue import catalogue
from swingby_analysis.statements.fresh import REPLICATED, Again, again, on_fresh_seeds
from swingby_analysis.statements.judging import conclude
from swingby_analysis.statements.needed import needed_sweeps, progress
from tests.support.readmes import rewrite

SECTION = re.compile(r"(<!-- new: (?P<name>\w+); .*? -->\n).*?(<!-- end of new -->)", re.DOTALL)


def answers(data: Path, experiment: str) -> list[Again]:
    """The new findings of an experiment with their answers on fresh seeds."""
    new = [item for item in catalogue() if item.fresh and experiment in item.shared.experiments]
    needed = needed_sweeps([*new, *map(on_fresh_seeds, new)], (), data)
    records = Records.open(data)
    with Store.open(data) as store:
        needed = progress(store, needed)
    derive(records, [item.sweep_id for item in needed.values() if item.done])
    with Store.open(data) as store:
        return again(store, [conclude(store, finding, needed) for finding in new], needed)


def line(one: Again) -> str:
    """A finding as an item of a Markdown list; what is not replicated says so."""
    mark = "" if one.verdict == REPLICATED else f" *({one.verdict})*"
    return f"- **{plain(one.first.finding.brief)}.** {plain(one.fresh.text)}{mark}"


def main(arguments: Sequence[str]) -> int:
    """Asks the new findings of each experiment whose folder has a file with the marks, and writes them there."""

    def section(match: re.Match[str]) -> str:
        lines = [line(one) for one in answers(Path(arguments[0]), match["name"])]
        return match[1] + "\n".join(["", *lines, "", ""]) + match[3]

    rewrite(SECTION, section)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
