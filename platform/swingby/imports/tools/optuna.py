"""Optuna's studies in SQLite: trials, with the parameters that each of them had.

Source: https://github.com/optuna/optuna, optuna/storages/_rdb/models.py (schema of versions 3 to 5).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swingby.imports.tools.run import Run, json_of
from swingby.imports.tools.sqlite import has_tables, reading

TOOL = "an Optuna study"
_NOT_FINITE = {"INF_POS": math.inf, "INF_NEG": -math.inf, "NAN": math.nan}


def recognises(path: Path) -> bool:
    """Whether it is such a file."""
    return has_tables(path, ("studies", "trials", "trial_params", "trial_values"))


def runs(path: Path) -> Iterator[Run]:
    """The trials in their order; what a trial reported at steps is the curve `value`, or `intermediate` beside it."""
    with reading(path) as connection:
        trials = dict[int, Run]()
        query = """select trial_id, number, state, study_name from trials join studies using (study_id)
                   order by study_id, number"""
        for trial, number, state, study in connection.execute(query):
            trials[trial] = Run(f"trial {number}", {}, {}, {}, state.lower(), None, study)
        query = "select trial_id, param_name, param_value, distribution_json from trial_params order by param_id"
        for trial, name, value, distribution in connection.execute(query):
            if trial in trials:
                trials[trial].params = {**trials[trial].params, name: _value(name, value, distribution)}
        query = """select study_name, max(objective) from studies join trials using (study_id)
                   join trial_values using (trial_id) group by study_name"""
        objectives = dict(connection.execute(query).fetchall())
        for trial, place, value, kind in connection.execute(
            "select trial_id, objective, value, value_type from trial_values order by trial_id, objective"
        ):
            if run := trials.get(trial):
                name = f"value_{place}" if objectives[run.study] else "value"
                run.scalars = {**run.scalars, name: _NOT_FINITE.get(kind, value)}
        for trial, step, value, kind in connection.execute(
            "select trial_id, step, intermediate_value, intermediate_value_type from trial_intermediate_values"
        ):
            if run := trials.get(trial):
                run.curves.setdefault("intermediate", {})[step] = _NOT_FINITE.get(kind, value)
        for trial, name, text in connection.execute("select trial_id, key, value_json from trial_user_attributes"):
            if run := trials.get(trial):
                run.scalars = {**run.scalars, name: json_of(text, f"the attribute {name!r} of {run.name}")}
    yield from trials.values()


def _value(name: str, value: float, distribution: str) -> Any:
    """A parameter's value: of a choice the choice itself, of an integer an integer."""
    of = json_of(distribution, f"the distribution of {name!r}")
    attributes, kind = of.get("attributes", {}), of.get("name", "")
    if kind.startswith("Categorical"):
        return attributes["choices"][int(value)]
    return int(value) if kind.startswith("Int") else value
