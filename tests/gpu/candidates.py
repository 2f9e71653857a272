"""Diffusion: candidates for a faster step. One that cannot be compiled here is a row that says so."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from tests.gpu.sheet import Row, Setting, Sheet
from tests.gpu.steps import bare_step, products_in, shapes, timed

Change = Callable[[Any], object]
FLAT = torch.contiguous_format


def nothing(loop: Any) -> None:
    """Leaves a bare loop as it is."""


def compiled(loop: Any, **options: Any) -> None:
    """Compiles the network of a bare loop."""
    loop.model.unet = torch.compile(loop.model.unet, **options)


def half_norms(loop: Any) -> None:
    """Has every norm read and write what reaches it, where autocast would have it read and write float32.

    Sums within a norm are in float32 in either case; its input, its output and the activation after it are of half the
    bytes, and two casts go.
    """
    for module in loop.model.modules():
        if isinstance(module, nn.GroupNorm):
            cast(Any, module).forward = partial(half_norm, module)


def half_norm(norm: nn.GroupNorm, x: Tensor) -> Tensor:
    """The norm of x, as x is typed."""
    with torch.autocast(x.device.type, enabled=False):
        return functional.group_norm(x, norm.num_groups, norm.weight.to(x.dtype), norm.bias.to(x.dtype), norm.eps)


class Candidate(NamedTuple):
    """How steps of the bare loop are launched, how images lie in memory (None: as in the product), and what changes."""

    way: str = "graph"
    memory: torch.memory_format | None = None
    change: Change = nothing


CANDIDATES = {
    "as it is": Candidate(),
    "not channels last": Candidate(memory=FLAT),
    "norms in bf16": Candidate(change=half_norms),
    "norms in bf16, not channels last": Candidate(memory=FLAT, change=half_norms),
    "compiled": Candidate(change=compiled),
    "compiled, not channels last": Candidate(memory=FLAT, change=compiled),
    "compiled, launched": Candidate("launched", change=compiled),
    "compiled, graphs of torch.compile": Candidate("launched", change=partial(compiled, mode="reduce-overhead")),
    "compiled, max-autotune": Candidate(change=partial(compiled, mode="max-autotune-no-cudagraphs")),
}
"""Those that need a compiler last."""
QUICK = {
    "norms in bf16": Candidate("launched", change=half_norms),
    "compiled": Candidate("launched", change=partial(compiled, backend="eager")),
}
"""Where only the script is tried: there is no graph on a CPU, and a compiler would take most of a minute."""


def run(sheet: Sheet, setting: Setting) -> None:
    """A row for each shape and candidate, in bf16; the authors' shape first, since small ones wait for launches."""
    for shape in reversed(shapes(setting)):
        for name, candidate in (QUICK if setting.quick else CANDIDATES).items():
            sheet.row(f"{shape}, {name}", lambda s=shape, c=candidate: measured(s, c, setting))


def measured(shape: str, candidate: Candidate, setting: Setting) -> Row:
    """The bare loop with the candidate's change."""
    torch.compiler.reset()
    with products_in(True):
        step = bare_step(shapes(setting)[shape], "bf16", candidate.way, candidate.memory, candidate.change)
        return timed(step, setting)
