"""Laws of the trained judge: what it depends on, how often it can be right at all, and how it is kept."""

from __future__ import annotations

import logging
import math
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from accelerate.state import AcceleratorState
from diffusers.models.unets.unet_2d import UNet2DOutput
from safetensors.torch import save_file

from swingby.model.cell import stream_key
from swingby_sweeps.diffusion import concepts, trained
from swingby_sweeps.diffusion.classifier import BRIEF, PAPER, SMALL, Classifier, Settings, settings_of
from swingby_sweeps.diffusion.params import DiffusionParams
from swingby_sweeps.diffusion.trained import Accuracy, Judge

TINY = Settings(width=8, levels=2, lr=5e-3, decay="cosine", batch=32, steps=60, held_out=200)
HASTY = replace(TINY, steps=2, held_out=8)


def params(**values: Any) -> DiffusionParams:
    return DiffusionParams.model_validate({"pixels": 8, "contrast": 0.6, **values})


def images(p: DiffusionParams, number: int, count: int, name: str = "test") -> torch.Tensor:
    return concepts.render(concepts.scenes(p, stream_key(name), number, range(count)), p, "cpu")


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge.of(params(), None, "cpu", TINY)


def test_it_tells_the_classes_apart(judge: Judge) -> None:
    """On images of a stream of no judge's it is right about as often as it says, which is nearly always."""
    right = []
    for number in range(4):
        blue, small = judge.probabilities(images(params(), number, 100))
        assert blue.dtype == np.float64
        assert np.all((blue >= 0) & (blue <= 1) & (small >= 0) & (small <= 1))
        right.append([(blue > 0.5) == bool(number & 1), (small > 0.5) == bool(number >> 1)])
    shares = np.mean(right, axis=(0, 2))
    for share, said in zip(shares, judge.accuracy, strict=True):
        assert said > 0.9
        error = math.sqrt(max(said * (1 - said), 1 / 800) * (1 / 400 + 1 / 800))
        assert abs(share - said) < 4 * error


@pytest.mark.slow
def test_nobody_is_right_where_the_classes_overlap() -> None:
    """Radii m +- j of classes that lie d < 2j apart: at most 1 - (1 - d / 2j) / 2 can be told, and the accuracy is not
    above that by more than 4 standard errors."""
    d, j = 0.15, 0.15
    most = 1 - (1 - d / (2 * j)) / 2
    found = Judge.of(params(size_contrast=d, radius_jitter=j), None, "cpu", TINY).accuracy
    assert found.color > 0.9
    assert 0.55 < found.size < most + 4 * math.sqrt(most * (1 - most) / 800)


def test_an_image_is_judged_alone(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the images beside it nor the size of the parts matter."""
    some = torch.cat([images(params(), number, 3) for number in range(4)])
    together = judge.probabilities(some)
    monkeypatch.setattr(trained, "TOGETHER", 5)
    for place in range(2):
        alone = np.array([judge.probabilities(some[row : row + 1])[place][0] for row in range(12)])
        np.testing.assert_allclose(alone, together[place], atol=1e-6)
        np.testing.assert_allclose(judge.probabilities(some)[place], together[place], atol=1e-6)
    assert [len(part) for part in judge.probabilities(some[:0])] == [0, 0]


def test_no_number_is_no_verdict(judge: Judge) -> None:
    """Images of a diverged run have no probabilities."""
    assert all(np.isnan(part).all() for part in judge.probabilities(torch.full((2, 3, 8, 8), math.nan)))


def test_it_depends_on_nothing_but_the_images_and_its_settings() -> None:
    """Made twice it is the same bit for bit, wherever torch's generator is, and however the run itself is trained;
    and accelerate is left as it was."""
    torch.manual_seed(1)
    one = Judge.of(params(), None, "cpu", HASTY)
    assert not AcceleratorState._shared_state
    torch.manual_seed(2)
    other = Judge.of(params(lr=0.1, width=8, training_steps=3, trained="red-big"), None, "cpu", HASTY)
    assert one.accuracy == other.accuracy
    for name, tensor in one.classifier.state_dict().items():
        assert torch.equal(tensor, other.classifier.state_dict()[name]), name


def test_it_is_trained_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file a judge: who asks again finds it, with the same verdicts; other images or settings are another judge."""
    first = Judge.of(params(), tmp_path, "cpu", HASTY)
    made = []
    make = trained._trained_judge
    monkeypatch.setattr(trained, "_trained_judge", lambda *args: made.append(args) or make(*args))
    again = Judge.of(params(lr=0.1), tmp_path, "cpu", HASTY)
    assert made == []
    assert again.accuracy == first.accuracy
    some = images(params(), 1, 5)
    assert np.array_equal(first.probabilities(some), again.probabilities(some))
    Judge.of(params(pixel_noise=0.1), tmp_path, "cpu", HASTY)
    Judge.of(params(), tmp_path, "cpu", replace(HASTY, lr=0.1))
    assert len(made) == 2
    assert len(list(tmp_path.glob("judge-*.safetensors"))) == 3
    assert not list(tmp_path.glob(".tmp-*"))


OTHERWISE: dict[str, Any] = {
    "pixels": 16, "trained": "red-big", "contrast": 0.5, "size_mean": 0.5, "size_contrast": 0.3, "radius_jitter": 0.1,
    "radius_floor": 0.2, "color_jitter": 0.1, "centre": 0.4, "background": 0.7, "pixel_noise": 0.01, "blur": 2.0,
    "images": 100, "train_share": 0.5, "condition": "class", "width": 16, "levels": 2, "layers": 1, "norm_groups": 4,
    "dropout": 0.0, "zero_init": False, "residual": False,
    "weight_scale": 0.5, "gamma_min": -4.0, "gamma_max": 9.0, "schedule": "fixed",
    "data_noise": 0.01, "sampling_steps": 3, "lr": 0.01, "weight_decay": 0.1, "batch_size": 4, "training_steps": 7,
    "warmup": 5, "decay": "cosine", "clip": 1.0, "clip_of": "network", "accumulate": 2, "mixed_precision": "bf16",
    "judged": 5, "judged_trained": 3, "circle_edge": "gaussian", "sampler": "ddim", "classifier": "pooled",
}  # fmt: skip
"""Another value of each parameter."""


@pytest.mark.parametrize("name", [name for name in DiffusionParams.model_fields if name != "dtype"])
def test_it_is_another_where_its_images_are_others(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever parameter changes what is drawn makes another judge, and none besides does."""

    def made(p: DiffusionParams, settings: Settings, key: bytes, device: str) -> Judge:
        return Judge(Classifier(p.pixels, settings), p.pixels, Accuracy(0.75, 0.5))

    monkeypatch.setattr(trained, "_trained_judge", made)
    plain, other = params(), params(**{name: OTHERWISE[name]})
    assert getattr(plain, name) != getattr(other, name)
    for p in (plain, other):
        Judge.of(p, tmp_path, "cpu", HASTY)
    shown = [[images(p, number, 8) for number in range(4)] for p in (plain, other)]
    alike = name != "classifier" and all(a.shape == b.shape and torch.equal(a, b) for a, b in zip(*shown, strict=True))
    assert len(list(tmp_path.glob("judge-*.safetensors"))) == (1 if alike else 2)


def test_a_pooled_judge_is_one_for_all_contrasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of any contrast share its file, which is none of one contrast; it sees the authors' contrasts in turn."""
    seen: list[float] = []
    scenes = concepts.scenes

    def noted(p: DiffusionParams, key: bytes, number: int, indices: range, contrasts: Any) -> concepts.Scenes:
        seen.extend(contrasts)
        return scenes(p, key, number, indices, contrasts)

    monkeypatch.setattr(concepts, "scenes", noted)
    settings = replace(HASTY, batch=80, steps=1, held_out=20)
    for contrast in (0.137, 0.6):
        Judge.of(params(contrast=contrast, classifier="pooled"), tmp_path, "cpu", settings)
    assert len(list(tmp_path.glob("judge-*.safetensors"))) == 1
    assert seen == pytest.approx([*np.linspace(0.1, 0.8, 20)] * 8)
    monkeypatch.undo()
    Judge.of(params(), tmp_path, "cpu", settings)
    assert len(list(tmp_path.glob("judge-*.safetensors"))) == 2


def test_a_judge_from_before_the_later_parameters_is_found(tmp_path: Path) -> None:
    """At their defaults its file keeps the name that it had before there were other edges and pooled judges."""
    Judge.of(params(), tmp_path, "cpu", HASTY)
    assert [path.stem for path in tmp_path.glob("*.safetensors")] == ["judge-c2fb632e737c6b0b031e39462931cb61"]


def test_it_is_measured_on_images_that_it_was_not_trained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every image of its training comes once, and what it is measured on is of another stream."""
    drawn: list[tuple[bytes, int, int]] = []
    scenes = concepts.scenes

    def noted(p: DiffusionParams, key: bytes, number: int, indices: range, *contrasts: Any) -> concepts.Scenes:
        drawn.extend((key, number, index) for index in indices)
        return scenes(p, key, number, indices, *contrasts)

    monkeypatch.setattr(concepts, "scenes", noted)
    Judge.of(params(), None, "cpu", HASTY)
    assert len(drawn) == len(set(drawn)) == HASTY.steps * HASTY.batch + 4 * HASTY.held_out
    training, held_out = drawn[: HASTY.steps * HASTY.batch], drawn[HASTY.steps * HASTY.batch :]
    assert not {key for key, _, _ in training} & {key for key, _, _ in held_out}


def torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def changed(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-50] ^= 1
    path.write_bytes(content)


def foreign(path: Path) -> None:
    save_file({"weight": torch.zeros(3)}, path)


def of_others(path: Path) -> None:
    folder = path.parent / "others"
    Judge.of(params(contrast=0.3), folder, "cpu", HASTY)
    next(folder.glob("*.safetensors")).rename(path)


@pytest.mark.parametrize("spoil", [torn, empty, changed, foreign, of_others])
def test_a_file_of_no_use_is_made_again(spoil: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Torn, changed in one bit, somebody else's or another judge's: told of in the log, and put right."""
    first = Judge.of(params(), tmp_path, "cpu", HASTY)
    path = next(tmp_path.glob("judge-*.safetensors"))
    whole = path.read_bytes()
    spoil(path)
    assert path.read_bytes() != whole
    with caplog.at_level(logging.WARNING):
        again = Judge.of(params(), tmp_path, "cpu", HASTY)
    assert f"{path} cannot be used" in caplog.text
    assert "trained again" in caplog.text
    assert path.read_bytes() == whole
    some = images(params(), 2, 3)
    assert np.array_equal(first.probabilities(some), again.probabilities(some))


def test_others_wait_while_it_is_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four that ask for it at once one trains it, and all get it."""
    made, found = [], []

    def slowly(p: DiffusionParams, settings: Settings, key: bytes, device: str) -> Judge:
        made.append(key)
        time.sleep(0.3)
        return Judge(Classifier(p.pixels, settings), p.pixels, Accuracy(0.75, 0.5))

    monkeypatch.setattr(trained, "_trained_judge", slowly)
    threads = [
        threading.Thread(target=lambda: found.append(Judge.of(params(), tmp_path, "cpu", HASTY))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert [judge.accuracy for judge in found] == [Accuracy(0.75, 0.5)] * 4


@pytest.mark.parametrize(("pixels", "levels"), [(8, 3), (10, 2), (9, 1), (32, 3)])
def test_images_of_any_side_have_a_classifier(pixels: int, levels: int) -> None:
    """It has as many levels as the image can be halved for, three at most; two logits a concept come out."""
    classifier = Classifier(pixels, SMALL)
    assert len(classifier.unet.down_blocks) == levels
    with torch.no_grad():
        assert classifier(torch.zeros(2, 3, pixels, pixels)).shape == (2, 2, 2)


def test_the_largest_value_of_each_channel_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it is in the image, and whatever the others are, so long as they are less."""
    drawn = np.random.default_rng(0).uniform(size=(2, TINY.width, 8, 8))
    classifier, features = Classifier(8, TINY), torch.tensor(drawn, dtype=torch.float32)
    monkeypatch.setattr(classifier.unet, "forward", lambda images, time: UNet2DOutput(sample=features))
    with torch.no_grad():
        plain = classifier(torch.zeros(2, 3, 8, 8))
        largest = features == features.amax(dim=(2, 3), keepdim=True)
        features = torch.where(largest, features, features - 1).roll(3, dims=2)
        assert torch.equal(classifier(torch.zeros(2, 3, 8, 8)), plain)
        features = torch.where(largest.roll(3, dims=2), features + 1, features)
        assert not torch.equal(classifier(torch.zeros(2, 3, 8, 8)), plain)


def test_the_rate_falls_where_it_should() -> None:
    """The paper's rate is constant; cosine goes from the rate to nothing."""
    assert {PAPER.rate(step) for step in (0, 5000, 9999)} == {1e-3}
    assert BRIEF.rate(0) == 1e-3
    assert BRIEF.rate(500) == pytest.approx(5e-4)
    assert 0 < BRIEF.rate(999) < 1e-8
    assert settings_of(32) == PAPER
    assert settings_of(16) == SMALL


def test_what_cannot_be_judged_is_refused(judge: Judge) -> None:
    """Images of another size, and batches that the classes cannot share equally."""
    with pytest.raises(ValueError, match=r"images of shape \(1, 3, 16, 16\); allowed: \(N, 3, 8, 8\)"):
        judge.probabilities(torch.zeros(1, 3, 16, 16))
    with pytest.raises(ValueError, match="batch = 6; allowed: multiples of 4"):
        Judge.of(params(), None, "cpu", replace(HASTY, batch=6))


@pytest.mark.slow
@pytest.mark.parametrize("contrast", [0.137, 0.5])
def test_the_small_judge_is_right(contrast: float) -> None:
    """At 16 x 16 pixels, both concepts of 99 % of held-out images, at the figure's lowest contrast too."""
    found = Judge.of(params(pixels=16, contrast=contrast), None, "cpu")
    assert min(found.accuracy) >= 0.99
