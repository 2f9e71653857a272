"""Writes verdicts on claims into .md files: `python -m tests.support.write_verdicts DATA EXPERIMENT...`.

DATA is a data folder in which every sweep of these claims was run, or unpacked; nothing is trained. Without names, all
experiments are asked. A file has them between two marks. It takes a folder of a gigabyte for all, so that no test can
hold these sections against the code.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from swingby import __version__
from swingby.store import Store
from swingby_analysis.query import Query, ask
from swingby_analysis.statements.catalogue import claims
from swingby_analysis.statements.claims import write_claims
from swingby_analysis.statements.page import AFTER
from swingby_analysis.statements.verdict import MARK
from tests.support.places import ROOT
from tests.support.readmes import rewrite

SECTION = re.compile(r"(<!-- verdicts: (?P<name>\w+); .*? -->\n).*?(<!-- end of verdicts -->)", re.DOTALL)


def section(whole: str, experiment: str, store: Store) -> str:
    """What the Markdown of `swingby claims` says of one experiment, and how these verdicts came about."""
    own = claims(experiment)
    texts = {item.text for item in own}
    sweeps = {name for item in own for name in item.sweeps}
    lines, verdicts, shown = whole.splitlines(), list[str](), list[str]()
    for line in lines:
        cells = [re.sub(r"\\(.)", r"\1", cell.strip()) for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells and cells[0].removesuffix(MARK).strip() in texts:
            shown.append(line)
            verdicts.append(cells[3])
    notes = [line for line in lines if (found := re.match(r"Sweep ([\w-]+):", line)) and found[1] in sweeps]
    counts = sorted(Counter(verdicts).items(), key=lambda item: (-item[1], item[0]))
    made = ask(store, Query("statements/made", (experiment,))).row(0, named=True)
    said = (
        f"Made by `swingby claims {experiment}` (swingby {__version__}). {len(verdicts)} claims; "
        f"{', '.join(f'{verdict}: {count}' for verdict, count in counts)}. {made['cells']:,} runs of {made['sweeps']} "
        f"sweeps, {made['fewest']} to {made['most']} seeds a sweep, the last trained on {made['trained']}. "
        f"{AFTER}"
    )
    return "\n".join(["", *lines[:2], *shown, "", *(part for note in notes for part in (note, "")), said, "", ""])


def main(arguments: Sequence[str]) -> int:
    """Judges the claims, and writes the sections that are about these experiments."""
    data, *experiments = Path(arguments[0]), *arguments[1:]
    whole = dict[str, str]()
    marked = [found["name"] for file in (ROOT / "sweeps").rglob("*.md") for found in SECTION.finditer(file.read_text())]
    for experiment in experiments or marked:
        with tempfile.TemporaryDirectory() as folder:
            found = Path(folder) / "claims.md"
            write_claims(data, Path(folder), experiment=experiment, run=None, markdown_file=found)
            whole[experiment] = found.read_text(encoding="utf-8")

    def written(match: re.Match[str]) -> str:
        name = match["name"]
        return match[1] + section(whole[name], name, store) + match[3] if name in whole else match[0]

    with Store.open(data) as store:
        rewrite(SECTION, written)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
