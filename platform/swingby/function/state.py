"""Checkpoints of plain states: nested values, numpy arrays and torch tensors in a file that runs no code when read."""

from __future__ import annotations

import io
import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from swingby.function.values import MisuseError


def save_state(path: Path, state: Any) -> None:
    """Writes a state; a file that is there is replaced whole.

    Raises:
        MisuseError: it holds something that is neither plain nor an array; names its place.
    """
    arrays: dict[str, np.ndarray] = {}
    text = json.dumps(_packed(state, arrays, "state"), allow_nan=True)
    content = io.BytesIO()
    named: dict[str, Any] = {"text": np.frombuffer(text.encode(), np.uint8), **arrays}
    np.savez(content, **named)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("wb") as file:
        file.write(content.getvalue())
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def load_state(path: Path) -> Any:
    """The state in a file; None: there is none, or it cannot be read."""
    try:
        with np.load(path) as found:
            return _unpacked(json.loads(found["text"].tobytes()), found)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError):
        return None


def _packed(value: Any, arrays: dict[str, np.ndarray], place: str) -> Any:
    """A value as JSON, in which arrays stand by their names; lists stand for themselves, the rest is tagged."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        items = [[_packed(k, arrays, f"{place} key"), _packed(v, arrays, f"{place}[{k!r}]")] for k, v in value.items()]
        return {"dict": items}
    if isinstance(value, list | tuple):
        items = [_packed(item, arrays, f"{place}[{at}]") for at, item in enumerate(value)]
        return items if isinstance(value, list) else {"tuple": items}
    kind = "torch" if type(value).__module__.partition(".")[0] == "torch" else "numpy"
    if kind == "torch" and hasattr(value, "detach"):
        value, dtype = value.detach().cpu().contiguous(), str(value.dtype).removeprefix("torch.")
        value = value.view(dtype=_torch().int16) if dtype == "bfloat16" else value
        array = value.numpy()
    elif isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcSU":
        array, dtype = np.asarray(value), ""
    else:
        allowed = "dictionaries, lists, tuples, numbers, texts, None, numpy arrays and torch tensors"
        raise MisuseError(f"{place} is a {type(value).__name__}, which a checkpoint does not hold; allowed: {allowed}")
    name = f"a{len(arrays)}"
    arrays[name] = array
    return {kind: name, "dtype": dtype}


def _unpacked(value: Any, arrays: Any) -> Any:
    if isinstance(value, list):
        return [_unpacked(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if "dict" in value:
        return {_unpacked(k, arrays): _unpacked(v, arrays) for k, v in value["dict"]}
    if "tuple" in value:
        return tuple(_unpacked(item, arrays) for item in value["tuple"])
    if "torch" in value:
        tensor = _torch().from_numpy(arrays[value["torch"]].copy())
        return tensor.view(_torch().bfloat16) if value["dtype"] == "bfloat16" else tensor
    array = arrays[value["numpy"]]
    return array[()] if array.ndim == 0 else array


def _torch() -> Any:
    """torch, which a function that keeps tensors has imported: whoever only reads results has no need of it."""
    if "torch" not in sys.modules:
        raise MisuseError("the checkpoint holds torch tensors; import torch at the top of the file")
    return sys.modules["torch"]
