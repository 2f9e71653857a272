"""The answers of a function of many named values, kept by those of the values that it read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

MOST = 20_000
"""Answers that are remembered: a function that looks at everything is asked again each time."""


class _Absent:
    """Stands for a name that has no value."""


_ABSENT = _Absent()


class _Watched(Mapping[str, Any]):
    """Values that note which of them are looked at, in order."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self.looked: dict[str, Any] = {}
        self.whole = False

    def __getitem__(self, name: str) -> Any:
        self.looked.setdefault(name, self._values.get(name, _ABSENT))
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        self.whole = True
        return iter(self._values)

    def __len__(self) -> int:
        self.whole = True
        return len(self._values)


class Memo:
    """A function of named values that depends on nothing else; equal answers are one object.

    Where to look next follows from what was seen so far, so the answers are a tree: at each node a name, and a branch
    for each of its values. Names that are not `varying` have one value, or none, each time.
    """

    def __init__(
        self, ask: Callable[[Mapping[str, Any]], Mapping[str, Any]], varying: frozenset[str] | None = None
    ) -> None:
        self._ask, self._varying = ask, varying
        self._tree: list[Any] = []
        self._count = 0
        self._answers: dict[Any, Mapping[str, Any]] = {}

    def __call__(self, values: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
        """The answer, and whether it is one that will come again as the same object.

        Raises:
            Whatever the function raises; that is not remembered.
        """
        node = self._tree
        try:
            while node:
                name, branches = node
                if name is None:
                    return branches, True
                node = branches.get(values.get(name, _ABSENT))
        except TypeError:  # a value that cannot be looked up, such as a list
            return self._ask(values), False
        if self._count >= MOST:
            return self._ask(values), False
        return self._asked(values)

    def _asked(self, values: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
        watched = _Watched(values)
        answer = self._ask(watched)
        if watched.whole:
            return answer, False
        try:
            answer = self._answers.setdefault(tuple((name, type(v), v) for name, v in answer.items()), answer)
            node = self._tree
            for name, value in watched.looked.items():
                if self._varying is not None and name not in self._varying:
                    continue
                if not node:
                    node += [name, {}]
                elif node[0] != name:
                    return answer, False  # it looks at more than the values
                node = node[1].setdefault(value, [])
        except TypeError:
            return answer, False
        node[:] = [None, answer]
        self._count += 1
        return answer, True
