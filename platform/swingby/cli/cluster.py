"""The verb cluster: writes a batch script for SLURM, or a manifest for KubeRay."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from swingby.cli.console import Overrides, say, tell
from swingby.cli.options import ConfirmAbove, Device, Processes, SweepName
from swingby.errors import SwingbyError

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""Writes the file that runs a sweep on a cluster: a batch script for SLURM, or a manifest for KubeRay.

Example:

    swingby cluster slurm transient-memorization --nodes 4 --cpus 32 --time 8:00:00 --out sweep.sbatch
""",
)
Data = Annotated[
    str,
    typer.Option("--data", envvar="SWINGBY_DATA", help="A folder that all machines see, or an address, s3://..."),
]
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="File to write.", show_default="standard output")]


@app.command()
def slurm(
    sweep: SweepName,
    nodes: Annotated[int, typer.Option(help="Number of machines.")],
    cpus: Annotated[int, typer.Option(help="CPUs of each machine.")],
    gpus: Annotated[str, typer.Option(metavar="[KIND:]N", help="GPUs of each machine.")] = "0",
    time: Annotated[str, typer.Option(metavar="TIME", help="Time limit, as SLURM writes it.")] = "1:00:00",
    partition: Annotated[str | None, typer.Option(help="SLURM partition.")] = None,
    account: Annotated[str | None, typer.Option(help="SLURM account.")] = None,
    sbatch: Annotated[
        list[str] | None, typer.Option(metavar="OPTION", help="Any other option of sbatch, e.g. --mem=64G; repeatable.")
    ] = None,
    env: Annotated[
        str, typer.Option("--env", metavar="FOLDER", help="The folder of the Python environment, which all nodes see.")
    ] = sys.prefix,
    drain: Annotated[
        int, typer.Option(metavar="SECONDS", help="Time before the end of the job in which no batch begins.")
    ] = 120,
    data: Data = "data",
    overrides: Overrides = None,
    processes: Processes = 1,
    device: Device = None,
    confirm_above: ConfirmAbove = 100_000,
    out: Out = None,
) -> None:
    """Writes a batch script that starts Ray on its nodes, with a token, runs the sweep there, and stops Ray.

    Submitted again, the script goes on where it stopped.

    Example:

        swingby cluster slurm transient-memorization --nodes 4 --cpus 32 --gpus a100:4 --time 8:00:00 --out sweep.sbatch
    """
    from swingby.launch.slurm import script

    task = _task(sweep, data, overrides, processes, device, confirm_above)
    text = script(
        task, str(Path(env).absolute()), nodes, cpus, gpus, time, partition, account, tuple(sbatch or ()), drain
    )
    _write(text, out, "sbatch")


@app.command()
def kuberay(
    sweep: SweepName,
    image: Annotated[str, typer.Option(help="Image with swingby[run], ray[default] and what the sweep needs.")],
    workers: Annotated[int, typer.Option(help="Number of worker pods.")] = 2,
    cpus: Annotated[str, typer.Option(metavar="QUANTITY", help="CPUs of each pod.")] = "4",
    memory: Annotated[str, typer.Option(metavar="QUANTITY", help="Memory of each pod.")] = "16Gi",
    gpus: Annotated[int, typer.Option(help="GPUs of each pod.")] = 0,
    claim: Annotated[
        str | None, typer.Option(metavar="NAME", help="A volume claim that many pods write to, mounted at --data.")
    ] = None,
    secret: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Secret whose keys become environment variables."),
    ] = None,
    namespace: Annotated[str | None, typer.Option(help="Namespace of the job.")] = None,
    retries: Annotated[
        int, typer.Option(help="How often a failed job is started again; it goes on where it stopped.")
    ] = 2,
    ray_version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="Version of Ray in the image.", show_default="as here")
    ] = None,
    data: Data = "/data",
    overrides: Overrides = None,
    processes: Processes = 1,
    device: Device = None,
    confirm_above: ConfirmAbove = 100_000,
    out: Out = None,
) -> None:
    """Writes a RayJob for KubeRay (1.5.1 or newer): a cluster with a token that runs the sweep, and ends with it.

    Example:

        swingby cluster kuberay transient-memorization --image registry.example.org/swingby:0.1 --claim results
    """
    from swingby.launch.kuberay import Pods, manifest
    from swingby.run.ray.session import version

    task = _task(sweep, data, overrides, processes, device, confirm_above)
    pods = Pods(image, workers, cpus, memory, gpus, claim, secret, namespace)
    _write(manifest(task, pods, ray_version or version(), retries), out, "kubectl create -f")


def _task(
    sweep: str, data: str, overrides: list[str] | None, processes: int, device: str | None, confirm_above: int
) -> Any:
    """What runs on the cluster, for a sweep that was read and checked."""
    from swingby.launch.task import options, task_of
    from swingby.sweepfile.sweep import Sweep

    loaded = Sweep.load(sweep, overrides or (), confirm_above)
    return task_of(loaded, sweep, data, options(overrides or (), processes, device, confirm_above))


def _write(text: str, out: Path | None, then: str) -> None:
    """Writes a text to standard output, or to a file with a hint on what to do next."""
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
