"""The recording `nearest`: how near generated images lie to training images, and losses on training and fresh images.

A generated image is a copy where its nearest training image is nearer than `NEAR` of the way to the second nearest
(Bonnaire et al. 2025, arXiv 2505.17638, whose k is 1/3). Distances are root mean squares over pixels and channels.

Images are generated under the mean condition of their class. With `condition: class` it is that of all training images
of the class, and the model that minimises the training loss returns these images alone. With `condition: image` no
training image has it: a model may return every image under that image's own condition, and none of them here. What is
measured then is whether copies are made under the condition that the judges look at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor
from torch.nn import functional

from swingby.model.cell import Cell

from .batch_stream import training_set
from .bound import losses
from .draws import sample_stream
from .generate import TOGETHER, Generator, gathered
from .model import Conditioned
from .params import DiffusionParams
from .schedule import LinearSchedule

NEAR = 1 / 3
"""Largest ratio of the distances to the nearest and to the second nearest training image of a copy."""
FRESH = 2048
"""Fresh images of the trained classes in turn, that say how often an image that was never seen looks like a copy."""
PAIRS = 64
"""Pairs of a training and a fresh image, of the trained classes in turn, at which losses are measured."""
TIMES = (np.arange(8) + 0.5) / 8
"""Times at which losses are measured, between the initial ends of the schedule."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class Nearest(NamedTuple):
    """What an evaluation says of copies.

    Attributes:
        distances: of each class, those of its generated images to the nearest and second nearest training image (n, 2).
        losses: of each pair, the diffusion term of the bound on the training and on the fresh image, (PAIRS, 2).
    """

    distances: Sequence[Tensor]
    losses: Tensor

    def columns(self, trained: Sequence[int]) -> dict[str, Any]:
        """The values of the curves of the recording, but for `both_right`.

        Args:
            trained: numbers of the trained classes.
        """
        by_class = [distances.double().numpy() for distances in self.distances]
        near, second = np.concatenate([by_class[number] for number in trained]).T
        with np.errstate(invalid="ignore"):  # of training images that are equal there is none
            ratio = near / second
        train_loss, test_loss = self.losses.double().mean(dim=0).tolist()
        return {
            "memorized": float((near < NEAR * second).mean()),
            "memorized_by_class": [float((one < NEAR * two).mean()) for one, two in (of.T for of in by_class)],
            "nearest": float(near.mean()),
            "nearest_by_class": [float(of[:, 0].mean()) for of in by_class],
            "ratio": np.quantile(ratio, QUANTILES).tolist(),
            "train_loss": train_loss,
            "test_loss": test_loss,
        }


class Neighbours:
    """Compares a model's images with its training images, and its losses on these with those on fresh ones.

    Pair i has the same noise on both of its images, and at every evaluation. Several processes share images and pairs.

    Args:
        cell: of the run.
        generator: of this process, whose images are compared.
        device: where it is computed.
        rank, size: number of this process, and how many there are.
    """

    def __init__(self, cell: Cell, generator: Generator, device: torch.device, rank: int = 0, size: int = 1) -> None:
        self.params = p = cast(DiffusionParams, cell.params)
        self.generator = generator
        training, conditions = training_set(p, cell.key("images"), device)
        self._training = training.flatten(1)
        classes = len(p.trained_classes)
        each = -(-FRESH // classes)
        fresh = training_set(p.model_copy(update={"images": each, "train_share": 1.0}), cell.key("fresh"), device)
        new, new_conditions = (values[in_turn(FRESH, classes, each)] for values in fresh)
        self._fresh = new.flatten(1)
        self.pairs = np.arange(rank, PAIRS, size)
        places = in_turn(PAIRS, classes, p.training_images)[self.pairs]
        self._sides = (training[places], conditions[places]), (new[self.pairs], new_conditions[self.pairs])
        shape, key = (len(TIMES), 3, p.pixels, p.pixels), cell.key("nearest/noise")
        noise = np.empty((len(self.pairs), *shape), np.float32)
        for row, pair in enumerate(self.pairs.tolist()):
            noise[row] = sample_stream(key, pair).standard_normal(shape)
        self._noise = torch.from_numpy(noise).to(device).unbind(1)
        self._times = torch.tensor(TIMES, dtype=torch.float32, device=device)
        self._schedule = LinearSchedule(p.gamma_min, p.gamma_max, learned=False).to(device)

    def evaluated(self, predict: Conditioned, images: Tensor, accelerator: Accelerator) -> Nearest:
        """What is known of a model; all processes call it together.

        Args:
            predict: the network in evaluation mode.
            images: the share of this process in the generated images, (n, 3, P, P).
        """
        of_pairs = torch.stack([self._losses(predict, *side) for side in self._sides], dim=1)
        mine = torch.cat([two_nearest(images.flatten(1), self._training), of_pairs])
        generated = sum(self.generator.counts)
        rows = np.concatenate([self.generator.rows, generated + self.pairs])
        every = gathered(mine, rows, generated + PAIRS, accelerator)
        return Nearest(every[:generated].split(self.generator.counts), every[generated:])

    @torch.no_grad()
    def _losses(self, predict: Conditioned, images: Tensor, conditions: Tensor) -> Tensor:
        """Of each image of this process's pairs the mean over times of the diffusion term of the bound, (n,)."""
        if not len(images):
            return images.new_zeros(0)

        def noise_of(z: Tensor, gamma: Tensor) -> Tensor:
            return predict(z, gamma, conditions)

        terms = [
            losses(self._schedule, noise_of, images, time.expand(len(images)), noise, None, self.params.data_noise)
            for time, noise in zip(self._times, self._noise, strict=True)
        ]
        return torch.stack([term.diffusion for term in terms]).mean(dim=0)

    def null(self) -> dict[str, float]:
        """The scalars `null_memorized` and `null_nearest`, of fresh images."""
        near = two_nearest(self._fresh, self._training).double().cpu()
        copies = near[:, 0] < NEAR * near[:, 1]
        return {"null_memorized": copies.double().mean().item(), "null_nearest": near[:, 0].mean().item()}


def in_turn(count: int, classes: int, each: int) -> np.ndarray:
    """Places of `count` images, one of each class after the other, among images that lie class by class, `each` of a
    class; where there are fewer, they begin anew."""
    numbers = np.arange(count)
    return numbers % classes * each + numbers // classes % each


def two_nearest(images: Tensor, training: Tensor) -> Tensor:
    """The root mean square differences of images (N, M) from the nearest and the second nearest of `training` (K, M).

    Returns:
        (N, 2); of a single training image the second nearest is infinitely far.
    """
    if len(training) == 1:
        training = functional.pad(training, (0, 0, 0, 1), value=math.inf)
    # By sums of squared differences: a matrix product would leave a distance between equal images.
    parts = [
        torch.cdist(part, training, compute_mode="donot_use_mm_for_euclid_dist").topk(2, largest=False).values
        for part in images.split(TOGETHER)
    ]
    return torch.cat(parts) / math.sqrt(training.shape[1])
