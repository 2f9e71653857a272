"""Emergence of skills in a ReLU net on multitask sparse parity ([T] 5, C.3), beside the extended multilinear model."""

from swingby.model.registry import Package

PACKAGE = Package(
    experiments={"parity_net": "experiment:ParityNet"},
    detectors={"emergence": "detect.emergence:Emergence"},
    lines={
        "diagram-parity-width-samples": "theory_lines:samples_and_units",
        "diagram-parity-width-samples-fine": "theory_lines:each_number_of_samples_and_units",
        "diagram-parity-width-bits": "theory_lines:units_of_skills",
        "diagram-parity-width-bits-fine": "theory_lines:each_number_of_units",
        "diagram-parity-alpha-skills": "theory_lines:last_in_time",
        "diagram-parity-alpha-skills-fine": "theory_lines:last_in_time",
    },
    drawings={"emergence": "drawings.emergence:Emergence"},
)
