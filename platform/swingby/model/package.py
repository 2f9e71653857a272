"""The declaration of a package: what it offers, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields


@dataclass(frozen=True, slots=True)
class Package:
    """The offers of a package, which its `__init__.py` declares as `PACKAGE`.

    Every value is "module:Name", the module relative to the package. Data files are found by folder:
    `sweeps/**/*.yaml`, `archive/*.parquet`, `statements/**/*.sql`, `phenomena/*.sql`.

    Attributes:
        experiments, detectors, drawings, commands: for each name, where it is found. Detectors are those of the
            package's experiments; a package without experiments may offer detectors of others.
        lines: for each named sweep of a phase diagram, the function of the lines that theory draws over its maps.
        metrics: at `features`, the class behind `cell.features`; its module has all that `swingby.features` is to have.
        general: names of those of the detectors that read any experiment with their columns (`Detector.columns`).
    """

    experiments: Mapping[str, str] = field(default_factory=dict)
    detectors: Mapping[str, str] = field(default_factory=dict)
    drawings: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    general: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for kind in fields(self)[:-1]:
            for name, value in getattr(self, kind.name).items():
                if not isinstance(value, str) or value.count(":") != 1:
                    raise TypeError(f"{kind.name}[{name!r}] is {value!r}; allowed: 'module:Name'")
