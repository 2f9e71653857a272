"""Finds what other packages offer by entry point: experiments, detectors, drawings, verbs and named sweeps."""

from __future__ import annotations

import difflib
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from swingby.errors import SwingbyError

EXPERIMENTS = "swingby.experiments"
DETECTORS = "swingby.detectors"
COMMANDS = "swingby.commands"
SWEEPS = "swingby.sweeps"
DRAWINGS = "swingby.drawings"


def nearest(name: str, known: list[str]) -> str:
    """A sentence that offers the nearest known name, and all of them."""
    close = difflib.get_close_matches(name, known, n=1)
    guess = f"did you mean {close[0]!r}? " if close else ""
    return f"{guess}allowed: {', '.join(sorted(known)) or '(none)'}"


def offered(group: str) -> dict[str, EntryPoint]:
    """Every entry point of a group, by name; not loaded."""
    return {point.name: point for point in entry_points(group=group)}


@cache
def load(group: str, name: str) -> Any:
    """The object behind one entry point.

    Raises:
        SwingbyError: no package offers the name, or the package that does cannot be imported.
    """
    points = offered(group)
    if name not in points:
        raise SwingbyError(f"no {group.split('.')[-1].rstrip('s')} is called {name!r}; {nearest(name, list(points))}")
    try:
        return points[name].load()
    except Exception as error:
        raise SwingbyError(f"{group} entry point {name!r} ({points[name].value}) cannot be loaded: {error}") from error


def experiment(name: str) -> Any:
    """The experiment of that name, as one instance a process (an `Experiment`)."""
    return _instance(EXPERIMENTS, name)


def detector(name: str) -> Any:
    """The detector of that name, as one instance a process (a `Detector`)."""
    return _instance(DETECTORS, name)


def drawing(name: str) -> Any:
    """The drawing of that name, as one instance a process (a `Drawing`)."""
    return _instance(DRAWINGS, name)


def function(target: str) -> Any:
    """The function behind "module:function".

    Raises:
        SwingbyError: there is none, or its module cannot be imported.
    """
    try:
        return EntryPoint("function", target, "swingby.functions").load()
    except (ImportError, AttributeError) as error:
        raise SwingbyError(f"{target!r} is no function ({error}); allowed: module:function") from error


@cache
def _instance(group: str, name: str) -> Any:
    return load(group, name)()


def detectors_for(experiment_name: str) -> list[Any]:
    """Every installed detector that reads the tables of this experiment, in the order of their names."""
    found = [detector(name) for name in sorted(offered(DETECTORS))]
    return [item for item in found if experiment_name in item.experiments]
