"""When a diffusion model returns its training images, after Bonnaire et al. 2025 [B]: the time at which its samples are
good, and the time at which they are copies. [K] is Karras et al. 2022, after whom nets are scaled and sampled."""

from swingby.model.registry import Package

PACKAGE = Package(
    experiments={"memorization_mixture": "experiment:MemorizationMixture"},
    detectors={"clocks": "detect.clocks:Clocks"},
    general=("clocks",),
    drawings={"memorization_map": "drawings.memorization_map:MemorizationMap"},
)
