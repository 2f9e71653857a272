"""Laws of the house: which folder is what, who may import whom also by a name in a string, and what a worker loads."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.house_metrics import House, parsed
from tests.support.places import ROOT

SOURCE_ROOTS = {"swingby": ROOT / "platform", "swingby_sweeps": ROOT / "sweeps", "swingby_analysis": ROOT / "analysis"}
NO_SCIENCE = {"swingby_sweeps", "swingby_analysis", "torch", "diffusers", "accelerate", "altair"}
DUCKDB_ROOMS = ("swingby.store.", "swingby.sandbox")
TOOLS = {"torch", "diffusers", "accelerate", "altair", "ray", "duckdb"}
KNOWN = {
    "swingby.run.driver": {"ray"},
    **{
        f"swingby.{name}": {"torch"}
        for name in ("function.experiment", "function.handle", "function.state", "model.memory")
    },
}
"""An experiment may have loaded torch, which is then used and never imported; `ray` is also an option of a run."""


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the three wings, by name."""
    return {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): parsed(path)
        for wing, root in SOURCE_ROOTS.items()
        for path in sorted((root / wing).rglob("*.py"))
    }


def forbidden(module: str) -> set[str]:
    """The packages that a module may not import."""
    wing = module.partition(".")[0]
    found = {
        "swingby": NO_SCIENCE,
        "swingby_sweeps": set[str](),
        "swingby_analysis": {"swingby_sweeps", "torch", "diffusers", "accelerate"},
    }
    ray = {"ray"} if not module.startswith("swingby.run.ray") else set()
    return found[wing] | ray | ({"duckdb"} if not module.startswith(DUCKDB_ROOMS) else set())


def named(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Packages that a module names, with the line: in imports, and in any text that reads as a dotted name.

    `import_module("torch")`, `find_spec("torch.nn")`, `{"module": "torch"}`: whatever is done with the text. The wings
    count only with a dot (`"swingby_sweeps.sim"`): their bare names are words, too.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0], node.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            head, *rest = node.value.split(".")
            if (head in TOOLS or (head in SOURCE_ROOTS and rest and rest[-1] != "html")) and all(
                part.isidentifier() for part in rest
            ):
                yield head, node.lineno


def importers(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Calls that import what a text names, with the line."""
    names = {"import_module", "__import__", "find_spec", "exec", "eval", "run_module", "run_path"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in names:
                yield name, node.lineno


def test_platform_is_never_a_package() -> None:
    """platform/__init__.py would shadow the standard library's `platform` for everyone who runs from the root."""
    assert (ROOT / "platform" / "swingby" / "__init__.py").is_file()
    assert {path.name for path in (ROOT / "platform").iterdir()} - {"__pycache__"} == {"swingby", "README.md"}
    code = "import platform; print(platform.__file__, platform.python_version())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not Path(done.stdout.split()[0]).is_relative_to(ROOT)


def test_the_top_level_is_fixed() -> None:
    """What git keeps at the top is what the design names, and nothing else."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    kept = {line.partition("/")[0] for line in done.stdout.splitlines()}
    house = {"pyproject.toml", "platform", "sweeps", "analysis", "tests", "README.md", "docs", "examples"}
    assert kept == house | {
        "Makefile",
        "constraints.txt",
        ".ci",
        "CHANGELOG.md",
        "CITATION.cff",
        "CONTRIBUTING.md",
        "LICENSE",
        "SECURITY.md",
        ".gitignore",
    }


def test_no_wing_names_what_it_may_not_import() -> None:
    """No module imports a forbidden package, nor names one in a text by which it could be imported."""
    found = [
        (module, name, line)
        for module, tree in modules().items()
        for name, line in named(tree)
        if name in forbidden(module)
    ]
    assert [one for one in found if one[1] not in KNOWN.get(one[0], set())] == []
    allowed = {(module, name) for module, names in KNOWN.items() for name in names}
    assert allowed - {(module, name) for module, name, _ in found} == set(), "allowances that nothing needs"


def test_no_circle_of_imports() -> None:
    """No modules reach each other by imports, neither at the top, nor inside functions, nor for type checks alone."""
    house = House(ROOT)
    assert house.modules.keys() == modules().keys()
    assert house.circles() == []


REGISTRY = "swingby.model.registry"
"""The one module that imports what a text names: packages that are installed."""
NEEDED = "swingby.model.needed"
"""The one that asks whether what a text names could be imported; it imports nothing."""


def test_nothing_is_imported_by_a_name_in_a_string() -> None:
    """No module imports by text, or runs text: what it needs stands in import statements, where contracts see it."""
    found = [(module, line, name) for module, tree in modules().items() for name, line in importers(tree)]
    assert [one for one in found if one[0] not in (REGISTRY, NEEDED)] == []
    assert {name for module, _, name in found if module == NEEDED} == {"find_spec"}
    assert {name for module, _, name in found if module == REGISTRY} == {"import_module"}


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("swingby_analysis.signals.noise", 'importlib.import_module("torch")'),
        ("swingby.sweepfile.sweep", '__import__("altair")'),
        ("swingby_sweeps.sim.task", 'name = "ray.tune"'),
        ("swingby.run.executor", "import ray.tune"),
        ("swingby_analysis.report.data", "from duckdb import connect"),
        ("swingby.data.records", 'find_spec("swingby_sweeps.sim")'),
    ],
)
def test_a_hidden_import_would_be_found(module: str, code: str) -> None:
    """The search above finds each of these."""
    assert [name for name, _ in named(ast.parse(code)) if name in forbidden(module)]


PICKLES = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
PIPED = {"swingby.run.processes.local_group"}
"""They get a pickle through a pipe from the process that started them."""


def test_nothing_is_read_from_a_pickle() -> None:
    """No module reads what would run code as it is read: no pickle, no torch.load, no arrays that hold objects."""
    found = []
    assert len(modules()) > 200
    for module, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                given = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
                if PICKLES & {name.partition(".")[0] for name in given} and module not in PIPED:
                    found.append(f"{module}:{node.lineno}")
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                called = ast.unparse(node.func)
                loose = any(word.arg == "allow_pickle" for word in node.keywords)
                if loose or called in {"torch.load", "yaml.load", "yaml.unsafe_load", "yaml.full_load"}:
                    found.append(f"{module}:{node.lineno} calls {called}")
    assert found == []


def test_every_test_that_security_names_is_there() -> None:
    """Each test by which SECURITY.md shows a defence exists, and each threat has one."""
    text = (ROOT / "SECURITY.md").read_text()
    threats = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| What comes in")]
    assert len(threats) >= 12
    missing = []
    for line in threats:
        told = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", line)
        assert told, line
        missing += [f"{path}::{name}" for path, name in told if f"def {name}(" not in (ROOT / path).read_text()]
    assert missing == []


def test_the_contracts_are_those_of_the_design() -> None:
    """The import contracts hold every wing to its rules, and leave out none."""
    given = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    assert set(given["root_packages"]) == set(SOURCE_ROOTS)
    rules = {
        (wing, name)
        for c in given["contracts"]
        for wing in c.get("source_modules", ())
        for name in c.get("forbidden_modules", ())
    }
    assert {("swingby", name) for name in NO_SCIENCE} <= rules
    assert {("swingby_analysis", "torch"), ("swingby_analysis", "ray")} <= rules
    assert {(wing, name) for wing in ("swingby", "swingby_sweeps") for name in ("ray", "duckdb")} <= rules
    assert ("swingby_analysis", "duckdb") in rules
    assert ["swingby_sweeps", "swingby_analysis", "swingby"] in [c.get("layers") for c in given["contracts"]]


def test_a_worker_starts_light() -> None:
    """A new worker imports the module that trains; neither the store, nor the planner, nor what draws comes along."""
    heavy = ("duckdb", "torch", "altair", "swingby.store", "swingby.run.plan", "swingby.run.retries")
    code = f"import sys, swingby.run.ray.trainable; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
