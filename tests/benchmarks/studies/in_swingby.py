# type: ignore
from loop import losses

from swingby import experiment


@experiment
def net(cell, lr: float = 0.1, width: int = 8):
    for step, loss in losses(lr, width, cell.seed):
        cell.record(step, loss=loss)
