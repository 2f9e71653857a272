"""Runs that other tools leave, made by these tools: `python make_runs.py TOOL FOLDER`.

Each trains two rates with two seeds for five steps; the loss at step k is (1 - rate) ** (2 k). Where a tool says how
runs end, a third seed of the smaller rate fails. The files in `left.zip` were made so.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

RATES, SEEDS, STEPS = (0.1, 0.5), (0, 1), 5
GRID = [(rate, seed) for rate in RATES for seed in SEEDS]


def losses(rate: float) -> list[float]:
    """The loss at each step."""
    return [(1 - rate) ** (2 * step) for step in range(STEPS)]


def by_wandb(folder: Path) -> None:
    """Offline runs, of which one ends with exit code 1; a summary, a metric at every other step, nested settings."""
    os.environ |= {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "WANDB_DIR": str(folder)}
    import wandb  # type: ignore[import-not-found]

    quiet = wandb.Settings(x_disable_stats=True, x_disable_meta=True, save_code=False)
    for rate, seed in [*GRID, (0.1, 2)]:
        config = {"lr": rate, "seed": seed, "opt": {"name": "sgd", "betas": [0.9, 0.99]}}
        run = wandb.init(project="toy", config=config, settings=quiet)
        for step, loss in enumerate(losses(rate)):
            run.log({"train/loss": loss, **({"val/acc": 1 - loss} if step % 2 == 0 else {})})
        run.summary["best"] = min(losses(rate))
        run.finish(exit_code=int(seed == 2))


def by_mlflow(folder: Path, uri: str) -> None:
    """Runs, of which one raises; one metric is infinite, and one parameter is of some runs alone."""
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    import mlflow  # type: ignore[import-not-found]

    os.chdir(folder)
    mlflow.set_tracking_uri(uri)
    mlflow.set_experiment("toy")
    for rate, seed in [*GRID, (0.1, 2)]:
        try:
            with mlflow.start_run(run_name=f"rate {rate}, seed {seed}"):
                mlflow.log_params({"lr": rate, "seed": seed, "out": f"/x/{rate}-{seed}"})
                if rate == 0.5:
                    mlflow.log_param("momentum", 0.9)
                for step, loss in enumerate(losses(rate)):
                    mlflow.log_metric("train/loss", loss, step=step)
                mlflow.log_metric("acc", float("inf") if rate == 0.5 else 0.75)
                if seed == 2:
                    raise RuntimeError
        except RuntimeError:
            pass
    mlflow.search_runs().to_csv(folder / "search_runs.csv", index=False)


def by_tensorboard(folder: Path) -> None:
    """Runs with scalars, a text, a histogram, and settings by `add_hparams`."""
    from tensorboardX import SummaryWriter  # type: ignore[import-untyped]

    for rate, seed in GRID:
        writer = SummaryWriter(str(folder / f"lr{rate}_s{seed}"))
        writer.add_hparams({"lr": rate, "seed": seed, "opt": "sgd"}, {"hp/acc": 0.5}, name="hp")
        for step, loss in enumerate(losses(rate)):
            writer.add_scalar("train/loss", loss, step)
        writer.add_text("note", "a text", 0)
        writer.add_histogram("weights", [1, 2, 3], 0)
        writer.close()


def by_optuna(folder: Path) -> None:
    """A study with a parameter that one choice alone has, and a trial that is pruned."""
    import optuna  # type: ignore[import-not-found]

    study = optuna.create_study(study_name="toy", storage=f"sqlite:///{folder}/optuna.db")

    def objective(trial: Any) -> float:
        rate = trial.suggest_float("lr", 0.01, 1, log=True)
        if trial.suggest_categorical("kind", ["sgd", "adam"]) == "sgd":
            trial.suggest_float("momentum", 0, 0.9)
        for step, loss in enumerate(losses(rate)):
            trial.report(loss, step)
        if trial.user_attrs["seed"] == 2:
            raise optuna.TrialPruned
        return losses(rate)[-1]

    for rate, seed in [*GRID, (0.1, 2)]:
        kinds = {"kind": "sgd", "momentum": 0.9} if rate == 0.1 else {"kind": "adam"}
        study.enqueue_trial({"lr": rate, **kinds}, user_attrs={"seed": seed})
    study.optimize(objective, n_trials=5)
    study.trials_dataframe().to_csv(folder / "trials.csv", index=False)


def by_ray(folder: Path) -> None:
    """Ray Tune's trials, of which one raises after its last report; a list of texts is a setting."""
    import ray
    from ray import tune

    def train(config: dict[str, Any]) -> None:
        for loss in losses(config["lr"]):
            tune.report({"loss": loss, "info": {"acc": 1 - loss}})
        if config["seed"] == 2:
            raise ValueError("no such seed")

    ray.init(num_cpus=1, include_dashboard=False, logging_level=40)
    space = {
        "lr": tune.grid_search(list(RATES)), "seed": tune.grid_search([0, 1, 2]),
        "model": {"width": 4, "acts": ["relu", "tanh"]},
    }  # fmt: skip
    run = tune.RunConfig(name="ray", storage_path=str(folder), verbose=0)
    tune.Tuner(train, param_space=space, run_config=run).fit().get_dataframe().to_csv(folder / "frame.csv")


APP = """
import json
from pathlib import Path
import hydra
from hydra.core.hydra_config import HydraConfig

@hydra.main(version_base=None, config_path=".", config_name="config")
def main(cfg):
    out = Path(HydraConfig.get().runtime.output_dir)
    rows = [f"{step},{(1 - cfg.lr) ** (2 * step)}" for step in range(5)]
    (out / "metrics.csv").write_text("\\n".join(["step,loss", *rows]) + "\\n")
    (out / "result.json").write_text(json.dumps({"acc": 1 - cfg.lr}))

main()
"""


def by_hydra(folder: Path) -> None:
    """Folders of Hydra's multirun, with a table and an object that the program wrote."""
    (folder / "app.py").write_text(APP)
    (folder / "config.yaml").write_text("lr: 0.1\nseed: 0\nmodel: {width: 4, acts: [relu, tanh]}\n")
    words = ["-m", "lr=0.1,0.5", "seed=0,1", "hydra.sweep.dir=multirun"]
    subprocess.run([sys.executable, "app.py", *words], cwd=folder, check=True, capture_output=True)
    (folder / "config.yaml").unlink()


MAKERS = {
    "wandb": by_wandb,
    "mlruns": lambda folder: by_mlflow(folder, f"file://{folder}/mlruns"),
    "mlflow": lambda folder: by_mlflow(folder, f"sqlite:///{folder}/mlflow.db"),
    "tensorboard": by_tensorboard,
    "optuna": by_optuna,
    "ray": by_ray,
    "multirun": by_hydra,
}

if __name__ == "__main__":
    MAKERS[sys.argv[1]](Path(sys.argv[2]).resolve())
