"""A cell: one point of a grid with one seed; its id is a hash of its content, and its random streams hang on it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from swingby.experiment import Params

SeedMode = Literal["common", "independent"]
Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def canonical_json(value: Mapping[str, Json]) -> str:
    """The one spelling of a value that gets hashed: sorted keys, no blanks, shortest floats, finite numbers only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=True)


def philox(*key: str | int) -> np.random.Generator:
    """A counter-based generator (Philox) keyed by the SHA-256 of `key`: equal keys give equal draws."""
    text = canonical_json({"key": list(key)})
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "little")))


@dataclass(frozen=True)
class Point:
    """One point of a grid, without its seed: the experiment, its stream version, and the resolved parameters."""

    experiment: str
    stream_version: int
    params: Params
    seeds: SeedMode = "common"

    @cached_property
    def content(self) -> dict[str, Json]:
        """What identifies the point, as plain JSON values."""
        content: dict[str, Json] = {
            "experiment": self.experiment,
            "params": self.params.canonical(),
            "stream_version": self.stream_version,
        }
        # Left out at its introduction default, so that a store older than the option keeps its ids.
        if self.seeds != "common":
            content["seeds"] = self.seeds
        return content

    @cached_property
    def point_id(self) -> str:
        """Hash of the content: 32 hexadecimal digits."""
        return hashlib.sha256(canonical_json(self.content).encode()).hexdigest()[:32]

    def cell(self, seed: int) -> Cell:
        """The cell of this point with one seed."""
        return Cell(self, seed)

    def cells(self, seeds: Iterable[int]) -> Iterator[Cell]:
        """The cells of this point, one a seed."""
        return (Cell(self, seed) for seed in seeds)


@dataclass(frozen=True)
class Cell:
    """The smallest thing with a result: a point and a seed."""

    point: Point
    seed: int

    @cached_property
    def cell_id(self) -> str:
        """Hash of the point's content and the seed: 32 hexadecimal digits."""
        return hashlib.sha256(f"{self.point.point_id}:{self.seed}".encode()).hexdigest()[:32]

    @property
    def params(self) -> Params:
        """The resolved parameters."""
        return self.point.params

    def stream(self, name: str) -> np.random.Generator:
        """The random stream `name` of this cell (data, initialisation, batch order); draw in float64, cast afterwards.

        With `common` seeds every point of the grid shares a seed's draws; with `independent` no two points do.
        """
        if self.point.seeds == "common":
            return philox(self.seed, name)
        return philox(self.seed, self.point.point_id, name)
