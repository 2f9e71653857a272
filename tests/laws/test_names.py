"""A name is a noun of the field: no variable, parameter, function, attribute or class is called by a vague word."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.places import ROOT

INSTEAD = {
    "found": "what it is: rows, paths, matches, bumps, columns",
    "told": "what is known of it: reported, decided, telling, names",
    "asked": "request, query, requested, recorded",
    "said": "message, text, meaning, label, content",
    "given": "arguments, settings, inputs, source, fields",
    "made": "what is made: part, page, array, plan",
    "wanted": "requested, allowed, required, target",
    "came": "arrivals, received",
    "gone": "diverged, removed, missing",
    "own": "whose they are: group, members, settings, standard",
    "got": "actual, received",
    "took": "seconds, duration",
    "went": "path, route",
    "thing": "what it is",
    "things": "what they are",
    "stuff": "what it is",
}
"""Names that say nothing of their value, with words to take instead."""
ROOMS = ("platform", "analysis", "sweeps")


def bound(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every name that code gives to something, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node.lineno
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node.lineno
            case ast.Import() | ast.ImportFrom():
                yield from ((alias.asname, node.lineno) for alias in node.names if alias.asname)


def vague(path: Path) -> list[str]:
    """Every vague name in a file or below a folder: where it is, and what to say instead."""
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    return [
        f"{file.relative_to(ROOT)}:{line}: {name}: say {INSTEAD[word]}"
        for file in files
        for name, line in bound(ast.parse(file.read_text(encoding="utf-8")))
        if (word := name.strip("_").lower()) in INSTEAD
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_names_say_what_their_values_are(room: str) -> None:
    """Variables, parameters, functions, attributes, classes and aliases of imports."""
    assert vague(ROOT / room) == []
