"""Sweeps as other tools write them, written as a sweep file has them: hints that show the user's own values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from swingby.sweepfile.yaml import flow, read_yaml

SEEDS = ("seed", "seeds", "random_seed")
"""What others call the seed, which is no parameter here."""
SPACES = ("parameters", "params", "param_space", "search_space", "hyperparameters", "config")
"""Under which keys other tools list what varies."""
POINTS = 5
"""How many values of an interval are shown, where the other tool draws at random."""
_CALL = re.compile(r"(\w+)\(([^()]*)\)")
Form = tuple[str, Any]
"""Under which key of a sweep file a parameter stands, "axes" or "base", and what stands there."""


def parameter_of(spec: Any) -> Form | None:
    """What varies in the words of W&B, Optuna, Ray Tune or Hydra; None: it is in none of theirs."""
    if isinstance(spec, str):
        return _of_text(spec)
    if not isinstance(spec, Mapping):
        return None
    for key in ("values", "choices", "grid_search", "sequence"):
        if isinstance(spec.get(key), list):
            return "axes", list(spec[key])
    if "value" in spec:
        return "base", spec["value"]
    low, high = (next((spec[key] for key in keys if key in spec), None) for keys in (("min", "low"), ("max", "high")))
    if low is None or high is None or not (_is_number(low) and _is_number(high)):
        return None
    kind = str(spec.get("distribution", spec.get("type", "")))
    if kind in ("log_uniform", "q_log_uniform"):  # W&B gives the logarithms of the ends
        low, high = math.exp(low), math.exp(high)
    step = spec.get("step", spec.get("q"))
    return _between(low, high, "log" in kind or spec.get("log") is True, step, kind.startswith("int"))


def _between(low: float, high: float, log: bool, step: Any = None, integer: bool = False) -> Form:
    """An interval as an axis."""
    if log and low > 0:
        return "axes", {"logspace": {"from": low, "to": high, "points": POINTS}}
    if _is_number(step) and step > 0:
        return "axes", {"range": {"from": low, "to": low + step * math.floor((high - low) / step + 1e-9), "step": step}}
    whole = integer or (isinstance(low, int) and isinstance(high, int))
    if whole and high - low < 2 * POINTS:
        return "axes", list(range(int(low), int(high) + 1))
    return "axes", {"linspace": {"from": low, "to": high, "points": POINTS}}


def _of_text(text: str) -> Form | None:
    """An override of Hydra: `1,2,4`, `choice(a, b)`, `range(0, 5)`, `interval(0, 1)`."""
    call = _CALL.fullmatch(text.strip())
    if call is None:
        items = [item.strip() for item in text.split(",")]
        return ("axes", list(map(_read, items))) if len(items) > 1 and all(items) and "(" not in text else None
    named = [item.split("=")[-1] for item in call[2].split(",") if item.strip()]
    values = [_read(item.strip()) for item in named]
    if call[1] == "choice" and values:
        return "axes", values
    if not values or not all(map(_is_number, values)):
        return None
    if call[1] == "range" and all(isinstance(value, int) for value in values) and len(values) <= 3:
        return "axes", list(range(*values))[:1000]
    return _between(values[0], values[1], False) if call[1] == "interval" and len(values) == 2 else None


def _read(text: str) -> Any:
    """A word of a command line as YAML has it."""
    return read_yaml(text, "").value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def seeds_of(spec: Any) -> list[int] | int | None:
    """The seeds of an axis of seeds, or of one value; None: they are none."""
    values = spec if isinstance(spec, list) else [spec]
    form = parameter_of(spec)
    if form is not None and not isinstance(form[1], Mapping):
        values = form[1] if isinstance(form[1], list) else [form[1]]
    if not values or not all(isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in values):
        return None
    return len(values) if values == [*range(len(values))] else values


def hint_of(name: str, spec: Any) -> str | None:
    """How an axis that another tool's file has is written here; None: it is not known."""
    form = parameter_of(spec)
    if form is None:
        return None
    return f"write {name}: {flow(form[1])}" if form[0] == "axes" else f"write it under base: {name}: {flow(form[1])}"


def seeds_hint(name: str, spec: Any) -> str | None:
    """How seeds that stand among the parameters are written; None: these are none."""
    seeds = seeds_of(spec) if name in SEEDS else None
    return None if seeds is None else f"seeds are no parameter: write seeds: {flow(seeds)} at the top of the file"


def translated(file: Mapping[str, Any]) -> tuple[str, str] | None:
    """The key under which a whole file of another tool has what varies, and that file as one of swingby; None: it is
    none of theirs."""
    hydra = file.get("hydra")
    sweeper = hydra.get("sweeper") if isinstance(hydra, Mapping) else None
    places = [("hydra", sweeper.get("params") if isinstance(sweeper, Mapping) else None)]
    places += [(key, file.get(key)) for key in SPACES]
    key, space = next(((key, of) for key, of in places if isinstance(of, Mapping) and of), ("", {}))
    if not space:
        return None
    name = re.sub(r"[^a-z0-9]+", "-", str(file.get("name", "")).lower()).strip("-") or "my-sweep"
    sweep: dict[str, Any] = {"name": name, "experiment": file.get("experiment", file.get("program", "train.py"))}
    _sort(space, "", sweep)
    if key == "hydra":
        _sort({k: of for k, of in file.items() if k not in ("hydra", "defaults", *sweep["axes"])}, "", sweep)
    order = [key for key in ("name", "experiment", "axes", "base", "seeds") if sweep.get(key)]
    return key, "\n    ".join(f"{key}: {flow(sweep[key])}" for key in order)


def _sort(space: Mapping[str, Any], before: str, sweep: dict[str, Any]) -> None:
    """Puts each parameter of a space under `axes`, `base` or `seeds`."""
    axes, base = sweep.setdefault("axes", {}), sweep.setdefault("base", {})
    for name, spec in space.items():
        path, form, seeds = f"{before}{name}", parameter_of(spec), seeds_of(spec) if name in SEEDS else None
        if seeds is not None:
            sweep["seeds"] = seeds
        elif form is not None:
            sweep[form[0]][path] = form[1]
        elif isinstance(spec, Mapping):
            _sort(spec.get("parameters", spec), f"{path}.", sweep)
        elif isinstance(spec, Sequence) and not isinstance(spec, str):
            axes[path] = list(spec)
        else:
            base[path] = spec
