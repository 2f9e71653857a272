"""Laws of the recording `nearest`: what is a copy, what fresh images say, and losses on training and fresh images."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby.model.experiment import Batch, Recording
from swingby.model.registry import experiment
from swingby.select.intervals import wilson
from swingby_sweeps.diffusion.batch_stream import training_set
from swingby_sweeps.diffusion.columns import RECORDINGS
from swingby_sweeps.diffusion.generate import Generator
from swingby_sweeps.diffusion.model import Diffusion
from swingby_sweeps.diffusion.nearest import FRESH, NEAR, PAIRS, TIMES, Nearest, Neighbours, in_turn, two_nearest
from swingby_sweeps.diffusion.session import session
from tests.support.diffusion import cell, params

CPU = torch.device("cpu")
OF_A_CLOCK = ("seconds", "steps_per_second")
NULLS = ("null_memorized", "null_nearest")


def shares(images: torch.Tensor, training: torch.Tensor) -> dict[str, Any]:
    """The columns of images (n, 3, P, P) of one class."""
    distances = two_nearest(images.flatten(1), training.flatten(1))
    return Nearest([distances], torch.zeros((PAIRS, 2))).columns([0])


@settings(max_examples=20)
@given(st.integers(0, 9), st.integers(2, 32), st.floats(0, 0.3).filter(lambda off: abs(off - 0.25) > 1e-9))
def test_copies_are_those_near_one_training_image(seed: int, count: int, off: float) -> None:
    """An exact copy of the training set has fraction 1, at no distance. Of images that are moved toward another one, by
    a share of the way that is below a quarter, all are copies; halfway between two, none."""
    training = training_set(params(images=32), cell(seed).key("images"), CPU)[0][:count].double()
    exact = shares(training, training)
    assert (exact["memorized"], exact["nearest"], exact["ratio"]) == (1, 0, [0] * 5)
    # Toward the second nearest: then the two nearest are the image itself, at the share, and that one, at the rest.
    far = torch.cdist(training.flatten(1), training.flatten(1)).topk(2, largest=False).indices[:, 1]
    moved = shares(training + off * (training[far] - training), training)
    assert moved["ratio"] == pytest.approx([off / (1 - off)] * 5)
    assert moved["memorized"] == (off / (1 - off) < NEAR)
    assert shares((training + training[far]) / 2, training)["memorized"] == 0


def test_a_single_training_image_has_no_second() -> None:
    """Whatever is generated looks like a copy of it, and so does every fresh image."""
    image, other = torch.rand(2, 1, 3, 8, 8)
    one = shares(other, image)
    assert (one["memorized"], one["ratio"]) == (1, [0] * 5)
    assert one["nearest"] == pytest.approx(float((other - image).square().mean().sqrt()))
    of = cell(images=1, train_share=1.0, trained="red-big")
    assert Neighbours(of, Generator(of, CPU), CPU).null()["null_memorized"] == 1


@pytest.mark.parametrize("changes", [{}, {"images": 2, "train_share": 1.0}, {"trained": "red-big, blue-small"}])
def test_fresh_images_give_the_null(changes: dict[str, Any]) -> None:
    """New draws of the trained classes look like copies as often as the null says, and lie as far away."""
    of = cell(**changes)
    null = Neighbours(of, Generator(of, CPU), CPU).null()
    p: Any = of.params
    training = training_set(p, of.key("images"), CPU)[0]
    more = p.model_copy(update={"images": 200, "train_share": 1.0})
    new = training_set(more, of.key("new"), CPU)[0]
    distances = two_nearest(new.flatten(1), training.flatten(1)).double()
    (low, high), count = wilson(round(null["null_memorized"] * FRESH), FRESH), len(new)
    seen_low, seen_high = wilson(int((distances[:, 0] < NEAR * distances[:, 1]).sum()), count)
    assert seen_low <= high
    assert low <= seen_high
    error = float(distances[:, 0].std()) * math.sqrt(1 / count + 1 / FRESH)
    assert abs(float(distances[:, 0].mean()) - null["null_nearest"]) < 4 * error


@given(st.integers(1, 200), st.integers(1, 4), st.integers(1, 60))
def test_images_are_taken_in_turn(count: int, classes: int, each: int) -> None:
    """One of each class after the other, each class in its own order and then anew; none twice before all were had."""
    places = in_turn(count, classes, each)
    assert (places // each == np.arange(count) % classes).all()
    for number in range(classes):
        own = places[places // each == number] % each
        assert (own == np.arange(len(own)) % each).all()


@pytest.mark.parametrize("condition", ["image", "class"])
def test_an_untrained_network_knows_no_training_image(condition: str) -> None:
    """Its losses on training and on fresh images are level, within four standard errors of their difference. They are
    the diffusion terms of the bound where training begins, with the image's own condition and noise that both images of
    a pair share."""
    of: Any = cell(3, images=64, train_share=1.0, condition=condition, zero_init=False, dropout=0.2)
    neighbours = Neighbours(of, generator := Generator(of, CPU), CPU)
    model = Diffusion(params(zero_init=False, dropout=0.2), of.key("initialisation")).eval()
    with session("cpu") as accelerator, torch.no_grad():
        nearest = neighbours.evaluated(model.predict, generator.images(model.sample), accelerator)
        off = (nearest.losses[:, 1] - nearest.losses[:, 0]).double()
        assert abs(float(off.mean())) < 4 * float(off.std()) / math.sqrt(PAIRS)
        noise = torch.stack(neighbours._noise, dim=1)
        fresh: Any = of.params.model_copy(update={"images": -(-FRESH // 3)})
        for side, (name, p) in enumerate((("images", of.params), ("fresh", fresh))):
            places = in_turn(PAIRS, 3, p.images)
            images, conditions = (values[places] for values in training_set(p, of.key(name), CPU))
            terms = [
                model(images, conditions, torch.full((PAIRS,), time), noise[:, level], torch.arange(PAIRS))[:, 0]
                for level, time in enumerate(TIMES.tolist())
            ]
            torch.testing.assert_close(nearest.losses[:, side], torch.stack(terms).mean(dim=0))
    columns = nearest.columns(of.params.trained_classes)
    assert columns["test_loss"] - columns["train_loss"] == pytest.approx(float(off.mean()), abs=1e-6)
    assert (two_nearest(neighbours._fresh, neighbours._training) > 0).all()


def test_other_columns_are_what_they_were() -> None:
    """With the recording every column is there that it declares, and all others are the same bit for bit."""
    steps = {"steps": "sqrt", "points": 4}
    rows = [
        [table.to_pylist() for table in experiment("diffusion").run(Batch((cell(),), Recording(**steps, also=also)))]
        for also in ((), ("nearest",))
    ]
    ((plain,),), ((recorded,),) = rows
    added = RECORDINGS["nearest"].keys()
    assert recorded.keys() == plain.keys() | added
    for name in plain.keys() - {*OF_A_CLOCK, *NULLS}:
        assert repr(recorded[name]) == repr(plain[name]), name
    assert all(plain[name] is None and recorded[name] is not None for name in NULLS)
    assert all(len(recorded[name]) == len(recorded["step"]) for name in added)
    assert np.shape(recorded["ratio"]) == (len(recorded["step"]), 5)
    assert (recorded["points"], recorded["generated_images"]) == (
        3 * params().training_images,
        3 * params().judged_trained,
    )
    by_class = np.array(recorded["nearest_by_class"])[:, list(params().trained_classes)]
    assert recorded["nearest"] == pytest.approx(by_class.mean(axis=1))
