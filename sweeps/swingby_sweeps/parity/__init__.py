"""Emergence of skills in a ReLU net on multitask sparse parity ([T] 5, C.3), beside the extended multilinear model."""

from swingby.model.registry import Package

PACKAGE = Package(
    experiments={"parity_net": "experiment:ParityNet"},
    detectors={"emergence": "detect.emergence:Emergence"},
    diagrams={"parity_net": "diagrams:DIAGRAMS"},
    drawings={"emergence": "drawings.emergence:Emergence"},
)
