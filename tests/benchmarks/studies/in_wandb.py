# type: ignore
import os
from itertools import product

os.environ |= {"WANDB_MODE": "offline", "WANDB_SILENT": "true"}
import altair as alt
import pandas as pd
import wandb
from loop import losses

rows = []
for lr, width, seed in product([0.01, 0.03, 0.1, 0.3], [2, 4, 8, 16], range(10)):
    run = wandb.init(project="net", config={"lr": lr, "width": width, "seed": seed}, reinit="finish_previous")
    for step, loss in losses(lr, width, seed):
        run.log({"loss": loss}, step=step)
    run.finish()
    rows.append({"lr": lr, "width": width, "learned": loss < 0.05})
shares = pd.DataFrame(rows).groupby(["lr", "width"], as_index=False)["learned"].mean()
alt.Chart(shares).mark_rect().encode(x="lr:O", y="width:O", color="learned:Q").save("map.html")
