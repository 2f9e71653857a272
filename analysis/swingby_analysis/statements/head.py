"""The head of a statement's file: comment lines `-- key: value`, then the question in words, then SQL."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from swingby.errors import SwingbyError
from swingby.model.registry import nearest

_KEY = re.compile(r"^ ?([a-z][a-z_ ]*):(?: +(.*))?$")
_WORD = re.compile(r"\[([a-z][a-z_]*)\]")
Keys = Mapping[str, str]


@dataclass(frozen=True)
class Head:
    """What stands above the SQL of a file.

    Attributes:
        keys: each key with its values, in the order of the file; a key may stand several times.
        question: the comment below the keys, as one line.
        body: the rest of the file.
    """

    keys: Sequence[tuple[str, str]]
    question: str
    body: str


def read(text: str) -> Head:
    """The head of a file. A value goes on over lines that are indented more; an empty comment line ends it."""
    lines = text.strip().splitlines()
    keys: list[tuple[str, list[str]]] = []
    question: list[str] = []
    value = None
    last = next((place for place, line in enumerate(lines) if not line.startswith("--")), len(lines))
    for line in lines[:last]:
        said = line[2:].rstrip()
        key = None if question else _KEY.match(said)
        if key:
            value = [key[2] or ""]
            keys.append((key[1], value))
        elif value is not None and not question and said.startswith("  "):
            value.append(said.strip())
        else:
            value = None
            question += [said.strip()] if said.strip() else []
    found = [(key, " ".join(part for part in parts if part)) for key, parts in keys]
    return Head(found, " ".join(question), "\n".join(lines[last:]).strip())


def blocks(head: Head) -> Iterator[dict[str, str]]:
    """The keys of each statement of a file: those above the first `slug`, and those from its own `slug` on.

    A file without `slug` holds one statement.

    Raises:
        SwingbyError: a key stands twice in a block.
    """
    starts = [place for place, (key, _) in enumerate(head.keys) if key == "slug"]
    shared = _unique(head.keys[: starts[0]] if starts else head.keys)
    if not starts:
        yield shared
    for start, end in pairwise([*starts, len(head.keys)]):
        yield shared | _unique(head.keys[start:end])


def _unique(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        raise SwingbyError(f"the key {next(name for name in names if names.count(name) > 1)!r} stands twice")
    return found


def filled(keys: Keys, known: Collection[str]) -> dict[str, str]:
    """The known keys, with the others put where a value says `[key]`.

    Raises:
        SwingbyError: a key is neither known nor asked for by a value.
    """
    own = {key: value for key, value in keys.items() if key in known}
    words = {key: value for key, value in keys.items() if key not in known}
    wanted = {word for value in own.values() for word in _WORD.findall(value)}
    for key in words:
        if key not in wanted:
            raise SwingbyError(f"there is no key {key!r}, and no value says [{key}]; {nearest(key, list(known))}")
    return {key: _WORD.sub(lambda word: words.get(word[1], word[0]), value) for key, value in own.items()}
