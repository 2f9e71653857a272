"""Diffusion: the kernels that a step's time goes to."""

from __future__ import annotations

from tests.gpu.sheet import Row, Setting, Sheet

MOST = 12
"""Kernels that are listed a shape."""


def run(sheet: Sheet, setting: Setting) -> None:
    """The kernels of a step in bf16 that take the most time, a row each; without a GPU there are none."""
    if setting.device == "cpu":
        sheet.put("no GPU", {"share": ""})
        return
    from tests.gpu.steps import kernels, shapes, training  # seconds, where nothing is measured

    for name, shape in reversed(shapes(setting).items()):
        with training(shape, "bf16", "graph", setting) as step:
            times = kernels(step)
        total = sum(micro for _, micro in times.values())
        most = sorted(times, key=lambda kernel: -times[kernel][1])[:MOST]
        sheet.put(f"{name}: all", {"share": "100%", "ms a step": total / 1000, "calls a step": _calls(times)})
        for place, kernel in enumerate(most, 1):
            calls, micro = times[kernel]
            row: Row = {"share": f"{micro / total:.1%}", "ms a step": micro / 1000, "calls a step": calls}
            sheet.put(f"{name} {place}: {kernel[:100]}", row)


def _calls(times: dict[str, tuple[float, float]]) -> float:
    return sum(calls for calls, _ in times.values())
