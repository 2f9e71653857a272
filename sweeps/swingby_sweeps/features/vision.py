"""Nets of torchvision on images, trained one cell at a time by accelerate: on a GPU, or slowly on a CPU.

A run leaves nothing behind that it could go on from: one that is stopped begins again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from swingby.errors import SwingbyError
from swingby.model.cell import Cell
from swingby.model.process_group import SpoiledError

from .data import Points
from .engine import dropped
from .losses import slopes
from .observed import Sample
from .params import CHANNELS, SIDES, FeaturesParams

Array = np.ndarray
EVALUATED = 256
"""Images of a pass in which nothing is trained."""
SMALLEST = 32
"""Pixels along a side that VGG16 needs: it halves them five times."""
EDGE = 4
"""Pixels of background around an image before a random crop ([T] 2.4)."""


class ImageNet(nn.Module):
    """ResNet18 or VGG16 with batch norm in the usual form for images of 32 x 32: a first convolution of 3 x 3 without
    stride and no pooling behind it, or a single dense layer behind the convolutions. 512 features either way.

    Raises:
        SwingbyError: torchvision cannot be imported; says how to have it.
    """

    def __init__(self, net: str, outputs: int) -> None:
        super().__init__()
        models = _models(net)
        if net == "resnet18":
            self.body: nn.Module = models.resnet18(weights=None)
            first = nn.Conv2d(3, 64, 3, padding=1, bias=False)
            nn.init.kaiming_normal_(first.weight, mode="fan_out", nonlinearity="relu")
            self.body.conv1, self.body.maxpool, self.body.fc = first, nn.Identity(), nn.Identity()
        else:
            self.body = nn.Sequential(models.vgg16_bn(weights=None).features, nn.Flatten())
        self.last = nn.Linear(512, outputs)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Features (m, 512) and outputs (m, C) of images (m, 3, side, side)."""
        phi = self.body(x)
        return phi, self.last(phi)


def _models(net: str) -> Any:
    try:
        from torchvision import models  # pyright: ignore[reportMissingImports]  an extra
    except (ImportError, RuntimeError) as error:  # built for another torch, it raises RuntimeError
        message = f"net: {net} needs torchvision, which cannot be imported here ({error}): pip install "
        raise SwingbyError(f"{message}'swingby[vision]', of the build of torch; or net: mlp, cnn1d") from error
    return models


class OneNet:
    """One cell in training, as `record.InTraining`: SGD with momentum and coupled decay.

    Args:
        cell, points: the cell, its training and its test points.
        accelerator: of this process.
    """

    def __init__(self, cell: Cell[FeaturesParams], points: tuple[Points, Points], accelerator: Any) -> None:
        p = cell.params
        self._p, self._accelerator = p, accelerator
        dtype, device = getattr(torch, p.dtype), accelerator.device
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(cell.stream("init").integers(2**63)))
            net = ImageNet(p.net, p.outputs).to(dtype)
        self._sets = [images(p, of.x).to(device, dtype) for of in points]
        self._y = torch.from_numpy(points[0].y).to(device, dtype)
        trained = net.parameters() if p.trained == "all" else net.last.parameters()
        optimizer = torch.optim.SGD(trained, lr=p.lr, momentum=p.momentum, weight_decay=p.weight_decay)
        self._net, self._optimizer = accelerator.prepare(net, optimizer)
        self._calibrate()
        starts = [self._at(x)[1] for x in self._sets] if p.centre_output else [0.0, 0.0]
        self._offsets = [torch.as_tensor(start, dtype=dtype, device=device) for start in starts]
        self._order, self._crops = cell.stream("order"), cell.stream("augment")
        self._epoch, self._stopped = np.zeros(0, dtype=np.int64), False

    def _calibrate(self) -> None:
        """Begin the running moments of batch norm with those of the training points.

        From moments 0 and 1 the error of each layer would multiply with that of the next until they are forgotten.
        """
        norms = [module for module in self._net.modules() if isinstance(module, nn.BatchNorm2d)]
        rates = [module.momentum for module in norms]
        self._net.train()
        for module in norms:
            module.momentum = None  # the mean over all passes
        with torch.no_grad():
            for x in self._sets[0].split(EVALUATED):
                self._net(x)
        for module, rate in zip(norms, rates, strict=True):
            module.momentum = rate

    def advance(self, begin: int, end: int) -> None:
        """Take the steps begin, ..., end - 1."""
        if self._stopped:
            return
        p = self._p
        self._net.train(p.trained == "all")
        for step in range(begin, end):
            epoch, number = divmod(step, p.steps_per_epoch)
            if number == 0:
                self._epoch = self._order.permutation(p.n)
            for group in self._optimizer.param_groups:
                group["lr"] = p.lr * dropped(p, epoch)
            batch = torch.from_numpy(self._epoch[number * p.batch : (number + 1) * p.batch]).to(self._y.device)
            x = self._sets[0][batch]
            x = augmented(x, self._crops, p.data not in ("mnist", "digits")) if p.augment else x
            with torch.enable_grad():
                _, f = self._net(x)
                offset = self._offsets[0][batch] if p.centre_output else self._offsets[0]
                slope = slopes(p, (f - offset).detach()[None], self._y[batch][None])[0]
                self._optimizer.zero_grad()
                self._accelerator.backward((f * slope).sum())  # its gradient is that of the loss
            self._optimizer.step()

    def samples(self) -> tuple[list[Sample], list[Sample]]:
        """What the net gives on training points and on test points."""
        samples = []
        for x, offset in zip(self._sets, self._offsets, strict=True):
            phi, f = self._at(x)
            samples.append([Sample(phi.double().cpu().numpy(), (f - offset).double().cpu().numpy())])
        return samples[0], samples[1]

    def _at(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self._net.train(False)
        with torch.no_grad():
            parts = [self._net(some) for some in x.split(EVALUATED)]
        phi, f = (torch.cat(part) for part in zip(*parts, strict=True))
        return phi, f

    def last_weights(self) -> Array:
        """The last layer's weights, (1, C, 512), float64."""
        weights = self._accelerator.unwrap_model(self._net).last.weight
        return weights.detach().double().cpu().numpy().copy()[None]

    def freeze(self, cells: Array) -> None:
        """Stop the training where the mask (1,) says so."""
        self._stopped |= bool(cells[0])


def images(p: FeaturesParams, x: Array) -> Tensor:
    """Inputs (n, inputs) as images (n, 3, side, side); grey ones three times, small ones with background around them
    where VGG16 takes them."""
    side = SIDES[p.data]
    pictures = torch.from_numpy(x).view(len(x), CHANNELS[p.data], side, side).expand(-1, 3, -1, -1)
    if p.net == "vgg16_bn" and side < SMALLEST:
        edge = (SMALLEST - side) // 2
        background = float(x.min())
        pictures = nn.functional.pad(pictures, (edge, edge, edge, edge), value=background)
    return pictures.contiguous()


def augmented(x: Tensor, draws: np.random.Generator, mirrored: bool) -> Tensor:
    """Random crops of images (m, 3, side, side) padded by 4 pixels, half of them mirrored if they may be ([T] 2.4)."""
    side, down, right = x.shape[-1], *draws.integers(2 * EDGE + 1, size=(2, len(x)))
    flips = draws.random(len(x)) < 0.5
    wide = nn.functional.pad(x, (EDGE, EDGE, EDGE, EDGE))
    crops = [one[:, i : i + side, j : j + side] for one, i, j in zip(wide, down, right, strict=True)]
    return torch.stack([one.flip(-1) if mirrored and flip else one for one, flip in zip(crops, flips, strict=True)])


@contextmanager
def accelerated(device: str, threads: int) -> Iterator[Any]:
    """An Accelerator of one process with so many threads; nothing of it stays in the process.

    Raises:
        SwingbyError: accelerate cannot be imported.
        SpoiledError: torch sees no GPU here: no run is at fault where one has disappeared.
    """
    try:
        from accelerate import Accelerator
        from accelerate.state import AcceleratorState, GradientState
    except ImportError as error:
        message = f"nets of torchvision need accelerate, which cannot be imported here ({error}): pip install "
        raise SwingbyError(f"{message}'swingby[vision]'; or net: mlp, cnn1d") from error
    if device != "cpu" and not torch.cuda.is_available():
        raise SpoiledError(f"device {device!r} was asked for, and torch sees no GPU here; allowed: cpu")
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield Accelerator(cpu=device == "cpu")
    finally:
        AcceleratorState._reset_state(reset_partial_state=True)
        GradientState._reset_state()
        torch.set_num_threads(before)
