"""A sweep: a named grid over one experiment, read from a YAML file and checked whole before anything runs."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Self, cast

import pyarrow as pa

from swingby.errors import SwingbyError
from swingby.model import package_files, registry
from swingby.model.cell import Cell, SeedMode, canonical_json
from swingby.model.experiment import Experiment, Recording
from swingby.model.points import Points
from swingby.sweepfile.axes import Axis
from swingby.sweepfile.loader import SweepFile
from swingby.sweepfile.refinement import Refinement, refinement_of
from swingby.sweepfile.sections import Diagram, DiagramSection, Drawn
from swingby.sweepfile.yaml import read_yaml
from swingby.units import counted

CONFIRM_ABOVE = 100_000


@dataclass(frozen=True)
class Sweep:
    """A named grid over one experiment, with every parameter of every point resolved.

    Attributes:
        name: lower-case letters, digits and hyphens; part of file names.
        source: the file it was read from, for messages.
        experiment_name: the experiment's entry-point name.
        preset: the bundle of defaults, the experiment's own where the file names none; None where an axis names them.
        presets: the bundle of each point.
        base: the values that the file sets for all points, as written.
        axes: what varies.
        where: the filter, as written.
        points: every point left by the filter, in the order of the axes, the last fastest.
        seeds: the replicates of each point.
        seed_mode: "common" (points share a seed's draws) or "independent".
        recording: what each cell records, and when.
        diagram: the diagram to draw, if any.
        drawings: further drawings, in order.
        outcome: the outcome that a report without a diagram sums up, if the file names one.
        outcomes: the outcomes that the file writes itself: name -> SQL expression over one row.
        unread: a sentence for each value of base that no point reads.
        shared: how many more points the axes have, which share their cells with points that read the same.
        resources: what each process of a batch occupies, as far as the file sets it, by the names of `Resources`.
        tags, notes: words to find it by, and what its author wants to remember.
        refine_section: how its boundary is sought, if the file says so: `RefineSection` as plain values.
        replicates: of a sweep that trains points of another one on fresh seeds: which, and for which outcome.
    """

    name: str
    source: str
    experiment_name: str
    preset: str | None
    base: Mapping[str, Any]
    axes: tuple[Axis, ...]
    where: str | None
    points: Points
    presets: tuple[str | None, ...]
    seeds: tuple[int, ...]
    seed_mode: SeedMode
    recording: Recording
    diagram: Diagram | None = None
    drawings: tuple[Drawn, ...] = ()
    outcome: str | None = None
    outcomes: Mapping[str, str] = field(default_factory=dict)
    title: str | None = None
    description: str | None = None
    unread: tuple[str, ...] = ()
    shared: int = 0
    tags: tuple[str, ...] = ()
    notes: str | None = None
    resources: Mapping[str, float] = field(default_factory=dict)
    replicates: Mapping[str, Any] | None = None
    refine_section: Mapping[str, Any] | None = None

    @classmethod
    def load(
        cls, path_or_name: str | Path, overrides: Sequence[str] = (), confirm_above: int | None = CONFIRM_ABOVE
    ) -> Self:
        """The sweep in a file, or a packaged one by its name.

        Args:
            path_or_name: "grid.yaml", or a name of `named_sweeps()`.
            overrides: options such as "base.n=100", laid over the file.
            confirm_above: refuse more cells than this, without writing them out; None for no limit.

        Raises:
            InputFaults: something in the file is wrong; it lists everything that is.
            SwingbyError: there is no such file or name, or it is no text.
        """
        path = Path(path_or_name)
        if isinstance(path_or_name, Path) or path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
            if not path.is_file():
                names = ", ".join(sorted(named_sweeps())) or "(none)"
                raise SwingbyError(f"no file {path}{_beside(path)}; named sweeps: {names}")
            file: Traversable = cast("Traversable", path)
        else:
            known = named_sweeps()
            if path_or_name not in known:
                if advice := _beside(path):
                    hint = f"{advice}; sweeps of your own are given by their file"
                else:
                    hint = f"; {registry.nearest_offered(path_or_name, list(known))}; or give a .yaml file"
                raise SwingbyError(f"no sweep is called {path_or_name!r}{hint}")
            file = known[path_or_name]
        try:
            text = file.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise SwingbyError(f"{path_or_name} is not UTF-8 text: {error.reason} at byte {error.start}") from None
        except OSError as error:
            raise SwingbyError(f"{path_or_name} cannot be read: {error.strerror}") from None
        return cls.parse(text, str(path_or_name), overrides, confirm_above)

    @classmethod
    def parse(
        cls, text: str, source: str, overrides: Sequence[str] = (), confirm_above: int | None = CONFIRM_ABOVE
    ) -> Self:
        """The sweep written in `text`; `source` names it in messages.

        Raises:
            InputFaults: something in it is wrong; it lists everything that is.
        """
        return cls(source=source, **SweepFile(text, source, overrides, confirm_above).fields())

    @property
    def experiment(self) -> Experiment:
        """The experiment itself."""
        return registry.experiment(self.experiment_name)

    def __len__(self) -> int:
        return len(self.points) * len(self.seeds)

    def cells(self) -> Iterator[Cell]:
        """Every cell: all points with the first seed, then all with the next; so half of them are a noisier diagram."""
        return (Cell(point, seed) for seed in self.seeds for point in self.points)

    def cell_ids(self) -> pa.StringArray:
        """The id of every cell, in the order of `cells`."""
        return self.points.cell_ids(self.seeds)

    @cached_property
    def sweep_id(self) -> str:
        """Hash of the cells and of what they record: 16 hexadecimal digits. How the sweep is drawn does not matter."""
        content = {
            "name": self.name,
            "experiment": self.experiment_name,
            "points": self.points.ids.to_pylist(),
            "seeds": list(self.seeds),
            "seed_mode": self.seed_mode,
            "recording": list(self.recording.requested),
        }
        return hashlib.sha256(canonical_json(content).encode()).hexdigest()[:16]

    @cached_property
    def common(self) -> dict[str, Any]:
        """The resolved parameters that are equal at all points, as plain values."""
        return self.points[0].params.model_dump(mode="json", include=set(self.points.constants))

    def refinement(self) -> Refinement:
        """What its refinement is after: as the file says, else the defaults.

        Raises:
            SwingbyError: no outcome is named, and the sweep shows none that has a boundary.
        """
        diagram = self.diagram
        shown = self.outcome if diagram is None else diagram.outcome
        facet = None if diagram is None else diagram.facet
        return refinement_of(self.refine_section, self.experiment, self.outcomes, shown, facet, len(self))

    @property
    def sharing(self) -> tuple[str, ...]:
        """A sentence on the points that share cells with others; none where there are none."""
        if not self.shared:
            return ()
        more = f"{counted(self.shared, 'more point')} of the axes {'shares' if self.shared == 1 else 'share'}"
        return (f"{more} the cells of these: what differs is not read there",)

    @property
    def presentation(self) -> dict[str, Any]:
        """How its report shows it, as plain JSON values; it may change without anything being trained again."""
        return {
            "title": self.title,
            "description": self.description,
            "diagram": None if self.diagram is None else asdict(self.diagram),
            "drawings": [asdict(drawn) for drawn in self.drawings],
            "outcome": self.outcome,
            "outcomes": dict(self.outcomes),
            "tags": list(self.tags),
            "notes": self.notes,
            **({"refine": dict(self.refine_section)} if self.refine_section is not None else {}),
        }

    @cached_property
    def resolved(self) -> dict[str, Any]:
        """The whole sweep as plain JSON values, resolved parameters common to all points under "common"."""
        declared = self.experiment.declaration()
        return {
            "sweep_id": self.sweep_id,
            "name": self.name,
            **self.presentation,
            "source": self.source,
            "experiment": self.experiment_name,
            "stream_version": self.points.stream_version,
            "preset": self.preset,
            "base": dict(self.base),
            "axes": [{"names": list(axis.names), "values": _plain(axis.values)} for axis in self.axes],
            "where": self.where,
            "points": len(self.points),
            "seeds": list(self.seeds),
            "seed_mode": self.seed_mode,
            "recording": _recorded(self.recording),
            "common": self.common,
            **({} if declared is None else {"declared": declared}),
            **({"presets": list(self.presets)} if self.preset is None and any(self.presets) else {}),
            **({"replicates": dict(self.replicates)} if self.replicates is not None else {}),
        }


def _recorded(recording: Recording) -> dict[str, Any]:
    """A recording as plain JSON values; its code only where there is some, as in files from before it was kept."""
    return {name: value for name, value in recording.to_json().items() if name != "code" or value}


def named_sweeps() -> dict[str, Traversable]:
    """Every packaged sweep by its name: the files `sweeps/**/*.yaml` of the installed packages.

    Raises:
        SwingbyError: two files have the same name.
    """
    files: dict[str, Traversable] = {}
    for file in package_files.data_files("sweeps", ".yaml"):
        name = file.name.removesuffix(".yaml")
        if name in files:
            raise SwingbyError(f"two packages offer a sweep {name!r} ({files[name]}, {file}); give the file's path")
        files[name] = file
    return files


def experiment_of(file: Traversable) -> str:
    """The experiment that a packaged sweep names; its other keys are not looked at."""
    content = read_yaml(file.read_text(encoding="utf-8-sig"), str(file)).value
    return str(content.get("experiment", "")) if isinstance(content, dict) else ""


def diagram_of(file: Traversable) -> tuple[Mapping[str, Any], DiagramSection]:
    """The content of a packaged sweep's file, and its section `diagram`; whether its axes are known is not looked at.

    Raises:
        InputFaults: it has no such section, or one with a wrong key or value; each with its line and what is allowed.
    """
    document = read_yaml(file.read_text(encoding="utf-8-sig"), str(file))
    section = document.read(("diagram",), document.value.get("diagram"), DiagramSection)
    document.finish()
    assert section is not None
    return document.value, section


def _beside(path: Path) -> str:
    """A hint at a sweep file whose name differs by its ending or little else."""
    stem = path.stem if path.suffix in (".yaml", ".yml") else path.name
    there = {file.stem: file for file in path.parent.glob("*.y*ml") if file.suffix in (".yaml", ".yml")}
    near = difflib.get_close_matches(stem, there, 1)
    return f" (did you mean {there[near[0]]}?)" if near else ""


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value
