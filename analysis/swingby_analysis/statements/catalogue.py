"""Every claim that is judged, in the order of the paper; those on diffusion last."""

from __future__ import annotations

from swingby_analysis.claims.appendices import BOUNDS, START
from swingby_analysis.claims.claim import Claim
from swingby_analysis.claims.conventions import CONVENTIONS
from swingby_analysis.claims.deep import DEEP
from swingby_analysis.claims.diffusion import DIFFUSION
from swingby_analysis.claims.one_layer import ORDER, THEOREM
from swingby_analysis.claims.symmetric import PREDICTIONS, SYMMETRIC

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
