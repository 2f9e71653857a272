"""Every claim that is judged, in the order of the paper; those on diffusion last."""

from __future__ import annotations

from analysis.claims.appendices import BOUNDS, START
from analysis.claims.claim import Claim
from analysis.claims.conventions import CONVENTIONS
from analysis.claims.deep import DEEP
from analysis.claims.diffusion import DIFFUSION
from analysis.claims.one_layer import ORDER, THEOREM
from analysis.claims.symmetric import PREDICTIONS, SYMMETRIC

CATALOGUE: tuple[Claim, ...] = (
    *ORDER,
    *THEOREM,
    *DEEP,
    *SYMMETRIC,
    *PREDICTIONS,
    *BOUNDS,
    *START,
    *CONVENTIONS,
    *DIFFUSION,
)
