"""Every run of a sweep as columns inside its page, over which readers ask questions of their own."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from swingby.model import registry
from swingby.sandbox.scalar import ScalarError, columns_of, evaluate
from swingby.sandbox.thresholds import Threshold, threshold_of
from swingby.store import Store
from swingby.store.sql import quoted
from swingby.sweepfile.parameters import PRESET, split
from swingby_analysis.grid import axis_title, plain
from swingby_analysis.query import Query, ask
from swingby_analysis.report.data import ReportData

LIGHT, WHOLE = 500_000, 1_600_000
"""Bytes that the columns may have when they are compressed: of a page without an engine for SQL, and with one."""
MOST_EVALUATED = 200_000
"""Runs over whose curves a compared value is evaluated; of more it takes too long."""
BOOKKEEPING = {"cell_id", "shard", "attempt", "message", "seed_mode", "recorded", "seconds"}
"""Columns that say nothing of what a run did; a few of them are as large as all others together."""


@dataclass(frozen=True)
class Explored:
    """What the page's scripts need.

    Attributes:
        facts: axes, places of points, columns with their places in `rows`, thresholds, in values of JSON.
        rows: an Arrow stream of one batch, a row a run.
        columns: name -> meaning, of those in `rows` that SQL can name.
    """

    facts: Mapping[str, Any]
    rows: bytes
    columns: Mapping[str, str]


def explored(data: ReportData, store: Store, whole: bool = False) -> Explored | None:
    """The runs of a report's sweep; None where its points stand in no grid.

    Numbers are rounded to float32, save those that a threshold is compared with.

    Args:
        whole: with the columns that no diagram can show, for SQL.
    """
    if data.grid.sweep is None:
        return None
    thresholds = _thresholds(data)
    names = _names(data, whole, {data.outcome, *thresholds})
    thresholds = {name: of for name, of in thresholds.items() if name in names}
    values = dict[str, pa.Array]()
    for of in thresholds.values():
        for text in filter(None, (of.value, of.unit)):
            if text not in values and (column := _evaluated(data, store, text)) is not None:
                values[text] = column
    thresholds = {name: of for name, of in thresholds.items() if of.value in values and (of.unit or of.value) in values}
    needed = {text for of in thresholds.values() for text in (of.value, of.unit) if text}
    arrays: dict[str, pa.Array] = {"point": pa.array(data.cells["point"].to_numpy(), pa.int32())}
    # What a threshold is compared with is exact, in the place of the rounded column of that name.
    exact = {text: values[text] for text in needed if text not in names or data.cells[text].dtype.is_float()}
    for name in sorted(names, key=data.cells.columns.index):
        arrays[name] = exact.pop(name) if name in exact else _array(data, name)
    arrays |= exact
    arrays, dropped = _within(arrays, WHOLE if whole else LIGHT, ["point", *needed, data.outcome])
    stream, places = _stream(arrays)
    outcomes, order = data.outcomes, list(arrays)
    columns = [
        {
            "name": name,
            "title": outcomes[name].title if name in outcomes else name,
            "unit": outcomes[name].column.unit if name in outcomes else "",
            "kind": outcomes[name].kind if name in outcomes else None,
            "absent": outcomes[name].column.absent if name in outcomes else "",
            **places[name],
        }
        for name in order
    ]
    facts = {
        "name": data.sweep["name"],
        "rows": data.cells.height,
        **_axes(data),
        "columns": columns,
        "start": _start(data),
        "thresholds": {
            name: {
                "value": order.index(of.value),
                "unit": order.index(of.unit) if of.unit else None,
                "given": of.condition if of.condition in order else None,
                "comparison": of.comparison,
                "threshold": of.threshold,
                "words": of.at("…"),
            }
            for name, of in thresholds.items()
            if not of.condition or of.condition in order
        },
        "dropped": dropped,
    }
    meanings = dict(_meanings(data))
    known = {name: meanings.get(name, "") for name in arrays if name in data.cells.columns}
    return Explored(facts, stream, known)


def share_query(data: ReportData, columns: Mapping[str, str]) -> str:
    """The SQL of the main diagram over the rows of `explored`: a row a point, with its runs and its outcome."""
    names = dict.fromkeys(name for axis in data.resolved["axes"] for name in axis["names"])
    parts = []
    for name in names:
        column, entry = split(name)
        if column in columns:
            code = quoted(column) if entry is None else f"{quoted(column)}[{entry + 1}]"
            parts.append(code if code == quoted(name) else f"{code} as {quoted(name)}")
    outcome = quoted(data.outcome)
    over = {"yes_no": f"avg({outcome}::int) as share", "category": f"mode({outcome}) as most_common"}
    value = over.get(data.kind, f"median({outcome}) as median")
    head = ", ".join([*parts, f"count({outcome}) as runs", value])
    return f"select {head}\nfrom {quoted(data.sweep['experiment'])}\ngroup by all order by all"


def _names(data: ReportData, whole: bool, kept: Collection[str]) -> list[str]:
    """The columns that travel: outcomes that differ, and those of `kept`; on a whole page every column that can."""
    cells = data.cells
    axes = {split(name)[0] for axis in data.resolved["axes"] for name in axis["names"]}
    names = [name for name in data.outcomes if name in kept or not _is_constant(cells[name])]
    names += [name for name in cells.columns if whole and name != "point"]
    return [
        name
        for name in dict.fromkeys(names)
        if name not in BOOKKEEPING
        and cells[name].null_count() < cells.height
        and _can_travel(cells[name], name in axes)
    ]


def _is_constant(column: pl.Series) -> bool:
    return column.dtype != pl.List and column.n_unique() < 2


def _can_travel(column: pl.Series, is_axis: bool) -> bool:
    """Whether a column is one of numbers, texts or yes and no; a list only where an axis moves its entries."""
    if isinstance(column.dtype, pl.List):
        return is_axis
    return column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.String)


def _thresholds(data: ReportData) -> dict[str, Threshold]:
    """The outcomes that compare a value with a constant: of the sweep's file, then those that detectors declare."""
    texts = dict(data.resolved.get("outcomes") or {})
    for detector in registry.detectors_for(data.sweep["experiment"]):
        texts = {**detector.compared, **texts}
    parts = {name: threshold_of(text) for name, text in texts.items() if name in data.outcomes}
    return {name: of for name, of in parts.items() if of is not None and data.outcomes[name].kind == "yes_no"}


def _evaluated(data: ReportData, store: Store, text: str) -> pa.Array | None:
    """A compared value of every run as float64, NaN kept apart from null; None where it cannot be had."""
    cells, experiment = data.cells, data.sweep["experiment"]
    try:
        needs = columns_of(text, None)
        if set(needs) <= set(cells.columns):
            table = cells.select(needs).to_arrow()
        elif cells.height > MOST_EVALUATED:
            return None
        else:
            named = ", ".join(quoted(name) for name in needs)
            query = f"""select cell_id, shard, {named} from {quoted(experiment)}
                        where cell_id in (select cell_id from members where sweep_id = $1)"""
            rows = ask(store, Query("values", (data.sweep["sweep_id"],), inline=query))
            table = cells.select("cell_id", "shard").join(
                rows, on=["cell_id", "shard"], how="left", maintain_order="left"
            )
            table = table.select(needs).to_arrow()
        table = table.cast(pa.schema([(f.name, _plain_type(f.type)) for f in table.schema]))
        numbers = evaluate(text, table, "number")
        strange = evaluate(f"isnan(cast(({text}\n) as double))", table, "yes_no")
    except (ScalarError, pa.ArrowInvalid):
        return None
    values = numbers.to_numpy(zero_copy_only=False).astype(np.float64)
    nan = np.asarray(strange.fill_null(False))
    return pa.array(np.where(nan, np.nan, values), mask=np.asarray(numbers.is_null()) & ~nan)


def _plain_type(type_: pa.DataType) -> pa.DataType:
    """A type of polars as one that DuckDB's tables have."""
    if pa.types.is_large_list(type_):
        return pa.list_(_plain_type(type_.value_type))
    return pa.string() if pa.types.is_large_string(type_) or pa.types.is_string_view(type_) else type_


def _array(data: ReportData, name: str) -> pa.Array:
    """A column as it travels: numbers in 32 bits, texts as places in a dictionary."""
    column = data.cells[name]
    if column.dtype == pl.String:
        order = data.phases.categories(name) if name in data.outcomes else sorted(column.drop_nulls().unique())
        codes = column.replace_strict(order, range(len(order)), return_dtype=pl.Int32)
        return pa.DictionaryArray.from_arrays(codes.to_arrow().cast(pa.int32()), pa.array(order, pa.string()))
    if isinstance(column.dtype, pl.List):
        inner = pa.float64() if column.dtype.inner.is_float() else pa.int64()
        return column.to_arrow().cast(pa.list_(inner))
    if column.dtype == pl.Boolean:
        return column.to_arrow()
    if column.dtype.is_integer() and (column.is_null() | column.is_between(-(2**31), 2**31 - 1)).all():
        return column.to_arrow().cast(pa.int32())
    with np.errstate(over="ignore"):
        rounded = column.cast(pl.Float64).cast(pl.Float32)
    return rounded.to_arrow()


def _within(arrays: Mapping[str, pa.Array], most: int, kept: Sequence[str]) -> tuple[dict[str, pa.Array], list[str]]:
    """The columns that fit into so many compressed bytes; and the names of the others, which are the largest ones.

    Args:
        kept: columns that stay in any case.
    """
    sizes = {
        name: sum(len(zlib.compress(buffer, 1)) for buffer in array.buffers() if buffer is not None)
        for name, array in arrays.items()
    }
    dropped, left = set[str](), most
    for name in sorted(arrays, key=lambda name: (name not in kept, sizes[name])):
        if sizes[name] > left and name not in kept:
            dropped.add(name)
        else:
            left -= sizes[name]
    return {name: array for name, array in arrays.items() if name not in dropped}, [n for n in arrays if n in dropped]


def _stream(arrays: Mapping[str, pa.Array]) -> tuple[bytes, dict[str, dict[str, Any]]]:
    """The columns as an Arrow stream; and of each that a script reads its type and the places of its bytes in it."""
    batch = pa.RecordBatch.from_arrays(list(arrays.values()), list(arrays))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    stream = sink.getvalue()
    written = pa.ipc.open_stream(stream).read_next_batch()
    places = dict[str, dict[str, Any]]()
    for name, column in zip(written.schema.names, written.columns, strict=True):
        coded = isinstance(column, pa.DictionaryArray)
        known, *rest = (column.indices if coded else column).buffers()
        spans = [None if each is None else each.address - stream.address for each in (known, *rest)]
        type_ = column.indices.type if coded else column.type
        places[name] = {
            "type": str(type_),
            "known": spans[0] if column.null_count else None,
            "at": spans[-1] if not pa.types.is_nested(type_) else None,
            **({"values": column.dictionary.to_pylist()} if coded else {}),
        }
    return stream.to_pybytes(), places


def _axes(data: ReportData) -> dict[str, Any]:
    """The axes of the sweep with their values, and where each point stands on them."""
    sweep = data.grid.sweep
    assert sweep is not None
    titles = [
        axis.name if axis.name == PRESET else axis_title(axis.name, data.sweep["experiment"]) for axis in sweep.axes
    ]
    axes = [
        {
            "name": axis.name,
            "title": title,
            "labels": [_label(value) for value in axis.values],
            "numbers": _numbers(axis.values),
        }
        for axis, title in zip(sweep.axes, titles, strict=True)
    ]
    there = set(data.cells["point"].to_list())
    places = {point: list(place) for point, place in sweep.places.items() if point in there}
    return {"axes": axes, "points": list(places), "places": list(places.values())}


def _label(value: Any) -> str:
    return plain(value) if not isinstance(value, tuple) else json.dumps(value, default=str)


def _numbers(values: Sequence[Any]) -> list[float] | None:
    """The values as numbers; None where one of them is none."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return [float(value) for value in values]
    return None


def _start(data: ReportData) -> dict[str, str | None]:
    """What is drawn at first: the main diagram."""
    grid = data.grid
    names = [axis.name for axis in grid.sweep.axes] if grid.sweep else []
    x = grid.x.name if grid.x.name in names else next(iter(names), None)
    y = grid.y.name if grid.y is not None else None
    others = [name for name in names if name not in (x, y) and len(grid.values(name)) > 1]
    facet = grid.facet if grid.facet in others else next(iter(others), None)
    return {"x": x, "y": y, "facet": facet, "colour": data.outcome}


def _meanings(data: ReportData) -> Iterator[tuple[str, str]]:
    """What columns mean, as far as they are declared."""
    experiment = registry.experiment(data.sweep["experiment"])
    yield from ((name, column.meaning) for name, column in experiment.scalars.items())
    for detector in registry.detectors_for(data.sweep["experiment"]):
        yield from ((name, column.meaning) for name, column in detector.outcomes.items())
    yield from (
        (name, one.column.meaning) for name, one in data.outcomes.items() if not one.detected or one.column.meaning
    )
