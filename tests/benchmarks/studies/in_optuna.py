# type: ignore
import optuna
from loop import losses
from optuna.visualization import plot_contour, plot_intermediate_values

optuna.logging.set_verbosity(optuna.logging.ERROR)
GRID = {"lr": [0.01, 0.03, 0.1, 0.3], "width": [2, 4, 8, 16], "seed": list(range(10))}


def objective(trial):
    lr = trial.suggest_categorical("lr", GRID["lr"])
    width = trial.suggest_categorical("width", GRID["width"])
    seed = trial.suggest_categorical("seed", GRID["seed"])
    for step, loss in losses(lr, width, seed):
        trial.report(loss, step)
    return loss


study = optuna.create_study(
    storage="sqlite:///study.db", study_name="net", load_if_exists=True, sampler=optuna.samplers.GridSampler(GRID)
)
study.optimize(objective)
plot_contour(study, ["lr", "width"]).write_html("map.html")
plot_intermediate_values(study).write_html("curves.html")
