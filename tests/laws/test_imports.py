"""Laws of imports: no module of the three wings imports, by whatever way, a module that imports it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from tests.support.places import ROOT

SOURCE_ROOTS = {"swingby": ROOT / "platform", "swingby_sweeps": ROOT / "sweeps", "swingby_analysis": ROOT / "analysis"}


@cache
def imports() -> Mapping[str, frozenset[str]]:
    """For each module, the modules of the three wings that it imports anywhere in its text."""
    paths = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
        for wing, root in SOURCE_ROOTS.items()
        for path in sorted((root / wing).rglob("*.py"))
    }
    trees = {module: ast.parse(path.read_text()) for module, path in paths.items()}
    known = {module: frozenset(bound(tree)) for module, tree in trees.items()}
    return {module: frozenset(named(tree, module, known)) for module, tree in trees.items()}


def bound(tree: ast.Module) -> Iterator[str]:
    """The names that a module gives a meaning itself: functions, classes, what it imports and assigns."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def named(tree: ast.AST, module: str, known: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """The known modules (each with the names that are its own) that a module imports, wherever in its text.

    `from a.b import c` imports `a.b.c` if that is a module and `c` no name of `a.b`'s own, and `a.b` otherwise.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = absolute(node, module, known)
            own = known.get(source, frozenset())
            whole = {alias.name: f"{source}.{alias.name}" for alias in node.names}
            found = [source if name in own or path not in known else path for name, path in whole.items()]
        else:
            continue
        yield from (name for name in found if name in known and name != module)


def absolute(node: ast.ImportFrom, module: str, known: Mapping[str, frozenset[str]]) -> str:
    """The full name of the module that an import is from, also where the text has dots before it."""
    if not node.level:
        return node.module or ""
    is_package = any(name.startswith(f"{module}.") for name in known)
    parents = module.split(".")[: None if is_package and node.level == 1 else -node.level + is_package]
    return ".".join([*parents, *([node.module] if node.module else [])])


def circles(graph: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """The sets of modules, two or more, of which each imports every other, directly or not (Tarjan's algorithm)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        number[module] = low[module] = len(number)
        stack.append(module)
        for other in graph[module]:
            if other not in number:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], number[other])
        if low[module] == number[module]:
            start = stack.index(module)
            found.append(sorted(stack[start:]))
            del stack[start:]

    for module in graph:
        if module not in number:
            visit(module)
    return sorted(group for group in found if len(group) > 1)


def test_no_imports_go_in_a_circle() -> None:
    """No module needs itself: whatever it imports can be read, and tested, without it."""
    assert len(imports()) > 200
    assert circles(imports()) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import swingby.a", ["swingby.a"]),
        ("from swingby.a import thing", ["swingby.a"]),
        ("from swingby import a, b", ["swingby.a", "swingby.b"]),
        ("def f():\n    from swingby import a", ["swingby.a"]),
        ("if TYPE_CHECKING:\n    from swingby.b import Thing", ["swingby.b"]),
        ("from swingby import own", ["swingby"]),
        ("import torch", []),
    ],
)
def test_every_import_is_seen(source: str, expected: list[str]) -> None:
    """Imports count wherever they stand: at the top, in a function, under TYPE_CHECKING."""
    known = {"swingby": frozenset({"own"}), "swingby.a": frozenset(), "swingby.b": frozenset()}
    assert list(named(ast.parse(source), "swingby.c", known)) == expected


def test_a_circle_would_be_found() -> None:
    """The search finds a circle of two, one of three, and none where two ways lead to one module."""
    graph = {"a": {"b"}, "b": {"a"}, "c": {"d"}, "d": {"e"}, "e": {"c", "a"}, "f": {"g", "h"}, "g": {"h"}, "h": set()}
    assert circles({module: frozenset(others) for module, others in graph.items()}) == [["a", "b"], ["c", "d", "e"]]
