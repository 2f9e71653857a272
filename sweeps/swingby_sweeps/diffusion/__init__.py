"""Concept-space diffusion ([S] 5, G): conditional image diffusion on two concepts, size and colour."""

from swingby.model.registry import Package

PACKAGE = Package(
    experiments={"diffusion": "experiment:Diffusion"},
    detectors={"bends": "detect.bends:Bends"},
    drawings={
        "concept_space": "drawings.concept_space:ConceptSpace",
        "concept_mse": "drawings.concept_curves:ConceptMse",
        "concept_speed": "drawings.concept_curves:ConceptSpeed",
        "training_loss": "drawings.training_loss:TrainingLoss",
        "sample_grid": "drawings.sample_grid:SampleGrid",
    },
)

# archive/ holds the results of the sweeps that take hours, one file a sweep, with every curve and sample:
# `swingby report` and `swingby claims` read them where a sweep was never run, and say so. Written by
# `swingby pack figure-6-small figure-6-learned figure-6-swing learning-order memorization-circles --whole
# --out sweeps/swingby_sweeps/diffusion/archive`.
# If a sweep or its experiment changes, its file has to be written anew.
