"""A SLURM that is none, for tests: `sbatch` runs the script here, and `srun` runs each node's step here too."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FAKES = {
    # What #SBATCH lines ask for is noted; the nodes are two names of this machine.
    "sbatch": """
grep '^#SBATCH ' "$1" > "$FAKE/asked"
echo "Submitted batch job 4711"
cd "$FAKE/submit"
export SLURM_JOB_ID=4711 SLURM_JOB_NODELIST='n[1-2]' SLURM_SUBMIT_DIR="$FAKE/submit"
exec bash "$1"
""",
    "scontrol": """
[ "$*" = "show hostnames n[1-2]" ] || exit 1
printf 'n1\\nn2\\n'
""",
    "getent": """
[ "$1" = ahostsv4 ] && [ -n "$FAKE_IP" ] || exit 2
echo "$FAKE_IP  STREAM $2"
""",
    # A step begins with the node's own environment, and gets the signals that srun gets.
    "srun": """
while [ "${1#--}" != "$1" ]; do
  case $1 in --nodelist=*) node=${1#--nodelist=} ;; esac
  printf '%s\\n' "$1" >> "$FAKE/srun"
  shift
done
export TEST_LEDGER="$TEST_LEDGER.$node"
exec "$@"
""",
}


def install(folder: Path) -> dict[str, str]:
    """The fakes in a folder; the environment in which they are found first."""
    tools(folder / "bin", FAKES)
    (folder / "submit").mkdir()
    path = os.pathsep.join([str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "FAKE": str(folder), "FAKE_IP": own_address()}


def tools(folder: Path, texts: Mapping[str, str]) -> None:
    """Shell scripts, each by its name."""
    folder.mkdir(parents=True)
    for name, text in texts.items():
        path = folder / name
        path.write_text(f"#!{shutil.which('bash')}\nset -eu\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)


@cache
def own_address() -> str:
    """By which address Ray finds this machine."""
    code = "import ray; print(ray.util.get_node_ip_address())"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
