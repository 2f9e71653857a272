"""What a process imports: a page needs no torch, and training neither a chart nor a detector."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from swingby.model import registry
from swingby.run.outcomes import derive
from tests.support import synthetic_sim

VERB = """
import sys
from swingby.cli import app
app(sys.argv[1:], standalone_mode=False)
"""
HEAVY = ("torch", "numba", "altair", "ray", "scipy", "pandas", "jinja2")
"""Packages that only training, detecting and drawing need; each takes longer to import than a short verb should."""

REPORT = """
import sys
from pathlib import Path
from swingby_analysis.report import write_report
written = write_report("small", Path(sys.argv[1]), Path(sys.argv[2]), kinds=())
assert not written.faults, written.faults
"""


def imported(code: str, *arguments: object) -> set[str]:
    """The modules that a process of its own has imported at the end of the code."""
    whole = f"{code}\nimport json\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", whole, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_a_report_imports_no_torch(tmp_path: Path) -> None:
    """A report of a sweep is drawn by a process that has no torch and no ray."""
    synthetic_sim.write(tmp_path / "data", synthetic_sim.square("small", 2, 3))
    found = imported(REPORT, tmp_path / "data", tmp_path / "out")
    assert (tmp_path / "out" / "small" / "report.html").is_file()
    assert not {"torch", "ray", "diffusers"} & found


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a sweep that was trained, and whose outcomes are there."""
    folder = tmp_path_factory.mktemp("imports") / "data"
    derive(synthetic_sim.write(folder, synthetic_sim.square("small", 2, 3)))
    return folder


@pytest.mark.parametrize(
    ("verb", "more"),
    [
        (["--help"], ("numpy", "pyarrow", "duckdb", "pydantic", "polars")),
        (["run", "--help"], ("numpy", "pyarrow", "duckdb", "polars")),
        (["validate", "{sweep}"], ("duckdb", "polars")),
        (["plan", "{sweep}", "--no-pilot", "--data", "{data}"], ("polars",)),
        (["run", "{sweep}", "--data", "{data}"], ("polars",)),
        (["status", "--data", "{data}"], ("polars",)),
        (["sql", "from sweeps", "--data", "{data}"], ("duckdb", "polars", "numpy")),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_short_verb_imports_only_what_it_needs(
    verb: list[str], more: tuple[str, ...], data: Path, tmp_path: Path
) -> None:
    """Verbs that neither train, nor detect, nor draw load nothing that does; nor does the run of a finished sweep."""
    text = synthetic_sim.SQUARE.format(name="small", title="Curves", points=2, seeds=3)
    (tmp_path / "small.yaml").write_text(text)
    found = imported(VERB, *(word.format(sweep=tmp_path / "small.yaml", data=data) for word in verb))
    assert not {*HEAVY, *more} & found


def test_training_imports_no_chart_and_no_detector() -> None:
    """What a worker imports to train any of the experiments draws nothing and detects nothing."""
    experiments = sorted(registry.offered(registry.EXPERIMENTS))
    code = """
import sys
from swingby.model import registry
for name in sys.argv[1:]:
    kind = registry.experiment(name)
    kind.shape(kind.Params())
    found = [one for one in sys.modules if one.startswith(("altair", "swingby_analysis", "vl_convert"))]
    found += [one for one in sys.modules if ".detect" in one or ".drawings" in one]
    assert not found, (name, found)
"""
    assert {registry.offered(registry.EXPERIMENTS)[name].value.partition(":")[0] for name in experiments} <= imported(
        code, *experiments
    )
