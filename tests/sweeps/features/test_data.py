"""Points that cells of `features` draw, and what is said of data that cannot be had."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from swingby.errors import SwingbyError
from swingby.model.experiment import Recording
from swingby.run.driver import run_sweep
from swingby.sweepfile.sweep import Sweep
from swingby_sweeps.dynamics import images
from swingby_sweeps.features import data
from swingby_sweeps.features.experiment import Features
from swingby_sweeps.features.params import DIGITS
from tests.support import cells, pins


def points(**values: Any) -> tuple[data.Points, data.Points]:
    return data.drawn(cells.cell("features", **values))


def test_the_number_of_digits_is_that_of_scikit_learn() -> None:
    """The limits of n, which are known without the images, are true of them."""
    assert np.bincount(images.load("digits").labels).cumsum().tolist() == list(DIGITS)


def test_digits_of_all_classes_have_797_test_points_and_1000_others() -> None:
    """All are used, standardised by the training points; the test points are the same for every n."""
    (train, test), (fewer, again) = points(), points(n=100)
    assert (len(train.x), len(test.x)) == (1000, 797)
    assert train.x.mean() == pytest.approx(0, abs=1e-12)
    assert train.x.std() == pytest.approx(1)
    assert np.array_equal(test.labels, again.labels)
    assert np.array_equal(fewer.labels, train.labels[:100])
    assert np.bincount(fewer.labels).tolist() == [10] * 10


@pytest.mark.parametrize("classes", [2, 5, 9])
def test_dropped_classes_are_nowhere(classes: int) -> None:
    """Of the first C classes there is each, in the limits that n is given."""
    most = DIGITS[classes - 1] - round(DIGITS[classes - 1] * 797 / 1797)
    train, test = points(classes=classes, n=most)
    assert set(train.labels) == set(test.labels) == set(range(classes))
    assert train.y.shape == (most, classes)
    with pytest.raises(ValidationError, match=f"allowed: {classes} to {most}"):
        points(classes=classes, n=most + 1)


def test_a_larger_share_of_noise_changes_further_labels() -> None:
    """Of a share s about 9 s / 10 of the labels change, all within those that a larger share changes; no test label."""
    true, some, many = (points(label_noise=share)[0].labels for share in (0.0, 0.3, 1.0))
    changed, more = some != true, many != true
    assert changed.mean() == pytest.approx(0.27, abs=0.03)
    assert more.mean() == pytest.approx(0.9, abs=0.03)
    assert not (changed & ~more).any()
    assert np.array_equal(points(label_noise=1.0)[1].labels, points()[1].labels)


def test_a_mixture_has_means_of_its_separation_and_noise_of_one() -> None:
    """Before they are standardised; the classes are equally large."""
    own = cells.cell("features", data="mixture", n=4000, separation=5.0)
    x, labels, _, _ = data._mixture(own, own.params)
    means = np.stack([x[labels == k].mean(0) for k in range(4)])
    np.testing.assert_allclose(np.linalg.norm(means, axis=1), 5, atol=0.3)
    assert (x - means[labels]).std() == pytest.approx(1, abs=0.02)
    assert np.bincount(labels).tolist() == [1000] * 4


def test_a_step_is_on_even_grids() -> None:
    """0 below 0 and 1 above, on [-1, 1] with its ends, tested in between; the target is one number."""
    train, test = points(data="step", n=11, target_scale=2.0)
    np.testing.assert_allclose(train.x[:, 0], np.linspace(-1, 1, 11))
    assert np.array_equal(train.y[:, 0], 2.0 * (train.x[:, 0] > 0))
    assert test.y.mean() == 1
    assert np.abs(test.x).max() < 1


def test_a_class_without_a_point_leaves_numbers_or_nulls() -> None:
    """Where noise takes the last point of a class there is no collapse, and everything else; nothing is nan."""
    for seed in range(1000, 1040):
        own = cells.cell("features", seed, data="mixture", n=4, label_noise=1.0, epochs=3, width=4)
        if len(set(data.drawn(own)[0].labels)) < 3:
            break
    else:
        raise AssertionError("no seed loses classes")
    (row,) = cells.trained([own], Recording(points=4))
    assert row["status"] == "ok"
    assert row["nc1"] == [None] * 4
    assert row["final_nc1"] is None
    assert row["kappa_cka"][0] is not None
    assert row["train_d_eff_quality"][0] is not None
    numbers = [value for name in Features.curves for value in row[name] if value is not None]
    assert np.isfinite(numbers).all()


def test_without_scikit_learn_all_but_digits_train(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Data that are made here need no extra; digits say which."""
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    images.load.cache_clear()
    base = "base: {width: 4, n: 12, epochs: 2}"
    text = f"name: made\nexperiment: features\n{base}\naxes: {{data: [mixture, step]}}\nseeds: 1\n"
    done = run_sweep(Sweep.parse(text, "made.yaml"), tmp_path, local=True, pilot=False)
    assert (done.ok, done.failed) == (2, 0)
    with pytest.raises(SwingbyError, match=r"scikit-learn.*swingby\[digits\]"):
        points()
    images.load.cache_clear()


def test_mnist1d_without_its_package_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the extra that brings it, and data that need none."""
    monkeypatch.setitem(sys.modules, "mnist1d.data", None)
    monkeypatch.setitem(sys.modules, "mnist1d", None)
    data.series.cache_clear()
    with pytest.raises(SwingbyError, match=r"swingby\[mnist1d\].*digits, mixture or step"):
        points(data="mnist1d")


def test_mnist1d_is_made_without_a_trace_in_numpys_global_state() -> None:
    """8,000 points of 40 numbers, 800 a class; the global state is what it was. Skipped without the package."""
    pytest.importorskip("mnist1d", reason="mnist1d is not installed")
    data.series.cache_clear()
    np.random.seed(7)
    before = np.random.random_sample(5)
    np.random.seed(7)
    x, labels = data.series()
    assert np.array_equal(before, np.random.random_sample(5))
    assert x.shape == (8000, 40)
    assert np.bincount(labels).tolist() == [800] * 10
    train, test = points(data="mnist1d", n=4000)
    assert (len(train.x), len(test.x)) == (4000, 1000)


def test_images_of_torchvision_are_read_channel_by_channel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """MNIST gets background around it, colours stand one after the other; a missing file is named with its folder."""

    def made(side: int, channels: int) -> Any:
        def read(folder: Path, train: bool, download: bool) -> SimpleNamespace:
            if not (Path(folder) / "there").exists():
                raise RuntimeError("Dataset not found")
            count = 40 if train else 20
            values = np.arange(count * side * side * channels).reshape(count, side, side, channels) % 251
            return SimpleNamespace(data=values.squeeze(), targets=[k % 10 for k in range(count)])

        return read

    module = ModuleType("torchvision.datasets")
    module.MNIST, module.CIFAR10 = made(28, 1), made(32, 3)  # pyright: ignore[reportAttributeAccessIssue]
    parent = ModuleType("torchvision")
    parent.datasets = module  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setitem(sys.modules, "torchvision", parent)
    monkeypatch.setitem(sys.modules, "torchvision.datasets", module)
    for name in ("mnist", "cifar10"):
        monkeypatch.setenv(images.variable(name), str(tmp_path))
    images.load.cache_clear()
    with pytest.raises(SwingbyError, match=f"not in {tmp_path}.*download=True.*SWINGBY_CIFAR10"):
        points(data="cifar10", n=20)
    (tmp_path / "there").touch()
    grey, _ = points(data="mnist", n=30)
    assert grey.x.shape == (30, 1024)
    assert np.ptp(grey.x.reshape(30, 32, 32)[:, :2]) == 0
    train, test = points(data="cifar10", n=40)
    assert (train.x.shape, test.x.shape) == ((40, 3072), (20, 3072))
    raw = images.load("cifar10").values.reshape(60, 3, 32, 32)
    assert raw[0, :, 0, 0].tolist() == [0, 1, 2]
    images.load.cache_clear()


def test_draws_are_pinned_exactly() -> None:
    """Points and labels are these, to the last bit, or there is a new `stream_version`."""
    train, test = data.drawn(pins.cell("features", "noisy-labels"))
    assert train.labels[:12].tolist() == [0, 1, 2, 0, 1, 2, 0, 0, 2, 0, 1, 0]
    assert train.x[0, :3].tolist() == [-0.01512458001109564, -0.679616798465542, -0.9127703380622302]
    assert test.labels[:6].tolist() == [0, 1, 2, 0, 1, 2]
