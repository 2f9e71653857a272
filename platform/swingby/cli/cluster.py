"""The verb cluster: files that bring a sweep to the machines of SLURM or of Kubernetes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import Overrides, say, tell
from swingby.cli.sweeps import ConfirmAbove, Device, Processes, SweepName
from swingby.errors import SwingbyError

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""Writes what brings a sweep to a cluster: a batch script for SLURM, a manifest for KubeRay.

Example:

    swingby cluster slurm transient-memorization --nodes 4 --cpus 32 --time 8:00:00 --out sweep.sbatch
""",
)
Data = Annotated[
    str,
    typer.Option("--data", envvar="SWINGBY_DATA", help="A folder that all machines see, or an address, s3://..."),
]
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="Where it goes.", show_default="standard output")]


@app.command()
def slurm(
    sweep: SweepName,
    nodes: Annotated[int, typer.Option(help="Machines.")],
    cpus: Annotated[int, typer.Option(help="CPUs of each.")],
    gpus: Annotated[str, typer.Option(metavar="[KIND:]N", help="GPUs of each.")] = "0",
    time: Annotated[str, typer.Option(metavar="TIME", help="How long at most, as SLURM writes it.")] = "1:00:00",
    partition: Annotated[str | None, typer.Option(help="Where.")] = None,
    account: Annotated[str | None, typer.Option(help="Whose.")] = None,
    sbatch: Annotated[
        list[str] | None, typer.Option(metavar="OPTION", help="Any other option of sbatch, e.g. --mem=64G; repeatable.")
    ] = None,
    env: Annotated[
        str, typer.Option("--env", metavar="FOLDER", help="The Python environment, on a folder that all nodes see.")
    ] = sys.prefix,
    drain: Annotated[int, typer.Option(metavar="SECONDS", help="How long before the end no batch begins.")] = 120,
    data: Data = "data",
    overrides: Overrides = None,
    processes: Processes = 1,
    device: Device = None,
    confirm_above: ConfirmAbove = 100_000,
    out: Out = None,
) -> None:
    """A batch script that starts Ray on the nodes of its allocation, with a token, runs the sweep there and ends both.

    Submitted again, it goes on where it stopped.

    Example:

        swingby cluster slurm transient-memorization --nodes 4 --cpus 32 --gpus a100:4 --time 8:00:00 --out sweep.sbatch
    """
    from swingby.launch.slurm import script
    from swingby.launch.words import options, task_of
    from swingby.sweepfile.sweep import Sweep

    loaded = Sweep.load(sweep, overrides or (), confirm_above)
    task = task_of(loaded, sweep, data, options(overrides or (), processes, device, confirm_above))
    text = script(
        task, str(Path(env).absolute()), nodes, cpus, gpus, time, partition, account, tuple(sbatch or ()), drain
    )
    _give(text, out, "sbatch")


@app.command()
def kuberay(
    sweep: SweepName,
    image: Annotated[str, typer.Option(help="With swingby, ray[default] and what the sweep needs.")],
    workers: Annotated[int, typer.Option(help="Pods that train.")] = 2,
    cpus: Annotated[str, typer.Option(metavar="QUANTITY", help="CPUs of each.")] = "4",
    memory: Annotated[str, typer.Option(metavar="QUANTITY", help="Memory of each.")] = "16Gi",
    gpus: Annotated[int, typer.Option(help="GPUs of each.")] = 0,
    claim: Annotated[
        str | None, typer.Option(metavar="NAME", help="A volume claim that many pods write to, mounted at --data.")
    ] = None,
    secret: Annotated[
        str | None, typer.Option(metavar="NAME", help="Its keys become environment variables, e.g. of the storage.")
    ] = None,
    namespace: Annotated[str | None, typer.Option(help="Where it runs.")] = None,
    retries: Annotated[int, typer.Option(help="How often a failed job is started again; it goes on.")] = 2,
    ray_version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="The image's.", show_default="as here")
    ] = None,
    data: Data = "/data",
    overrides: Overrides = None,
    processes: Processes = 1,
    device: Device = None,
    confirm_above: ConfirmAbove = 100_000,
    out: Out = None,
) -> None:
    """A RayJob for KubeRay (1.5.1 or newer): a cluster that asks for a token, and the sweep on it; gone when it ends.

    Example:

        swingby cluster kuberay transient-memorization --image registry.example.org/swingby:0.1 --claim results
    """
    from swingby.launch.kuberay import Pods, manifest
    from swingby.launch.words import options, task_of
    from swingby.run.ray.session import version
    from swingby.sweepfile.sweep import Sweep

    loaded = Sweep.load(sweep, overrides or (), confirm_above)
    task = task_of(loaded, sweep, data, options(overrides or (), processes, device, confirm_above))
    pods = Pods(image, workers, cpus, memory, gpus, claim, secret, namespace)
    _give(manifest(task, pods, ray_version or version(), retries), out, "kubectl create -f")


def _give(text: str, out: Path | None, then: str) -> None:
    """To standard output, or into a file, and what to do with that."""
    from swingby.data.files import clear_os_errors, write_whole

    if out is None:
        sys.stdout.write(text)
        return
    if out.is_dir():
        raise SwingbyError(f"--out {out} is a folder; give a file")
    with clear_os_errors(f"write {out}"):
        write_whole(out, lambda path: path.write_text(text))
    say(str(out))
    tell(f"  next: {then} {out}")
