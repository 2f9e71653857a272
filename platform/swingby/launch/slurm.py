"""A batch script for SLURM: it starts Ray on the nodes of its allocation, runs a sweep there, and ends both."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template

from swingby.errors import SwingbyError
from swingby.launch.task import Task, command, in_range, matching, one_line
from swingby.options import option

TIME = r"\d{1,6}(:\d{2}){0,2}|\d{1,4}-\d{1,2}(:\d{2}){0,2}"
NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
DIRECTIVE = r"--[a-z][a-z0-9-]*(=[A-Za-z0-9_.,:@%/+&|*()\[\]-]+)?"
OURS = ("job-name", "nodes", "ntasks", "ntasks-per-node", "cpus-per-task", "gpus-per-node", "time", "signal", "export")


def script(
    task: Task,
    environment: str,
    nodes: int,
    cpus: int,
    gpus: str = "0",
    time: str = "1:00:00",
    partition: str | None = None,
    account: str | None = None,
    sbatch: Sequence[str] = (),
    drain: int = 120,
) -> str:
    """The batch script.

    Args:
        task: the run.
        environment: the folder of the Python environment, the same on every node.
        nodes, cpus: the number of nodes, and the CPUs of each.
        gpus: the GPUs of each node: "4", or "a100:4"; "0" for none.
        time: the time limit of the job, as SLURM writes it: "2-12:00:00".
        sbatch: further options of sbatch, "--mem=64G".
        drain: seconds before the time limit from which no batch begins, and running ones finish.

    Raises:
        SwingbyError: an option is invalid.
    """
    gpus = matching("gpus", gpus, r"([A-Za-z0-9_.-]+:)?\d{1,3}", "a number, or a kind and a number: 4, a100:4")
    count = int(gpus.split(":")[-1])
    directives = [
        f"--job-name={task.name}",
        f"--nodes={in_range('nodes', nodes)}",
        "--ntasks-per-node=1",
        f"--cpus-per-task={in_range('cpus', cpus)}",
        f"--time={matching('time', time, TIME, 'minutes, hours:minutes:seconds or days-hours:minutes:seconds')}",
    ]
    directives += [f"--gpus-per-node={gpus}"] if count else []
    for key, value in (("partition", partition), ("account", account)):
        if value is not None:
            lists = rf"{NAME}(,{NAME})*"
            directives.append(f"--{key}={matching(key, value, lists, 'letters, digits, hyphens, commas')}")
    for directive in sbatch:
        allowed = "an option of sbatch without spaces or quotes, such as --mem=64G"
        name = matching("sbatch", directive, DIRECTIVE, allowed).removeprefix("--").split("=")[0]
        if name in OURS:
            raise SwingbyError(
                f"{option('sbatch')} {directive!r}: the script says --{name} itself; allowed is any other option of "
                "sbatch"
            )
        directives.append(directive)
    return _template().render(
        directives=directives,
        drain=in_range("drain", drain, 1, 65535),
        environment=one_line("env", environment),
        cpus=cpus,
        gpus=gpus if count else "",
        count=count,
        command=command(task, task.sweep.name if task.file is None else str(task.file), '"$address"'),
    )


def _template() -> Template:
    # Values in the shell script either match a pattern without quotes, or are quoted for the shell. The shell's ${#...}
    # would open a comment of Jinja's.
    environment = Environment(  # noqa: S701  a shell script, in which escapes of HTML would be wrong
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        comment_start_string="{%#",
        comment_end_string="#%}",
    )
    environment.filters["quote"] = shlex.quote
    return environment.from_string((files("swingby.launch") / "templates" / "slurm.sbatch").read_text())
