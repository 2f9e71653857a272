"""Layerwise linear models: modes that learn by themselves, and linear nets that find their modes ([T] 3, A.2, C.4).

[T] is the thesis on layerwise linear models. Time t is that of the gradient flow of L = 1/2 E |f - f*|^2; a step of
gradient descent lasts lr. S is the target of a mode, E_i = E[x_i^2] the second moment of its input, u_i the product of
its weights and r_i = u_i / S its strength; rho_i are the singular values of the correlation E[x f*(x)^T].
"""

from swingby.model.registry import Package

PACKAGE = Package(
    experiments={"modes": "experiment:Modes", "linear_net": "experiment:LinearNet"},
    detectors={
        "mode_stages": "detect.mode_stages:ModeStages",
        "net_modes": "detect.net_modes:NetModes",
    },
    drawings={
        "mode_curves": "drawings.modes:ModeCurves",
        "mode_times": "drawings.modes:ModeTimes",
        "net_times": "drawings.modes:NetTimes",
    },
    lines={
        "diagram-moment-ratio-start": "theory_lines:stage_like",
        "diagram-alpha-start": "theory_lines:numbers_of_stages",
        "diagram-target-imbalance": "theory_lines:kernel_distances",
        "diagram-balanced": "theory_lines:wide_enough",
    },
)
