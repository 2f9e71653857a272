"""Sizes and couplings of the source tree: `python -m tests.support.house_metrics [ROOT ...]`, one column a root.

It reads files only and imports nothing of the tree, so that an older checkout can stand beside this one.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

WINGS = {"platform": "platform/swingby", "analysis": "analysis", "sweeps": "sweeps", "tests": "tests"}
ENDINGS = {".py", ".sql", ".html", ".css", ".js"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a source file."""
    return ast.parse(path.read_text())


@dataclass
class House:
    """One checkout: its source files and their syntax trees."""

    root: Path

    def files(self, wing: str) -> list[Path]:
        """Source files of a wing: Python, SQL, templates, styles, scripts."""
        found = (self.root / WINGS[wing]).rglob("*")
        return sorted(path for path in found if path.suffix in ENDINGS and "dist-info" not in str(path))

    @cached_property
    def modules(self) -> dict[str, tuple[Path, ast.Module]]:
        """Every module that is installed, by the name under which it is imported."""
        found = {}
        for wing in ("platform", "analysis", "sweeps"):
            top = self.root / wing
            top = top if any(top.glob("swingby*/__init__.py")) else self.root
            for path in (path for path in self.files(wing) if path.suffix == ".py"):
                parts = path.relative_to(top).with_suffix("").parts
                found[".".join(parts).removesuffix(".__init__")] = (path, parsed(path))
        return found

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """Which modules of the tree each module imports, also inside functions and for type checks alone."""
        return {
            name: set(self._imported(tree, name if path.stem == "__init__" else name.rpartition(".")[0])) - {name}
            for name, (path, tree) in self.modules.items()
        }

    def _imported(self, tree: ast.Module, package: str) -> Iterator[str]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in self.modules)
            elif isinstance(node, ast.ImportFrom):
                above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                base = ".".join([*above, *([node.module] if node.module else [])])
                for alias in node.names:
                    name = f"{base}.{alias.name}"
                    yield from (one for one in [name if name in self.modules else base] if one in self.modules)

    def functions(self) -> Iterator[tuple[str, Function]]:
        """Every function and method, with the module that holds it."""
        for name, (_, tree) in self.modules.items():
            yield from ((name, node) for node in ast.walk(tree) if isinstance(node, Function))

    def private_used_once(self) -> tuple[int, int]:
        """How many private functions are named exactly once in their module, and how many there are."""
        once = total = 0
        for _, tree in self.modules.values():
            private = {
                node.name for node in ast.walk(tree) if isinstance(node, Function) and re.match(r"_[a-z]", node.name)
            }
            used = Counter(
                node.id if isinstance(node, ast.Name) else node.attr
                for node in ast.walk(tree)
                if isinstance(node, ast.Name | ast.Attribute)
            )
            once, total = once + sum(used[name] == 1 for name in private), total + len(private)
        return once, total

    def imported_once(self) -> int:
        """How many modules exactly one other imports."""
        counts = Counter(name for names in self.imports.values() for name in names)
        return sum(counts[name] == 1 for name in self.modules)

    def circles(self) -> list[list[str]]:
        """Groups of modules that reach each other by imports."""
        reach = {name: self._reached(name) for name in self.modules}
        groups = {tuple(sorted({other for other in reach[name] if name in reach[other]})) for name in self.modules}
        return sorted(list(group) for group in groups if group)

    def _reached(self, start: str) -> set[str]:
        seen, todo = set(), list(self.imports[start])
        while todo:
            if (name := todo.pop()) not in seen:
                seen.add(name)
                todo += self.imports[name]
        return seen

    def science(self, name: str) -> Path:
        """The folder of an experiment."""
        return next(
            path
            for path in (self.root / "sweeps" / "swingby_sweeps" / name, self.root / "sweeps" / name)
            if path.is_dir()
        )

    def words(self, name: str) -> set[str]:
        """The name of an experiment, and of its parameters, columns and outcomes those of several words (`mse_final`).

        Single words (`noise`, `width`) are left out: others use them in senses of their own.
        """
        found = {name}
        for path in self.science(name).rglob("*.py"):
            for node in ast.walk(parsed(path)):
                if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "Params" for base in node.bases):
                    found |= {
                        item.target.id
                        for item in node.body
                        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
                    }
                elif isinstance(node, ast.Dict):
                    found |= {
                        key.value
                        for key, value in zip(node.keys, node.values, strict=True)
                        if isinstance(key, ast.Constant)
                        and isinstance(key.value, str)
                        and isinstance(value, ast.Call)
                        and ast.unparse(value.func) == "Column"
                    }
        return {word for word in found if "_" in word} | {name}

    def named_outside(self, name: str, others: set[str]) -> list[Path]:
        """Installed source files outside an experiment's folder that name its parameters, columns or outcomes."""
        words, own = self.words(name) - others, self.science(name)
        files = (path for wing in ("platform", "analysis", "sweeps") for path in self.files(wing))
        return [path for path in files if not path.is_relative_to(own) and words & spoken(path)]

    def passes(self, parameter: str) -> list[str]:
        """Modules that name a parameter as a variable, an attribute, an argument or in a text."""
        return [module for module, (path, _) in self.modules.items() if parameter in spoken(path)]


@cache
def spoken(path: Path) -> set[str]:
    """Names and whole words of texts in a source file; docstrings and comments left out."""
    text = path.read_text()
    if path.suffix != ".py":
        return set(re.findall(r"\w+", re.sub(r"--.*", "", text) if path.suffix == ".sql" else text))
    nodes, found = list(ast.walk(parsed(path))), set()
    remarks = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # docstrings, and those of constants
    for node in nodes:
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.arg) or (isinstance(node, ast.keyword) and node.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in remarks:
            found |= set(re.findall(r"\w+", node.value))
    return found


def quantile(values: list[int], share: float) -> int:
    """The value that a share of all values does not exceed."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)] if values else 0


def rows(root: Path) -> Iterator[tuple[str, str]]:
    """What is measured of one checkout: a name and a value each."""
    house = House(root)
    lines = {wing: [path.read_bytes().count(b"\n") for path in house.files(wing)] for wing in WINGS}
    for wing, sizes in lines.items():
        yield f"{wing}: files, lines", f"{len(sizes)}, {sum(sizes):,}"
    installed = [size for wing, sizes in lines.items() if wing != "tests" for size in sizes]
    yield "installed: files, lines", f"{len(installed)}, {sum(installed):,}"
    python = [path.read_bytes().count(b"\n") for path, _ in house.modules.values()]
    yield "modules: number, median, 90 %, largest", _sizes(python)
    functions = [(node.end_lineno or 0) - node.lineno + 1 for _, node in house.functions()]
    yield "functions: number, median, 90 %, largest", _sizes(functions)
    yield "functions of more than 60 lines", str(sum(size > 60 for size in functions))
    once, total = house.private_used_once()
    yield "private functions used once, of all private", f"{once} of {total} ({once / max(total, 1):.0%})"
    yield "modules imported by a single other", str(house.imported_once())
    circles = house.circles()
    yield "circles of imports, modules in them", f"{len(circles)}, {sum(map(len, circles))}"
    run = [name for name in house.modules if name.startswith("swingby.run")]
    yield "modules of swingby.run", str(len(run))
    yield (
        "README.md: words, lines",
        f"{len((root / 'README.md').read_text().split()):,}, {len((root / 'README.md').read_text().splitlines())}",
    )
    sciences = {name: house.words(name) for name in ("sim", "diffusion")}
    common = {word for params in (root / "platform").rglob("experiment.py") for word in spoken(params)}
    for name in sciences:
        others = common.union(*(words for other, words in sciences.items() if other != name)) - {name}
        yield f"files outside {name}'s folder that name its quantities", str(len(house.named_outside(name, others)))
    yield "modules that the parameter mu passes", str(len(house.passes("mu")))


def _sizes(values: list[int]) -> str:
    return f"{len(values)}, {quantile(values, 0.5)}, {quantile(values, 0.9)}, {max(values, default=0)}"


def main() -> None:
    """Print one line a measure and one column a root."""
    roots = [Path(name).resolve() for name in sys.argv[1:]] or [Path(__file__).parents[2]]
    table = [["", *map(str, roots)], *([name, *values] for name, values in _side_by_side(roots))]
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _side_by_side(roots: list[Path]) -> list[tuple[str, list[str]]]:
    found = [list(rows(root)) for root in roots]
    return [(name, [column[i][1] for column in found]) for i, (name, _) in enumerate(found[0])]


if __name__ == "__main__":
    main()
