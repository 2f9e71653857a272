"""Every claim's rows and every finding's sentence of a data folder as JSON, and what differs between two of these.

    python -m tests.support.compare_statements --dump DATA FOUND.json [SLUG ...]
    python -m tests.support.compare_statements KEPT.json FOUND.json

Prints every difference; exit code 1 if there is one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from swingby.data.records import Records
from swingby.run.outcomes import derive
from swingby.store import Store
from swingby_analysis.statements import table
from swingby_analysis.statements.catalogue import catalogue
from swingby_analysis.statements.judging import conclude, judge
from swingby_analysis.statements.needed import needed_sweeps, progress

COLUMNS = (
    "kind", "convention", "setting", "n", "k", "low", "high", "effect", "effect_low", "effect_high", "verdict",
    "row_verdict", "strength", "measured",
)  # fmt: skip
CLOSE = 1e-12
"""Two ends of an interval that differ by no more are equal."""


def dump(data: Path, slugs: Sequence[str] = ()) -> dict[str, list[dict[str, Any]]]:
    """What all installed statements (or those of these slugs) say of a data folder; nothing is trained."""
    statements = [item for item in catalogue() if not slugs or item.slug in slugs]
    needed = needed_sweeps(statements, ())
    records = Records.open(data)
    with Store.open(data) as store:
        needed = progress(store, needed)
        derive(records, [item.sweep_id for item in needed.values() if item.done])
        judged = [judge(store, item, needed) for item in statements if item.claims]
        rows = [row for rank, item in enumerate(judged) for row in table.rows(rank, item)]
        sentences = [conclude(store, item, needed) for item in statements if not item.claims]
    return {
        "claims": [{"slug": row["claim"], "place": row["place"], **{n: row[n] for n in COLUMNS}} for row in rows],
        "findings": [{"slug": s.finding.slug, "verdict": s.verdict, "wording": s.text} for s in sentences],
    }


def text(statements: Mapping[str, Sequence[Any]]) -> str:
    """JSON with a line for each row, so that a change of one shows as one."""
    rows = {kind: ",\n".join(json.dumps(row, ensure_ascii=False) for row in of) for kind, of in statements.items()}
    return "{" + ",\n".join(f'"{kind}": [\n{lines}\n]' for kind, lines in rows.items()) + "}\n"


def differences(kept: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    """Every difference, in words."""
    for kind, keys in (("claims", ("slug", "place")), ("findings", ("slug",))):
        old, new = ({tuple(row[key] for key in keys): row for row in side[kind]} for side in (kept, found))
        for key in sorted({*old, *new}, key=str):
            name = " ".join(map(str, key))
            if key not in old or key not in new:
                yield f"{name}: only {'kept' if key in old else 'found'}: {old.get(key, new.get(key))}"
                continue
            for column in old[key]:
                was, is_now = old[key][column], new[key].get(column)
                if not _equal(was, is_now):
                    yield f"{name}: {column}\n    was {was}\n    is  {is_now}"


def _equal(one: Any, two: Any) -> bool:
    if isinstance(one, float) and isinstance(two, float):
        return one == two or abs(one - two) <= CLOSE * max(1.0, abs(one))
    return one == two


def main(arguments: Sequence[str]) -> int:
    if arguments[0] == "--dump":
        found = dump(Path(arguments[1]), arguments[3:])
        Path(arguments[2]).write_text(text(found), encoding="utf-8")
        return 0
    kept, found = (json.loads(Path(path).read_text(encoding="utf-8")) for path in arguments)
    told = list(differences(kept, found))
    print("\n".join(told) or "no difference")
    return int(bool(told))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
