"""Safetensors files with a mark, which says to what the tensors belong, and a digest, which shows damage."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from swingby.data.files import write_whole


class UnusableError(ValueError):
    """A file is torn, altered, or of another kind; the message says which."""


def write(path: Path, mark: dict[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write the file whole, in the place of the last one; the mark holds plain JSON values."""
    kept = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    # One entry: several would be written in any order, and a file that is made again has to have the same bytes.
    header = {"swingby": json.dumps({"mark": mark, "digest": _digest(kept)})}
    write_whole(path, lambda temporary: save_file(kept, temporary, header))


def read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The mark and the tensors, on the CPU.

    Raises:
        UnusableError: the file is absent or torn, another program's, or a byte of it has changed.
    """
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {})["swingby"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  not a mapping
        mark, digest = header["mark"], header["digest"]
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise UnusableError(f"it cannot be read ({type(error).__name__}: {error})") from error
    if not isinstance(mark, dict) or digest != _digest(tensors):
        raise UnusableError("its contents are not those that were written")
    return mark, tensors


def _digest(tensors: Mapping[str, Tensor]) -> str:
    """The hexadecimal SHA-256 of names and values."""
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(name.encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
