"""The experiments `modes` and `linear_net`: what the platform asks of them, and `run`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pyarrow as pa

from swingby.model.experiment import Batch, Column, Experiment
from swingby.model.params import UntypedParams
from swingby.model.reported import Reported

from .params import STREAM_VERSION, LayerwiseParams, LinearNetParams, ModesParams
from .report import MODES, NETS

_LIST, _ROWS = pa.list_(pa.float64()), pa.list_(pa.list_(pa.float64()))


class _Layerwise(Experiment[Any]):
    """What both experiments share: lengths, tolerance, and the run of a batch."""

    stream_version: ClassVar[int] = STREAM_VERSION
    pinned: ClassVar[bool] = True
    requires: ClassVar[Mapping[str, str]] = dict.fromkeys(("torch", "threadpoolctl"), "swingby[run]")

    def steps(self, p: LayerwiseParams) -> int:
        """The number of steps of a run."""
        return p.training_steps

    def length(self, p: LayerwiseParams) -> str | None:
        """The parameter that the length of a descent is proportional to; what else drives hardly takes longer."""
        return "training_steps" if p.drive == "gd" else None

    def tolerance(self, p: LayerwiseParams) -> float:
        """Rounding; for a flow more, as its adaptive steps end at recorded steps, and so depend on what is recorded."""
        return max(1e-9, 100 * p.rtol) if p.drive == "flow" else 1e-9

    def _table(self, batch: Batch, train: Any) -> pa.Table:
        """The rows that `train` gives of the batch, with this cell's share of the time."""
        from swingby_sweeps.dynamics.columns import table
        from swingby_sweeps.dynamics.training import one_thread

        began = time.perf_counter()
        with one_thread():
            trained = train(batch.cells, batch.recording)
        return table(trained, self.schema(batch.recording), began)


class Modes(_Layerwise):
    """Modes that learn by themselves, of one to ten layers ([T] 3.3, 3.4), and the three of the parity net (C.4)."""

    name: ClassVar[str] = "modes"
    report: ClassVar[Reported] = MODES
    Params: ClassVar[type[UntypedParams]] = ModesParams
    read_where: ClassVar[Mapping[str, str]] = {
        "layers": "system == 'diagonal'",
        "modes": "system == 'diagonal'",
        "alpha": "system == 'diagonal' and second_moments == null",
        "second_moments": "system == 'diagonal'",
        "imbalance": "system == 'diagonal'",
        "rtol": "drive == 'flow'",
    }
    curves: ClassVar[Mapping[str, Column]] = {
        "step": Column(pa.list_(pa.int64()), "recorded steps", "steps"),
        "strength": Column(
            _ROWS, "r_i = u_i / S of each mode; of parity3 alpha^2, beta^2, gamma^2 over 2 S, where they end"
        ),
        "loss": Column(_LIST, "sum of E_i (S - u_i)^2 / 2; of parity3 the mean over the 8 inputs of (f - f*)^2 / 2"),
    }
    recordings: ClassVar[Mapping[str, Mapping[str, Column]]] = {
        "weights": {
            "weights": Column(
                _ROWS,
                "weights of all layers, mode by mode; of parity3 alpha, beta, gamma and c; null for closed_form",
            )
        }
    }
    scalars: ClassVar[Mapping[str, Column]] = {
        "moment": Column(_LIST, "E_i of each mode; null for parity3"),
        "start_weights": Column(_LIST, "weights at the start, mode by mode; of parity3 alpha, beta, gamma"),
        "final_loss": Column(pa.float64(), "last recorded loss"),
        "seconds": Column(pa.float64(), "this cell's share of its batch's time", "s"),
    }

    def shape(self, p: ModesParams) -> str:
        """The parameters that the cells of a batch share; second moments, target, start and lr are a cell's own."""
        size = f"L{p.layers} K{p.modes}" if p.system == "diagonal" else ""
        return f"{p.system} {p.drive} {size} t{p.training_steps}"

    def work(self, p: ModesParams) -> float:
        """Microseconds of a cell on the machine where they were measured, to a factor of 2."""
        layers = p.layers if p.system == "diagonal" else 2
        if p.drive == "gd":
            return 40 + p.count * p.training_steps * 0.004 * layers
        if p.drive == "flow":
            return 40 + 100 * p.count * layers
        return 40 + p.count * (10 if layers < 3 else 1000)

    def max_batch(self, p: ModesParams) -> int:
        """How many cells fit into 1 GB: 200 records of every weight, and as many copies of them as are made."""
        layers = p.layers if p.system == "diagonal" else 2
        return max(1, min(4096, int(1e9 / (8 * 200 * 6 * p.count * layers))))

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        """Train the batch; one table, one final row a cell, in the order of the batch."""
        from .modes_engine import train

        yield self._table(batch, train)


class LinearNet(_Layerwise):
    """Linear nets of two layers, f = x^T W_1 W_2, whose target has singular values rho ([T] 3.5, A.2)."""

    name: ClassVar[str] = "linear_net"
    report: ClassVar[Reported] = NETS
    Params: ClassVar[type[UntypedParams]] = LinearNetParams
    read_where: ClassVar[Mapping[str, str]] = {"imbalance": "init == 'lambda'", "rtol": "drive == 'flow'"}
    curves: ClassVar[Mapping[str, Column]] = {
        "step": Column(pa.list_(pa.int64()), "recorded steps", "steps"),
        "strength": Column(_ROWS, "r_i = u_i^T W_1 W_2 v_i over that of the target, in the order of rho"),
        "loss": Column(_LIST, "1/2 E |f - f*|^2"),
        "singular_values": Column(_ROWS, "singular values of W_1 W_2, falling"),
        "effective_rank": Column(_LIST, "D_eff: exp of the entropy of the singular values over their sum"),
        "kernel_distance": Column(
            _LIST, "1 - cos of the angle between the tangent kernels at the start and now, as operators on the inputs"
        ),
    }
    recordings: ClassVar[Mapping[str, Mapping[str, Column]]] = {
        "drift": {
            "drift": Column(
                _LIST,
                "how far W_1^T W_1 - W_2 W_2^T is from its start, over |W_1|^2 + |W_2|^2; null for closed_form",
            )
        }
    }
    scalars: ClassVar[Mapping[str, Column]] = {
        "alignment": Column(
            _LIST, "R_ii of m_i = (W_1^T u_i + W_2 v_i) / 2 at the start, by Gram-Schmidt; 0: none left"
        ),
        "alignment_alone": Column(_LIST, "lengths of these m_i"),
        "final_loss": Column(pa.float64(), "last recorded loss"),
        "seconds": Column(pa.float64(), "this cell's share of its batch's time", "s"),
    }

    def shape(self, p: LinearNetParams) -> str:
        """The parameters that the cells of a batch share; rho, sigma, imbalance, the inputs and lr are a cell's own."""
        return f"{p.drive} d{p.d} p{p.width} c{p.c} m{len(p.rho)} {p.init} t{p.training_steps}"

    def work(self, p: LinearNetParams) -> float:
        """Microseconds of a cell on the machine where they were measured, to a factor of 2."""
        size = (p.d + p.c) * p.width
        observed = 200 * (5 + 0.02 * (p.d * p.c + p.d**2) + 0.01 * size)
        if p.drive == "gd":
            return observed + p.training_steps * 0.002 * (p.d * size / 4)
        return observed + (20 * size if p.drive == "flow" else 200 * 0.01 * (p.d + p.c) ** 2)

    def max_batch(self, p: LinearNetParams) -> int:
        """How many cells fit into 1 GB: weights and their squares in several copies, and 200 records."""
        held = 20 * (p.d + p.c) * p.width + 6 * (p.width**2 + (p.d + p.c) ** 2) + 200 * 4 * (2 * min(p.d, p.c) + 4)
        return max(1, min(4096, int(1e9 / (8 * held))))

    def run(self, batch: Batch) -> Iterator[pa.Table]:
        """Train the batch; one table, one final row a cell, in the order of the batch."""
        from .net_engine import train

        yield self._table(batch, train)
