"""The phase diagrams of the page, in its order."""

from __future__ import annotations

from swingby_analysis.findings.diagram import Diagram
from swingby_analysis.findings.distance import DISTANCE
from swingby_analysis.findings.nets import RATE, SIZE, SPREAD, START
from swingby_analysis.findings.symmetric import CONCEPTS, SYMMETRIC

CATALOGUE: tuple[Diagram, ...] = (*SPREAD, *SIZE, *START, *SYMMETRIC, *RATE, *CONCEPTS, *DISTANCE)
