"""A run as any tool has it: its settings, its curves, its last values, and how it ended."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from swingby.errors import SwingbyError

_Safe: Any = type("_Safe", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})
"""YAML's safe loader, in C where that is there, to which a tuple, as Lightning writes it, is a list."""
_Safe.add_constructor("tag:yaml.org,2002:python/tuple", _Safe.construct_sequence)

Curves = dict[str, dict[int, float | None]]
"""By the name of a metric, its value by the step."""


@dataclass(slots=True)
class Run:
    """A run of another tool.

    Attributes:
        name: in words of the tool, or its path in the folder.
        params: its settings; nested ones are named by their path.
        curves: values by the step.
        scalars: values that it has once.
        status: how it ended, in the tool's words; None: it does not say.
        message: why.
        study: the project, experiment or study that it belongs to, where a store has several.
        notes: what could not be read of it, in words.
    """

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    curves: Curves = field(default_factory=dict)
    scalars: Mapping[str, Any] = field(default_factory=dict)
    status: str | None = None
    message: str | None = None
    study: str | None = None
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A run that is not taken, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Hints:
    """What the user says of the runs.

    Attributes:
        from_name: a template of the runs' names, such as `run-lr{lr}_s{seed}`; None: names hold no settings.
        study: the one that is taken where a store has several; None: the only one.
        counts: of a table of counts, the columns with how many are a yes, of how many.
        params: whether columns are named that are parameters, so that nothing else has to say the settings.
    """

    from_name: str | None = None
    study: str | None = None
    counts: tuple[str, str] | None = None
    params: bool = False


def flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Name and value of every part of nested values; names are joined by dots."""
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def number(value: Any) -> float | None:
    """A value as a number, `NaN` and `Infinity` as texts too; None: it is none."""
    if isinstance(value, int | float):
        return float(value)
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return None


def of_text(text: str) -> Any:
    """What a text of a setting stands for: a number, true or false, nothing, a list, or the text itself."""
    plain = text.strip()
    if plain.lower() in ("none", "null", "", "nan"):
        return None
    if plain.lower() in ("true", "false"):
        return plain.lower() == "true"
    for kind in (int, float):
        try:
            value = kind(plain)
        except ValueError:
            continue
        if "_" not in plain and math.isfinite(value):
            return value
    return text


def record(run: Run, step: int, values: Mapping[str, Any]) -> None:
    """Notes what a run logged at a step; what is no number, such as a text or an image, is left out with a word."""
    media = [name for name, value in values.items() if isinstance(value, Mapping) and "_type" in value]
    for name, value in (*((name, "") for name in media), *flat({n: v for n, v in values.items() if n not in media})):
        plain = number(value)
        if plain is not None or value is None:
            run.curves.setdefault(name, {})[step] = plain
        elif (note := f"values of {name} that are no numbers") not in run.notes:
            run.notes.append(note)


def json_of(text: str | bytes, what: str) -> Any:
    """The value that a JSON text holds, with NaN and Infinity.

    Raises:
        SwingbyError: it is no JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SwingbyError(f"{what} is no JSON: {error}") from None


def yaml_of(text: str, what: str) -> Any:
    """The value that a YAML text holds, read by YAML's safe loader; without aliases, which can multiply without end.

    Raises:
        SwingbyError: it is no such YAML.
    """
    try:
        if "*" in text and any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise SwingbyError(f"{what}: aliases are not read")
        return _Safe(text).get_single_data()
    except (yaml.YAMLError, RecursionError) as error:
        raise SwingbyError(f"{what} is no YAML that is read: {str(error).splitlines()[0]}") from None


def files_below(path: Path, pattern: str) -> list[Path]:
    """The files of a folder with such a name, at any depth, in order; links to folders are not followed."""
    return sorted(one for one in path.rglob(pattern) if one.is_file())
