"""Exports of other tools: which columns of a table of W&B, Optuna, MLflow, Ray Tune or `swingby export` mean what."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

ENDED: Mapping[str, str | None] = {
    "ok": "ok", "finished": "ok", "complete": "ok", "completed": "ok", "terminated": "ok",
    "success": "ok", "succeeded": "ok",
    "diverged": "diverged",
    "failed": "failed", "fail": "failed", "crashed": "failed", "killed": "failed", "preempted": "failed",
    "error": "failed", "errored": "failed", "pruned": "failed", "stopped": "failed",
    "running": None, "pending": None, "waiting": None, "queued": None, "scheduled": None, "preempting": None,
}  # fmt: skip
"""The status of a cell for what a tool says of a run, in lower case; None: it is not over, and is not imported."""


@dataclass(frozen=True)
class Export:
    """What is known of the columns of a file.

    Attributes:
        tool: what wrote it, in words; "" if that is not known.
        names: for columns that get another name, that name.
        dropped: columns that are about the run and no result.
        status: the column that says how a run ended.
        message: the column that says why.
        params: the columns that are parameters, where the tool marks them.
        seed, seed_mode, step, run: the columns with these meanings, where the tool has them.
        conditional: whether a parameter that some runs lack is one all the same, without a value there.
        largest: whether the largest numbers stand for what is infinite.
    """

    tool: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    dropped: Collection[str] = ()
    status: str | None = None
    message: str | None = None
    params: tuple[str, ...] = ()
    seed: str | None = None
    seed_mode: str | None = None
    step: str | None = None
    run: str | None = None
    conditional: bool = False
    largest: bool = False


def recognised(columns: Collection[str]) -> Export:
    """The export that has these columns; nothing is known of others.

    A column `seed` is taken for the seed, and a column `status` or `state` for how a run ended, also of no known tool.
    """
    for of in (_swingby, _optuna, _mlflow, _ray, _wandb):
        export = of(columns)
        if export is not None:
            return export
    return Export(seed=seed_column(columns, {}), status=_first(columns, "status", "state"))


def _swingby(columns: Collection[str]) -> Export | None:
    """A table of `swingby export`."""
    if not {"cell_id", "seed", "seed_mode", "shard", "recorded"} <= set(columns):
        return None
    dropped = {"cell_id", "recorded", "shard", "attempt", "point", "steps", "last_step", "preset"} & set(columns)
    if "last_step" in columns:
        dropped -= {"steps"}  # a parameter, then
    return Export(
        tool="swingby export", dropped=dropped, status="status", message=_first(columns, "message"), seed="seed",
        seed_mode="seed_mode", step=_first(columns, "step"),
    )  # fmt: skip


def _optuna(columns: Collection[str]) -> Export | None:
    """A table of Optuna's `study.trials_dataframe()`."""
    if not {"number", "state"} <= set(columns) or not any(name.startswith("params_") for name in columns):
        return None
    names = dict[str, str]()
    for prefix in ("params_", "user_attrs_", "values_"):
        names |= {name: name.removeprefix(prefix) for name in columns if name.startswith(prefix)}
    names = {name: short if not short.isdecimal() else f"value_{short}" for name, short in names.items()}
    about = ("number", "datetime_start", "datetime_complete", "duration", "intermediate_values", "study_name")
    return Export(
        tool="a table of Optuna's trials",
        names=unambiguous(names, columns),
        dropped={name for name in columns if name in about or name.startswith("system_attrs_") or _is_index(name)},
        status="state",
        params=tuple(name for name in columns if name.startswith("params_")),
        seed=seed_column(columns, names),
        conditional=True,
    )


def _mlflow(columns: Collection[str]) -> Export | None:
    """A table of MLflow's `search_runs()`."""
    if not {"run_id", "experiment_id", "status"} <= set(columns):
        return None
    names = {name: name.partition(".")[2] for name in columns if name.startswith(("params.", "metrics."))}
    return Export(
        tool="a table of MLflow's runs",
        names=unambiguous(names, columns),
        dropped={name for name in columns if name not in names and name != "status"},
        status="status",
        params=tuple(name for name in columns if name.startswith("params.")),
        seed=seed_column([name for name in columns if name in names], names),
        conditional=True,
        largest=True,
    )


RAY_ABOUT = frozenset({
    "timestamp", "checkpoint_dir_name", "done", "trial_id", "date", "time_this_iter_s", "time_total_s", "pid",
    "hostname", "node_ip", "time_since_restore", "iterations_since_restore", "experiment_tag", "logdir",
    "experiment_id", "timesteps_total", "episodes_total", "should_checkpoint", "warmup_time", "trial_log_path",
})  # fmt: skip
"""What Ray Tune writes beside what a trial reports."""


def _ray(columns: Collection[str]) -> Export | None:
    """A table of Ray Tune's `get_dataframe()`, or of a trial's `progress.csv`."""
    if not {"training_iteration", "trial_id", "time_total_s"} <= set(columns):
        return None
    names = {name: name[len("config/") :] for name in columns if name.startswith(("config/", "config."))}
    return Export(
        tool="a table of Ray Tune's trials",
        names=unambiguous(names, columns),
        dropped={name for name in columns if name in RAY_ABOUT or _is_index(name)},
        params=tuple(names),
        seed=seed_column(columns, names),
        conditional=True,
    )


_WANDB_ABOUT = {
    "name", "id", "run_id", "display_name", "displayname", "notes", "user", "username", "entity", "project", "tags",
    "created", "created_at", "createdat", "updated", "updated_at", "heartbeat_at", "heartbeatat", "end time", "runtime",
    "sweep", "sweep_name", "group", "job type", "job_type", "host", "hostname", "os", "python version", "gpu count",
    "gpu type", "cpu count", "github", "git commit", "command", "path", "url", "agent", "logs", "_runtime",
    "_timestamp", "_wandb", "_gotlogs",
}  # fmt: skip
_STATES = ("State", "state")
_WANDB_PREFIXES = ("config.", "summary.", "summary_metrics.", "config/", "summary/")


def _wandb(columns: Collection[str]) -> Export | None:
    """A table of W&B's runs, or of their histories, from the web page or its API."""
    runs = _first(columns, *_STATES) is not None and _first(columns, "Name", "name", "ID", "id") is not None
    history = "_step" in columns and bool({"_runtime", "_timestamp"} & set(columns))
    if not runs and not history:
        return None
    names = dict[str, str]()
    for prefix in _WANDB_PREFIXES:
        names |= {name: name.removeprefix(prefix) for name in columns if name.startswith(prefix)}
    status = _first(columns, *_STATES)
    dropped = {name for name in columns if is_about(names.get(name, name))}
    step = "_step" if history else None
    dropped |= {name for name in columns if names.get(name, name) == "_step" and name != step}
    return Export(
        tool="a history of W&B runs" if step else "a table of W&B runs",
        names=unambiguous({name: short for name, short in names.items() if name not in dropped}, columns),
        dropped=dropped - {status},
        status=status,
        params=tuple(name for name in columns if name.startswith("config") and name in names and name not in dropped),
        seed=seed_column(columns, names),
        step=step,
        run=_first(columns, "run_id", "ID", "id", "Name", "name") if step else None,
    )


def is_about(name: str) -> bool:
    """Whether a column of W&B is about the run: no setting, and no result."""
    return (
        name.lower() in _WANDB_ABOUT or name.startswith(("_wandb.", "_wandb/", "system/", "system.")) or _is_index(name)
    )


def _is_index(name: str) -> bool:
    """Whether a column is the index that pandas writes without a name."""
    return name in ("", "column0", "Unnamed: 0")


SEEDS = ("seed", "random_seed", "rng_seed", "random_state", "manual_seed", "global_seed", "seed_everything")
"""What columns of seeds are called, in lower case."""


def seed_column(columns: Collection[str], names: Mapping[str, str]) -> str | None:
    """The column with the seed: one that is called so, else the only one whose name ends so; None: there is none."""
    plain = {name: names.get(name, name).lower() for name in columns}
    called = [name for seed in SEEDS for name in columns if plain[name] == seed]
    ending = [name for name in columns if plain[name].endswith((".seed", "/seed", "_seed"))]
    return called[0] if called else ending[0] if len(ending) == 1 else None


def _first(columns: Collection[str], *names: str) -> str | None:
    return next((name for name in names if name in columns), None)


def unambiguous(names: Mapping[str, str], columns: Collection[str]) -> dict[str, str]:
    """The new names without those that another column has, in upper or lower case."""
    taken = [names.get(name, name).lower() for name in columns]
    return {name: new for name, new in names.items() if taken.count(new.lower()) == 1}
