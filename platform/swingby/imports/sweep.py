"""The sweep that imported cells make: its points and seeds, and how readers are to show it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from swingby.data.records.headers import plan_table
from swingby.errors import SwingbyError
from swingby.function.experiment import FunctionExperiment
from swingby.imports.cells import Cells
from swingby.imports.layout import Layout
from swingby.imports.reading import RunsFile
from swingby.model.cell import Point, SeedMode, canonical_json
from swingby.model.columns import row_schema
from swingby.model.detector import OUTCOME_NAME
from swingby.model.experiment import Recording
from swingby.model.registry import nearest
from swingby.options import option

RECORDING = Recording("every")
"""What an imported cell records: whatever the file has."""
FULL = 4
"""A grid is drawn as one where it has at most so many places for each point; scattered points are one axis."""


@dataclass(frozen=True)
class Presented:
    """What a map of the sweep draws: the outcomes that are written as expressions, and the one that is drawn first."""

    outcomes: Mapping[str, str]
    outcome: str | None


def hashable(value: Any) -> Any:
    """A value that can be sorted and counted: of a list, a tuple."""
    return tuple(map(hashable, value)) if isinstance(value, list) else value


def ordered_values(values: Iterable[Any]) -> list[Any]:
    """Values, or rows of them, in their order; no value comes before all others."""
    return sorted(values, key=_key)


def _key(value: Any) -> Any:
    return value is not None, tuple(map(_key, value)) if isinstance(value, tuple) else value


def declaration(
    experiment: str, params: Mapping[str, str], source: str, meanings: Mapping[str, Any], optional: Collection[str] = ()
) -> dict[str, Any]:
    """What readers need to know of an experiment that has no code, as plain JSON values.

    Args:
        optional: the parameters that some runs have no value of.
        meanings: what each column means, as returned by the function of this name.
    """
    return {
        "name": experiment,
        "title": f"runs trained elsewhere, imported from {source}",
        "version": 1,
        "params": {
            name: {"type": kind, "optional": name in optional, "description": None} for name, kind in params.items()
        },
        "meanings": dict(meanings),
        "imported": True,
    }


def meanings(file: RunsFile, layout: Layout, cells: Cells) -> dict[str, Any]:
    """What a declaration says of the results of a file; texts are categories, in alphabetical order."""
    meaning_of = dict[str, Any]()
    for name in (*cells.curves, *cells.scalars):
        column, text = cells.table[name], f"the column {layout.renamed.get(name, name)!r} of {file.path.name}"
        order = sorted(set(column.drop_null().to_pylist())) if column.type == pa.string() else []
        meaning_of[name] = {"meaning": text, "unit": "", "order": order}
    return meaning_of


def presented(of: FunctionExperiment, cells: Cells, requested: Sequence[str]) -> Presented:
    """The outcomes that the user asks for, each a result's name or `name: expression`; the first is drawn.

    Raises:
        SwingbyError: no result has the name, or the expression cannot be computed over a row.
    """
    from swingby.sandbox.scalar import ScalarError, kind_of

    of.learn(
        {name: cells.table.schema.field(name).type for name in cells.curves},
        {name: cells.table.schema.field(name).type for name in cells.scalars},
    )
    schema, outcomes, drawn = row_schema(of), dict[str, str](), list[str]()
    for text in requested:
        name, colon, expression = (part.strip() for part in text.partition(":"))
        drawn.append(name)
        if not colon:
            allowed = [*cells.scalars, *([] if cells.scalars else cells.curves)]
            if name not in allowed:
                raise SwingbyError(f"{option('outcomes', name)}: {nearest(name, allowed)}; or write NAME: EXPRESSION")
        elif not OUTCOME_NAME.fullmatch(name) or name in schema.names:
            raise SwingbyError(
                f"{option('outcomes', text)}: {name!r} is no new name; allowed: up to 63 of a-z, 0-9 and _"
            )
        else:
            try:
                kind_of(expression, schema)
            except ScalarError as error:
                hint = f" ({error.hint})" if error.hint else ""
                raise SwingbyError(f"{option('outcomes', name)}: {error.message}{hint}") from error
            outcomes[name] = expression
    return Presented(outcomes, drawn[0] if drawn else None)


@dataclass(frozen=True)
class SweepOfCells:
    """A sweep whose cells are listed one by one.

    Attributes:
        of: the experiment, without code.
        name: the sweep's name.
        points: in the order of their parameters' values.
        rows: of each cell the values of the parameters and the seed.
        table: as of a plan, without batches; in the order of points and seeds.
    """

    of: FunctionExperiment
    name: str
    points: tuple[Point, ...]
    rows: Sequence[tuple[tuple[Any, ...], int]]
    table: pa.Table

    @classmethod
    def of_rows(
        cls, of: FunctionExperiment, name: str, mode: SeedMode, rows: Sequence[tuple[tuple[Any, ...], int]]
    ) -> SweepOfCells:
        """The sweep of these cells, given by the values of the parameters in their order, and the seed."""
        params = of.Params
        names = list(params.model_fields)
        places = {values: place for place, values in enumerate(ordered_values({values for values, _ in rows}))}
        points = tuple(
            Point(of.name, of.stream_version, params(**dict(zip(names, values, strict=True))), mode)
            for values in places
        )
        ordered = ordered_values(rows)
        numbers, seeds = [places[values] for values, _ in ordered], [seed for _, seed in ordered]
        return cls(of, name, points, ordered, plan_table(points, numbers, seeds, [None] * len(ordered)))

    @property
    def ids(self) -> list[str]:
        """The id of every cell, in the order of the table."""
        return self.table["cell_id"].to_pylist()

    @property
    def sweep_id(self) -> str:
        """Hash of the cells: 16 hexadecimal digits."""
        content = {"name": self.name, "experiment": self.of.name, "imported": self.ids}
        return hashlib.sha256(canonical_json(content).encode()).hexdigest()[:16]

    def resolved(self, source: str, how: Presented) -> dict[str, Any]:
        """The sweep as plain JSON values, as `Sweep.resolved` has them of a file."""
        values = {name: [getattr(point.params, name) for point in self.points] for name in self.of.Params.model_fields}
        different = {name: ordered_values(set(of)) for name, of in values.items()}
        varying = [name for name, of in different.items() if len(of) > 1]
        if math.prod(len(different[name]) for name in varying) <= FULL * len(self.points):
            axes = [{"names": [name], "values": [[value] for value in different[name]]} for name in varying]
        else:
            joint = zip(*(values[name] for name in varying), strict=True)
            axes = [{"names": varying, "values": [list(point) for point in joint]}]
        return {
            "sweep_id": self.sweep_id,
            "name": self.name,
            "title": None,
            "description": None,
            "diagram": None,
            "drawings": [],
            "outcome": how.outcome,
            "outcomes": dict(how.outcomes),
            "tags": [],
            "notes": None,
            "source": source,
            "experiment": self.of.name,
            "stream_version": self.of.stream_version,
            "preset": None,
            "base": {},
            "axes": axes,
            "where": None,
            "points": len(self.points),
            "seeds": sorted(set(self.table["seed"].to_pylist())),
            "seed_mode": self.points[0].seeds,
            "recording": {"steps": RECORDING.steps, "points": RECORDING.points, "also": []},
            "common": {name: of[0] for name, of in different.items() if len(of) == 1},
            "declared": self.of.declaration(),
            "imported": True,
        }
