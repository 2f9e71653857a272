"""The tables of the benchmark of boundaries, from what was measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console

from tests.benchmarks.tables import draw

Found = dict[tuple[str, str], list[dict[str, Any]]]
OWN, FULL = "this selector", "full grid"
WRONG, FAR, DISTANCE = 1, 2, 3
MEDIAN_GOAL, CASE_GOAL, RIGHT_GOAL = 0.08, 0.25, 0.95


def print_tables(console: Console, measured: Sequence[dict[str, Any]], ways: Sequence[str]) -> None:
    """Efficiency, errors, and how far verdicts are right."""
    found: Found = defaultdict(list)
    for one in measured:
        found[one["case"], one["way"]].append(one)
    cases = [
        case for case in dict.fromkeys(case for case, _ in found) if (case, OWN) in found and (case, FULL) in found
    ]
    if not cases:
        console.print("nothing is measured")
        return
    counts = sorted({len(found[case, OWN]) for case in cases})
    orders = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
    rivals = max((len(ones) for (_, way), ones in found.items() if way not in (OWN, FULL)), default=0)
    others = [way for way in ways if way not in (OWN, FULL)]
    title = "Share of the grid's cells, in %, at which the full grid's raw error is reached"
    rows = [_reach_row(found, case, others) for case in cases]
    columns = ("case", "raw error, %", OWN, "by > within only", *others)
    draw(console, f"{title}; {orders} orders (other ways: {rivals}): median (least .. most)", columns, rows)
    medians = [float(np.median(reaches(found, case, OWN, WRONG))) for case in cases]
    console.print(
        f"over cases: median {_percent(float(np.median(medians)))} % (goal: {MEDIAN_GOAL:.0%}), "
        f"most {_percent(max(medians))} % (goal: {CASE_GOAL:.0%})\n"
    )
    rows = [_error_row(found, case, [OWN, *others]) for case in cases]
    columns = ("case", OWN, *others, "line off, steps")
    draw(
        console,
        "Points on the wrong side, in %, at 10 % / 20 % of the cells: medians; and the line at 10 %",
        columns,
        rows,
    )
    columns = ("case", "stops at, %", "goal reached", "wrong there, %", "by > within, %", "expected, %", "told, %",
               "told right, %", "near right, %", "covered, %", "line in band, %", "s a choice")  # fmt: skip
    rows = [_stop_row(found[case, OWN]) for case in cases]
    draw(
        console,
        "Where it stops, and how right its verdicts are there, over all orders; in brackets at 20 %",
        columns,
        rows,
    )


def reaches(found: Found, case: str, way: str, column: int) -> list[float]:
    """Of each order the share at which the error is that of the raw full grid, then and at the next look; or never."""
    limit = float(np.mean([one["trace"][-1][column] for one in found[case, FULL]])) + 1e-12
    shares = list[float]()
    for one in (one for one in found[case, way] if one["trace"]):
        under = [row[column] <= limit for row in one["trace"]]
        both = [here and after for here, after in zip(under, [*under[1:], True], strict=True)]
        shares.append(one["trace"][both.index(True)][0] if any(both) else float("inf"))
    return shares


def _reach_row(found: Found, case: str, others: Sequence[str]) -> tuple[str, ...]:
    raw = np.mean([one["trace"][-1][WRONG] for one in found[case, FULL]])
    own, far = (reaches(found, case, OWN, column) for column in (WRONG, FAR))
    missed = "" if np.median(own) <= CASE_GOAL else " (missed)"
    rest = [_spread(reaches(found, case, way, WRONG)) for way in others]
    return case, f"{100 * raw:.2f}", _spread(own) + missed, _spread(far), *rest


def _error_row(found: Found, case: str, ways: Sequence[str]) -> tuple[str, ...]:
    def last(one: dict[str, Any], at: float) -> list[Any]:
        return [row for row in one["trace"] if row[0] <= at + 1e-9][-1:]

    cells = list[str]()
    for way in ways:
        errors = [[row[WRONG] for one in found[case, way] for row in last(one, at)] for at in (0.1, 0.2)]
        cells.append(" / ".join(f"{100 * np.median(each):.2f}" if each else "-" for each in errors))
    steps = [row[DISTANCE] for one in found[case, OWN] for row in last(one, 0.1) if row[DISTANCE] is not None]
    return case, *cells, f"{np.median(steps):.2f}" if steps else ""


def _stop_row(runs: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    stops, ends = [one["stop"] for one in runs], [one["end"] for one in runs]

    def ratio(over: str, under: str) -> str:
        texts = list[str]()
        for each in (stops, ends):
            count = sum(one[under] for one in each)
            texts.append(f"{100 * sum(one[over] for one in each) / count:.1f}" if count else "-")
        low = over == "told_right" and texts[0] != "-" and float(texts[0]) < 100 * RIGHT_GOAL
        return f"{texts[0]} ({texts[1]})" + (" missed" if low else "")

    seconds = [second for one in runs for second in one["seconds"]]
    return (
        runs[0]["case"],
        _spread([one["share"] for one in stops]),
        f"{sum(one['reached'] for one in stops)} of {len(stops)}",
        *(f"{100 * np.mean([one[name] for one in stops]):.2f}" for name in ("wrong", "far", "expected")),
        ratio("told", "points"),
        *(ratio(*names) for names in (("told_right", "told"), ("near_right", "near"))),
        *(ratio(*names) for names in (("covered", "points"), ("held", "line"))),
        f"{np.median(seconds):.2f} ({min(seconds):.2f} .. {max(seconds):.2f})",
    )


def _percent(share: float) -> str:
    return "never" if share == float("inf") else f"{100 * share:.1f}"


def _spread(shares: Sequence[float]) -> str:
    if not shares:
        return "-"
    return f"{_percent(float(np.median(shares)))} ({_percent(min(shares))} .. {_percent(max(shares))})"
