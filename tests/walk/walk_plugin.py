"""A package of somebody else's, for tests of the machinery: a random walk that can misbehave, and a detector for it.

Environment: WALK_LEDGER, a file that gets a line (cell id, process id, nanoseconds) whenever a cell begins.
"""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from swingby.cells import Cell
from swingby.detector import Detector, OutcomeKind
from swingby.experiment import SEGMENT_COLUMNS, Batch, Column, Experiment, Params

LIST = pa.list_(pa.float64())


class WalkParams(Params):
    """What a walk may be told.

    Attributes:
        wants: "die" kills the process, "once" kills it the first time only, "exit" leaves without a final row.
        pause: seconds a cell takes.
        pieces: rows a cell leaves; 0: all cells of the batch in one table.
    """

    width: int = 1
    rate: float = 1.0
    length: int = 4
    wants: Literal["ok", "diverge", "raise", "die", "once", "exit"] = "ok"
    pause: float = 0.0
    pieces: int = 0


def _of(cell: Cell) -> WalkParams:
    assert isinstance(cell.params, WalkParams)
    return cell.params


class Walk(Experiment):
    """Walks `length` steps of size `rate`."""

    name: ClassVar[str] = "walk"
    stream_version: ClassVar[int] = 1
    Params: ClassVar[type[Params]] = WalkParams
    curves: ClassVar[Mapping[str, Column]] = {
        "step": Column(pa.list_(pa.int64()), "recorded steps", "steps"),
        "position": Column(LIST, "where the walk is"),
    }
    recordings: ClassVar[Mapping[str, Mapping[str, Column]]] = {"noise": {"noise": Column(LIST, "what moved it")}}
    scalars: ClassVar[Mapping[str, Column]] = {
        "final_position": Column(pa.float64(), "where the walk ends"),
        "threads": Column(pa.string(), "OMP_NUM_THREADS of the worker"),
    }

    def shape(self, params: Any) -> str:
        return f"w{params.width}"

    def work(self, params: Any) -> float:
        return float(params.width)

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        tables = []
        for cell in batch.cells:
            if batch.draining() and _of(cell).pieces:
                return
            self._begin(cell)
            self._misbehave(cell, batch)
            if _of(cell).pieces:
                yield from self._pieces(cell, batch)
            elif _of(cell).wants != "exit":
                tables.append(self._rows(cell, batch, 0, _of(cell).length))
        if tables:
            yield pa.concat_tables(tables)

    def _begin(self, cell: Cell) -> None:
        if ledger := os.environ.get("WALK_LEDGER"):
            handle = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            os.write(handle, f"{cell.cell_id} {os.getpid()} {time.time_ns()}\n".encode())
            os.close(handle)
        time.sleep(_of(cell).pause)

    def _misbehave(self, cell: Cell, batch: Batch) -> None:
        if _of(cell).wants == "raise":
            raise ValueError(f"the walk of seed {cell.seed} falls")
        if _of(cell).wants == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if _of(cell).wants == "once" and batch.workdir is not None and not (batch.workdir / "died").exists():
            (batch.workdir / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def _pieces(self, cell: Cell, batch: Batch) -> Iterator[pa.Table]:
        """Goes on from a checkpoint, and leaves one after each piece."""
        checkpoint = Path(batch.workdir or "") / cell.cell_id
        edges = np.linspace(0, _of(cell).length + 1, _of(cell).pieces + 1).astype(int)
        begun = int(checkpoint.read_text()) if checkpoint.exists() else 0
        for low, high in itertools.pairwise(edges):
            if batch.draining():
                return
            if low >= begun:
                yield self._rows(cell, batch, int(low), int(high) - 1)
                checkpoint.write_text(str(high))
                time.sleep(_of(cell).pause)

    def _rows(self, cell: Cell, batch: Batch, low: int, high: int) -> pa.Table:
        params = _of(cell)
        noise = cell.stream("noise").normal(size=params.length + 1)
        place = params.rate * np.cumsum(noise)
        diverged = params.wants == "diverge"
        final = high >= params.length
        kept = slice(low, high + 1)
        columns: dict[str, Any] = {
            "cell_id": [cell.cell_id],
            "from_step": [low],
            "to_step": [high],
            "final": [final],
            "status": [("diverged" if diverged else "ok") if final else None],
            "message": ["walked off" if diverged and final else None],
            "step": [list(range(low, high + 1))],
            "position": [place[kept].tolist()],
            "final_position": [float(place[-1])],
            "threads": [os.environ.get("OMP_NUM_THREADS", "")],
        }
        types = {**SEGMENT_COLUMNS, **{name: column.type for name, column in {**self.curves, **self.scalars}.items()}}
        if "noise" in batch.recording.also:
            columns["noise"], types["noise"] = [noise[kept].tolist()], LIST
        return pa.table(columns, schema=pa.schema([(name, types[name]) for name in columns]))


class Height(Detector):
    """How high a walk gets."""

    name: ClassVar[str] = "walk_height"
    version: ClassVar[str] = "1"
    experiments: ClassVar[tuple[str, ...]] = ("walk",)
    outcomes: ClassVar[Mapping[str, Column]] = {
        "height": Column(pa.float64(), "highest position"),
        "noisy": Column(pa.bool_(), "whether the noise was recorded"),
    }
    kinds: ClassVar[Mapping[str, OutcomeKind]] = {"height": "number"}
    needs: ClassVar[tuple[str, ...]] = ("position", "noise")

    def detect(self, table: pa.Table) -> pa.Table:
        heights = [max(places) for places in table["position"].to_pylist()]
        noisy = [noise is not None for noise in table["noise"].to_pylist()]
        return pa.table({"cell_id": table["cell_id"], "height": heights, "noisy": noisy})
