"""Two bundles of conventions: those of the paper's text, and those of the code behind its figures.

Each maps the values that are set for a point to defaults for all other parameters. Defaults depend on the model and on
s alone, never on depth, width or d: along such an axis nothing else may change. Exceptions of single figures (lr 0.01
and width 3 or 4 in the narrow nets of Figs 2c, 13 and 14, mu = (2, 4) in Figs 2c and 3) stand in those figures' sweeps.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import Any, cast

from .params import SYMMETRIC_FAMILY

Values = Mapping[str, Any]
"""Values that are set for a point. They are looked up one by one and never copied: points that differ only in values
that are never looked up share one result."""

_BATCH, _EPOCHS, _POINTS = 128, 40, 5000
_SYMMETRIC_MU = {2: (1.0, 1.5), 3: (1.0, 1.5, 2.2), 4: (1.0, 1.5, 2.2, 2.7)}


def paper(values: Values) -> dict[str, Any]:
    """The conventions of the paper's text. It leaves the shuffle open: once, as in the code behind its figures."""
    s = _concepts(values)
    if values.get("model") in SYMMETRIC_FAMILY:
        sigma = {"sigma": (0.05, 0.05, 0.05, 0.5)} if s == 4 else {}
        return _complete(values, s, {**_symmetric(values, s), **sigma, "init": "normal", "init_gain": 0.1})
    conventions = {"sigma_is": "sd", "zero_cluster": False, "bias": False, "reduction": "half_sum"}
    return _complete(values, s, {**_mlp(s), **conventions})


def authors(values: Values) -> dict[str, Any]:
    """The conventions of the code behind the paper's figures."""
    s = _concepts(values)
    if values.get("model") in SYMMETRIC_FAMILY:
        fig_8 = {"mu": (1.0, 1.7, 2.25), "sigma": (0.5, 0.25, 0.25)} if s == 3 else {}
        start = {"init": "uniform", "init_high": 0.2 if s == 2 else 0.1}
        power = 1 if values.get("drive") == "sgd" else 2
        return _complete(values, s, {**_symmetric(values, s), **fig_8, **start, "moment_power": power})
    # The s = 4 hierarchy (Fig 7) has no cluster at the origin.
    conventions = {"sigma_is": "variance", "zero_cluster": s == 2, "bias": True, "reduction": "mean"}
    return _complete(values, s, {**_mlp(s), **conventions})


def _concepts(values: Values) -> int:
    """s as set, or the length of mu or sigma as set, or 2."""
    if "s" in values:
        return _whole(values, "s", 2)
    vectors = (values.get(name) for name in ("mu", "sigma"))
    return next((len(vector) for vector in vectors if isinstance(vector, list | tuple)), 2)


def _whole(values: Values, name: str, default: int) -> int:
    """A whole number as set; the default for any other value, which the parameters' own checks then refuse."""
    value = values.get(name, default)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= 10**6 else default


def _mlp(s: int) -> dict[str, Any]:
    return {"mu": tuple(float(p + 1) for p in range(s)), "sigma": (0.5,) * s if s == 4 else (0.05,) * s}


def _symmetric(values: Values, s: int) -> dict[str, Any]:
    d = _whole(values, "d", s)
    return {
        "drive": "gd" if values.get("model") == "w_recurrence" else "flow",
        "d": d,
        "mu": _SYMMETRIC_MU.get(s, tuple(float(p + 1) for p in range(s))),
        "sigma": (0.05,) * s,
        "sigma_is": "sd",
        "zero_cluster": False,
        # Signs of w_ij(0) are the point of these figures; a rotation would mix them.
        "rotate": False,
        "layers": 2,
        "width": d,
        "bias": False,
        "reduction": "quarter_sum",
        "lr": 0.01,
        "gd_steps": 10_000,
        "moments": "population",
    }


def _complete(values: Values, s: int, bundle: Mapping[str, Any]) -> dict[str, Any]:
    """A bundle with the defaults that all bundles share, and those that follow from what is set."""
    defaults: dict[str, Any] = {
        "s": s,
        "model": "linear",
        "drive": "sgd",
        "d": 64,
        "n": _POINTS,
        "truncate": False,
        "rotate": True,
        "layers": 1 if values.get("model") == "one_layer" else 2,
        "width": 64,
        "init": "default",
        "init_gain": 1.0,
        "init_high": 0.1,
        "init_weights": None,
        "lr": 0.1,
        "epochs": _EPOCHS,
        "batch_size": _BATCH,
        "shuffle": "once",
        "moments": "sample",
        "moment_power": 1,
        "rtol": 1e-8,
        "dtype": "float32",
        **bundle,
    }
    point = ChainMap(cast(Any, values), defaults)
    if "gd_steps" not in defaults:
        # As many steps as the SGD run of the point would take, so that drives can be compared step by step.
        points = (_whole(point, "s", 2) + (point.get("zero_cluster") is True)) * _whole(point, "n", _POINTS)
        steps_per_epoch = -(-points // _whole(point, "batch_size", _BATCH))
        defaults["gd_steps"] = _whole(point, "epochs", _EPOCHS) * steps_per_epoch
    if point["drive"] in ("flow", "closed_form"):
        defaults["dtype"] = "float64"
    return defaults
