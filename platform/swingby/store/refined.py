"""How refined sweeps stand: what the last decision on their cells says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swingby.store.reader import Store


@dataclass(frozen=True, slots=True)
class Refined:
    """How the refinement of a sweep stands.

    Attributes:
        requested: cells that were asked for; grid: cells of the whole grid; budget: the most that may be asked for.
        outcomes: of each, its text, the number of points by verdict, and the expected share told wrongly.
        points: how many points these numbers are of: all, or of very many some.
        share: of seeds, at which the boundary lies.
        wrong: the wanted expected share of points told wrongly.
        rounds: how many there were.
        ended: why no more cells are asked for: "accuracy" or "budget"; None while it goes on.
    """

    requested: int
    grid: int
    budget: int
    outcomes: tuple[tuple[str, Mapping[str, int], float], ...]
    points: int
    share: float
    wrong: float
    rounds: int
    ended: str | None

    @classmethod
    def of(cls, decision: Mapping[str, Any]) -> Refined:
        """How it stood at a decision.

        Raises:
            KeyError: the decision lacks something.
        """
        outcomes = tuple((one["outcome"], one["points"], one["wrong"]) for one in decision["told"])
        return cls(
            decision["asked"], decision["grid"], decision["budget"], outcomes, decision["looked"], decision["share"],
            decision["wrong"], decision["round"], decision["ended"],
        )  # fmt: skip

    @property
    def spent(self) -> str:
        """The cells that were asked for, in words."""
        share = self.requested / max(self.grid, 1)
        return f"refined: {self.requested:,} of the grid's {self.grid:,} cells ({share:.1%}), at most {self.budget:,}"

    def lines(self) -> list[str]:
        """Lines for the user, without `spent`: what is known of the points, and why it has ended."""
        lines = []
        for outcome, points, wrong in self.outcomes:
            counts = ", ".join(f"{count:,} {name}" for name, count in points.items() if count)
            doubt = f"; {wrong:.2%} expected to be told wrongly" if wrong < 1 else ""
            lines.append(f"{outcome} at {self.share:.0%} of seeds: {counts} of {self.points:,} points{doubt}")
        return [*lines, self.why_ended] if self.ended else lines

    @property
    def why_ended(self) -> str:
        """Why no more cells are asked for, in words; "" while it goes on."""
        return {
            "accuracy": f"ended: the wanted accuracy is reached (at most {self.wrong:.2%} told wrongly)",
            "budget": "ended: the budget is spent; a larger one goes on, a run that does not refine trains all",
        }.get(self.ended or "", "")


def refinements(store: Store) -> dict[str, Refined]:
    """How every refined sweep stands, by its id; a store of an older version has none."""
    if "decision" not in store.columns("plans"):
        return {}
    query = """select sweep_id, decision from plans where decision is not null
               qualify row_number() over (partition by sweep_id order by sequence desc, created desc, plan_id) = 1"""
    refined = {}
    for row in store.sql(query).rows():
        try:
            refined[row.sweep_id] = Refined.of(json.loads(row.decision))
        except (KeyError, TypeError, ValueError):  # a record of somebody else's making
            continue
    return refined


def only_refined(store: Store, sweep_id: str) -> Refined | None:
    """How the refinement of a sweep stands; None if it was not refined, or if its whole grid was asked for since."""
    refined = refinements(store).get(sweep_id)
    if refined is None:
        return None
    (sweep,) = store.sql("select cells < grid_cells as partly from sweeps where sweep_id = ?", [sweep_id]).rows()
    return refined if sweep.partly else None
