"""Made-up curves of diffusion runs (engine "synthetic") whose truth is known: what a path does, and the noise on it."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from swingby.data.files import utc_now
from swingby.data.provenance import provenance
from swingby.data.records import Records
from swingby.data.records.headers import BatchNote, Plan, ShardHeader, plan_table
from swingby.model.cell import Cell
from swingby.store import ingest
from swingby.sweepfile.sweep import Sweep

STEPS = np.unique(np.round(np.linspace(0, np.sqrt(20_000), 60) ** 2)).astype(np.int64)
"""Evaluations evenly spaced in the root of the step."""
DEFAULT = "red-big, blue-big, red-small"


@dataclass(frozen=True)
class Truth:
    """How the held-out class is learned.

    Attributes:
        color, size: time scales at which each concept is learned, in steps; infinite: never.
        swing: how far size goes back at about step 6000 (0: not at all).
        spread: sd of both coordinates over images.
        jitter: sd of what the weights add to all images of an evaluation alike.
        memory: how much of it an evaluation keeps of the one before, AR(1).
        blind: evaluations at the start in which no circle is found.
        rest: where a concept that is learned comes to rest.
    """

    color: float = 1500.0
    size: float = 1500.0
    swing: float = 0.0
    spread: float = 0.1
    jitter: float = 0.0
    memory: float = 0.0
    blind: int = 0
    rest: float = 1.0
    images: int = 32
    scale: float = 1.0


def place(truth: Truth, steps: np.ndarray) -> np.ndarray:
    """The held-out class's true place (T, 2), from (0, 0) toward (1, 1)."""
    time = steps / truth.scale
    color, size = (truth.rest * -np.expm1(-time / scale) for scale in (truth.color, truth.size))
    back = truth.swing * np.exp(-(((np.sqrt(time) - np.sqrt(6000)) / 12) ** 2))
    return np.stack([color, size - back], axis=1)


def run(truth: Truth, rng: np.random.Generator, number: int = 3, **more: Any) -> dict[str, Any]:
    """The curves of one run as a row has them: four classes an evaluation, the held-out one as the truth says.

    Args:
        number: the held-out class; its truth is the default's, turned to its corner.
        more: laid over the row.
    """
    steps = np.round(STEPS * truth.scale).astype(np.int64)
    own, times = place(truth, steps), len(STEPS)
    corners = np.array([[k & 1, k >> 1] for k in range(4)], dtype=float)
    places = np.repeat(corners[None], times, axis=0)
    target = corners[number]
    places[:, number] = np.where(target == 1, own, 1 - own)
    places += truth.jitter * _remembering(rng.normal(size=(times, 4, 2)), truth.memory)
    images = np.full(4, 8)
    images[number] = truth.images
    seen = places + truth.spread / np.sqrt(images)[None, :, None] * rng.normal(size=places.shape)
    found = np.ones((times, 4))
    found[: truth.blind], seen[: truth.blind] = 0, np.nan
    spread = np.where(np.isnan(seen), np.nan, truth.spread)
    names = ("red-big", "blue-big", "red-small", "blue-small")
    loss = 2 + 3 * np.exp(-STEPS / 2000) + 0.002 * rng.normal(size=times)
    loss[0] = np.nan
    row = {
        "trained": ", ".join(name for k, name in enumerate(names) if k != number),
        "judged": truth.images,
        "judged_trained": 8,
        "step": steps.tolist(),
        "loss": (loss + 1.5).tolist(),
        "loss_diffusion": loss.tolist(),
        "found": found.tolist(),
        "color": seen[..., 0].tolist(),
        "size": seen[..., 1].tolist(),
        "color_sd": spread[..., 0].tolist(),
        "size_sd": spread[..., 1].tolist(),
    }
    return row | more


def _remembering(draws: np.ndarray, memory: float) -> np.ndarray:
    """Draws of sd 1 as an AR(1) process of sd 1 along the first axis."""
    found = draws.copy()
    for k in range(1, len(draws)):
        found[k] = memory * found[k - 1] + np.sqrt(1 - memory**2) * draws[k]
    return found


def mirrored(row: Mapping[str, Any]) -> dict[str, Any]:
    """The same run with color and size exchanged, and so blue-big and red-small."""
    swap = {"color": "size", "size": "color", "color_sd": "size_sd", "size_sd": "color_sd"}
    turned = {name: [[e[k] for k in (0, 2, 1, 3)] for e in row[swap.get(name, name)]] for name in (*swap, "found")}
    names = {"blue-big": "red-small", "red-small": "blue-big"}
    order = ("red-big", "blue-big", "red-small", "blue-small")
    trained = {names.get(name, name) for name in row["trained"].split(", ")}
    return {**row, **turned, "trained": ", ".join(name for name in order if name in trained)}


SWEEP = """
name: {name}
title: {title}
experiment: diffusion
preset: small
base: {{judged: 32, judged_trained: 8}}
axes:
{axes}
seeds: {{count: {seeds}, mode: common}}
record: {{steps: sqrt, points: 60, also: [{also}]}}
{more}
"""
CONTRAST = "  contrast: [0.2, 0.35, 0.5, 0.65]"
SQUARE = "  contrast: [0.15, 0.3, 0.45, 0.6]\n  size_contrast: [0.2, 0.3, 0.4, 0.5]"
Fate = Callable[[Cell], str | None]


def sweep(
    name: str, axes: str = CONTRAST, seeds: int = 3, also: str = "", more: str = "", title: str = "Synthetic curves"
) -> Sweep:
    """A sweep over these axes."""
    text = SWEEP.format(name=name, title=json.dumps(title), axes=axes, seeds=seeds, also=also, more=more)
    return Sweep.parse(text, f"{name}.yaml", confirm_above=None)


def truth_of(cell: Cell) -> Truth:
    """Color is learned the faster, the larger its contrast is beside that of size; and then size goes back a while."""
    params: Any = cell.params
    ratio = params.contrast / params.size_contrast
    return Truth(1500 / ratio, 1500 * ratio, max(0.0, 0.6 * (ratio - 1)), spread=0.12, jitter=0.01, blind=2)


def write(
    data: Path, sweep: Sweep, fate: Fate = lambda cell: "ok", truth: Callable[[Cell], Truth] = truth_of
) -> Records:
    """Leaves a data folder in which the sweep was planned and those cells ended whose fate is not None.

    Each cell's curves come in two segments, as a run leaves them that is watched while it goes on; the fate "running"
    leaves the first alone.
    """
    records = Records.open(data)
    cells = list(sweep.cells())
    ended = [(cell, status) for cell in cells if (status := fate(cell)) is not None]
    places = {point.point_id: index for index, point in enumerate(sweep.points)}
    batches = list(range(len(cells)))
    at, seeds = [places[cell.point.point_id] for cell in cells], [cell.seed for cell in cells]
    plan = Plan(
        sweep.sweep_id, sweep.name, "diffusion", sweep.points[0].stream_version, 1, sweep.resolved, sweep.recording,
        provenance(), tuple(BatchNote(k, "synthetic", 1) for k in batches),
        source=plan_table(sweep.points, at, seeds, batches),
    )  # fmt: skip
    records.write_plan(plan)
    for batch, (cell, status) in enumerate(ended):
        curves = rows(cell, truth(cell), sweep.recording.also)
        half = len(STEPS) // 2
        parts = [_segment(cell, curves, slice(0, half), "running")]
        parts += [] if status == "running" else [_segment(cell, curves, slice(half, None), status)]
        header = ShardHeader(
            plan.plan_id, sweep.sweep_id, "diffusion", batch, 1001, sweep.recording.tokens, tuple(curves), "synthetic",
            len(parts), utc_now(), utc_now(), 1.0, "nowhere", "cpu", 1,
        )  # fmt: skip
        records.write_shard(header, pa.concat_tables(parts))
    ingest(records)
    return records


def rows(cell: Cell, truth: Truth, also: Sequence[str] = ()) -> dict[str, Any]:
    """Every curve of a cell."""
    rng = np.random.default_rng(cell.seed)
    found = run(truth, rng)
    curves = {name: found[name] for name in ("step", "loss", "found", "color", "color_sd", "size", "size_sd")}
    loss = np.array(curves["loss"])
    curves |= {
        "loss_diffusion": np.array(found["loss_diffusion"]),
        "loss_prior": 0 * loss + 0.01,
        "loss_reconstruction": 0 * loss + 1.49,
    }
    curves |= {"gamma_0": 0 * loss - 5, "gamma_1": 0 * loss + 10, "gradient_norm": loss}
    curves |= {"color_right": found["found"], "size_right": found["found"]}
    if "trained" in also:
        sure = {name: 1 / (1 + np.exp(-12 * (np.array(found[name]) - 0.5))) for name in ("color", "size")}
        curves |= {f"trained_{name}": np.nan_to_num(values, nan=0.5) for name, values in sure.items()}
        curves |= {f"trained_{name}_sd": np.sqrt(v * (1 - v)) for name, v in list(sure.items())}
        curves |= {f"trained_{name}_sd": np.nan_to_num(curves[f"trained_{name}_sd"]) for name in sure}
    if "nearest" in also:  # good after a thousand steps or so, and copies once an image was seen a hundred times
        p: Any = cell.params
        seen = STEPS * p.batch_size / (100 * p.training_images * len(p.trained_classes))
        copies, good = seen**2 / (1 + seen**2), 1 - np.exp(-STEPS / 1000)
        curves |= {"memorized": copies, "both_right": 0.95 * good, "nearest": 0.3 * (1 - copies)}
        curves |= {"train_loss": 1 + np.exp(-STEPS / 1000) - copies / 2, "test_loss": 1.1 - good + copies}
        curves |= {f"{name}_by_class": np.repeat(curves[name][:, None], 4, axis=1) for name in ("memorized", "nearest")}
        curves["ratio"] = np.outer(1 - 0.9 * copies, [0.6, 0.7, 0.8, 0.9, 1])
    if "samples" in also:
        kept = set(np.linspace(0, len(STEPS) - 1, 8).round().astype(int).tolist())
        curves["samples"] = [picture(np.array(found["size"])[k]) if k in kept else None for k in range(len(STEPS))]
    return curves


def picture(sizes: np.ndarray, side: int = 16, count: int = 4) -> bytes:
    """A PNG of four rows of discs, whose radii are those of these sizes (4,); none where a size is NaN."""
    y, x = np.mgrid[:side, :side] / (side / 2) - 1 + 1 / side
    lines = []
    for number, size in enumerate(sizes):
        disc = x**2 + y**2 < (0.65 - 0.4 * np.nan_to_num(size, nan=5.0)) ** 2 if np.isfinite(size) else x > 2
        hue = (40, 60, 200) if number & 1 else (200, 60, 40)
        lines.append(np.tile(np.where(disc[..., None], hue, 230).astype(np.uint8), (1, count, 1)))
    return png(np.concatenate(lines))


def png(pixels: np.ndarray) -> bytes:
    """The PNG of (H, W, 3) bytes."""
    height, width, _ = pixels.shape
    raw = b"".join(b"\0" + line.tobytes() for line in pixels)
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(raw)),
        (b"IEND", b""),
    )
    ends = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(ends)


def _segment(cell: Cell, curves: Mapping[str, Any], part: slice, status: str) -> pa.Table:
    """One row of a shard: some evaluations of a cell, the last of them with its scalars."""
    final, given = status != "running", {}
    for name, values in curves.items():
        entries = values.tolist() if isinstance(values, np.ndarray) else values
        type_ = TYPES.get(name, pa.list_(pa.float64()))
        given[name] = pa.array([entries[part]], type_)
    steps = curves["step"][part]
    head = {
        "cell_id": [cell.cell_id],
        "from_step": pa.array([0 if part.start == 0 else steps[0]], pa.int64()),
        "to_step": pa.array([steps[-1]], pa.int64()),
        "final": [final],
        "status": pa.array([status if final else None], pa.string()),
        "message": pa.array(["made up" if status == "failed" else None], pa.string()),
    }
    scalars: dict[str, float] = {"seconds": 1.0, "judge_color_accuracy": 0.99, "judge_size_accuracy": 0.97}
    if "memorized" in curves:
        scalars |= {"null_memorized": 0.0, "null_nearest": 0.3}
    ends = {name: pa.array([value if final else None], pa.float64()) for name, value in scalars.items()}
    p: Any = cell.params
    classes = len(p.trained_classes)
    counts = {"points": p.training_images * classes, "generated_images": p.judged_trained * classes}
    ends |= {name: pa.array([value if final else None], pa.int64()) for name, value in counts.items()}
    engine = pa.array(["synthetic" if final else None], pa.string())
    return pa.table({**head, **given, **ends, "engine": engine})


_FOUR = pa.list_(pa.list_(pa.float64()))
TYPES: Mapping[str, pa.DataType] = {
    "step": pa.list_(pa.int64()),
    "samples": pa.list_(pa.binary()),
    **dict.fromkeys(("found", "color_right", "size_right"), _FOUR),
    **dict.fromkeys(("memorized_by_class", "nearest_by_class", "ratio"), _FOUR),
    **{f"{judge}{name}": _FOUR for judge in ("", "trained_") for name in ("color", "color_sd", "size", "size_sd")},
}
"""The types of the curves that are not numbers an evaluation."""
