"""The points of a grid, up to millions, as columns of parameters and ids; a `Point` is made when asked for."""

from __future__ import annotations

import hashlib
import json
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, overload

import numpy as np
import pyarrow as pa

from swingby.model.cell import Point, SeedMode, canonical_json
from swingby.model.columns import parameter_schema
from swingby.model.params import UntypedParams, introduced, plain, reads_of

CHUNK = 32_768
"""Points that are made into columns at a time."""
_ID = 16
"""Bytes of an id, whose text has two hexadecimal digits for each."""
_KEPT = 10_000
"""Most `Point` objects that are kept."""


class Points(Sequence[Point]):
    """Points of one experiment, in order.

    Attributes:
        experiment, stream_version, seeds: what all points share beside parameters; see `Point`.
        params: the experiment's model of parameters.
        constants: the parameters that are equal at all points, with their values.
        columns: every other parameter, with a value for each point.
    """

    def __init__(
        self,
        shared: tuple[str, int, type[UntypedParams], SeedMode],
        constants: Mapping[str, Any],
        columns: Mapping[str, pa.Array],
        digests: bytes,
    ) -> None:
        self.experiment, self.stream_version, self.params, seeds = shared
        self.seeds: SeedMode = seeds
        self.constants, self.columns = constants, columns
        self._digests = digests
        self._kept: dict[int, Point] = {}
        self._codes: dict[str, np.ndarray] = {}

    def __len__(self) -> int:
        return len(self._digests) // _ID

    @overload
    def __getitem__(self, index: int) -> Point: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Point]: ...

    def __getitem__(self, index: int | slice) -> Point | Sequence[Point]:
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(len(self))))
        place = range(len(self))[index]
        if place not in self._kept:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            varying = {name: column[place].as_py() for name, column in self.columns.items()}
            params = self.params(**self.constants, **varying)
            self._kept[place] = Point(self.experiment, self.stream_version, params, self.seeds)
        return self._kept[place]

    def __iter__(self) -> Iterator[Point]:
        return (self[place] for place in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Points):
            return self._digests == other._digests
        return isinstance(other, tuple) and tuple(self) == other

    __hash__ = None  # type: ignore[assignment]

    @property
    def ids(self) -> pa.StringArray:
        """The id of every point."""
        return hexadecimal(self._digests)

    def cell_ids(self, seeds: Sequence[int]) -> pa.StringArray:
        """The id of every cell: of all points with the first seed, then of all with the next."""
        digits = self._digests.hex().encode()
        keys = [digits[start : start + 2 * _ID] for start in range(0, len(digits), 2 * _ID)]
        digests, sha256 = bytearray(), hashlib.sha256
        for seed in seeds:
            end = b":%d" % seed
            digests += b"".join([sha256(key + end).digest()[:_ID] for key in keys])
        return hexadecimal(digests)

    def table(self, places: np.ndarray) -> pa.Table:
        """The parameters of these points (indices, repeated as wanted) as typed columns."""
        schema, taken = parameter_schema(self.params), pa.array(places, pa.int64())
        columns = [
            self.columns[field.name].take(taken)
            if field.name in self.columns
            else repeated(self.constants[field.name], len(places), field.type)
            for field in schema
        ]
        return pa.table(columns, schema=schema)

    def duplicates(self) -> list[tuple[int, int]]:
        """Pairs of equal points, as indices: the first of them, and a later one."""
        heads = np.frombuffer(self._digests, np.uint64)[::2]
        order = np.argsort(heads, kind="stable")
        if not (np.diff(heads[order]) == 0).any():
            return []
        first: dict[bytes, int] = {}
        ids = (self._digests[start : start + _ID] for start in range(0, len(self._digests), _ID))
        return [(seen, place) for place, one in enumerate(ids) if (seen := first.setdefault(one, place)) != place]

    def without(self, places: Sequence[int]) -> Points:
        """The points but some, given by their indices, that equal others."""
        kept = np.ones(len(self), bool)
        kept[list(places)] = False
        columns = {name: column.filter(pa.array(kept)) for name, column in self.columns.items()}
        digests = np.frombuffer(self._digests, np.uint8).reshape(-1, _ID)[kept].tobytes()
        return Points((self.experiment, self.stream_version, self.params, self.seeds), self.constants, columns, digests)

    def codes(self, name: str) -> np.ndarray:
        """The values of a parameter that varies as codes from 0 on, equal for equal values: one for each point."""
        if name not in self._codes:
            column = self.columns[name]
            if pa.types.is_list(column.type):  # lists have no dictionary
                known: dict[str, int] = {}
                self._codes[name] = np.array([known.setdefault(repr(v), len(known)) for v in column.to_pylist()])
            else:
                self._codes[name] = column.dictionary_encode(null_encoding="encode").indices.to_numpy()
        return self._codes[name]

    def labelled(self, label: Callable[[Any], str]) -> tuple[np.ndarray, list[str]]:
        """The label that a function gives to the parameters of each point: codes (one for each point), and the labels.

        The function must depend on nothing but the parameters. It is called once for each combination of the parameters
        that it reads, not once for each point.
        """
        codes, names = np.zeros(len(self), np.int32), dict[str, int]()
        labeller = _Labeller(self, label)
        waiting = [(np.arange(len(self)), frozenset[str]())] if len(self) else []
        while waiting:
            places, split = waiting.pop()
            name_of_first, read = labeller.at(int(places[0]))
            more = read & self.columns.keys() - split
            if not more:
                codes[places] = names.setdefault(name_of_first, len(names))
                continue
            name = min(more, key=lambda one: int(self.codes(one).max()))
            parts = self.codes(name)[places]
            order = np.argsort(parts, kind="stable")
            edges = np.flatnonzero(np.diff(parts[order])) + 1
            waiting += [(part, split | {name}) for part in np.split(places[order], edges)]
        return codes, list(names)


class _Labeller:
    """Labels single points, and notes which parameters the function reads."""

    def __init__(self, points: Points, label: Callable[[Any], str]) -> None:
        self._points, self._label = points, label
        self._fields = frozenset(points.params.model_fields)
        self._read: set[str] = set()
        self._watched = self._watching(points.params)

    def _watching(self, params: type[UntypedParams]) -> type[UntypedParams]:
        """A subclass of the parameters that notes which of them are read; access to all at once reads all."""
        fields, read = self._fields, self._read

        def getattribute(one: Any, name: str) -> Any:
            if name in fields:
                read.add(name)
            elif name == "__dict__" or name.startswith(("model_", "__pydantic_")):
                read.update(fields)
            return object.__getattribute__(one, name)

        return types.new_class(params.__name__, (params,), {}, lambda body: body.update(__getattribute__=getattribute))

    def at(self, place: int) -> tuple[str, frozenset[str]]:
        """The label of a point, and the parameters that it depends on."""
        watched = self._watched.model_construct(**dict(self._points[place].params))
        self._read.clear()
        return self._label(watched), frozenset(self._read)


def hexadecimal(digests: bytes | bytearray) -> pa.StringArray:
    """Ids as an array of texts."""
    count, text = len(digests) // _ID, digests.hex().encode()
    offsets = np.arange(0, len(text) + 1, 2 * _ID, dtype=np.int32)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(text))


def repeated(value: Any, count: int, type_: pa.DataType) -> pa.Array:
    """An array of one value `count` times."""
    return pa.array([value], type_).take(pa.array(np.zeros(count, np.int64)))


class PointWriter:
    """Makes `Points` of points that are added one by one, with the ids of `Point.point_id`.

    An id is the hash of a text, of which little differs from point to point: its parts are made once each. Parameters
    that were equal at all points so far are compared together.
    """

    def __init__(self, experiment: str, stream_version: int, params: type[UntypedParams], seeds: SeedMode) -> None:
        self._shared = experiment, stream_version, params, seeds
        around = Point(experiment, stream_version, params.model_construct(), seeds).around
        self._head, self._tail = canonical_json({**around, "params": {}}).split("{}", 1)
        self._names = sorted(params.model_fields)
        self._defaults, self._unread = introduced(params), reads_of(params).defaults
        self._same: dict[str, Any] = {}
        self._digests = bytearray()
        self._chunks: list[tuple[int, dict[str, pa.Array]]] = []
        self._rows: list[tuple[Any, ...]] = []
        self._varying: list[str] = []

    def add(self, values: Mapping[str, Any]) -> None:
        """Add a point by its validated parameters."""
        if not self._digests:
            self._same = dict(values)
            self._widen([])
        elif self._rest(values) != self._known:
            self._widen([name for name, value in self._same.items() if values[name] != value])
        row = self._pick(values)
        for slot, texts, value in zip(self._slots, self._texts, row, strict=True):
            text = texts.get(value)
            if text is None:
                if len(texts) >= CHUNK:
                    texts.clear()
                text = texts[value] = self._fragment(self._names[slot], value)
            self._parts[slot] = text
        body = "".join(self._parts)[:-1]
        self._digests += hashlib.sha256(f"{self._head}{{{body}}}{self._tail}".encode()).digest()[:_ID]
        self._rows.append(row)
        if len(self._rows) >= CHUNK:
            self._flush()

    def points(self) -> Points:
        """The points that were added."""
        self._flush()
        schema = parameter_schema(self._shared[2]) if self._digests else pa.schema([])
        columns = dict[str, pa.Array]()
        for name in self._varying:  # constant in the chunks before it varied
            type_ = schema.field(name).type
            parts = [chunk.get(name, repeated(self._same[name], count, type_)) for count, chunk in self._chunks]
            columns[name] = pa.concat_arrays(parts)
        constants = {name: value for name, value in self._same.items() if name not in columns}
        return Points(self._shared, constants, columns, bytes(self._digests))

    def _widen(self, names: Sequence[str]) -> None:
        """Treat these parameters as varying from now on."""
        self._flush()
        self._varying = sorted({*self._varying, *names})
        fixed = [name for name in self._names if name not in self._varying]
        self._rest, self._pick = _picker(fixed), _picker(self._varying)
        self._known = self._rest(self._same)
        self._parts = [self._fragment(name, self._same[name]) for name in self._names]
        self._slots = [self._names.index(name) for name in self._varying]
        self._texts: list[dict[Any, str]] = [{} for _ in self._varying]

    def _fragment(self, name: str, value: Any) -> str:
        """A parameter's part of the text: nothing at its introduction default."""
        value = self._unread.get(name) if value is None else plain(value)
        if name in self._defaults and self._defaults[name] == value:
            return ""
        return f"{json.dumps(name)}:{json.dumps(value, separators=(',', ':'), allow_nan=False)},"

    def _flush(self) -> None:
        rows, self._rows = self._rows, []
        if not rows:
            return
        schema = parameter_schema(self._shared[2])
        columns = zip(self._varying, zip(*rows, strict=True), strict=True) if self._varying else ()
        self._chunks.append((len(rows), {name: pa.array(value, schema.field(name).type) for name, value in columns}))


def _picker(names: Sequence[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """A function from a mapping to the values of these names, always a tuple."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: tuple(values[name] for name in names)
