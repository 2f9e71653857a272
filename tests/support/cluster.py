"""A Ray cluster of several simulated nodes on this machine, for tests: with a token, and gone with the test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from swingby.run.ray import environment as cluster

SIMULATED = """
import json, pathlib, sys
from ray._private.utils import get_ray_address_file
from ray.cluster_utils import Cluster
# The cluster's address is noted in Ray's own temporary folder, which is not there before a session without a folder.
pathlib.Path(get_ray_address_file(None)).parent.mkdir(parents=True, exist_ok=True)
def common(name):
    folder = pathlib.Path(sys.argv[1]) / name  # of its own: nodes of one machine would install the same files twice
    folder.mkdir()
    where = {"temp_dir": str(folder), "plasma_directory": str(folder)}
    return {"object_store_memory": 80 * 2**20, **where}
head, *others = ({**common(str(k)), **node} for k, node in enumerate(json.loads(sys.argv[2])))
cluster = Cluster(initialize_head=True, head_node_args={**head, "include_dashboard": False})
for node in others:
    cluster.add_node(**node)
cluster.wait_for_nodes()
print("at", cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


@dataclass(frozen=True)
class Nodes:
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


def with_pip(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment whose `pip` is this Python's: Ray calls it by that name."""
    path = os.pathsep.join([str(Path(sys.executable).parent), environment.get("PATH", os.defpath)])
    return {**environment, "PATH": path}


def two_nodes(resources: str = '{"num_cpus": 2}', environment: Mapping[str, str] = os.environ) -> Any:
    """A cluster of two nodes that asks for a token, as `simulated`; `resources` are of each node, JSON."""
    return simulated([json.loads(resources)] * 2, environment)


@contextmanager
def simulated(
    nodes: Sequence[Mapping[str, Any]], environment: Mapping[str, str] = os.environ, token: str | None = None
) -> Iterator[Nodes]:
    """A cluster that asks for a token.

    Args:
        nodes: of each, what `ray.cluster_utils.Cluster.add_node` takes: "num_cpus", "num_gpus", "env_vars".
        environment: of its workers.
        token: the file of its token; None: one of its own. A process that joins it has that token for good, since Ray
            reads it once: one that starts or joins others, too, gives its own.
    """
    with cluster.private_folder() as folder:
        if token is None:
            (folder / "token").touch(0o600)
            (folder / "token").write_text("c0ffee" * 8)
            token = str(folder / "token")
        own = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": token}
        child = subprocess.Popen(
            [sys.executable, "-c", SIMULATED, str(folder), json.dumps(list(nodes))],
            env={**with_pip(environment), **own},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert child.stdout is not None
            line = child.stdout.readline()
            assert line.startswith("at "), line
            yield Nodes(line.split()[1], token, child)
        finally:
            child.communicate("", timeout=120)
