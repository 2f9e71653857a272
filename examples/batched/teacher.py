"""A ReLU net of two layers on a teacher's labels, cell by cell and all cells at once: two forms of one loop."""

import torch
from torch.func import grad_and_value, vmap

from swingby import experiment

X = torch.randn(32, 4, generator=torch.Generator().manual_seed(0))
Y = torch.tanh(X.sum(1, keepdim=True))


def start(cell):
    draws = cell.torch("init")
    return torch.randn(4, 16, generator=draws) / 4**0.5, torch.randn(16, 1, generator=draws) / 16**0.5


def loss_of(a, b):
    return ((torch.relu(X @ a) @ b - Y) ** 2).mean()


@experiment
def teacher(cell, lr: float = 0.1, gain: float = 1.0, steps: int = 300):
    """A ReLU net of two layers on a teacher's labels."""
    a, b = ((gain * weights).requires_grad_() for weights in start(cell))
    optimizer = torch.optim.SGD([a, b], lr=lr)
    for step in range(steps + 1):
        loss = loss_of(a, b)
        cell.record(step, loss=loss)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {"end": loss}


@experiment(batched=True)
def teacher_together(cells, lr: float = 0.1, gain: float = 1.0, steps: int = 300):
    """The same for all cells at once: lr and gain have an entry a cell, and so have a, b and the loss."""
    lr, gain = (torch.as_tensor(of, dtype=torch.float32)[:, None, None] for of in (lr, gain))
    a, b = (gain * torch.stack(weights) for weights in zip(*map(start, cells), strict=True))
    for step in range(steps + 1):
        (slope_a, slope_b), loss = vmap(grad_and_value(loss_of, argnums=(0, 1)))(a, b)
        cells.record(step, loss=loss)
        a, b = a - lr * slope_a, b - lr * slope_b
    return {"end": loss}
