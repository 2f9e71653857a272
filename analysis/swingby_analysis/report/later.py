"""A mapping that is computed while something else is done."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from concurrent.futures import Executor
from contextvars import copy_context
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Later(Mapping[Key, Value]):
    """A mapping that a thread of a pool computes; whoever reads it first waits for it, or gets its exception."""

    def __init__(self, pool: Executor, compute: Callable[[], Mapping[Key, Value]]) -> None:
        self._future = pool.submit(copy_context().run, compute)

    def __getitem__(self, key: Key) -> Value:
        return self._future.result()[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._future.result())

    def __len__(self) -> int:
        return len(self._future.result())

    # Those of `Mapping` look each key up by itself.

    def __contains__(self, key: object) -> bool:
        return key in self._future.result()

    def keys(self) -> KeysView[Key]:
        return self._future.result().keys()

    def values(self) -> ValuesView[Value]:
        return self._future.result().values()

    def items(self) -> ItemsView[Key, Value]:
        return self._future.result().items()
