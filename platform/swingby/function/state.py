"""Checkpoints of plain states: nested values, numpy arrays and torch tensors in a file that runs no code when read."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from swingby.function.values import MisuseError


def save_state(path: Path, state: Any, of: str) -> None:
    """Writes a state; a file that is there is replaced whole.

    Args:
        of: whose state it is: what has to be the same for whoever goes on from it.

    Raises:
        MisuseError: it holds something that is neither plain nor an array; names its place.
    """
    arrays: dict[str, np.ndarray] = {}
    text = json.dumps(_packed(state, arrays, "state"), allow_nan=True)
    named: dict[str, Any] = {"text": np.frombuffer(text.encode(), np.uint8), **arrays}
    content = io.BytesIO()
    mark = _digest(of, named)
    np.savez(content, mark=mark, **named)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("wb") as file:
        file.write(content.getvalue())
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def load_state(path: Path, of: str) -> Any:
    """The state in a file; None: there is none, it is another one's, or it is not what was written.

    Whatever the file holds, reading it raises nothing but what is told here, and takes no more memory than a few times
    its size: nothing in it is compressed, and an array is as large as its bytes.

    Raises:
        MisuseError: it holds torch tensors, and the function has not imported torch.
    """
    try:
        named = _arrays(path)
        mark = named.pop("mark")
        if mark.tobytes() != _digest(of, named).tobytes():
            return None
        return _unpacked(json.loads(named["text"].tobytes()), named)
    except MisuseError:
        raise
    except Exception:  # a file can be wrong in any way
        return None


def _arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file as `numpy.savez` writes it.

    Raises:
        Exception: it is no such file.
    """
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > path.stat().st_size:
            raise ValueError("more than the file can hold")
        for entry in entries:
            if entry.compress_type != zipfile.ZIP_STORED or not entry.filename.endswith(".npy"):
                raise ValueError(entry.filename)
            content = io.BytesIO(archive.read(entry))
            version = np.lib.format.read_magic(content)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, dtype = read(content)
            body = content.read()
            if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(body):
                raise ValueError(f"an array of {shape}")
            array = np.frombuffer(body, dtype)
            arrays[entry.filename.removesuffix(".npy")] = (
                array.reshape(shape[::-1]).T if fortran else array.reshape(shape)
            )
    return arrays


def _digest(of: str, named: Mapping[str, np.ndarray]) -> np.ndarray:
    """The SHA-256 of whose arrays these are, and of all they hold, as 32 bytes."""
    digest = hashlib.sha256(of.encode())
    for name, array in sorted(named.items()):
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode() + array.tobytes())
    return np.frombuffer(digest.digest(), np.uint8)


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
    return array[()] if array.ndim == 0 else array.copy()


def _torch() -> Any:
    """torch, which a function that keeps tensors has imported: whoever only reads results has no need of it."""
    if "torch" not in sys.modules:
        raise MisuseError("the checkpoint holds torch tensors; import torch at the top of the file")
    return sys.modules["torch"]
