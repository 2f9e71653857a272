"""The columns that every store has, with their types and meanings: of sweeps, plans and shards, and of every cell."""

from __future__ import annotations

from collections.abc import Mapping

from swingby.store.views import OF_SHARD

Meanings = Mapping[str, tuple[str, str]]
"""For each column: its type in SQL, and its meaning."""

LAST_STEP_MEANING = "the last step that is recorded"
CELL: Meanings = {
    "cell_id": ("VARCHAR", "id of the cell: a hash of its parameters and its seed"),
    "seed": ("BIGINT", "seed of the cell"),
    "seed_mode": ("VARCHAR", "common: points share a seed's random draws; independent: each has its own"),
    "status": ("VARCHAR", "ok; diverged (a result too); failed; running: not final yet"),
    "message": ("VARCHAR", "what was wrong, of a cell that diverged or failed"),
    "recorded": ("VARCHAR[]", "what was recorded: the spacing of the steps, and recordings on request"),
    "steps": ("BIGINT", LAST_STEP_MEANING),
    "shard": ("VARCHAR", "the file that the row came from"),
    "attempt": ("BIGINT", "how often a batch with the cell had been started before"),
}
"""Columns of an experiment's table, beside its parameters and results."""

POINT: Meanings = {
    "cell_id": ("VARCHAR", "id of the cell"),
    "k": ("BIGINT", "number of the record in its curve, from 0"),
}
"""Columns of an experiment's table of recorded steps, beside its curves."""

OUTCOME: Meanings = {
    "cell_id": ("VARCHAR", "id of the cell"),
    OF_SHARD: ("VARCHAR", "the file with the row of the cell that the outcome was computed from"),
}
"""Columns of a detector's table, beside its outcomes."""

VERSION: Meanings = {"version": ("VARCHAR", "version of what computed the row")}
"""The column that the tables of all versions have beside those of the newest one."""

VALUE: Meanings = {
    "sweep_id": ("VARCHAR", "id of the sweep"),
    "point": ("INTEGER", "number of the cell's point in the sweep, from 0"),
    **OUTCOME,
}
"""Columns of the tables with outcomes that sweep files write, beside these."""

BOUND: Meanings = {
    "sweep_id": ("VARCHAR", "id of the sweep"),
    "outcome": ("VARCHAR", "name of the outcome in the sweep file"),
    "experiment": ("VARCHAR", "experiment of the sweep"),
    "expression": ("VARCHAR", "the expression; null: the sweep has the outcome no more"),
    "table_name": ("VARCHAR", "the table with its values"),
}
"""Columns of the table of such outcomes."""

RENAMING: Meanings = {
    "sweep_id": ("VARCHAR", "id of the sweep"),
    "name": ("VARCHAR", "its name in this data folder"),
}
"""Columns of the table of names that sweeps were given."""

FITTED: Meanings = {
    "sweep_id": ("VARCHAR", "id of the sweep"),
    "outcome": ("VARCHAR", "the outcome, as `refine` of the sweep file has it"),
    "point": ("BIGINT", "index of the point in the sweep, from 0 on"),
    "k": ("BIGINT", "cells at the point whose outcome is yes"),
    "n": ("BIGINT", "cells at the point whose outcome is known"),
    "mean": ("DOUBLE", "fitted share: the mean of its posterior, told by the point and those around it"),
    "low": ("DOUBLE", "lower end of the interval of the fitted share, at the confidence of `refine`"),
    "high": ("DOUBLE", "upper end of that interval"),
    "above": ("DOUBLE", "probability that the share exceeds that of `refine`, such as one half"),
    "verdict": ("VARCHAR", "above, below or near the share of `refine` at its confidence, else unknown"),
}
"""Columns of the table of fitted shares."""

_TIME = "TIMESTAMP"
_PLAN_ID = ("VARCHAR", "id of the plan")
_SWEEP_ID = ("VARCHAR", "id of the sweep: a hash of its cells and of what they record")
_SHARD = ("VARCHAR", "name of the file")

TABLES: Mapping[str, tuple[str, Meanings]] = {
    "sweeps": (
        "every sweep as its newest plan has it",
        {
            "sweep_id": _SWEEP_ID,
            "name": ("VARCHAR", "name of the sweep"),
            "experiment": ("VARCHAR", "its experiment, and the table with its cells"),
            "title": ("VARCHAR", "title in the sweep file"),
            "cells": ("BIGINT", "number of cells; of a sweep that is refined, those that were asked for"),
            "grid_cells": ("BIGINT", "cells of the whole grid: points times seeds"),
            "created": (_TIME, "when the plan was made, UTC"),
            "stream_version": ("BIGINT", "version of the experiment's numbers"),
            "recording": ("VARCHAR[]", "what its cells record"),
            "resolved": ("VARCHAR", "the whole sweep as JSON: axes, seeds, diagram, common parameters, tags, notes"),
        },
    ),
    "conventions": (
        "the bundle of defaults of every point of every sweep",
        {
            "sweep_id": _SWEEP_ID,
            "point": ("BIGINT", "number of the point in its sweep, from 0"),
            "preset": ("VARCHAR", "the bundle; null for none"),
        },
    ),
    "members": (
        "the cells of every sweep",
        {
            "sweep_id": _SWEEP_ID,
            "cell_id": ("VARCHAR", "id of a cell of it"),
            "point": ("INTEGER", "number of the cell's point in the sweep, from 0"),
        },
    ),
    "plans": (
        "every plan: what one run, or the planning of one, set out to train",
        {
            "plan_id": _PLAN_ID,
            "sweep_id": _SWEEP_ID,
            "name": ("VARCHAR", "name of the sweep"),
            "experiment": ("VARCHAR", "its experiment"),
            "title": ("VARCHAR", "title in the sweep file"),
            "sequence": ("BIGINT", "number of the plan among those of the sweep"),
            "cells": ("BIGINT", "number of cells of the sweep"),
            "created": (_TIME, "when the plan was made, UTC"),
            "stream_version": ("BIGINT", "version of the experiment's numbers"),
            "git_commit": ("VARCHAR", "commit of the code; null where it is not known"),
            "git_dirty": ("BOOLEAN", "whether the code had changes that were not committed"),
            "recording": ("VARCHAR[]", "what its cells record"),
            "resolved": ("VARCHAR", "the whole sweep as JSON"),
            "provenance": ("VARCHAR", "who, where, and with which packages, as JSON"),
            "batches": ("VARCHAR", "the batches as JSON"),
            "decision": (
                "VARCHAR",
                "why the cells of a round of a refined sweep, as JSON, with points told so far; null of any other plan",
            ),
        },
    ),
    "shards": (
        "every file of results",
        {
            "shard": _SHARD,
            "plan_id": _PLAN_ID,
            "sweep_id": _SWEEP_ID,
            "experiment": ("VARCHAR", "its experiment"),
            "batch": ("BIGINT", "number of the batch in its plan"),
            "attempt": ("BIGINT", "how often the batch had been started before"),
            "recorded": ("VARCHAR[]", "what was recorded"),
            "shape": ("VARCHAR", "what the cells of the batch have in common"),
            "cells": ("BIGINT", "number of cells of the batch"),
            "rows": ("BIGINT", "number of rows in the file"),
            "bytes": ("BIGINT", "size of the file"),
            "started": (_TIME, "when the batch was started, UTC"),
            "finished": (_TIME, "when the file was written, UTC"),
            "seconds": ("DOUBLE", "how long its rows took, in seconds"),
            "host": ("VARCHAR", "machine that trained it"),
            "device": ("VARCHAR", "cpu or cuda"),
            "pid": ("BIGINT", "process that trained it"),
            "versions": ("VARCHAR", "versions of packages, as JSON"),
        },
    ),
    "bad_shards": (
        "files that are left out",
        {"shard": _SHARD, "reason": ("VARCHAR", "why it is left out")},
    ),
    "retractions": (
        "results that were taken back: a row a cell and file",
        {
            "cell_id": ("VARCHAR", "id of the cell"),
            "shard": ("VARCHAR", "file with the result"),
            "reason": ("VARCHAR", "the reason that was given"),
            "sweep_id": ("VARCHAR", "id of the sweep that was named; null for single cells"),
            "sweep": ("VARCHAR", "its name"),
            "who": ("VARCHAR", "user who took it back"),
            "host": ("VARCHAR", "machine it was done on"),
            "command": ("VARCHAR", "the command"),
            "created": (_TIME, "when, UTC"),
            "record": ("VARCHAR", "record of it in the data folder"),
        },
    ),
}
"""The tables of every store, whatever its experiments: what they list, and their columns."""
