"""`python -m tests.gpu --minutes 9`: all that there is to do on one GPU, the most valuable first, within some minutes.

Each part runs in a process of its own, with a limit of its own; a part that fails or is cut short is told of in its
table, and the next one begins. Every row is on disk as soon as it is known. The same command goes on where the last one
stopped: parts that ended are left out, and what time is left trains real cells (`cells`). `--device cpu --quick` runs
every part small, where there is no GPU.

In `--out`: `report.md` and `report.json` after each part, `parts/*.json`, `logs/*.log`, and `data`, a data folder as
`swingby run` leaves it (`swingby merge` brings it home).
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.gpu.sheet import FAILURE, Setting, Sheet, table

ROOT = Path(__file__).resolve().parents[2]
FULL = 9.0
"""Minutes for which the limits of the parts are meant; they are longer or shorter in proportion."""
GRACE = 15.0
"""Seconds for a part to end by itself after its limit, before it is killed."""
ENDED = "ended"


class Part(NamedTuple):
    """A part: the module of this folder whose `run` it is, its heading, and its limit in seconds of FULL minutes."""

    name: str
    title: str
    seconds: float


PARTS = (
    Part("machine", "Versions", 20),
    Part("suite", "Tests that need a GPU", 90),
    Part("steps", "Diffusion: a step, launched kernel by kernel and as a CUDA graph, beside a bare loop", 90),
    Part("shared", "Several runs at once on one GPU", 80),
    Part("kernels", "Diffusion: where a step's time goes on the GPU", 20),
    Part("candidates", "Diffusion: candidates for a faster step; the bare loop as a CUDA graph, if not launched", 90),
    Part("sim", "SIM: cells a second on the GPU, beside the products of its steps and two CPU cores", 70),
    Part("group", "One run by two processes, each with a GPU", 30),
    Part("sharing", "Small runs by `swingby run`: one at a time on the GPU, and as many as pay", 240),
    Part("cells", "Real cells, by the product's own code", float("inf")),
)


def main(given: Sequence[str] | None = None) -> None:
    """Runs the parts, prints their tables and writes them."""
    names = [part.name for part in PARTS]
    arguments = argparse.ArgumentParser(prog="python -m tests.gpu", description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="default: cuda")
    arguments.add_argument("--minutes", type=float, default=FULL, help=f"for all parts together; default: {FULL:g}")
    arguments.add_argument("--out", type=Path, default=ROOT / "build" / "gpu", help="default: build/gpu")
    arguments.add_argument("--only", action="append", choices=names, help="this part alone; may be given again")
    arguments.add_argument("--quick", action="store_true", help="every part small: does it run?")
    arguments.add_argument("--part", choices=names, help=argparse.SUPPRESS)
    asked = arguments.parse_args(given)
    out = asked.out.resolve()
    if asked.part:
        run(asked.part, Setting(asked.device, asked.quick, 60 * asked.minutes, out))
        return
    if asked.device == "cuda" and not _has_gpu():
        arguments.error("torch sees no CUDA device here; --device cpu --quick tries all parts without one")
    out.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, _interrupt)
    deadline, chosen = time.monotonic() + 60 * asked.minutes, asked.only or names
    for part in PARTS:
        if part.name in chosen and Sheet(_sheet(out, part.name)).state != ENDED:
            left = deadline - time.monotonic()
            limit = left if asked.quick else min(part.seconds * asked.minutes / FULL, left)
            within(part.name, Setting(asked.device, asked.quick, limit, out))
            print(section(part, Sheet(_sheet(out, part.name))), flush=True)
            write(out)
    print(f"written: {out / 'report.md'}")


def run(name: str, setting: Setting) -> None:
    """One part, in this process; it may return what is left to do."""
    sheet = Sheet(_sheet(setting.out, name))
    left = importlib.import_module(f"tests.gpu.{name}").run(sheet, setting)
    sheet.end(left or ENDED)


def within(name: str, setting: Setting) -> None:
    """One part in a process of its own, ended at its limit; begun again where it died after it had added rows."""
    deadline, path, state = time.monotonic() + setting.seconds, _sheet(setting.out, name), "no time was left"
    while (left := deadline - time.monotonic()) > 0:
        before = len(Sheet(path).rows)
        code = _child(name, setting._replace(seconds=left))
        if code == 0:
            return
        state = f"cut short after {setting.seconds:.0f} s" if code is None else f"its process ended with {code}"
        if code is None or len(Sheet(path).rows) == before:
            break
    Sheet(path).end(f"{state}; the same command goes on, logs/{name}.log has its words")


def _child(name: str, setting: Setting) -> int | None:
    """The exit code of a part's process; None: it was ended at its limit."""
    log = setting.out / "logs" / f"{name}.log"
    log.parent.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "tests.gpu", "--part", name, "--device", setting.device, "--out", str(setting.out)]
    command += ["--minutes", str(setting.seconds / 60), *(["--quick"] if setting.quick else [])]
    with log.open("a", encoding="utf-8") as words:
        child = subprocess.Popen(
            command, cwd=ROOT, env=_environment(setting), stdout=words, stderr=words, start_new_session=True
        )
        try:
            return child.wait(max(0.0, setting.seconds))
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                child.wait(min(GRACE, setting.seconds))
            return None
        finally:
            with suppress(ProcessLookupError):  # also of what it started
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def _environment(setting: Setting) -> dict[str, str]:
    """The environment of a part: the packages of this clone, also where they are not installed."""
    roots = [str(ROOT), *(str(ROOT / name) for name in ("platform", "sweeps", "analysis"))]
    if importlib.util.find_spec("swingby") is None:
        roots.append(str(_declared(setting.out)))
    paths = [*roots, *filter(None, [os.environ.get("PYTHONPATH")])]
    # What was compiled before a limit need not be compiled again.
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(setting.out / "compiled")}
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    return environment if setting.device == "cuda" else {**environment, "CUDA_VISIBLE_DEVICES": ""}


def _declared(out: Path) -> Path:
    """A folder with what an installation would say of this clone: its name, version and entry points."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    folder = out / "declared" / f"{project['name']}-{project['version']}.dist-info"
    folder.mkdir(parents=True, exist_ok=True)
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (folder / "METADATA").write_text(head, encoding="utf-8")
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder.parent


def section(part: Part, sheet: Sheet) -> str:
    """A part's table under its heading, with how it ended."""
    failures = sum(FAILURE in row for row in sheet.rows.values())
    state = sheet.state or "not begun"
    state += f"; {failures} of {len(sheet.rows)} rows failed" if failures else ""
    return (
        "\n\n".join([f"## {part.title}", f"`{part.name}`: {state}.", *([table(sheet.rows)] if sheet.rows else [])])
        + "\n"
    )


def write(out: Path) -> None:
    """Writes all that is known so far as one page and one file of numbers."""
    sheets = {part: Sheet(_sheet(out, part.name)) for part in PARTS}
    pages = [section(part, sheet) for part, sheet in sheets.items() if sheet.state or sheet.rows]
    (out / "report.md").write_text("\n".join(["# On one GPU\n", *pages]), encoding="utf-8")
    data = {part.name: {"state": sheet.state, "rows": sheet.rows} for part, sheet in sheets.items()}
    (out / "report.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def _sheet(out: Path, name: str) -> Path:
    return out / "parts" / f"{name}.json"


def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
