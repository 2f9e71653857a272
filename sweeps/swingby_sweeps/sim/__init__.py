"""SIM, the swing-by paper's structured identity mapping [S]: nets that learn the identity on clusters of points."""

from swingby.model.registry import Package

PACKAGE = Package(
    experiments={"sim": "experiment:Sim"},
    detectors={
        "descents": "detect.descents:Descents",
        "theory": "detect.theory:Theory",
        "bounds": "detect.bounds:Bounds",
        "theory_lines": "detect.theory_lines:TheoryLines",
    },
    drawings={
        "theory": "drawings.theory:Theory",
        "centre_trajectories": "drawings.centre_trajectories:CentreTrajectories",
        "training_points": "drawings.training_points:TrainingPoints",
        "loss_curves": "drawings.loss_curves:LossCurves",
        "trajectories": "drawings.trajectories:Trajectories",
        "stages": "drawings.stages:Stages",
        "step_limit": "drawings.step_limit:StepLimit",
        "velocity": "drawings.velocity:Velocity",
        "hypercube": "drawings.hypercube:Hypercube",
        "detection": "drawings.detection:Detection",
        "twins": "drawings.twins:Twins",
    },
    commands={"theory": "cli:theory"},
    lines={
        "diagram-depth-gain": "theory_lines:plateau_and_steepness",
        "diagram-width-gain": "theory_lines:plateau_and_steepness",
        "diagram-ratio-gain": "theory_lines:symmetric_start",
        "diagram-ratio-start": "theory_lines:symmetric_start",
        "diagram-rate-depth": "theory_lines:steepest_rate",
        "diagram-rate-depth-relu": "theory_lines:steepest_rate",
        "diagram-latent-concepts": "theory_lines:bottleneck",
        "diagram-distance": "theory_lines:points_near",
        "diagram-distance-truncated": "theory_lines:points_near",
        "diagram-distance-relu": "theory_lines:relu_distance",
        "diagram-distance-truncated-relu": "theory_lines:points_near",
        "diagram-spread-time-relu": "theory_lines:spread_needed",
    },
)

# Named sweeps: sweeps/figures has one for each SIM figure of the paper, sweeps/claims those that claims need beyond the
# figures, sweeps/diagrams the phase diagrams of our own (`swingby findings` says what each shows), sweeps/calibration
# what the detector's power is measured on, with seeds and points that no claim uses.
#
# archive/ holds the results of sweeps/diagrams, for `swingby findings --recorded` and `swingby unpack`. Written by
# `swingby pack diagram-... --out sweeps/swingby_sweeps/sim/archive --curves 100`, without what theory predicts of
# single runs (`theory.predicted_t90`, `_alone`, `_delay`, `_terminal`, `_minor`, `_order`, `theory.omega`,
# `theory.largest_start`, `theory.least_training_loss`) and without terminal rates (`descents.terminal_rate`, `_r2`,
# `_predicted`, and those of `minor`). If a sweep or a detector changes, its file has to be written anew: a test says
# so.
