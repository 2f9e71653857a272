"""Asks the verdicts of a refined sweep again of fresh seeds: `python -m tests.support.check_refined SWEEP --data DATA`.

At random points that are told to be above or below the line, and at random points anywhere, new cells are trained on
seeds that the sweep does not have. Printed is how many of the told points lie on their side, and by how much the fitted
shares are off.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import yaml

from swingby.run.driver import run_sweep
from swingby.run.extend import shares_of
from swingby.select.intervals import wilson
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep


def main() -> None:
    """Trains the cells, and prints the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sweep", help="a sweep file, or a packaged sweep")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--points", type=int, default=150, help="of each kind: above, below, anywhere")
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--first", type=int, default=2000, help="the first fresh seed")
    asked = parser.parse_args()
    sweep = Sweep.load(asked.sweep, confirm_above=None)
    refinement = sweep.refinement()
    outcome = refinement.labels[0].text
    with Store.open(asked.data) as store:
        query = "select point, mean, verdict from share_fit where sweep_id = ? and outcome = ? order by point"
        fit = store.sql(query, [sweep.sweep_id, outcome]).arrow()
    verdicts, means = np.array(fit["verdict"].to_pylist()), fit["mean"].to_numpy()
    draws = np.random.default_rng(0)
    chosen = {
        name: draws.choice(np.flatnonzero(verdicts == name), asked.points, replace=False) for name in ("above", "below")
    }
    chosen["anywhere"] = draws.choice(len(fit), asked.points, replace=False)
    places = np.unique(np.concatenate(list(chosen.values())))
    file = yaml.safe_load(Path(str(sweep.source)).read_text())
    file |= {
        "name": f"check-{sweep.name}",
        "seeds": {"count": asked.seeds, "first": asked.first, "mode": "independent"},
    }
    flat = np.unravel_index(places, [len(axis.values) for axis in sweep.axes])
    file["axes"] = {
        "zip": [
            {
                name: [axis.values[at][entry] for at in indices.tolist()]
                for axis, indices in zip(sweep.axes, flat, strict=True)
                for entry, name in enumerate(axis.names)
            }
        ]
    }
    file["diagram"] = {"x": sweep.axes[0].names[0], "outcome": outcome}
    file.pop("refine")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "check.yaml"
        path.write_text(yaml.safe_dump(file))
        check = Sweep.load(str(path), confirm_above=None)
        run_sweep(check, asked.data, local=True)
        seen = {share.point: share for share in shares_of(asked.data, check, outcome)}
    at = {place: seen[number] for number, place in enumerate(places.tolist())}
    for name in ("above", "below"):
        shares = [at[place] for place in chosen[name].tolist()]
        low, high = wilson([one.k for one in shares], [one.n for one in shares])
        right = sum((one.k / one.n > refinement.share) == (name == "above") for one in shares)
        surely_wrong = int((high < refinement.share).sum() if name == "above" else (low > refinement.share).sum())
        print(
            f"told {name}: {right} of {len(shares)} on that side of {refinement.share:g} on {asked.seeds} fresh seeds; "
            f"{surely_wrong} beyond doubt on the other (95 % intervals)"
        )
    shares = np.array([at[place].k / at[place].n for place in chosen["anywhere"].tolist()])
    off = shares - means[chosen["anywhere"]]
    noise = np.sqrt(shares * (1 - shares) / asked.seeds)
    rms = np.sqrt(max(0.0, (off**2 - noise**2).mean()))
    print(
        f"anywhere: fitted less fresh share {-off.mean():+.3f} on average, {rms:.3f} rms beyond the noise of the seeds"
    )


if __name__ == "__main__":
    main()
