"""Coefficients of the pair of orders 5 and 4 of Dormand & Prince 1980, RK5(4)7M, and the bounds of a step's change.

No nodes: the fields have no explicit time. The last stage is the next step's first. Needs no torch and no numba.
"""

from __future__ import annotations

import numpy as np

STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
"""Weights of the slopes in the stages behind the first; the last row is the step itself."""
ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
"""Weights of the slopes in the error."""
TABLEAU = np.array([[*row, *[0.0] * (7 - len(row))] for row in (*STAGES, ERROR)])
"""Both as an array (7, 7), for compiled loops."""
SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0
"""Factor of a proposed step, and the least and the most by which it changes."""
