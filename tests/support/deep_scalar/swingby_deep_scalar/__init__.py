"""Two scalar layers, f(x) = w_2 w_1 x, that learn the identity: a small experiment on `swingby_sweeps.dynamics`."""

from swingby.model.registry import Package

PACKAGE = Package(
    experiments={"deep_scalar": "experiment:DeepScalar"},
    detectors={"half_time": "detect.half_time:HalfTime"},
    drawings={"half_times": "drawings.half_times:HalfTimes"},
)
