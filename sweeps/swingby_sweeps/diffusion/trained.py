"""The trained judge: the paper's classifier, trained on images of all four classes, and kept in a file for later runs.

A judge depends on the parameters that define the images and on its own settings, never on a run's seed: all runs at a
point of a sweep share one judge; a pooled one, which learns from images of many contrasts, is shared by all contrasts
of a sweep, as with the authors. Where mean radii differ by less than twice their jitter the classes of size overlap,
and no judge is always right; its accuracy says how often it is.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from swingby.data.locks import held
from swingby.model.cell import canonical_json, stream_key

from . import concepts, tensor_file
from .classifier import CONCEPTS, Classifier, Settings, settings_of
from .initial import initialise
from .params import CLASSES, DiffusionParams
from .session import session

VERSION = 2
"""Version of the procedure that makes a judge; another version makes other judges."""
SHOWN = (
    "pixels",
    "contrast",
    "size_mean",
    "size_contrast",
    "radius_jitter",
    "radius_floor",
    "color_jitter",
    "centre",
    "background",
    "pixel_noise",
    "blur",
    "circle_edge",
)
"""The parameters of a run that define its images, and with them its judge."""
POOLED = np.linspace(0.1, 0.8, 20)
"""Contrasts of the images of a pooled judge, taken in turn: those that the authors sweep."""
TOGETHER = 256
"""Images judged at a time."""

logger = logging.getLogger(__name__)


class Accuracy(NamedTuple):
    """The share of held-out images, equally many of each class, on which the judge is right about each concept."""

    color: float
    size: float


@dataclass(frozen=True)
class Judge:
    """A classifier that gives the probabilities that an image is blue, and that it is small.

    Attributes:
        classifier: in evaluation mode, on the device where it judges.
        pixels: side of the images that it was trained on.
        accuracy: its accuracy on images that it was not trained on.
    """

    classifier: Classifier
    pixels: int
    accuracy: Accuracy

    @classmethod
    def of(
        cls, params: DiffusionParams, cache: Path | None, device: str | torch.device, settings: Settings | None = None
    ) -> Judge:
        """The judge of a run's images: from the cache, or trained now; call it outside of any accelerate session.

        A process waits where another one trains this judge. A file in the cache that cannot be used is named in the
        log, and the judge is trained again.

        Args:
            params: of the run; only the parameters that define its images count.
            cache: folder where judges are kept; None: the judge is not kept.
            device: "cpu", "cuda" or "cuda:k".
            settings: how the judge is trained; those of `settings_of` if None.

        Raises:
            SpoiledError: torch sees no GPU here.
            ValueError: a batch that is no multiple of 4.
            SwingbyError: the folder cannot be written.
        """
        settings = settings or settings_of(params.pixels)
        images = {name: value for name, value in params.canonical().items() if name in SHOWN}
        if params.classifier == "pooled":
            images["contrast"] = POOLED.tolist()
        identity = {"judge": VERSION, "images": images, "settings": asdict(settings)}
        digest = hashlib.sha256(canonical_json(identity).encode()).hexdigest()[:32]
        path = None if cache is None else cache / f"judge-{digest}.safetensors"
        if (judge := _kept(path, identity, params, settings)) is None:
            with nullcontext() if path is None else held(path.with_suffix(".lock"), "the judge", wait=math.inf):
                judge = _kept(path, identity, params, settings)
                if judge is None:
                    judge = _trained_judge(params, settings, stream_key("judge", digest), str(device))
                    if path is not None:
                        mark = {"identity": identity, "accuracy": judge.accuracy._asdict()}
                        tensor_file.write(path, mark, judge.classifier.state_dict())
        judge.classifier.to(device).train(False).requires_grad_(False)
        return judge

    def probabilities(self, images: Tensor) -> tuple[np.ndarray, np.ndarray]:
        """P(blue) and P(small), each (N,) in float64, of images (N, 3, P, P) on any device.

        Raises:
            ValueError: the images have another size.
        """
        expected = (3, self.pixels, self.pixels)
        if tuple(images.shape[1:]) != expected:
            raise ValueError(f"images of shape {tuple(images.shape)}; allowed: (N, {', '.join(map(str, expected))})")
        device = next(self.classifier.parameters()).device
        probabilities = np.empty((len(images), len(CONCEPTS)))
        with torch.inference_mode(), torch.autocast(device.type, enabled=False):
            for low in range(0, len(images), TOGETHER):
                part = images[low : low + TOGETHER].to(device, torch.float32)
                shares = self.classifier(part).double().softmax(dim=-1)[..., 1]
                probabilities[low : low + TOGETHER] = shares.cpu().numpy()
        return probabilities[:, 0], probabilities[:, 1]


def _trained_judge(params: DiffusionParams, settings: Settings, key: bytes, device: str) -> Judge:
    """A judge trained now, by AdamW on the cross entropy of both concepts, on images that are each seen once.

    Its accuracy is measured on images of another stream.
    """
    if settings.batch % len(CLASSES):
        raise ValueError(f"a judge's batch = {settings.batch}; allowed: multiples of {len(CLASSES)}")
    classifier = Classifier(params.pixels, settings)
    initialise(classifier, stream_key(key.hex(), "initialisation"))
    share, key_of_images = settings.batch // len(CLASSES), stream_key(key.hex(), "images")
    with session(device) as accelerator:
        model: Any = classifier.to(accelerator.device)
        adamw = torch.optim.AdamW(model.parameters(), lr=settings.lr, weight_decay=settings.weight_decay, fused=True)
        model, optimizer = accelerator.prepare(model, adamw)
        for step in range(settings.steps):
            for group in optimizer.param_groups:
                group["lr"] = settings.rate(step)
            images, bits = _drawn(params, key_of_images, range(step * share, (step + 1) * share), accelerator.device)
            logits = model(images)
            accelerator.backward(len(CONCEPTS) * functional.cross_entropy(logits.flatten(0, 1), bits.flatten()))
            optimizer.step()
            optimizer.zero_grad()
    judge = Judge(classifier.train(False).requires_grad_(False), params.pixels, Accuracy(math.nan, math.nan))
    right = np.zeros(len(CONCEPTS))
    for low in range(0, settings.held_out, TOGETHER):
        indices = range(low, min(low + TOGETHER, settings.held_out))
        images, bits = _drawn(params, stream_key(key.hex(), "held out"), indices, "cpu")
        called = np.stack(judge.probabilities(images), axis=1) > 0.5
        right += (called == (bits.numpy() == 1)).sum(axis=0)
    return replace(judge, accuracy=Accuracy(*(right / (settings.held_out * len(CLASSES))).tolist()))


def _drawn(params: DiffusionParams, key: bytes, indices: range, device: torch.device | str) -> tuple[Tensor, Tensor]:
    """Samples `indices` of every class: images (N, 3, P, P), and the bits of their classes (N, 2)."""
    contrasts = POOLED[np.arange(indices.start, indices.stop) % len(POOLED)] if params.classifier == "pooled" else None
    drawn = [concepts.scenes(params, key, number, indices, contrasts) for number in range(len(CLASSES))]
    numbers = torch.arange(len(CLASSES), device=device).repeat_interleave(len(indices))
    images = torch.cat([concepts.render(scenes, params, device) for scenes in drawn])
    return images, torch.stack([numbers >> concept & 1 for concept in range(len(CONCEPTS))], dim=1)


def _kept(path: Path | None, identity: Mapping[str, Any], params: DiffusionParams, settings: Settings) -> Judge | None:
    """The judge in a file, on the CPU; None if there is no file, or none that can be used."""
    if path is None or not path.exists():
        return None
    try:
        mark, tensors = tensor_file.read(path)
        if mark.get("identity") != identity:
            raise ValueError("its contents belong to another judge")
        classifier = Classifier(params.pixels, settings)
        classifier.load_state_dict(tensors)
        return Judge(classifier, params.pixels, Accuracy(**mark["accuracy"]))
    except (ValueError, KeyError, TypeError, RuntimeError) as error:
        logger.warning("%s cannot be used (%s); the judge is trained again", path, error)
        return None
