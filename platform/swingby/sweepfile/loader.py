"""The loader: reads a sweep file into the fields of a `Sweep`, and reports all its faults at once."""

from __future__ import annotations

import math
import pathlib
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from swingby.errors import SwingbyError
from swingby.function.load import from_file
from swingby.model import registry
from swingby.model.cell import Point, SeedMode
from swingby.model.code import code_of
from swingby.model.experiment import Experiment
from swingby.model.expression import Expression, ExpressionError, parse
from swingby.options import option
from swingby.sweepfile.axes import Axis, read_axes
from swingby.sweepfile.elsewhere import seeds_hint, translated
from swingby.sweepfile.grid import Grid
from swingby.sweepfile.outcomes import read_outcomes
from swingby.sweepfile.overrides import TOP, apply_overrides
from swingby.sweepfile.parameters import PRESET, Parameters, split
from swingby.sweepfile.reading import check_reading
from swingby.sweepfile.refinement import budget_of, read_refine
from swingby.sweepfile.sections import (
    axis_names,
    read_diagram,
    read_drawings,
    read_outcome,
    read_recording,
    read_resources,
    read_seeds,
    read_tags,
)
from swingby.sweepfile.yaml import Path, dotted, read_yaml, shown

IN_FILE = re.compile(r"\.py(:|$)")
"""What the place of a function in a Python file ends with, or has before the function's name."""
SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
NAME_RULE = "allowed: up to 64 of a-z, 0-9 and -, so that its files cannot leave the data folder"
MOST_ENTRIES = {"axes": 200, "base": 500, "drawings": 100, "outcomes": 200, "record": 100, "tags": 100}
"""Most entries under some keys (of `record`, under `also`): each takes a while to check, or is compared with all."""
MOST_WHERE = 5_000
"""Most characters of a filter."""
MOST_POINTS = 10_000_000
MOST_CELLS = 2**26 - 1
"""Most cells of one sweep: an Arrow array of texts holds no more ids."""


class SweepFile:
    """Reads one sweep file; `fields` gives the fields of a `Sweep` or raises every fault."""

    def __init__(self, text: str, source: str, overrides: Sequence[str], confirm_above: int | None) -> None:
        self.document = read_yaml(text, source)
        self.folder = pathlib.Path(source).parent
        self.confirm_above = confirm_above
        if self.document.value is None:
            self.document.value = {}
        if not isinstance(self.document.value, dict):
            wrong = f"a sweep file is a mapping of keys to values, got {shown(self.document.value)}"
            self.document.fault((), wrong, f"allowed keys: {', '.join(TOP)}")
            self.document.finish()
        apply_overrides(self.document, overrides)
        self.file: dict[str, Any] = self.document.value
        self._check_lengths()

    def _check_lengths(self) -> None:
        """Refuses a file with a list or a text that is too long, before anything in it is looked at.

        Raises:
            InputFaults: each of these, with what is allowed.
        """
        before = self.document.count
        for key, most in MOST_ENTRIES.items():
            value = self.file.get(key)
            if key == "record":
                key, value = "record.also", value.get("also") if isinstance(value, dict) else None
            count = len(self._written_axes()) if key == "axes" else len(value) if isinstance(value, list | dict) else 0
            if count > most:
                path = tuple(key.split("."))
                self.document.fault(path, f"{key} has {count:,} entries", f"allowed: {most:,}")
        where = self.file.get("where")
        if isinstance(where, str) and len(where) > MOST_WHERE:
            self.document.fault(("where",), f"where has {len(where):,} characters", f"allowed: {MOST_WHERE:,}")
        if self.document.count > before:
            self.document.finish()

    def fields(self) -> dict[str, Any]:
        """Every field of the sweep, save its source.

        Raises:
            InputFaults: every fault of the file.
        """
        whole = None if "axes" in self.file else translated(self.file)
        if whole is not None:
            key, written = whole
            self.document.fault((key,), f"{key!r} is of another tool's file", f"as a sweep file:\n    {written}")
            self.document.finish()
        for key in self.file:
            if key not in TOP:
                self.document.fault((key,), f"unknown key {key!r}", registry.nearest(key, TOP))
        name = self._text("name", needed=NAME_RULE)
        if name is not None and not SLUG.fullmatch(name):
            self.document.fault(("name",), f"name {shown(name)} cannot be part of a file name", NAME_RULE)
        named: dict[str, Any] = {key: self._text(key) for key in ("title", "description", "notes")}
        named |= {"name": name, "tags": read_tags(self.document)}
        if self.parameters is not None:
            self.parameters.spread(self.document)
        recording = read_recording(self.document, self.experiment)
        if self.experiment is not None:
            recording = replace(recording, code=code_of(self.experiment))
        seeds, mode = read_seeds(self.document)
        resources = read_resources(self.document)
        outcomes = read_outcomes(self.document, self.experiment, recording)
        diagram = read_diagram(self.document, self.experiment, self._written_axes(), outcomes)
        drawings = read_drawings(self.document, self.experiment, recording, self._written_axes())
        outcome = read_outcome(self.document, self.experiment, diagram, outcomes)
        refine = read_refine(self.document, self.experiment, self._written_axes(), outcomes)
        grid = self._grid(seeds, mode)
        self.document.finish()
        presentation = {"recording": recording, "diagram": diagram, "drawings": drawings}
        presentation |= {"outcome": outcome, "outcomes": outcomes, "resources": resources, "refine_section": refine}
        return named | grid | presentation | {"seeds": tuple(seeds), "seed_mode": mode}

    def _grid(self, seeds: Sequence[int], mode: SeedMode) -> dict[str, Any]:
        before = self.document.count
        preset, where, base = self._preset(), self._where(), self._base()
        axes = self._axes(len(seeds))
        points: Sequence[Point] = ()
        presets: tuple[str | None, ...] = ()
        unread: tuple[str, ...] = ()
        shared = 0
        if self.experiment is not None and self.parameters is not None:
            written = self.file.get("axes") or {}
            paths: dict[str, Path] = {name: ("base", name) for name in base}
            for name in (name for axis in axes for name in axis.names):
                zipped = (index for index, item in enumerate(written.get("zip", ())) if name in item)
                paths[name] = ("axes", name) if name in written else ("axes", "zip", next(zipped), name)
            grid = Grid(self.experiment, preset, base, axes, where, mode, paths, self.parameters)
            if self.document.count > before:
                self._check_sound_part(grid)
            else:
                written_out = grid.points(self.document)
                points, presets, shared = written_out, tuple(grid.presets), grid.shared
                if self.document.count == before:
                    unread = check_reading(self.document, grid, written_out)
        return {
            "experiment_name": self.experiment_name,
            "preset": preset,
            "base": self.file.get("base") or {},
            "axes": axes,
            "where": None if where is None else where.text,
            "points": points,
            "presets": presets,
            "unread": unread,
            "shared": shared,
        }

    def _check_sound_part(self, grid: Grid) -> None:
        """Note also faults between parameters, except those that may follow from the faults noted before."""
        unread = set(self._written_axes()) - {name for axis in grid.axes for name in axis.names}
        unread |= set(self._written_base()) - set(grid.base)
        certain = {name for name in grid.paths if split(name)[1] is None} - {split(name)[0] for name in unread}
        usable = grid.where is not None and {name for name, _ in grid.where.names} <= certain
        if not usable and self.file.get("where") is not None:
            # Which points the filter leaves is not known, but all of them have the values of base.
            certain -= {split(name)[0] for name in self._written_axes()}
        where = grid.where if usable else None
        replace(grid, where=where, certain=frozenset(certain)).points(self.document)

    @property
    def experiment_name(self) -> Any:
        """The name by which the experiment is known: that in the sweep file, or that of a function in its file."""
        name = self.file.get("experiment")
        if self.experiment is not None and isinstance(name, str) and IN_FILE.search(name):
            return self.experiment.name
        return name

    @cached_property
    def experiment(self) -> Experiment | None:
        """The experiment, or None with the fault noted."""
        name = self._text("experiment", needed="such as experiment: train.py, or the name of an installed one")
        if name is None:
            return None
        offered = registry.offered(registry.EXPERIMENTS)
        if IN_FILE.search(name):
            return self._function(name)
        if not registry.known(name):
            hint = registry.nearest_offered(name, list(offered))
            self.document.fault(("experiment",), f"unknown experiment {name!r}", hint)
            return None
        try:
            return registry.experiment(name)
        except SwingbyError as error:
            self.document.fault(("experiment",), str(error))
            return None

    def _function(self, place: str) -> Experiment | None:
        """The experiment in a file beside the sweep file, `train.py` or `train.py:function`; None if it has a fault."""
        file, _, function = place.partition(":")
        try:
            experiment = from_file(self.folder / file, function or None)
            registry.adopt(experiment)
        except SwingbyError as error:
            self.document.fault(
                ("experiment",), str(error), "allowed: a Python file beside the sweep file, or FILE:FUNCTION"
            )
            return None
        return experiment

    @cached_property
    def parameters(self) -> Parameters | None:
        """What the file may set of the experiment; None where that is not known."""
        return None if self.experiment is None else Parameters(self.experiment.Params, list(self.experiment.presets))

    def _text(self, key: str, needed: str | None = None) -> str | None:
        value = self.file.get(key)
        if isinstance(value, str) or (value is None and needed is None):
            return value
        wrong = f"{key!r} must be text, got {shown(value)}" if key in self.file else f"{key!r} is missing"
        self.document.fault((key,), wrong, needed)
        return None

    def _preset(self) -> str | None:
        name = self._text("preset")
        if self.experiment is None:
            return None
        if PRESET in self._written_axes():
            if name is not None:
                self.document.fault(("preset",), "preset is an axis too", "take one of them out: the axis would win")
            return None
        if name is None:
            return self.experiment.default_preset
        if name not in self.experiment.presets:
            hint = registry.nearest(name, list(self.experiment.presets))
            self.document.fault(("preset",), f"unknown preset {name!r} of {self.experiment.name}", hint)
        return name

    def _where(self) -> Expression | None:
        text = self._text("where")
        if text is None:
            return None
        try:
            expression = parse(text, () if self.parameters is None else self.parameters.names)
        except ExpressionError as error:
            self.document.fault(("where",), f"where {error}")
            return None
        names = [name if entry is None else f"{name}.{entry}" for name, entry in expression.names]
        for name in names:
            wrong = None if self.parameters is None else self.parameters.unknown(name)
            if wrong is not None:
                self.document.fault(("where",), f"where: {wrong[0]}", wrong[1])
        return expression

    def _base(self) -> dict[str, Any]:
        """The values of base, in their parameters' types; those with a fault are left out."""
        written = self.file.get("base") or {}
        if not isinstance(written, dict):
            self.document.fault(("base",), f"base must be a mapping of parameters to values, got {shown(written)}")
        base: dict[str, Any] = {}
        for name, raw in self._written_base().items():
            stem = split(name)[0]
            if name != stem and stem in self._written_base():
                self.document.fault(("base", name), f"{name!r} and {stem!r} are both under base", "write one of them")
            if self.parameters is None:
                base[name] = raw
                continue
            wrong = self.parameters.unknown(name)
            if name == PRESET:
                wrong = ("a preset is no parameter", "write preset: at the top of the file, or give it an axis")
            if wrong is not None:
                self.document.fault(("base", name), wrong[0], seeds_hint(name, raw) or wrong[1])
                continue
            value, problems = self.parameters.check(name, raw)
            for place, message, hint in problems:
                self.document.fault(("base", name, *place), f"{dotted((name, *place))} {message}", hint)
            if not problems:
                base[name] = value
        return base

    def _written_base(self) -> dict[str, Any]:
        base = self.file.get("base")
        return base if isinstance(base, dict) else {}

    def _written_axes(self) -> list[str]:
        axes = self.file.get("axes")
        return axis_names(axes) if isinstance(axes, dict) else []

    def _budget(self, cells: int) -> int:
        """Cells that a run of the sweep trains: all of the grid's; of a refined sweep those of its budget."""
        section = self.file.get("refine")
        if not isinstance(section, dict):
            return cells
        budget = section.get("budget", "20 %")
        try:
            return budget_of(budget, cells) if isinstance(budget, str | int) else cells
        except ValueError:  # its own fault is noted
            return cells

    def _axes(self, seeds: int) -> tuple[Axis, ...]:
        """The axes written out, unless their product is too large: they are counted first."""
        drafts = read_axes(self.document, self.parameters)
        for name, path in ((column.name, column.path) for draft in drafts for column in draft.columns):
            # An entry's axis over a vector in base is how one coordinate is varied; the other way round is a fault.
            for other in (other for other in self._written_base() if name in (other, split(other)[0])):
                line = self.document.origin(("base", other))
                place = f"on line {line}" if isinstance(line, int) else f"by {line}"
                hint = f"the axis would win and base.{other} say nothing: take one of them out"
                self.document.fault(path, f"{name!r} is an axis, and set under base {place}", hint)
        points = math.prod(draft.count for draft in drafts)
        cells, limit = points * max(seeds, 1), self.confirm_above
        trained = self._budget(cells)
        if points > MOST_POINTS or cells > MOST_CELLS or (limit is not None and trained > limit):
            parts = [*(f"{'+'.join(draft.names)} {draft.count:,}" for draft in drafts), f"seeds {seeds:,}"]
            most = (
                "allowed:"
                if limit is None
                else f"allowed: {limit:,} cells, or more with {option('confirm_above', trained)}"
            )
            most += f" (never more than {MOST_POINTS:,} points)" if points > MOST_POINTS else ""
            if points <= MOST_POINTS and cells > MOST_CELLS:
                most = f"allowed: {MOST_CELLS:,} cells; several sweeps (seeds: {{count, first}}) share a store"
            budget = f", {trained:,} of them by the budget of refine" if trained < cells else ""
            self.document.fault(("axes",), f"{cells:,} cells before `where`{budget}: {' x '.join(parts)}", most)
        elif self.parameters is not None:
            axes = [draft.axis(self.document, self.parameters) for draft in drafts]
            return tuple(axis for axis in axes if axis is not None)
        return ()
