"""Laws of three nodes: what a sweep comes to does not hang on where it ran, and CPUs and GPUs are kept busy at once."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.sweepfile.sweep import Sweep
from tests.support.cluster import Nodes, simulated
from tests.support.waiting import awaited

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200), pytest.mark.xdist_group("ray")]

WHERE = "shard, attempt"
"""Columns that say where and when a cell was trained."""
SIM = """
name: sides
experiment: sim
preset: authors
base: {d: 4, n: 60, epochs: 8, batch_size: 32, mu: [1.0, 2.0], sigma: [0.1, 0.2]}
axes: {layers: [2, 3], width: [4, 6]}
seeds: 6
"""


@dataclass(frozen=True)
class Three:
    """Two nodes with CPUs alone, and one that has a GPU too; each notes what begins on it."""

    nodes: Nodes
    ledgers: tuple[Path, ...]

    def begun(self) -> list[list[tuple[str, int]]]:
        """Of each node, cells and when they began, in nanoseconds."""
        lines = [path.read_text().splitlines() if path.exists() else [] for path in self.ledgers]
        return [[(cell, int(when)) for cell, _, when in map(str.split, one)] for one in lines]

    def driver(self, walk: Any, file: str, data: Path, *options: str) -> subprocess.Popen[str]:
        """A user's run."""
        command = [sys.executable, "-m", "swingby", "run", file, "--data", str(data), "--no-pilot", *options]
        child = subprocess.Popen(
            [*command, "--address", self.nodes.address],
            env=walk.environment(RAY_AUTH_TOKEN_PATH=self.nodes.token, OMP_NUM_THREADS="1"),
            cwd=walk.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        walk.children.append(child)
        return child


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Three]:
    """The cluster; its workers find the experiment `walk` nowhere, unless it travels."""
    folder = tmp_path_factory.mktemp("three")
    ledgers = tuple(folder / name for name in ("cpus", "more-cpus", "gpus"))
    specs = [{"num_cpus": 1}, {"num_cpus": 1}, {"num_cpus": 2, "num_gpus": 1}]
    each = [{**spec, "env_vars": {"TEST_LEDGER": str(path)}} for spec, path in zip(specs, ledgers, strict=True)]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "TEST_LEDGER")}
    with simulated(each, environment) as nodes:
        yield Three(nodes, ledgers)


def finished(child: subprocess.Popen[str]) -> str:
    """What a run that ends well has said."""
    said = child.communicate(timeout=400)[0]
    assert child.returncode == 0, said
    return said


def test_three_nodes_leave_what_one_loop_leaves(walk: Any, three: Three) -> None:
    """The same sweep on a local disk by the plain loop, and on three nodes with a folder that they share: the same
    rows, to the last bit, in every column but those that say where; every node trained, and the code came along."""
    # What a cell that failed tells goes on with the lines of files, and these lie elsewhere.
    columns = f"* exclude ({WHERE}, threads) replace (split_part(message, chr(10), 1) as message)"
    query = f"select {columns} from walk order by cell_id"
    text = walk.text(
        axes={"width": list(range(1, 7)), "wants": ["ok", "diverge", "raise"]}, seeds=2, base={"pause": 0.2}
    )
    (walk.folder / "walks.yaml").write_text(text)
    child = three.driver(walk, "walks.yaml", walk.data)
    said = child.communicate(timeout=400)[0]
    assert "36 cells: 12 ok, 12 diverged, 12 FAILED" in said, said
    by_three, hosts = walk.rows(query), three.begun()
    assert all(hosts), said
    walk.data = walk.folder / "by-loop"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(walk.folder)
        run_sweep(Sweep.load("walks.yaml"), walk.data, local=True, pilot=False, progress=Progress())
    assert len(by_three) == 36
    assert repr(by_three) == repr(walk.rows(query))
    trained = [cell for node in hosts for cell, _ in node]
    assert sorted(set(trained)) == sorted(row.cell_id for row in by_three)


def test_cpus_and_gpus_at_once(walk: Any, three: Three) -> None:
    """Two users, each with a sweep file: one holds the node with a GPU with long runs, the other has batches that need
    CPUs alone. Every run with a GPU is on the GPU's node, where two at a time share it, as the file says, and never
    three; batches are trained on the other nodes while such runs go on, and such runs begin while batches are left:
    neither waits for the other's end."""
    before = [len(node) for node in three.begun()]
    long = {"name": "long", "axes": {"width": [20, 21, 22, 23]}, "seeds": 3, "base": {"gpus": 1.0, "pause": 5.0}}
    long["resources"] = {"gpus": 0.5}
    (walk.folder / "long.yaml").write_text(walk.text(**long))
    short = {"name": "short", "axes": {"width": list(range(2, 14))}, "seeds": 4, "base": {"pause": 0.5}}
    (walk.folder / "short.yaml").write_text(walk.text(**short))
    first = three.driver(walk, "long.yaml", walk.data)
    awaited(lambda: len(three.begun()[2]) > before[2], 200, first)
    second = three.driver(walk, "short.yaml", walk.data)
    assert "12 cells: 12 ok" in finished(first)
    assert "48 cells: 48 ok" in finished(second)
    with_gpu = {row.cell_id for row in walk.rows("select cell_id from walk where gpus > 0")}
    on_cpus, more, on_gpus = (node[start:] for node, start in zip(three.begun(), before, strict=True))
    assert with_gpu <= {cell for cell, _ in on_gpus}
    assert not with_gpu & {cell for cell, _ in (*on_cpus, *more)}
    assert on_cpus
    assert more
    runs = sorted(when for cell, when in on_gpus if cell in with_gpu)
    assert any(later - earlier < 4.5e9 for earlier, later in itertools.pairwise(runs))
    assert all(third - first > 4.5e9 for first, third in zip(runs, runs[2:], strict=False))
    batches = sorted(when for cell, when in (*on_cpus, *more, *on_gpus) if cell not in with_gpu)
    beside = [when for _, when in (*on_cpus, *more) if runs[0] < when < runs[-1] + 5e9]
    assert len(beside) >= len(batches) / 3
    assert any(batches[0] < when < batches[-1] for when in runs)


def test_sim_on_three_nodes(walk: Any, three: Three) -> None:
    """SIM's cells too: curves and all other columns are those of the plain loop, to the bit, in the same batches."""
    (walk.folder / "sides.yaml").write_text(SIM)
    said = finished(three.driver(walk, "sides.yaml", walk.data))
    assert "24 cells: 24 ok" in said
    query = f"select * exclude ({WHERE}, seconds) from sim order by cell_id"
    by_three = walk.rows(query)
    walk.data = walk.folder / "by-loop"
    run_sweep(Sweep.parse(SIM, "sides.yaml"), walk.data, local=True, pilot=False, progress=Progress())
    assert repr(by_three) == repr(walk.rows(query))
