"""One peer's page from results in memory: run by the peer's own interpreter, it prints seconds and bytes as JSON.

Arguments: the peer, a file of results (a JSON line a run: params, value, steps, curve), a folder, and the most seconds.
"""

# The peers live in an interpreter of their own.
# pyright: reportMissingImports=false
from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]


def optuna_page(rows: Rows, folder: Path, curves: bool) -> int:
    """A study of the runs, and the plots of a map and of single parameters, with each run's curve if asked; bytes."""
    import optuna
    from optuna.distributions import FloatDistribution
    from optuna.trial import create_trial
    from optuna.visualization import plot_contour, plot_intermediate_values, plot_slice

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    ends = {name: [row["params"][name] for row in rows] for name in rows[0]["params"]}
    spaces = {name: FloatDistribution(min(values), max(values)) for name, values in ends.items()}
    study = optuna.create_study()
    study.add_trials([
        create_trial(
            params=row["params"],
            distributions=spaces,
            value=row["value"],
            intermediate_values=dict(zip(row["steps"], row["curve"], strict=True)) if curves else None,
        )
        for row in rows
    ])  # fmt: skip
    size, library = 0, True
    for plot in (plot_contour, plot_slice, *([plot_intermediate_values] if curves else [])):
        path = folder / f"{plot.__name__}.html"
        figure = plot(study, params=list(spaces)[:2]) if plot is plot_contour else plot(study)
        figure.write_html(path, include_plotlyjs=library)  # the library once
        size, library = size + path.stat().st_size, False
    return size


def mlflow_store(rows: Rows, folder: Path, until: float) -> int:
    """The runs in MLflow's store in SQLite, one batch a run, then `search_runs` of all; bytes of the store."""
    import mlflow
    from mlflow.entities import Metric, Param

    client = mlflow.MlflowClient(f"sqlite:///{folder}/mlflow.db")
    experiment = client.create_experiment("pages")
    for place, row in enumerate(rows):
        if time.monotonic() > until:
            raise TimeoutError(f"{place:,} of {len(rows):,} runs")
        run = client.create_run(experiment).info.run_id
        metrics = [Metric("loss", value, 0, step) for step, value in zip(row["steps"], row["curve"], strict=True)]
        client.log_batch(run, metrics, [Param(name, str(value)) for name, value in row["params"].items()])
        client.set_terminated(run)
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    mlflow.search_runs([experiment], max_results=len(rows))
    return (folder / "mlflow.db").stat().st_size


def wandb_offline(rows: Rows, folder: Path, until: float) -> int:
    """The runs as offline runs of W&B; bytes of their files."""
    os.environ |= {"WANDB_SILENT": "true", "WANDB_MODE": "offline"}
    import wandb

    for place, row in enumerate(rows):
        if time.monotonic() > until:
            raise TimeoutError(f"{place:,} of {len(rows):,} runs")
        run = wandb.init(project="pages", dir=folder, config=row["params"], reinit="finish_previous")
        for step, value in zip(row["steps"], row["curve"], strict=True):
            run.log({"loss": value}, step=step)
        run.finish()
    return sum(path.stat().st_size for path in folder.rglob("*.wandb"))


def main() -> None:
    """Runs one peer; imports of it and reading the rows are not counted."""
    peer, source, place, most = sys.argv[1:]
    rows: Rows = [json.loads(line) for line in Path(source).read_text().splitlines()]
    folder = Path(place)
    for module in {"optuna": ["optuna", "plotly"], "mlflow": ["mlflow"], "wandb": ["wandb"]}[peer.partition("-")[0]]:
        __import__(module)
    began, cpu = time.monotonic(), time.process_time()
    until = began + float(most)
    try:
        if peer.startswith("optuna"):
            size = optuna_page(rows, folder, peer.endswith("curves"))
        else:
            size = (mlflow_store if peer == "mlflow" else wandb_offline)(rows, folder, until)
    except TimeoutError as error:
        print(json.dumps({"late": str(error), "cpu": time.process_time() - cpu}))
    else:
        print(json.dumps({"seconds": time.monotonic() - began, "cpu": time.process_time() - cpu, "bytes": size}))


if __name__ == "__main__":
    main()
