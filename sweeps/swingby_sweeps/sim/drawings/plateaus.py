"""Which runs wait on a plateau at a given step: those with a major entry of the Jacobian below one half."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import polars as pl

from swingby_analysis.query import Query
from swingby_analysis.report.prose import plural

from ..detect.stages import HALF
from .subject import SQL, Subject


class Plateau(NamedTuple):
    """Of one point at one step.

    Attributes:
        seeds: those with a major entry below 1/2.
        asked: how many seeds recorded the Jacobian.
        gone: how many of these had diverged before.
    """

    seeds: Collection[int]
    asked: int
    gone: int

    def told(self, step: int) -> list[str]:
        """Two lines for a panel."""
        gone = f"; {self.gone} diverged before" if self.gone else ""
        have = "has" if len(self.seeds) == 1 else "have"
        counted = f"{len(self.seeds)} of {plural(self.asked, 'seed')} {have}"
        return [f"At step {step:,} (dash-dotted): {counted}", f"a major entry below 1/2{gone}"]


def least_major(subject: Subject, step: int) -> Query:
    """The query for the smallest major entry of every run at a step."""
    return Query("least_major", (subject.sweep_id, step), SQL)


def plateaus_at(subject: Subject, step: int | None) -> dict[int, Plateau]:
    """Point -> the seeds that have not learned every concept by that step; nothing without one."""
    if step is None:
        return {}
    tables = subject.ask(least_major(subject, step)).partition_by("point", as_dict=True)
    return {
        point: Plateau(
            table.filter(pl.col("least_major") < HALF)["seed"].to_list(),
            table.height,
            table["least_major"].null_count(),
        )
        for (point,), table in tables.items()
    }
