"""The experiments `modes` and `linear_net`: what the platform asks of them."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from swingby.model.experiment import Batch
from swingby_sweeps.dynamics.columns import LIST, ROWS, Columns, columns_of
from swingby_sweeps.dynamics.shells import BatchExperiment

from .params import STREAM_VERSION, LayerwiseParams, LinearNetParams, ModesParams
from .report import MODES, NETS

LayerwiseT = TypeVar("LayerwiseT", bound=LayerwiseParams)


class _Layerwise(BatchExperiment[LayerwiseT]):
    """What both experiments share: lengths, and tolerance."""

    stream_version = STREAM_VERSION
    pinned = True
    one_thread = "torch"
    counted = "training_steps"

    def length(self, p: LayerwiseT) -> str | None:
        """The parameter that the length of a descent is proportional to; what else drives hardly takes longer."""
        return "training_steps" if p.drive == "gd" else None

    def tolerance(self, p: LayerwiseT) -> float:
        """Rounding; for a flow more, as its adaptive steps end at recorded steps, and so depend on what is recorded."""
        return max(1e-9, 100 * p.rtol) if p.drive == "flow" else 1e-9


class Modes(_Layerwise[ModesParams]):
    """Modes that learn by themselves, of one to ten layers ([T] 3.3, 3.4), and the three of the parity net (C.4)."""

    name = "modes"
    report = MODES
    Params = ModesParams
    read_where: ClassVar = {
        "layers": "system == 'diagonal'",
        "modes": "system == 'diagonal'",
        "alpha": "system == 'diagonal' and second_moments == null",
        "second_moments": "system == 'diagonal'",
        "imbalance": "system == 'diagonal'",
        "rtol": "drive == 'flow'",
    }
    curves: ClassVar = {
        **columns_of(
            ROWS, strength="r_i = u_i / S of each mode; of parity3 alpha^2, beta^2, gamma^2 over 2 S, where they end"
        ),
        **columns_of(LIST, loss="sum of E_i (S - u_i)^2 / 2; of parity3 the mean over the 8 inputs of (f - f*)^2 / 2"),
    }
    ends = ("loss",)
    recordings: ClassVar = {
        "weights": columns_of(
            ROWS,
            weights="weights of all layers, mode by mode; of parity3 alpha, beta, gamma and c; null for closed_form",
        )
    }
    scalars = columns_of(
        LIST,
        moment="E_i of each mode; null for parity3",
        start_weights="weights at the start, mode by mode; of parity3 alpha, beta, gamma",
    )

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

    def train(self, batch: Batch[ModesParams]) -> Columns:
        """Train the batch."""
        from .modes_engine import train

        return train(batch.cells, batch.recording)


class LinearNet(_Layerwise[LinearNetParams]):
    """Linear nets of two layers, f = x^T W_1 W_2, whose target has singular values rho ([T] 3.5, A.2)."""

    name = "linear_net"
    report = NETS
    Params = LinearNetParams
    read_where: ClassVar = {"imbalance": "init == 'lambda'", "rtol": "drive == 'flow'"}
    curves: ClassVar = {
        **columns_of(ROWS, strength="r_i = u_i^T W_1 W_2 v_i over that of the target, in the order of rho"),
        **columns_of(LIST, loss="1/2 E |f - f*|^2"),
        **columns_of(ROWS, singular_values="singular values of W_1 W_2, falling"),
        **columns_of(
            LIST,
            effective_rank="D_eff: exp of the entropy of the singular values over their sum",
            kernel_distance="1 - cos of the angle between the tangent kernels at the start and now, as operators on "
            "the inputs",
        ),
    }
    ends = ("loss",)
    recordings: ClassVar = {
        "drift": columns_of(
            LIST, drift="how far W_1^T W_1 - W_2 W_2^T is from its start, over |W_1|^2 + |W_2|^2; null for closed_form"
        )
    }
    scalars = columns_of(
        LIST,
        alignment="R_ii of m_i = (W_1^T u_i + W_2 v_i) / 2 at the start, by Gram-Schmidt; 0: none left",
        alignment_alone="lengths of these m_i",
    )

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

    def train(self, batch: Batch[LinearNetParams]) -> Columns:
        """Train the batch."""
        from .net_engine import train

        return train(batch.cells, batch.recording)
