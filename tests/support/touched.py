"""Which tests a change touches, nearest first, as many as a minute holds: what `make test-quick` runs."""

from __future__ import annotations

import ast
import subprocess
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import grimp
import pytest

from tests.support.places import ROOT

PACKAGES = {
    "platform/swingby": "swingby",
    "sweeps/swingby_sweeps": "swingby_sweeps",
    "analysis/swingby_analysis": "swingby_analysis",
}
SECONDS = "swingby/seconds"
"""Where pytest's cache keeps how long each test took when it ran last."""
_UNKNOWN = 0.3
"""Seconds of a test that never ran here: the suite's mean, without the few dear ones."""
_STARTING = 20.0
"""Seconds that a worker takes to start and to collect the laws, which no test has."""
_SHARED = 1.0
"""Seconds from which a set-up is taken for one that the tests of a file share: the first of them that runs pays it."""
_FAR = 99
"""Steps of a test that imports nothing of the change; the laws, which look at everything, are this far from any."""

Graph = Mapping[str, set[str]]


def changed(base: str) -> list[str]:
    """Paths, relative to the root, that differ from this commit, untracked files included."""
    commands = (["diff", "--name-only", base], ["ls-files", "--others", "--exclude-standard"])
    said = (subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True) for words in commands)
    lines = []
    for done in said:
        if done.returncode:
            raise pytest.UsageError(f"git does not list what differs from {base}: {done.stderr.strip()}")
        lines += done.stdout.splitlines()
    return sorted({*lines})


def module_of(path: str) -> str:
    """The dotted name of a file: of a file that is no module the package that it lies in."""
    folder = next((folder for folder in PACKAGES if path.startswith(f"{folder}/")), "")
    package, inside = PACKAGES.get(folder, ""), Path(path).relative_to(folder)
    if inside.suffix == ".py":
        parts = [*inside.parts[:-1], *([] if inside.stem == "__init__" else [inside.stem])]
    else:
        parts = list(inside.parts[:-1])
        # Data lies in folders of a package that are no packages themselves.
        while parts and package and not (ROOT / folder / Path(*parts) / "__init__.py").exists():
            parts.pop()
    return ".".join([*([package] if package else []), *parts])


def imports() -> dict[str, set[str]]:
    """The modules that each module imports, of the three packages and of the tests."""
    graph = grimp.build_graph(*PACKAGES.values(), cache_dir=str(ROOT / ".pytest_cache" / "grimp"))
    edges = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    known = {*edges, *(module_of(str(path.relative_to(ROOT))) for path in (ROOT / "tests").rglob("*.py"))}
    for path in (ROOT / "tests").rglob("*.py"):
        edges[module_of(str(path.relative_to(ROOT)))] = _imported(path) & known
    return edges


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def distances(edges: Graph, sources: Iterable[str]) -> dict[str, int]:
    """Steps of import from each module to the nearest of these; modules that reach none are left out."""
    importers: dict[str, set[str]] = {}
    for name, imported in edges.items():
        for other in imported:
            importers.setdefault(other, set()).add(name)
    steps = dict.fromkeys(sources, 0)
    queue = deque(steps)
    while queue:
        name = queue.popleft()
        for importer in importers.get(name, ()):
            if importer not in steps:
                steps[importer] = steps[name] + 1
                queue.append(importer)
    return steps


def nearest(
    tests: Sequence[tuple[str, str]], steps: Mapping[str, int], seconds: Mapping[str, float], budget: float
) -> set[str]:
    """Ids of the tests that fit into a budget of seconds of all workers, nearest first and of these the quickest.

    Args:
        tests: the id of each test and the module that it is in.
        steps: what `distances` gives.
        seconds: how long a test took when it ran last, by its id, and what the tests of a file share, by its path.
    """

    def far(module: str) -> int:
        return _FAR if module.startswith("tests.laws.") else steps.get(module, _FAR + 1)

    order = sorted((far(module), seconds.get(test, _UNKNOWN), test) for test, module in tests)
    chosen, paid = set[str](), set[str]()
    for distance, cost, test in order:
        file = test.partition("::")[0]
        whole = cost if file in paid else cost + seconds.get(file, 0.0)
        if distance <= _FAR and whole <= budget:
            chosen.add(test)
            paid.add(file)
            budget -= whole
    return chosen


@cache
def steps_from(base: str) -> dict[str, int]:
    """What `distances` gives of what differs from this commit."""
    return distances(imports(), {module_of(path) for path in changed(base)} - {""})


def is_far(path: Path, base: str) -> bool:
    """Whether a file of tests is neither one of laws nor near to what differs from this commit."""
    module = module_of(str(path.relative_to(ROOT)))
    return path.name.startswith("test_") and not module.startswith("tests.laws.") and module not in steps_from(base)


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves in `items` what `--touched` asks for."""
    base, minute = str(config.getoption("touched")), float(config.getoption("touched_seconds") or 60)
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    tests = [(item.nodeid, module_of(str(item.path.relative_to(ROOT)))) for item in items]
    cache = getattr(config, "cache", None)
    seconds = cache.get(SECONDS, {}) if cache else {}
    chosen = nearest(tests, steps_from(base), seconds, (minute - _STARTING) * workers)
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
    items[:] = [item for item in items if item.nodeid in chosen]


class Clock:
    """Keeps how long each test took, its set-up and tear-down included, for the next choice."""

    def __init__(self, config: pytest.Config) -> None:
        """Begins with no test."""
        self._config = config
        self._seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Adds the seconds of one phase of a test; xdist writes a group behind the id."""
        name, _, group = report.nodeid.rpartition("@")
        test = name if name and "]" not in group else report.nodeid
        shared = report.when == "setup" and report.duration >= _SHARED
        key = test.partition("::")[0] if shared else test
        self._seconds[key] = round(self._seconds.get(key, 0.0) + report.duration, 3)

    def pytest_sessionfinish(self) -> None:
        """Writes them into pytest's cache, beside what other runs measured."""
        cache = getattr(self._config, "cache", None)  # pytest without its cache has none
        if cache:
            cache.set(SECONDS, {**cache.get(SECONDS, {}), **self._seconds})
