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
    drawings={
        "loss_over_resource": "drawings.lines:LossOverResource",
        "skill_strengths": "drawings.lines:SkillStrengths",
    },
    lines={
        "diagram-skills-alpha": "theory_lines:enough_skills",
        "diagram-time-width": "theory_lines:equal_reach",
        "diagram-skills-start": "theory_lines:stage_like",
    },
)

# Named sweeps: sweeps/figures has one for each figure and table of [T] chapter 4 and C.1, sweeps/claims those that
# claims need beyond, sweeps/diagrams the diagrams of the page of findings, sweeps/fresh other points and seeds for
# these.
#
# archive/ holds the results of sweeps/diagrams and sweeps/fresh, written by `swingby pack SWEEPS --out
# sweeps/swingby_sweeps/scaling/archive --curves 20 --digits 5 --without seconds`. If a sweep or a detector changes, its
# file has to be written anew.
