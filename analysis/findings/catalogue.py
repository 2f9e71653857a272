"""The phase diagrams of the page, in its order."""

from __future__ import annotations

from analysis.findings.diagram import Diagram
from analysis.findings.distance import DISTANCE
from analysis.findings.nets import RATE, SIZE, SPREAD, START
from analysis.findings.symmetric import CONCEPTS, SYMMETRIC

CATALOGUE: tuple[Diagram, ...] = (*SPREAD, *SIZE, *START, *SYMMETRIC, *RATE, *CONCEPTS, *DISTANCE)
