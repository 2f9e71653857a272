"""A Ray cluster of two simulated nodes on this machine, for tests: with a token, and gone with the test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

from swingby.run import cluster

TWO_NODES = """
import json, sys
from ray.cluster_utils import Cluster
node = {**json.loads(sys.argv[2]), "object_store_memory": 80 * 2**20, "plasma_directory": sys.argv[1]}
cluster = Cluster(initialize_head=True, head_node_args={**node, "temp_dir": sys.argv[1], "include_dashboard": False})
cluster.add_node(**node)
cluster.wait_for_nodes()
print("at", cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


@dataclass(frozen=True)
class TwoNodes:
    """A cluster that is up: its address, the file of its token, and the process that holds it."""

    address: str
    token: str
    holder: subprocess.Popen[str]

    def workers(self, called: str) -> list[int]:
        """The processes of the cluster's workers that do what is called so now, such as "Trial.train"."""
        every = psutil.Process(self.holder.pid).children(recursive=True)
        return [process.pid for process in every if called in "".join(_command(process))]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@contextmanager
def two_nodes(resources: str = '{"num_cpus": 2}', environment: Mapping[str, str] = os.environ) -> Iterator[TwoNodes]:
    """A cluster of two nodes that asks for a token.

    Args:
        resources: of each node, JSON.
        environment: of its workers.
    """
    with cluster.private_folder() as folder:
        (folder / "token").write_text("c0ffee" * 8)
        (folder / "ray").mkdir()
        own = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(folder / "token")}
        child = subprocess.Popen(
            [sys.executable, "-c", TWO_NODES, str(folder / "ray"), resources],
            env={**environment, **own},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert child.stdout is not None
            line = child.stdout.readline()
            assert line.startswith("at "), line
            yield TwoNodes(line.split()[1], str(folder / "token"), child)
        finally:
            child.communicate("", timeout=120)
