"""Scaling laws of the multilinear model ([T] chapter 4, appendices B.1, C.1 and C.2), in closed form."""

from swingby.model.registry import Package

PACKAGE = Package(
    experiments={"multilinear": "experiment:Multilinear"},
    detectors={
        "scaling_exponents": "detect.exponents:Exponents",
        "best_allocation": "detect.allocation:Allocation",
        "binding_resource": "detect.binding:Binding",
        "skill_stages": "detect.stages:Stages",
    },
)
