"""The cells that are worth training next, of a sweep that was imported: where its results leave an outcome open."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from swingby.imports.sweep import hashable
from swingby.store import Store
from swingby.store.lookup import written_outcomes
from swingby.store.sql import quoted
from swingby.units import counted

CELLS = 10
MOST_POINTS = 20_000
"""Points of a grid beyond which no choice is made."""


def next_cells(data: Path, sweep_id: str) -> Iterator[str]:
    """Lines with the ten cells from which most is to be learned on the outcome that the sweep's map draws, if it is a
    yes or no; they are chosen as `run --refine` chooses them, at a share of one half. Nothing else has lines."""
    from swingby.select.boundary.boundary import Boundary, Evidence
    from swingby.select.boundary.share_fit import one_blas_thread
    from swingby.select.boundary.space import Space
    from swingby.select.boundary.verdicts import Goal
    from swingby.select.intervals import wilson

    with Store.open(data) as store:
        (row,) = store.sql("select experiment, resolved from sweeps where sweep_id = ?", [sweep_id]).rows()
        resolved = json.loads(row.resolved)
        axes, outcome = resolved["axes"], resolved["outcome"]
        written = written_outcomes(store, sweep_id).get(outcome)
        value, table = f"e.{quoted(str(outcome))}", ""
        if written:
            value, join = "o.value", "o.cell_id = e.cell_id and o.of_shard = e.shard"
            table = f"left join {quoted(written.table)} o on {join}"
        types = store.columns(row.experiment)
        if not outcome or (types.get(outcome) != "BOOLEAN" if not written else written.kind != "yes_no"):
            return
        names = [name for axis in axes for name in axis["names"]]
        listed = [f"e.{quoted(name)}" for name in names]
        rows = store.sql(
            f"""select {", ".join([*listed, f"count(*) filter ({value})", f"count({value})", "count(*)"])}
                from members m join {quoted(row.experiment)} e using (cell_id) {table}
                where m.sweep_id = ? and e.status <> 'running' group by {", ".join(listed) or "()"}""",
            [sweep_id],
        ).arrow()
    columns = [column.to_pylist() for column in rows.columns]
    at = {tuple(map(hashable, row[:-3])): row[-3:] for row in zip(*columns, strict=True)}
    if not names or any(len(axis["names"]) > 1 for axis in axes):
        yield f"no cells are proposed for {outcome}: its points are {'one' if not names else 'scattered, and no grid'}"
        return
    if math.prod(len(axis["values"]) for axis in axes) > MOST_POINTS:
        yield f"no cells are proposed for {outcome}: its grid has more than {MOST_POINTS:,} points"
        return
    values = [[hashable(value) for (value,) in axis["values"]] for axis in axes]
    # A parameter that only some runs have goes with the words that they have: momentum with sgd, and with nothing else.
    conditional = [place for place, each in enumerate(values) if None in each]
    words = [place for place, each in enumerate(values) if any(isinstance(value, str) for value in each)]

    def kind(point: Sequence[object]) -> tuple[object, ...]:
        return (*(point[place] is None for place in conditional), *(point[place] for place in words))

    kinds = {kind(point) for point, (_, n, _) in at.items() if n}
    points = [point for point in itertools.product(*values) if not conditional or kind(point) in kinds]
    labels = np.array([at.get(point, (0, 0, 0)) for point in points])
    by_name = {name: [point[place] for point in points] for place, name in enumerate(names)}
    space = Space.of([[name] for name in names], by_name, (), int(labels[:, 2].max()) + CELLS)
    boundary = Boundary(space, [Goal()], int(labels[:, 2].sum()) + CELLS)
    with one_blas_thread():
        boundary.tell(Evidence(labels[:, 2], labels[None, :, 0].astype(float), labels[None, :, 1].astype(float)))
        chosen = Counter(boundary.ask().tolist())
    if not chosen:
        yield f"no cell is worth training for {outcome}: every point is told, at a share of one half"
        return
    yield f"{counted(sum(chosen.values()), 'cell')} worth training next for {outcome}, at these points:"
    for place, count in sorted(chosen.items(), key=lambda one: (-one[1], one[0])):
        k, n, _ = labels[place]
        low, high = wilson(k, n) if n else (0.0, 1.0)
        so_far = f"{k} of {n} so far, 95 % interval {float(low):.0%} to {float(high):.0%}" if n else "none so far"
        setting = ", ".join(f"{name} = {value}" for name, value in zip(names, points[place], strict=True))
        yield f"  {setting}: {counted(count, 'cell')} ({so_far})"
