"""What a CUDA graph does, on a CPU: the operations of a function are recorded, and repeated on the same tensors.

As in a graph, whatever Python computes is repeated as it was: a number that Python handed over, a branch that it took.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

NUMBER = torch.ops.aten._local_scalar_dense.default


class _Operations(TorchDispatchMode):
    """Runs operations and keeps them, with the contents that tensors had before they were written to."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, Any, Any, Any]] = []
        self.before: list[tuple[Tensor, Tensor]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is NUMBER:
            raise RuntimeError("the function asks for a number, for which a GPU would have to be waited for")
        kwargs = kwargs or {}
        for place, argument in enumerate(func._schema.arguments):
            if argument.alias_info is not None and argument.alias_info.is_write:
                value = args[place] if place < len(args) else kwargs.get(argument.name)
                self.before += [(one, one.detach().clone()) for one in tree_leaves(value) if isinstance(one, Tensor)]
        result = func(*args, **kwargs)
        self.calls.append((func, args, kwargs, result))
        return result


class OperationRecorder:
    """A `Recorder` for CPUs."""

    def warm(self, function: Callable[[], Any]) -> Any:
        """Calls the function."""
        return function()

    def record(self, function: Callable[[], Any]) -> tuple[Callable[[], None], Any]:
        """Runs the function, and undoes what it did to tensors.

        Raises:
            RuntimeError: the function asks for a number.
        """
        operations = _Operations()
        with operations:
            result = function()
        with torch.no_grad():
            for tensor, contents in reversed(operations.before):
                tensor.copy_(contents)
        return lambda: _repeat(operations.calls), result


@torch.no_grad()
def _repeat(calls: list[tuple[Any, Any, Any, Any]]) -> None:
    for func, args, kwargs, before in calls:
        after = func(*args, **kwargs)
        for kept, new in zip(tree_leaves(before), tree_leaves(after), strict=True):
            # The result of an operation in place, or a view, is where it was.
            if isinstance(kept, Tensor) and not any(returned.alias_info for returned in func._schema.returns):
                kept.copy_(new)
