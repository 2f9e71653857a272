"""What a claim is: its words, where the paper makes it, the sweeps it is judged on, and the query that judges it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from swingby_analysis.query import Query

TOGETHER = "The query was repaired: one statement about all seeds was counted as a share of them."
ENOUGH = (
    TOGETHER
    + " It held wherever the seeds did not speak against it; now they also have to be enough to tell, to a tenth."
)
"""What was done to claims about all seeds at once: counted once, and for means only where the seeds can tell."""


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
        together: it speaks of all seeds at once, such as of their mean: a row is then one statement, n = 1 and k = 0 or
            1 (n = 0 where the seeds are too few to tell), and not a share of seeds.
        least: so many seeds of a row have to tell before it has a verdict.
        hours: its sweeps take hours, and are not trained for it: it is judged on those of them that were run, or whose
            recorded results are shipped.
    """

    slug: str
    text: str
    source: str
    sweeps: tuple[str, ...]
    why: str = ""
    sql: str = ""
    after: str = ""
    together: bool = False
    least: int = 1
    hours: bool = False

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
