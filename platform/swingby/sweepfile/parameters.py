"""The parameters of an experiment as a sweep file names them: `width`, `optim.lr`, `rates.1` for an entry of a list."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import NoneType
from typing import Annotated, Any, get_args, get_origin

from pydantic import ConfigDict, TypeAdapter, ValidationError

from swingby.model.params import UntypedParams
from swingby.model.registry import nearest
from swingby.sweepfile.yaml import Document, Path, guess, plain_message, shown

_STRICT = ConfigDict(strict=True, allow_inf_nan=False)
Problem = tuple[tuple[str | int, ...], str, str | None]
"""A fault of a value: the path into the value, a message, and a hint."""
PRESET = "preset"
"""The name of the bundle of defaults: no parameter, but an axis may run over several."""
_NAME = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\.(0|[1-9]\d{0,5}))?")


def split(name: str) -> tuple[str, int | None]:
    """`rates.1` is (rates, 1), `optim.lr` is (optim.lr, None); any other spelling is a name without an entry."""
    match = _NAME.fullmatch(name)
    if match is None:
        return name, None
    return match[1], None if match[2] is None else int(match[2])


class Parameters:
    """The names and types of what a sweep file may set of one experiment.

    Attributes:
        model: the model of the parameters.
        names: of the parameters.
        groups: the names that have parts, such as `optim` of `optim.lr`.
        presets: the experiment's bundles of defaults; the name `preset` stands for one of them on axes and in `where`.
    """

    def __init__(self, model: type[UntypedParams], presets: Sequence[str] = ()) -> None:
        self.model = model
        self.names = list(model.model_fields)
        parts = (name.split(".") for name in self.names)
        self.groups = {".".join(part[:end]) for part in parts for end in range(1, len(part))}
        self.groups |= model.open_places.keys() - {""}
        self.presets = list(presets)
        self._adapters: dict[str, TypeAdapter[Any]] = {}

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """The model's own defaults, of those parameters that have one."""
        fields = self.model.model_fields.items()
        return {name: info.get_default(call_default_factory=True) for name, info in fields if not info.is_required()}

    def unknown(self, name: str) -> tuple[str, str] | None:
        """The fault of a name, and a hint; None if it is a parameter, or an entry of a vector."""
        parameter, entry = split(name)
        if name == PRESET and self.presets:
            return None
        if parameter not in self.model.model_fields:
            stem = name.split(".")[0]
            known = stem in self.model.model_fields
            hint = f"an entry of a vector is written {stem}.0" if known else nearest(name, self.names)
            if name in self.groups:
                parts = ", ".join(one for one in self.names if one.startswith(f"{name}."))
                return f"{name!r} has parts, and no value of its own", f"allowed: {parts or 'none'}"
            group, _, part = name.rpartition(".")
            place = self.model.open_places.get(group)
            if place is not None and not hint.startswith("did you mean"):
                hint = place.format(part=part)
            return f"unknown parameter {name!r}", hint
        if entry is not None and self._entries(parameter) is None:
            return f"{parameter!r} is no vector, so it has no entry {entry}", f"write {parameter}"
        return None

    def is_integer(self, name: str) -> bool:
        """Whether the parameter takes integers and no floats."""
        if name == PRESET:
            return False
        parameter, entry = split(name)
        kinds = self._kinds(parameter) if entry is None else [self._entries(parameter)]
        return int in kinds and float not in kinds

    def _entries(self, parameter: str) -> Any:
        """The type of the entries of a list; None: it is none, or one of lists."""
        inner = [get_args(kind) for kind in self._kinds(parameter) if get_origin(kind) is tuple]
        return None if not inner or get_origin(inner[0][0]) in (tuple, Annotated) else inner[0][0]

    def check(self, name: str, value: Any) -> tuple[Any, list[Problem]]:
        """The value in its parameter's type (integers widened to float, lists to tuples), and its faults."""
        if name == PRESET:
            known = isinstance(value, str) and value in self.presets
            return value, [] if known else [((), f"is {shown(value)}, no preset", nearest(str(value), self.presets))]
        if name not in self._adapters:
            parameter, entry = split(name)
            info = self.model.model_fields[parameter]
            kind: Any = self._entries(parameter) if entry is not None else Annotated[info.annotation, info]
            self._adapters[name] = TypeAdapter(kind, config=_STRICT)
        try:
            return self._adapters[name].validate_python(value), []
        except ValidationError as error:
            return value, [(detail["loc"], plain_message(detail), guess(detail)) for detail in error.errors()]

    def spread(self, document: Document) -> None:
        """Spells the parts of groups as names, `optim.lr: 0.1` for `optim: {lr: 0.1}`, under `base` and `axes`."""
        axes = document.value.get("axes")
        zipped = axes.get("zip") if isinstance(axes, dict) else None
        places: list[Path] = [("base",), ("axes",)]
        places += [("axes", "zip", k) for k in range(len(zipped))] if isinstance(zipped, list) else []
        for place in places:
            below = document.at(place)
            while isinstance(below, dict) and (name := self._group(below)) is not None:
                for part, value in below.pop(name).items():
                    if f"{name}.{part}" in below:
                        document.fault((*place, name, part), f"'{name}.{part}' is given twice", "write one of them")
                    below[f"{name}.{part}"] = value
                    document.move((*place, name, part), (*place, f"{name}.{part}"))

    def _group(self, below: Mapping[str, Any]) -> str | None:
        return next((name for name, of in below.items() if name in self.groups and isinstance(of, dict)), None)

    def _kinds(self, parameter: str) -> list[Any]:
        """The types a parameter may have, None and annotations taken off."""
        todo, kinds = [self.model.model_fields[parameter].annotation], []
        while todo:
            kind = todo.pop()
            if get_origin(kind) is Annotated:
                todo.append(get_args(kind)[0])
            elif get_origin(kind) is not tuple and NoneType in get_args(kind):
                todo.extend(item for item in get_args(kind) if item is not NoneType)
            else:
                kinds.append(kind)
        return kinds
