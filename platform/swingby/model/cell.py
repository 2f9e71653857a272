"""A cell: one point of a grid with one seed; its id is a hash of its content, and its random streams hang on it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Literal, TypeVar

import numpy as np

from swingby.model.params import UntypedParams

ParamsT = TypeVar("ParamsT", bound=UntypedParams, covariant=True)
"""The parameters of a point: the model of one experiment."""
SeedMode = Literal["common", "independent"]
Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def canonical_json(value: Mapping[str, Json]) -> str:
    """The one spelling of a value that gets hashed: sorted keys, no blanks, shortest floats, finite numbers only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=True)


_PLAIN = re.compile(r"[a-z0-9/]*").fullmatch
"""Whether JSON needs no escapes for a text."""


def stream_key(*key: str | int) -> bytes:
    """The 16 bytes that key a stream: the first of the SHA-256 of `key`; as a Philox key, little-endian."""
    # The canonical JSON of {"key": [...]}, whose encoder takes five times as long as all the rest of a key.
    text = ",".join(f'"{part}"' if isinstance(part, str) and _PLAIN(part) else json.dumps(part) for part in key)
    return hashlib.sha256(f'{{"key":[{text}]}}'.encode()).digest()[:16]


def philox(*key: str | int) -> np.random.Generator:
    """A counter-based generator (Philox) keyed by `stream_key`: equal keys give equal draws."""
    return np.random.Generator(np.random.Philox(key=int.from_bytes(stream_key(*key), "little")))


@dataclass(frozen=True)
class Point(Generic[ParamsT]):
    """One point of a grid, without its seed: the experiment, its stream version, and the resolved parameters."""

    experiment: str
    stream_version: int
    params: ParamsT
    seeds: SeedMode = "common"

    @property
    def around(self) -> dict[str, Json]:
        """What identifies the point beside its parameters."""
        around: dict[str, Json] = {"experiment": self.experiment, "stream_version": self.stream_version}
        # Left out at its introduction default, so that a store older than the option keeps its ids.
        if self.seeds != "common":
            around["seeds"] = self.seeds
        return around

    @cached_property
    def content(self) -> dict[str, Json]:
        """What identifies the point, as plain JSON values."""
        return {**self.around, "params": self.params.canonical()}

    @cached_property
    def point_id(self) -> str:
        """Hash of the content: 32 hexadecimal digits."""
        return hashlib.sha256(canonical_json(self.content).encode()).hexdigest()[:32]

    def cell(self, seed: int) -> Cell[ParamsT]:
        """The cell of this point with one seed."""
        return Cell(self, seed)

    def cells(self, seeds: Iterable[int]) -> Iterator[Cell[ParamsT]]:
        """The cells of this point, one a seed."""
        return (Cell(self, seed) for seed in seeds)


@dataclass(frozen=True)
class Cell(Generic[ParamsT]):
    """The smallest thing with a result: a point and a seed."""

    point: Point[ParamsT]
    seed: int

    @cached_property
    def cell_id(self) -> str:
        """Hash of the point's content and the seed: 32 hexadecimal digits."""
        return hashlib.sha256(f"{self.point.point_id}:{self.seed}".encode()).hexdigest()[:32]

    @property
    def params(self) -> ParamsT:
        """The resolved parameters."""
        return self.point.params

    def stream(self, name: str) -> np.random.Generator:
        """The random stream `name` of this cell (data, initialisation, batch order); draw in float64, cast afterwards.

        With `common` seeds every point of the grid shares a seed's draws; with `independent` no two points do.
        """
        return philox(*self._stream(name))

    def key(self, name: str) -> bytes:
        """What keys `stream(name)`, for engines that have streams of their own: 16 bytes (see `stream_key`)."""
        return stream_key(*self._stream(name))

    def _stream(self, name: str) -> tuple[str | int, ...]:
        return (self.seed, name) if self.point.seeds == "common" else (self.seed, self.point.point_id, name)
