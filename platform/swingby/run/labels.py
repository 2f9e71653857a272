"""The yes-or-no labels of a sweep's cells, counted at each point by the store."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swingby.errors import SwingbyError
from swingby.function.experiment import FunctionExperiment
from swingby.model import registry
from swingby.model.columns import scalar_outcomes
from swingby.select.boundary.boundary import Evidence
from swingby.store import Rows, Store
from swingby.store.functions import learn_columns
from swingby.store.lookup import written_outcomes
from swingby.store.sql import literal, quoted
from swingby.sweepfile.refinement import STATUS, Labelled
from swingby.sweepfile.sweep import Sweep


@dataclass(frozen=True, slots=True)
class LabelQuery:
    """How a label is computed: the expression, null where there is no answer, and the table that it needs beside the
    experiment's (`e`), as `o`; empty for none.
    """

    expression: str
    table: str = ""


def label_query(store: Store, sweep: Sweep, label: Labelled) -> LabelQuery | None:
    """How a label is computed; None where its outcome was never derived yet.

    Raises:
        SwingbyError: there is no such outcome, or its values are of another kind.
    """
    name, table, kind = label.name, "", ""
    detectors = [one for one in registry.detectors_for(sweep.experiment_name) if name in one.outcomes]
    written = written_outcomes(store, sweep.sweep_id).get(name)
    if name == STATUS:
        shown, kind = f"e.{STATUS}", "category"
    elif detectors:
        table, shown, kind = f"outcomes_{detectors[0].name}", f"o.{quoted(name)}", detectors[0].kinds[name]
        if table not in store.names():
            return None
    elif written is not None:
        table, shown, kind = written.table, "o.value", written.kind
    elif name in sweep.outcomes:
        return None
    else:
        kinds = scalar_outcomes(sweep.experiment)
        if name not in kinds:
            raise SwingbyError(f"no installed detector has the outcome {name!r}, and neither has the sweep file")
        shown, kind = f"e.{quoted(name)}", kinds[name]
    needed = {"is": "yes_no", "=": "category"}.get(label.test, "number")
    if kind != needed:
        unfit = "has no share: " if label.test == "is" else ""
        raise SwingbyError(f"outcome {name!r} is a {kind}, and {unfit}{label.text!r} does not go with it")
    if label.test == "=":
        shown = f"{shown} = {literal(str(label.value))}"
    elif label.test in (">", "<"):
        shown = f"nullif(cast({shown} as double), 'nan') {label.test} {float(label.value or 0.0)!r}"
    return LabelQuery(shown, table)


def evidence(store: Store, sweep: Sweep, labels: tuple[Labelled, ...]) -> Evidence:
    """Everything that the store knows of a sweep's points: cells with a final row, and their labels."""
    points = len(sweep.points)
    cells, yes, n = np.zeros(points, np.int64), np.zeros((len(labels), points)), np.zeros((len(labels), points))
    if sweep.experiment_name not in store.names():
        return Evidence(cells, yes, n)
    if isinstance(experiment := sweep.experiment, FunctionExperiment) and experiment.discovers:
        learn_columns(store, experiment)
    table = counts(store, sweep, LabelQuery("true")).arrow()
    cells[table["point"].to_numpy()] = table["n"].to_numpy()
    for number, label in enumerate(labels):
        query = label_query(store, sweep, label)
        if query is None:
            continue
        table = counts(store, sweep, query).arrow()
        yes[number, table["point"].to_numpy()] = table["yes"].to_numpy()
        n[number, table["point"].to_numpy()] = table["n"].to_numpy()
    return Evidence(cells, yes, n)


def counts(store: Store, sweep: Sweep, query: LabelQuery) -> Rows:
    """For each point with final rows, in order: `point`, how many of its cells have the label, and of how many."""
    # Outcomes of the very row that is the cell's result; which row that is, `e.shard` says already.
    join = f"left join {quoted(query.table)} o on o.cell_id = e.cell_id and o.of_shard = e.shard"
    return store.sql(
        f"""select m.point, count(*) filter (where {query.expression}) as yes, count({query.expression}) as n
            from members m join {quoted(sweep.experiment_name)} e using (cell_id) {join if query.table else ""}
            where m.sweep_id = ? and e.status <> 'running' group by m.point order by m.point""",
        [sweep.sweep_id],
    )
