"""Values that a function records and returns: made plain, checked to be finite, and typed as columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa


class MisuseError(Exception):
    """A use of a handle, or a value, that makes no sense; the text says what is allowed."""


def as_array(value: Any) -> np.ndarray:
    """A numpy array, torch tensor, jax array, number or list as a numpy array."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float() if str(value.dtype).endswith("float16") else value  # numpy has no bfloat16
        value = value.numpy()
    return np.asarray(value)


def plain(value: Any, what: str) -> Any:
    """A value as a column holds it: None, bool, int, float, str, or nested lists of floats (a vector, a matrix).

    Raises:
        MisuseError: no column holds it; `what` names it.
    """
    if value is None:
        return None
    for type_ in (bool, int, float, str):
        if isinstance(value, type_):
            return type_(value)  # numpy's float64 is a float, too
    try:
        array = as_array(value)
    except (TypeError, ValueError, RuntimeError):
        array = np.array(object())
    if array.dtype.kind not in "biuf" or array.ndim > 2:
        allowed = "a number, true or false, a text, None, or a vector or matrix of numbers"
        raise MisuseError(f"{what} was given {type(value).__name__}; allowed: {allowed}")
    if array.ndim == 0:
        return array.item()
    return array.astype(float).tolist()


def is_scalar(value: Any) -> bool:
    """Whether a value is a single number, of Python, numpy, torch or jax."""
    return isinstance(value, int | float) or (value is not None and getattr(value, "ndim", None) == 0)


def seen(value: Any, whole: bool) -> bool:
    """Whether a value as it is given is finite; a vector, which costs more to look at, only if `whole`."""
    if isinstance(value, int | float) or value is None:
        return not isinstance(value, float) or math.isfinite(value)
    if not whole and getattr(value, "ndim", None) != 0:
        return True
    try:
        return is_finite(plain(value, ""))
    except MisuseError:
        return True  # told where it is kept


def is_finite(value: Any) -> bool:
    """Whether every number in a plain value is finite."""
    if isinstance(value, list):
        return all(map(is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def kind(values: Sequence[Any]) -> str:
    """The kind of a column's plain values: nothing, bool, int, float, str, vector, matrix, or a mixture, in words."""
    types = set(map(type, values)) - {type(None)}  # few, where a curve has hundreds of values
    kinds = {one.__name__ for one in types - {list}}
    if list in types:
        kinds |= {
            "matrix" if value and isinstance(value[0], list) else "vector" for value in values if type(value) is list
        }
    if kinds == {"int", "float"}:
        return "float"
    return kinds.pop() if len(kinds) == 1 else "nothing" if not kinds else "a mixture of " + " and ".join(sorted(kinds))


def scalar_type(values: Sequence[Any]) -> pa.DataType:
    """The Arrow type of a column of plain values; double, where they are all None."""
    types = {"bool": pa.bool_(), "int": pa.int64(), "str": pa.string()}
    nested = {"vector": pa.list_(pa.float64()), "matrix": pa.list_(pa.list_(pa.float64()))}
    return {**types, **nested}.get(kind(values), pa.float64())


def curve_type(curves: Sequence[Sequence[Any] | None]) -> pa.DataType:
    """The Arrow type of a column of curves of plain values; their numbers are double."""
    inner = scalar_type([item for curve in curves if curve is not None for item in curve])
    return pa.list_(pa.float64() if pa.types.is_integer(inner) else inner)


def loss_like(name: str) -> bool:
    """Whether a name is that of a loss: `loss`, or one that ends in `_loss`. One that is not finite ends a run."""
    return name == "loss" or name.endswith("_loss")
