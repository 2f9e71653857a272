"""Everything that one run can be asked for: one frozen value, from the command to the worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

from swingby.errors import SwingbyError
from swingby.options import option

DEADLINE_FACTOR = 30.0
"""Multiple of its forecast for which a trial may be silent, unless the options name a deadline."""
SHORTEST_DEADLINE = 300.0
"""Seconds that no deadline derived from a forecast goes below."""
UNKNOWN_DEADLINE = 86400.0
"""Seconds that a trial without a forecast may be silent."""
YEAR = 366 * 86400


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a run trains the cells of its sweeps.

    Raises:
        SwingbyError: a value is not allowed, or two options exclude each other.
    """

    local: bool = False
    """A plain for-loop in this process instead of Ray Tune."""

    ray: bool = False
    """Ray trains also what worker processes of this command would have trained before Ray is up."""

    address: str | None = None
    """host:port of an existing Ray cluster; None: a Ray of the run's own, on this machine."""

    code: Literal["wheel", "installed"] | None = None
    """How the machines of a cluster get the code: "wheel" (and None) sends it along, "installed" expects it there."""

    retry_failed: bool = False
    """Cells that failed in an earlier run are trained again."""

    pilot: bool = True
    """Shapes of unknown cost are measured on a few cells first."""

    processes: int = 1
    """Processes that train one batch together, for experiments that spread a run."""

    device: Literal["cpu", "cuda"] | None = None
    """Where batches are trained; None: as the experiment asks."""

    deadline: float | None = None
    """Seconds without a sign of life after which a batch is ended and tried again; None: derived from its forecast."""

    workers: int | None = None
    """One-core batches that run at once; None: one for each core, or one with `local`."""

    target_seconds: float = 5.0
    """Seconds that one trial should take."""

    refine: bool = False
    """Only cells that tell where an outcome changes are trained, of one sweep; see `swingby.run.refine`."""

    wait_rounds: bool = False
    """Each round of a refined sweep waits for all cells of the round before it, so that its choice is the same wherever
    the cells are trained; with `local` it always does."""

    older: Literal["keep", "retrain"] | None = None
    """What becomes of results that another version of an experiment's code made: "keep" counts them, "retrain" trains
    their cells again (they have to be taken back first), and None refuses to run while there are any."""

    def __post_init__(self) -> None:
        if self.local and self.address is not None:
            raise SwingbyError(
                f"{option('local', True)} and {option('address')} exclude each other: a for-loop has no cluster"
            )
        if self.code is not None and self.address is None:
            raise SwingbyError(
                f"{option('code')} says how the machines of a cluster get the code: it goes with {option('address')}"
            )
        if self.code not in (None, "wheel", "installed"):
            raise SwingbyError(
                f"{option('code', self.code)} is unknown; allowed: wheel (the code is sent), installed (every machine "
                "has it)"
            )
        if self.device not in (None, "cpu", "cuda"):
            raise SwingbyError(
                f"{option('device', self.device)} is unknown; allowed: cpu, cuda (resources.gpus sets what of a GPU "
                "each takes)"
            )
        if self.older not in (None, "keep", "retrain"):
            raise SwingbyError(f"{option('older', self.older)} is unknown; allowed: keep, retrain, None")
        if self.processes < 1:
            raise SwingbyError(f"{self.processes} processes train nothing; allowed: 1 and more")
        if self.deadline is not None and not 0 < self.deadline <= YEAR:
            raise SwingbyError(
                f"{option('deadline', self.deadline)}: allowed are seconds, more than 0 and at most a year"
            )

    def deadline_text(self, measured: bool) -> str:
        """One line for the user: when a silent batch is ended, with a measured forecast or without."""
        limit = f"{DEADLINE_FACTOR:g} times its forecast (at least {SHORTEST_DEADLINE:g} s)"
        if not measured:
            limit = f"{UNKNOWN_DEADLINE / 3600:g} h"
        if self.deadline is not None:
            limit = f"{self.deadline:g} s"
        return f"a batch that is silent for {limit} is ended, as if its process had died"


class RunKeywords(TypedDict, total=False):
    """The fields of `RunOptions` as keywords, for editors and type checkers."""

    local: bool
    ray: bool
    address: str | None
    code: Literal["wheel", "installed"] | None
    retry_failed: bool
    pilot: bool
    processes: int
    device: Literal["cpu", "cuda"] | None
    deadline: float | None
    workers: int | None
    target_seconds: float
    refine: bool
    wait_rounds: bool
    older: Literal["keep", "retrain"] | None
