"""Laws of a cluster that is started by hand, as the README says: the code travels there, and only with the token."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from swingby.run.ray import environment as cluster
from tests.support.cluster import with_pip
from tests.support.slurm import own_address

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200), pytest.mark.xdist_group("ray")]


def bare_python(folder: Path) -> Path:
    """A Python that has what this one has, but for the code under test: a link to its sources is not followed there."""
    venv.create(folder, with_pip=False)
    (site,) = folder.glob("lib/*/site-packages")
    (here,) = (path for path in map(Path, sys.path) if path.name == "site-packages" and path.is_relative_to(sys.prefix))
    (site / "packages.pth").write_text(f"{here}\n")
    python = folder / "bin" / "python"
    asked = subprocess.run([python, "-c", "import swingby"], capture_output=True, text=True, cwd=folder)
    assert "No module named 'swingby'" in asked.stderr
    return python


def ray(python: Path, *words: str, **environment: str) -> list[str]:
    """The command `ray`, as that Python has it."""
    return [str(python), "-m", "ray.scripts.scripts", *words]


@contextmanager
def machine(python: Path, folder: Path, environment: dict[str, str], *words: str) -> Iterator[subprocess.Popen[str]]:
    """`ray start` on a machine; it is ended by its own process ids."""
    folder.mkdir()
    few = ["--num-cpus=1", "--object-store-memory=80000000", f"--plasma-directory={folder}", f"--temp-dir={folder}"]
    with (folder / "said").open("w") as said:
        child = subprocess.Popen(
            ray(python, "start", *words, "--block", "--disable-usage-stats", *few),
            env=environment,
            cwd=folder,
            stdout=said,
            stderr=subprocess.STDOUT,
            text=True,
        )
    try:
        yield child
    finally:
        below = psutil.Process(child.pid).children(recursive=True)
        child.terminate()
        child.wait(60)
        _, alive = psutil.wait_procs(below, timeout=60)
        for process in alive:
            process.kill()
        assert not alive, alive


def wait_for_nodes(python: Path, address: str, environment: dict[str, str], count: int) -> None:
    """Waits until so many machines are up."""
    deadline = time.monotonic() + 120
    while True:
        asked = subprocess.run(
            ray(python, "status", "--address", address), env=environment, capture_output=True, text=True
        )
        if asked.stdout.count(" node_") == count:
            return
        assert time.monotonic() < deadline, asked.stdout + asked.stderr
        time.sleep(1)


def run(walk: Any, address: str, environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """A user's run."""
    command = [sys.executable, "-m", "swingby", "run", "walks.yaml", "--data", str(walk.data), "--no-pilot", *words]
    return subprocess.run(
        [*command, "--address", address],
        env=environment,
        cwd=walk.folder,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_by_hand(walk: Any) -> None:
    """Two machines whose Python has neither swingby nor the experiment: they are refused, where the code is said to be
    there; and a sweep is trained on both, with the code sent along. Without the token nobody gets in."""
    (walk.folder / "walks.yaml").write_text(walk.text(axes={"width": list(range(1, 7))}, base={"pause": 0.3}))
    with cluster.private_folder() as folder:
        python = bare_python(folder / "bare")
        # An earlier run in this process has a token of its own, which is not that of these machines.
        shell = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH_")}
        bare = {name: value for name, value in shell.items() if name not in ("PYTHONPATH", "TEST_LEDGER")}
        there = {**with_pip(bare), "HOME": str(folder), "RAY_AUTH_MODE": "token"}
        known = {name: value for name, value in walk.environment().items() if not name.startswith("RAY_AUTH_")}
        user = {**known, "OMP_NUM_THREADS": "1", "HOME": str(folder)}
        make = ["bash", "-c", 'umask 077; "$@"', "make", *ray(python, "get-auth-token", "--generate")]
        subprocess.run(make, env=there, check=True, capture_output=True)
        assert (folder / ".ray" / "auth_token").stat().st_mode & 0o777 == 0o600
        address = f"{own_address()}:{cluster_port()}"
        head = ["--head", f"--port={address.split(':')[1]}", "--include-dashboard=false"]
        each = [{**there, "TEST_LEDGER": f"{walk.ledger}.{name}"} for name in ("first", "second")]
        with machine(python, folder / "1", each[0], *head):
            wait_for_nodes(python, address, there, 1)
            with machine(python, folder / "2", each[1], f"--address={address}"):
                wait_for_nodes(python, address, there, 2)
                refused = run(walk, address, user, "--code", "installed")
                assert refused.returncode == 2, refused.stdout + refused.stderr
                assert (
                    "does not say whether it has the code: ModuleNotFoundError: No module named 'swingby'"
                    in refused.stderr
                )
                stranger = run(walk, address, {**user, "HOME": str(walk.folder)})
                assert "refuses our token" in stranger.stderr
                done = run(walk, address, user)
        assert done.returncode == 0, done.stderr
        assert "18 cells: 18 ok" in done.stdout
    lines = [Path(f"{walk.ledger}.{name}").read_text().splitlines() for name in ("first", "second")]
    assert all(lines)
    assert sorted(line.split()[0] for each in lines for line in each) == sorted(
        row.cell_id for row in walk.rows("select cell_id from walk")
    )


def cluster_port() -> int:
    """A port that nobody has."""
    from swingby.model.process_group import free_port

    return free_port(own_address())
