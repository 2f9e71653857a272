# type: ignore
from itertools import product

import altair as alt
import mlflow
from loop import losses
from mlflow.entities import Metric, Param

client = mlflow.MlflowClient("sqlite:///mlflow.db")
mlflow.set_tracking_uri("sqlite:///mlflow.db")
experiment = client.create_experiment("net")
for lr, width, seed in product([0.01, 0.03, 0.1, 0.3], [2, 4, 8, 16], range(10)):
    run = client.create_run(experiment).info.run_id
    metrics = [Metric("loss", loss, 0, step) for step, loss in losses(lr, width, seed)]
    values = {"lr": lr, "width": width, "seed": seed}
    client.log_batch(run, metrics, [Param(name, str(value)) for name, value in values.items()])
    client.set_terminated(run)
runs = mlflow.search_runs([experiment])
runs["learned"] = runs["metrics.loss"] < 0.05
shares = runs.groupby(["params.lr", "params.width"], as_index=False)["learned"].mean()
shares.columns = ["lr", "width", "share"]
alt.Chart(shares).mark_rect().encode(x="lr:O", y="width:O", color="share:Q").save("map.html")
