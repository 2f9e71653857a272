"""What tests of the machinery do with the `walk` experiment: sweeps, a ledger of trainings, drivers as processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from swingby.data.records import Records
from swingby.store import Store, ingest
from swingby.sweepfile.sweep import Sweep

HERE = Path(__file__).parent


def with_misbehaving() -> dict[str, str]:
    """This process's environment, in which the experiment is found too."""
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}


class Part(NamedTuple):
    """What a process of a group took up."""

    cell: str
    pid: int
    rank: int
    first: int
    threads: str
    devices: str


class Kit:
    """One data folder and one ledger."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.ledger = folder / "ledger"
        self.children: list[subprocess.Popen[str]] = []

    def text(self, **changes: Any) -> str:
        """A sweep file: two shapes of six cells, unless changed."""
        content = {"name": "walks", "experiment": "walk", "axes": {"width": [1, 2], "rate": [0.5, 1.0]}, "seeds": 3}
        return yaml.safe_dump({**content, **changes}, sort_keys=False)

    def sweep(self, **changes: Any) -> Sweep:
        """The sweep of that file."""
        return Sweep.parse(self.text(**changes), "walks.yaml")

    def records(self) -> Records:
        """The data folder's records."""
        return Records.open(self.data)

    def started(self) -> Counter[str]:
        """How often each cell began."""
        lines = self.ledger.read_text().split("\n") if self.ledger.exists() else []
        return Counter(line.split()[0] for line in lines if line)

    def pids(self) -> set[int]:
        """The processes that trained."""
        return {int(line.split()[1]) for line in self.ledger.read_text().split("\n") if line}

    def parts(self) -> list[Part]:
        """What processes of groups took up, in the order in which they did."""
        path = self.ledger.with_name(f"{self.ledger.name}.group")
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        return [
            Part(cell, int(pid), int(rank), int(first), *rest)
            for cell, pid, rank, first, *rest in map(str.split, lines)
        ]

    def rows(self, query: str) -> list[Any]:
        """Rows of a query, after an ingest."""
        ingest(self.records())
        with Store.open(self.data) as store:
            return store.sql(query).rows()

    def environment(self, **more: str) -> dict[str, str]:
        """For processes that should know the experiment."""
        return {**with_misbehaving(), "TEST_LEDGER": str(self.ledger), **more}

    def driver(self, code: str, **options: Any) -> subprocess.Popen[str]:
        """A Python process of its own process group that runs this code."""
        child = subprocess.Popen(
            [sys.executable, "-W", "error::ResourceWarning", "-c", code],
            env=self.environment(),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            **options,
        )
        self.children.append(child)
        return child

    def close(self) -> None:
        """Ends the drivers that are still there."""
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()
