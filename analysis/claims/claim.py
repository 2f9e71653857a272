"""What a claim is: its words, where the paper makes it, the sweeps it is judged on, and the query that judges it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from analysis.report.queries import Query


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, or of what is said about it.

    Attributes:
        slug: names the claim; lower-case letters, digits and hyphens.
        text: the claim in words, without a number: numbers come from the query.
        source: figure, section or equation.
        sweeps: named sweeps whose cells the query is asked about.
        why: if it does not hold everywhere: the reason as far as it is known, in words.
        sql: names its query, `analysis/sql/claims/<sql>.sql`, where that is not the slug.
        after: what was done to the claim or to its query after results had been seen, and why; "" for nothing.
    """

    slug: str
    text: str
    source: str
    sweeps: tuple[str, ...]
    why: str = ""
    sql: str = ""
    after: str = ""

    @property
    def name(self) -> str:
        """The query's name."""
        return f"claims/{self.sql or self.slug}"

    def query(self, sweep_ids: tuple[str, ...]) -> Query:
        """The query over the cells of these sweeps."""
        return Query(self.name, (sweep_ids,))


def asked(query: str) -> str:
    """What a query asks in words: the comment that opens it."""
    lines = takewhile(lambda line: line.startswith("--"), query.splitlines())
    return " ".join(line.removeprefix("--").strip() for line in lines)
