"""Laws of the batch script for SLURM: it says what it was told and nothing else, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swingby.errors import SwingbyError
from swingby.launch.slurm import script
from swingby.launch.task import options, task_of
from swingby.sweepfile.sweep import Sweep
from tests.support import slurm
from tests.support.command import swingby
from tests.support.waiting import awaited

pytestmark = pytest.mark.usefixtures("as_a_command")

SWEEP = "name: tried\nexperiment: sim\naxes: {layers: [1, 2]}\nseeds: 2\n"
NASTY = (
    "$(touch x)",
    "`touch x`",
    "a'b",
    'a"b',
    "; touch x",
    "a\nb",
    "-rf",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "\\",
    "é",
    "*",
)
characters = st.characters(codec="utf-8", exclude_characters="\0")
hostile = st.text(characters, min_size=1, max_size=30) | st.sampled_from(NASTY)


def made(file: str = "transient-memorization", data: str = "/data", **changes: Any) -> str:
    """A script, as tame as it can be but for these."""
    sweep = Sweep.parse(SWEEP, "tried.yaml")
    more = options(changes.pop("overrides", ()), 1, None, 100_000)
    given: dict[str, Any] = {"environment": "/env", "nodes": 2, "cpus": 1, **changes}
    return script(task_of(sweep, file, data, more), **given)


def test_the_script_is_sound() -> None:
    """Bash can read it and shellcheck finds nothing in it, with GPUs or without."""
    for text in (made(), made(gpus="a100:2", partition="long", account="lab", sbatch=("--mem=4G", "--exclusive"))):
        assert subprocess.run(["bash", "-n"], input=text, text=True).returncode == 0
        checker = Path(sys.executable).with_name("shellcheck")
        found = subprocess.run([checker, "--severity=warning", "-"], input=text, text=True, capture_output=True)
        assert found.stdout == ""
        assert found.returncode == 0


def test_the_script_asks_for_what_it_was_told() -> None:
    """Each option is a line for sbatch, and Ray gets as many CPUs and GPUs as the job has."""
    text = made(nodes=3, cpus=8, gpus="a100:2", time="2-12:00:00", partition="a,b", account="lab", sbatch=("--mem=4G",))
    lines = re.findall(r"^#SBATCH (.*)$", text, re.MULTILINE)
    assert lines == [
        *("--job-name=swingby-tried", "--nodes=3", "--ntasks-per-node=1", "--cpus-per-task=8", "--time=2-12:00:00"),
        *("--gpus-per-node=a100:2", "--partition=a,b", "--account=lab", "--mem=4G", "--signal=B:TERM@120"),
    ]
    assert "--num-cpus=8 --num-gpus=2" in text
    assert "ray stop" not in re.sub(r"^ *#.*$", "", text, flags=re.MULTILINE)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@given(file=hostile, data=hostile, environment=hostile, override=hostile)
def test_no_word_leads_out_of_its_quotes(file: str, data: str, environment: str, override: str) -> None:
    """Whatever the names of files, folders and values are: the shell takes each as the one word it is, or the script is
    refused; every other line is that of a tame script."""
    named = f"{file}.yaml"
    try:
        text = made(named, f"/d/{data}", environment=f"/e/{environment}", overrides=(override,))
    except SwingbyError:
        assert not all(word.isprintable() for word in (file, data, environment, override))
        return
    tame = made(environment="/env").splitlines()
    others = [line for line in text.splitlines() if line not in tame]
    assert len(others) == 3
    harness = "swingby() { printf '%s\\0' \"$@\"; }\ncommand() { return 1; }\ntool=t address=A PATH=P\n"
    run = others[2].removesuffix(" &")
    says = subprocess.run(["bash", "-c", harness + others[0] + '\nprintf "%s\\0" "$PATH"\n' + run], capture_output=True)
    words = says.stdout.decode().split("\0")[:-1]
    path, *rest = words
    assert path == f"/e/{environment}/bin:P"
    # A path is told as it is written out whole: "/d//" is /d, by whatever spelling.
    folder = str(Path(f"/d/{data}"))
    expected = ["run", str(Path(named).absolute()), "--data", folder, "--code", "installed", "--set", override]
    assert rest == [*expected, "--address", "A"]


@pytest.mark.parametrize(
    "changes",
    [
        {"nodes": 0},
        {"cpus": -1},
        {"gpus": "2; touch x"},
        {"gpus": "-1"},
        {"time": "soon"},
        {"time": "1:00\n#SBATCH --uid=0"},
        {"partition": "a b"},
        {"partition": "-x"},
        {"account": "$(id)"},
        {"sbatch": ("--mem=4G --uid=0",)},
        {"sbatch": ("mem=4G",)},
        {"sbatch": ("--wrap='x'",)},
        {"sbatch": ("--nodes=7",)},
        {"drain": 0},
    ],
)
def test_what_is_of_another_form_is_refused(changes: dict[str, Any]) -> None:
    """An option that could be two, or none, is refused, and told with what is allowed."""
    with pytest.raises(SwingbyError, match=r"^--[a-z]+ .*allowed"):
        made(**changes)


def test_the_verb_writes_it(tmp_path: Path) -> None:
    """`swingby cluster slurm` checks the sweep first, and writes a file that is whole, with whole paths."""
    file = tmp_path / "tried.yaml"
    file.write_text(SWEEP)
    command = ["cluster", "slurm", str(file), "--nodes", "2", "--cpus", "1", "--data", "s3://bucket/place"]
    done = swingby(*command, "--out", tmp_path / "a.sbatch")
    assert done.exit_code == 0, done.output
    text = (tmp_path / "a.sbatch").read_text()
    assert f"swingby run {file} --data s3://bucket/place --code installed" in text
    assert f"export PATH={sys.prefix}/bin" in text
    file.write_text(SWEEP.replace("layers", "lairs"))
    bad = swingby(*command, "--out", tmp_path / "b.sbatch")
    assert bad.exit_code == 2
    assert "layers" in bad.output
    assert not (tmp_path / "b.sbatch").exists()


TOOLS = {
    "ray": '[ "$1" = status ] || { echo "no ray today"; exit 3; }',  # it neither starts nor says that it is up
    "swingby": 'echo "never called"',
}


@pytest.mark.parametrize(
    ("changes", "without", "code", "said"),
    [
        ({}, None, 1, "Ray has ended on a node:"),
        ({}, "ray", 2, "there is no ray in"),
        ({"FAKE_IP": "127.0.1.1"}, None, 2, "here n1 leads to 127.0.1.1, which other nodes cannot reach"),
        ({"FAKE_IP": ""}, None, 2, "n1 has no address: set SWINGBY_HEAD_IP"),
    ],
)
def test_what_goes_wrong_on_the_nodes_is_told(
    tmp_path: Path, changes: dict[str, str], without: str | None, code: int, said: str
) -> None:
    """Where Ray does not start, is not there, or could not be reached, the job ends at once with the reason, what the
    node said, and nothing left."""
    environment = {**slurm.install(tmp_path / "slurm"), "FAKE_IP": "10.0.0.1", "TEST_LEDGER": "", **changes}
    slurm.tools(tmp_path / "env" / "bin", {name: text for name, text in TOOLS.items() if name != without})
    environment["PATH"] = os.pathsep.join([str(tmp_path / "slurm" / "bin"), "/usr/bin", "/bin"])
    (tmp_path / "job.sbatch").write_text(made(environment=str(tmp_path / "env")))
    done = subprocess.run(
        ["sbatch", tmp_path / "job.sbatch"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert ("no ray today" in done.stderr) == (code == 1)
    assert "never called" not in done.stdout
    assert not list((tmp_path / "slurm" / "submit").iterdir())


def rays() -> set[str]:
    """The folders of Rays that such a script started."""
    return {str(path) for path in Path("/tmp").glob("ray-??????")}


def below(child: subprocess.Popen[str]) -> list[psutil.Process]:
    """The processes of a job."""
    return psutil.Process(child.pid).children(recursive=True)


def submit(folder: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    """A job, as the user types it."""
    return subprocess.Popen(
        ["sbatch", str(folder / "job.sbatch")],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(job: subprocess.Popen[str]) -> str:
    """What a job has said, when it and all of its processes are gone."""
    there = below(job)
    said = job.communicate(timeout=200)[0]
    _, alive = psutil.wait_procs(there, timeout=60)
    assert not alive, [process.cmdline() for process in alive]
    return said


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.xdist_group("ray")
def test_the_script_runs_a_sweep_on_two_nodes(walk: Any) -> None:
    """Where SLURM's own commands are replaced by ones that run both nodes on this machine: Ray starts on both, the
    token is nobody else's, both nodes train, SIGTERM lets what runs finish, and the same file submitted again trains
    the rest; each time no process, no folder and no token is left."""
    folder = walk.folder / "slurm"
    environment = {**walk.environment(OMP_NUM_THREADS="1"), **slurm.install(folder)}
    environment["PYTHONPATH"] = walk.environment()["PYTHONPATH"]
    environment["TEST_LEDGER"] = str(walk.ledger)
    text = walk.text(axes={"rate": [0.5, 1.0]}, seeds=8, base={"pause": 1.0})
    (walk.folder / "walks.yaml").write_text(text)
    options = ["--nodes", "2", "--cpus", "1", "--data", str(walk.data), "--out", str(folder / "job.sbatch")]
    write = [sys.executable, "-m", "swingby", "cluster", "slurm", "walks.yaml", *options]
    subprocess.run(write, cwd=walk.folder, env=environment, check=True, timeout=60)
    before, ledgers = rays(), [walk.ledger.with_name(f"ledger.{node}") for node in ("n1", "n2")]
    job = submit(folder, environment)
    walk.children.append(job)
    awaited(lambda: all(ledger.exists() for ledger in ledgers), 200, job)
    (token,) = (folder / "submit").glob(".swingby-4711-*/token")
    assert token.stat().st_mode & 0o777 == 0o600
    assert token.parent.stat().st_mode & 0o777 == 0o700
    assert re.fullmatch("[0-9a-f]{64}", token.read_text())
    os.kill(job.pid, signal.SIGTERM)
    said = ended(job)
    assert job.returncode == 1, said
    assert "stopping: running batches finish" in said
    assert "the same command goes on where it stopped" in said
    kept = {row.cell_id for row in walk.rows("select cell_id from walk")}
    assert 2 <= len(kept) < 16
    again = submit(folder, environment)
    walk.children.append(again)
    said = ended(again)
    assert again.returncode == 0, said
    assert "16 cells: 16 ok" in said
    # Pilot cells are trained where the driver is.
    trained = {
        ledger: [line.split()[0] for line in ledger.read_text().splitlines()] for ledger in (walk.ledger, *ledgers)
    }
    every = sorted(cell_id for cells in trained.values() for cell_id in cells)
    assert every == sorted(row.cell_id for row in walk.rows("select cell_id from walk"))
    assert all(len(cells) >= 2 for ledger, cells in trained.items() if ledger in ledgers)
    assert rays() == before
    assert not list((folder / "submit").iterdir())
    assert "--nodelist=n1" in (folder / "srun").read_text()
    shutil.rmtree(folder)
