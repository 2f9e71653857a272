"""Two bundles of conventions: what the paper's text says, and what the code behind its figures does.

Each is a function of the values set for a point to defaults for all others. They depend on the model and on s alone,
never on depth, width or d: along such an axis nothing else may change. What single figures do otherwise (lr 0.01 and
width 3 or 4 in the narrow nets of Figs 2c, 13 and 14, mu = (2, 4) in Figs 2c and 3) stands in those figures' sweeps.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import Any, cast

Values = Mapping[str, Any]

_BATCH, _EPOCHS, _POINTS = 128, 40, 5000
_SYMMETRIC_MU = {2: (1.0, 1.5), 3: (1.0, 1.5, 2.2), 4: (1.0, 1.5, 2.2, 2.7)}


def paper(values: Values) -> dict[str, Any]:
    """The conventions of the paper's text. It leaves the shuffle open: once, as its figures' code does."""
    return _complete(values, _paper_symmetric if _is_symmetric(values) else _paper_mlp)


def authors(values: Values) -> dict[str, Any]:
    """The conventions of the code behind the paper's figures."""
    return _complete(values, _authors_symmetric if _is_symmetric(values) else _authors_mlp)


def _is_symmetric(values: Values) -> bool:
    return values.get("model") in ("symmetric", "w_recurrence")


def _complete(values: Values, bundle: Any) -> dict[str, Any]:
    """The bundle's defaults, with those that follow from others: what a file sets goes before."""
    # Values are looked up and never copied: what is not looked at cannot matter, and a million points share an answer.
    s = _concepts(values)
    given = ChainMap(cast(Any, values), {"s": s, "model": "linear"})
    defaults = {"s": s, "model": "linear", **_common(given, s), **bundle(given, s)}
    every = ChainMap(cast(Any, values), defaults)
    defaults["gd_steps"] = defaults.get("gd_steps", _sgd_steps(every))
    if every["drive"] in ("flow", "closed_form"):
        defaults["dtype"] = "float64"
    return defaults


def _concepts(values: Values) -> int:
    """s as set, or the length of mu or sigma as set, or 2."""
    if "s" in values:
        return _whole(values, "s", 2)
    vectors = (values.get(name) for name in ("mu", "sigma"))
    return next((len(vector) for vector in vectors if isinstance(vector, list | tuple)), 2)


def _whole(values: Values, name: str, default: int) -> int:
    """A whole number as set; anything else is left for the parameters' own checks to refuse."""
    value = values.get(name, default)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= 10**6 else default


def _common(given: Values, s: int) -> dict[str, Any]:
    return {
        "drive": "sgd",
        "d": 64,
        "n": _POINTS,
        "truncate": False,
        "rotate": True,
        "layers": 1 if given["model"] == "one_layer" else 2,
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
    }


def _paper_mlp(given: Values, s: int) -> dict[str, Any]:
    return {
        "mu": tuple(float(p + 1) for p in range(s)),
        "sigma": (0.5,) * s if s == 4 else (0.05,) * s,
        "sigma_is": "sd",
        "zero_cluster": False,
        "bias": False,
        "reduction": "half_sum",
    }


def _authors_mlp(given: Values, s: int) -> dict[str, Any]:
    return {
        "mu": tuple(float(p + 1) for p in range(s)),
        "sigma": (0.5,) * s if s == 4 else (0.05,) * s,
        "sigma_is": "variance",
        # The s = 4 hierarchy (Fig 7) has no cluster at the origin.
        "zero_cluster": s == 2,
        "bias": True,
        "reduction": "mean",
    }


def _symmetric(given: Values, s: int) -> dict[str, Any]:
    d = _whole(given, "d", s)
    return {
        "drive": "gd" if given["model"] == "w_recurrence" else "flow",
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


def _paper_symmetric(given: Values, s: int) -> dict[str, Any]:
    sigma = {"sigma": (0.05, 0.05, 0.05, 0.5)} if s == 4 else {}
    return {**_symmetric(given, s), **sigma, "init": "normal", "init_gain": 0.1}


def _authors_symmetric(given: Values, s: int) -> dict[str, Any]:
    fig_8 = {"mu": (1.0, 1.7, 2.25), "sigma": (0.5, 0.25, 0.25)} if s == 3 else {}
    return {
        **_symmetric(given, s),
        **fig_8,
        "init": "uniform",
        "init_high": 0.2 if s == 2 else 0.1,
        "moment_power": 1 if given.get("drive") == "sgd" else 2,
    }


def _sgd_steps(point: Values) -> int:
    """As many steps as the SGD run of the same point would take, so that drives can be compared step by step."""
    clusters = _whole(point, "s", 2) + (point.get("zero_cluster") is True)
    points = clusters * _whole(point, "n", _POINTS)
    return _whole(point, "epochs", _EPOCHS) * -(-points // _whole(point, "batch_size", _BATCH))


presets = {"paper": cast(Any, paper), "authors": cast(Any, authors)}
