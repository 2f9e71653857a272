"""Laws of a diffusion run: its samples belong to it, a stop changes nothing, a checkpoint says what it belongs to."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch.overrides import TorchFunctionMode

from swingby.model.process_group import SpoiledError
from swingby_sweeps.diffusion import checkpoint, train
from swingby_sweeps.diffusion.batch_stream import Feed, Rows, training_set
from swingby_sweeps.diffusion.bound import losses
from swingby_sweeps.diffusion.checkpoint import CheckpointError
from swingby_sweeps.diffusion.concepts import class_means
from swingby_sweeps.diffusion.generate import Generator
from swingby_sweeps.diffusion.graphed import CudaGraphs
from swingby_sweeps.diffusion.model import Diffusion
from swingby_sweeps.diffusion.params import DiffusionParams
from swingby_sweeps.diffusion.session import session
from swingby_sweeps.diffusion.train import Training, rate
from swingby_sweeps.diffusion.vdm import VDMScheduler, sample
from tests.support.diffusion import cell, close, params
from tests.support.recorded_operations import OperationRecorder

CPU = torch.device("cpu")
RECORDED = (0, 3, 7, 12)


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    """Rounding hangs on the number of threads, and two tests run at once."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def run(of: Any, path: Path | None = None, recorded: Any = RECORDED, **options: Any) -> tuple[Training, list[Any]]:
    """A training to its end, with its evaluations."""
    with session("cpu", of.params.mixed_precision, of.params.accumulate) as accelerator:
        training = Training(of, accelerator, recorded, path)
        return training, list(training.run(**options))


def weights(training: Training) -> dict[str, torch.Tensor]:
    """What was learned."""
    return {name: tensor.clone() for name, tensor in training.core.state_dict().items()}


def same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    """Bit for bit."""
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@settings(max_examples=25)
@given(st.integers(0, 40), st.sampled_from([(1, 1), (2, 1), (4, 1), (1, 2), (2, 2), (1, 4)]))
def test_shares_make_the_batch(step: int, cut: tuple[int, int]) -> None:
    """However many processes share a batch, in however many parts: together they have the rows of one process alone."""
    size, micro = cut
    whole = Rows(*(torch.cat(parts) for parts in zip(*Feed(FED, CPU).step(step), strict=True)))
    shared = [rows for rank in range(size) for rows in Feed(FED, CPU, rank, size, micro).step(step)]
    assert len(shared) == size * micro
    for name, tensor in whole._asdict().items():
        assert torch.equal(torch.cat([getattr(rows, name) for rows in shared]), tensor), name


FED = cell()


def test_an_epoch_has_every_image_once() -> None:
    """Each image of the training set comes once in every epoch, in an order that differs from epoch to epoch."""
    images, conditions = training_set(params(), FED.key("images"), CPU)
    assert len(images) == len(conditions) == 3 * params().training_images
    feed, batch = Feed(FED, CPU), params().batch_size
    seen = torch.cat([rows.images for step in range(-(-2 * len(images) // batch)) for rows in feed.step(step)])
    places = (seen.flatten(1)[:, None] == images.flatten(1)).all(2).int().argmax(1).tolist()
    first, second = places[: len(images)], places[len(images) : 2 * len(images)]
    assert sorted(first) == sorted(second) == list(range(len(images)))
    assert first != second


def test_a_batch_that_cannot_be_shared() -> None:
    """The error names the numbers and what is allowed."""
    with pytest.raises(ValueError, match=r"batch_size = 8 cannot be shared by 3 processes .* multiples of 3"):
        Feed(FED, CPU, 0, 3)


def test_no_two_samples_share_noise_or_masks() -> None:
    """Within a batch and over steps each has noise and a dropout key of its own, and each step its own times."""
    rows = [Feed(cell(seed), CPU).step(step)[0] for seed in (0, 1) for step in range(4)]
    count = len(rows) * params().batch_size
    assert len(torch.cat([one.noise.flatten(1) for one in rows]).unique(dim=0)) == count
    assert len(torch.cat([one.keys for one in rows]).unique()) == count
    assert len(torch.stack([one.times.sort().values for one in rows]).unique(dim=0)) == len(rows)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"clip": None, "decay": "cosine", "weight_decay": 0.5},
        {"clip": 0.1, "clip_of": "all", "warmup": 0, "schedule": "fixed", "dropout": 0.2},
    ],
)
def test_a_step_is_adamw_on_the_mean_bound(changes: dict[str, Any]) -> None:
    """Three steps are those of a plain loop: the mean over the batch of the sum of the terms, its gradient clipped by
    the norm of what is to be clipped, and AdamW at the rate of the step."""
    of = cell(training_steps=3, **changes)
    p = of.params
    assert isinstance(p, DiffusionParams)
    model: Any = Diffusion(p, of.key("initialisation"))
    net = model.to(memory_format=train.memory_format(CPU, p))
    adamw = torch.optim.AdamW(net.parameters(), weight_decay=p.weight_decay, fused=True)
    bounds, norms = [], []
    for step in range(3):
        (rows,) = Feed(of, CPU).step(step)
        adamw.zero_grad()
        bound = net(*rows).sum(dim=1).mean()
        bound.backward()
        clipped = net.unet.parameters() if p.clip_of == "network" else net.parameters()
        gradients = [parameter.grad for parameter in clipped if parameter.grad is not None]
        norms.append(math.sqrt(sum(float(gradient.double().square().sum()) for gradient in gradients)))
        for gradient in gradients:
            gradient *= 1 if p.clip is None else min(1, p.clip / norms[-1])
        rising = (step + 1) / p.warmup if p.warmup else 1
        adamw.param_groups[0]["lr"] = (
            p.lr * rising * ((1 + math.cos(math.pi * step / 3)) / 2 if p.decay == "cosine" else 1)
        )
        adamw.step()
        bounds.append(bound.item())
    assert p.clip is None or norms[0] > p.clip  # or nothing would be clipped here
    training, (found,) = run(of, recorded=(3,))
    for name, tensor in net.state_dict().items():
        torch.testing.assert_close(training.core.state_dict()[name], tensor, rtol=1e-5, atol=p.lr / 1000)
    assert found.means["loss"] == pytest.approx(np.mean(bounds), rel=1e-5)
    assert found.means["gradient_norm"] == pytest.approx(np.mean(norms), rel=1e-4)


def test_the_terms_are_those_of_the_bound() -> None:
    """For each image diffusion, prior, reconstruction, the last as its expectation; the network is told the image's
    condition and, wherever the schedule has gone, the time by the ends that it began with."""
    model = Diffusion(params(zero_init=False), FED.key("initialisation"))
    with torch.no_grad():
        model.schedule.b.sub_(2.5)
        (rows,) = Feed(FED, CPU).step(0)
        found = model(*rows)
        expected = losses(
            model.schedule,
            lambda z, gamma: model.unet(z, (gamma + 5) / 15, rows.conditions, rows.keys),
            rows.images,
            rows.times,
            rows.noise,
            None,
            params().data_noise,
        )
    torch.testing.assert_close(found, torch.stack(list(expected), dim=1), rtol=1e-6, atol=0)
    assert len(found.unique(dim=1).T) == 3


def test_images_are_sampled_and_clipped() -> None:
    """A model's images are those of its sampler with the schedule as it is now, in the run's steps, clipped to [0, 1]:
    of the ancestral one, and of the deterministic one from z_1 alone."""
    model = Diffusion(params(zero_init=False, sampling_steps=4), FED.key("initialisation")).eval()
    with torch.no_grad():
        model.schedule.b.sub_(2.5)
    conditions, noise = torch.rand(3, 4), torch.randn(3, 5, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    scheduler = VDMScheduler(-7.5, 7.5)
    scheduler.set_timesteps(4)
    plain = sample(scheduler, lambda z, gamma: model.predict(z, gamma, conditions), noise.unbind(1))
    assert ((plain < 0) | (plain > 1)).any()
    assert torch.equal(model.sample(conditions, noise), plain.clamp(0, 1))
    model.params = params(zero_init=False, sampling_steps=4, sampler="ddim")
    flow = VDMScheduler(-7.5, 7.5, sampler="ddim")
    flow.set_timesteps(4)
    straight = sample(flow, lambda z, gamma: model.predict(z, gamma, conditions), [noise[:, 0]])
    assert torch.equal(model.sample(conditions, noise[:, :1]), straight.clamp(0, 1))


class ModelStub(torch.nn.Module):
    """In the place of a model: its images show what they were made from, condition and noise."""

    def sample(self, conditions: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        """The sums of the condition's numbers, in powers of ten apart, and of the noise."""
        place = conditions @ torch.tensor([1.0, 10.0, 100.0, 1000.0])
        return place[:, None, None, None] + 1e-3 * noise.sum(dim=1)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_each_class_is_generated_under_its_own_mean(size: int) -> None:
    """As many images of each class as are judged of it, under the mean of the class, each from noise of its own; the
    same however many processes share them, and at every evaluation."""
    of = cell()
    model: Any = ModelStub()
    makers = [Generator(of, CPU, rank, size) for rank in range(size)]
    parts = [maker.images(model.sample) for maker in makers]
    assert all(torch.equal(part, maker.images(model.sample)) for part, maker in zip(parts, makers, strict=True))
    with session("cpu") as accelerator:
        found = sum(
            torch.cat(list(maker.gathered(part, accelerator))) for maker, part in zip(makers, parts, strict=True)
        )
        whole = Generator(of, CPU)
        every = whole.gathered(whole.images(model.sample), accelerator)
    assert torch.equal(torch.as_tensor(found), torch.cat(list(every)))
    assert [len(images) for images in every] == [2, 2, 2, 3]
    for images, mean in zip(every, class_means(params()), strict=True):
        expected = float(mean @ [1, 10, 100, 1000])
        assert images.mean().item() == pytest.approx(expected, abs=0.01)
    assert len(whole.noise.flatten(1).unique(dim=0)) == 9


def test_a_seed_is_a_run() -> None:
    """The same cell again has the same weights and images bit for bit; another seed has others."""
    (first, images), (again, images_again), (other, _) = run(cell()), run(cell()), run(cell(1))
    assert same(weights(first), weights(again))
    assert not same(weights(first), weights(other))
    for one, two in zip(images, images_again, strict=True):
        assert one.step == two.step
        assert all(torch.equal(a, b) for a, b in zip(one.images, two.images, strict=True))


def test_training_learns() -> None:
    """The bound falls, and the weights move."""
    training, found = run(cell(training_steps=60), recorded=(0, 20, 60))
    assert [one.step for one in found] == [0, 20, 60]
    assert found[0].means is None
    middle, last = (one.means for one in found[1:])
    assert middle is not None
    assert last is not None
    assert last["loss_diffusion"] < middle["loss_diffusion"]
    assert last["loss"] == pytest.approx(last["loss_diffusion"] + last["loss_prior"] + last["loss_reconstruction"])
    start = first_weights()
    assert any(not torch.equal(start[name], tensor) for name, tensor in weights(training).items())


def first_weights() -> dict[str, torch.Tensor]:
    """The weights before the first step."""
    with session("cpu") as accelerator:
        return weights(Training(cell(training_steps=60), accelerator, (0,), None))


@pytest.mark.parametrize("stop", [1, 7, *(pytest.param(step, marks=pytest.mark.slow) for step in (3, 5, 11))])
@pytest.mark.parametrize("dropout", [pytest.param(0.0, marks=pytest.mark.slow), 0.2])
def test_a_stop_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int, dropout: float) -> None:
    """Stopped at any step and continued, a run ends with the weights, images and means of one that never stopped, bit
    for bit."""
    monkeypatch.setattr(train, "EVERY", 1)
    of, path = cell(dropout=dropout), tmp_path / checkpoint.NAME
    straight, expected = run(of)
    with session("cpu") as accelerator:
        first = Training(of, accelerator, RECORDED, path)
        found = list(first.run(lambda: first.step >= stop))
        assert first.step == stop
        first.save()
    second, after = run(of, path)
    assert same(weights(straight), weights(second))
    assert [one.step for one in found + after] == list(RECORDED)
    for one, two in zip(found + after, expected, strict=True):
        assert one.means == two.means
        assert all(torch.equal(a, b) for a, b in zip(one.images, two.images, strict=True))


def test_parts_of_a_batch_change_nothing_but_rounding() -> None:
    """Gradients accumulated over four parts of a batch are those of the whole batch."""
    (_, whole), (_, parts) = (
        run(cell(training_steps=8), recorded=(0, 8)),
        run(cell(training_steps=8, accumulate=4), recorded=(0, 8)),
    )
    assert whole[-1].means is not None
    assert parts[-1].means is not None
    assert close(list(whole[-1].means.values()), list(parts[-1].means.values()), 1e-4)


def test_half_precision_trains() -> None:
    """bf16 takes the same road, roughly."""
    (_, full), (_, half) = (
        run(cell(), recorded=(12,)),
        run(cell(mixed_precision="bf16"), recorded=(12,)),
    )
    assert full[-1].means is not None
    assert half[-1].means is not None
    assert half[-1].means["loss_diffusion"] == pytest.approx(full[-1].means["loss_diffusion"], rel=0.2)
    assert half[-1].means["loss_diffusion"] != pytest.approx(full[-1].means["loss_diffusion"], rel=1e-6)


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["no", "bf16", "fp16"])
def test_a_gpu_trains_in_every_precision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: str) -> None:
    """On CUDA a run takes the road of the CPU, roughly, generates images, and a checkpoint has all that it goes on
    from: optimizer and scaler too, and what was summed since the last evaluation."""
    monkeypatch.setattr(train, "EVERY", 1)
    of = cell(training_steps=25, mixed_precision=precision)
    _, full = run(cell(training_steps=25), recorded=(20,))
    with session("cuda", precision) as accelerator:
        assert torch.backends.cudnn.allow_tf32 is (precision != "no")
        training = Training(of, accelerator, (20,), tmp_path / checkpoint.NAME)
        (found,) = training.run(lambda: training.step >= 21)
        training.save()
    with session("cuda", precision) as accelerator:
        again = Training(of, accelerator, (25,), tmp_path / checkpoint.NAME)
        assert again.step == training.step == 21
        assert same(again._state(), training._state())
        (after,) = again.run()
        assert again.step == 25
    assert after.means is not None
    assert found.means is not None
    assert full[-1].means is not None
    assert np.isfinite([*found.means.values(), *after.means.values()]).all()
    assert found.means["loss_diffusion"] == pytest.approx(full[-1].means["loss_diffusion"], rel=0.2)
    assert all(bool(torch.isfinite(images).all()) for images in found.images)


def test_half_precision_that_the_device_lacks() -> None:
    """fp16 needs a GPU; on a CPU that is a clear error before anything is trained."""
    with pytest.raises(ValueError, match="mixed_precision fp16 needs a GPU"), session("cpu", "fp16"):
        pass


RECORDERS = {"operations": ("cpu", OperationRecorder), "CUDA graphs": ("cuda", CudaGraphs)}


@pytest.mark.parametrize(
    "recorder",
    ["operations", pytest.param("CUDA graphs", marks=pytest.mark.gpu)],
)
@pytest.mark.parametrize(
    "values",
    [
        {"dropout": 0.1, "warmup": 5, "decay": "cosine"},
        {"accumulate": 2, "clip": 0.5, "clip_of": "network", "schedule": "fixed"},
        {"mixed_precision": "bf16", "sampler": "ddim"},
    ],
    ids=["rate and dropout", "parts of a batch", "bf16"],
)
def test_recorded_steps_are_the_steps(recorder: str, values: dict[str, Any]) -> None:
    """A run whose steps and samples are replayed is the run whose are not, bit for bit: weights, means and images."""
    device, kind = RECORDERS[recorder]
    of, steps, runs = cell(training_steps=6, **values), (0, 3, 6), list[tuple[Any, ...]]()
    for recording in (None, kind):
        with session(device, of.params.mixed_precision, of.params.accumulate) as accelerator:
            training = Training(of, accelerator, steps, None, nearest=True, recorder=recording and recording())
            evaluations = list(training.run())
            assert not recording or (training._step.recorder and training._predict.recorder), "it was not recorded"
            runs.append((weights(training), [(one.means, one.images, one.nearest) for one in evaluations]))
    assert same(runs[0][0], runs[1][0])
    for (means, images, near), (replayed_means, replayed_images, replayed_near) in zip(
        *runs[0][1:], *runs[1][1:], strict=True
    ):
        assert means == replayed_means
        assert all(torch.equal(a, b) for a, b in zip(images, replayed_images, strict=True))
        assert torch.equal(near.losses, replayed_near.losses)


def test_a_step_that_cannot_be_recorded_is_taken(caplog: pytest.LogCaptureFixture) -> None:
    """Where a recording breaks off in the middle of a step, the log says so, and the run is what it would have been."""

    class Breaks(OperationRecorder):
        def record(self, function: Any) -> Any:
            with pytest.raises(ZeroDivisionError), Broken():
                function()
            raise RuntimeError("no graph")

    class Broken(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.isfinite:
                raise ZeroDivisionError
            return func(*args, **(kwargs or {}))

    of = cell(accumulate=2)
    plain, _ = run(of)
    with session("cpu", accumulate=2) as accelerator:
        training = Training(of, accelerator, (12,), None, recorder=Breaks())
        list(training.run())
    assert same(weights(training), weights(plain))
    assert "no graph" in caplog.text


def test_a_loss_that_is_no_number() -> None:
    """A run whose loss is not finite ends with an error that says at which step."""
    with session("cpu") as accelerator:
        training = Training(cell(), accelerator, (12,), None)
        with torch.no_grad():
            next(training.core.parameters()).fill_(float("nan"))
        with pytest.raises(FloatingPointError, match="no finite number any more by step 12"):
            list(training.run())


def test_weights_that_are_no_numbers() -> None:
    """A step with a finite loss and a gradient that is not, right before an evaluation, ends the run in the same way;
    so does a noise schedule that has become flat."""
    with session("cpu") as accelerator:
        training = Training(cell(), accelerator, (1, 12), None)
        next(training.core.parameters()).register_hook(lambda gradient: gradient * math.nan)
        with pytest.raises(FloatingPointError, match="the weights are no finite numbers any more by step 1"):
            list(training.run())
    with session("cpu") as accelerator:
        training = Training(cell(), accelerator, (0, 12), None)
        training.core.schedule.w.data.zero_()
        with pytest.raises(FloatingPointError, match="the noise schedule has no slope any more by step 0"):
            list(training.run())


def test_norms_that_are_no_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recorded norm of the gradient is the mean over those steps at which it is finite (fp16's scaler skips
    others), also in a run that was stopped and continued."""
    monkeypatch.setattr(train, "EVERY", 1)
    taken: list[float] = []

    def clip(self: Accelerator, parameters: Any, limit: float, _: float = 2.0) -> torch.Tensor:
        norm = torch.nn.utils.clip_grad_norm_(parameters, limit)
        taken.append(norm.item() if len(taken) % 3 else math.inf)
        return torch.tensor(taken[-1])

    monkeypatch.setattr(Accelerator, "clip_grad_norm_", clip)
    path = tmp_path / checkpoint.NAME
    with session("cpu") as accelerator:
        first = Training(cell(training_steps=7), accelerator, (0, 7), path)
        list(first.run(lambda: first.step >= 5))
        first.save()
    _, (found,) = run(cell(training_steps=7), path, recorded=(0, 7))
    finite = [norm for norm in taken if norm < math.inf]
    assert (len(taken), len(finite)) == (7, 4)
    assert found.means["gradient_norm"] == pytest.approx(sum(finite) / 4, rel=1e-6)


def test_the_rate_rises_and_falls() -> None:
    """Linear warm-up times a cosine that ends at 0."""
    of = params(training_steps=100, warmup=10, decay="cosine")
    rates = np.array([rate(of, step) for step in range(100)])
    assert rates.argmax() == 9
    assert np.all(np.diff(rates[:10]) > 0)
    assert np.all(np.diff(rates[9:]) < 0)
    assert rates[-1] < 1e-3
    assert rate(params(warmup=0), 7) == 1


def spoiled(path: Path, how: str) -> str:
    """Spoils a checkpoint; what the error has to say."""
    whole = path.read_bytes()
    if how == "torn":
        path.write_bytes(whole[: len(whole) // 2])
        return "cannot be read"
    if how == "noise":
        path.write_bytes(os.urandom(4096))
        return "cannot be read"
    if how == "empty":
        path.write_bytes(b"")
        return "cannot be read"
    if how == "altered":
        path.write_bytes(whole[:-50] + bytes([whole[-50] ^ 1]) + whole[-49:])
        return "contents are not those that were written"
    if how == "foreign":
        save_file({"weight": torch.zeros(2)}, path)
        return "cannot be read .*swingby"
    tensors = load_file(path)
    if how == "another cell":
        checkpoint.save(path, "0" * 32, checkpoint.Progress(), tensors)
        return f"it is of cell {'0' * 32}, not of {FED.cell_id}"
    name = next(name for name in tensors if name.startswith("model/"))
    if how == "lacking":
        checkpoint.save(path, FED.cell_id, checkpoint.Progress(), {k: v for k, v in tensors.items() if k != name})
        return f"it lacks a tensor '{name}'"
    checkpoint.save(path, FED.cell_id, checkpoint.Progress(), {**tensors, name: tensors[name].double()})
    return f"'{name}' is float64 .*expected: float32"


@pytest.mark.parametrize(
    "how", ["torn", "noise", "empty", "altered", "foreign", "another cell", "lacking", "other type"]
)
def test_a_checkpoint_that_is_of_no_use(tmp_path: Path, how: str) -> None:
    """It is refused before anything is trained; the error says which file, why, and what to do."""
    path = tmp_path / checkpoint.NAME
    with session("cpu") as accelerator:
        Training(FED, accelerator, RECORDED, path).save()
        said = spoiled(path, how)
        with pytest.raises(CheckpointError, match=f"(?s){path}.*{said}.*remove it to begin this run anew"):
            Training(FED, accelerator, RECORDED, path)


def test_a_session_leaves_no_trace() -> None:
    """Environment and accelerate's memory are as before, so that the next run may be another one."""
    before = dict(os.environ)
    with session("cpu", "bf16", 2) as accelerator:
        assert accelerator.mixed_precision == "bf16"
    assert dict(os.environ) == before
    with session("cpu", "no", 1) as accelerator:
        assert accelerator.mixed_precision == "no"
        assert accelerator.gradient_accumulation_steps == 1


LAUNCHERS = [
    {"PMI_SIZE": "2", "PMI_RANK": "1", "MPI_LOCALNRANKS": "2", "MPI_LOCALRANKID": "1"},
    {f"OMPI_COMM_WORLD_{name}": "2" for name in ("SIZE", "RANK", "LOCAL_SIZE", "LOCAL_RANK")},
    {f"MV2_COMM_WORLD_{name}": "2" for name in ("SIZE", "RANK", "LOCAL_SIZE", "LOCAL_RANK")},
    {"WORLD_SIZE": "2", "RANK": "1", "LOCAL_RANK": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"},
    {"ACCELERATE_GRADIENT_ACCUMULATION_STEPS": "4", "ACCELERATE_MIXED_PRECISION": "bf16"},
    {"ACCELERATE_DYNAMO_BACKEND": "EAGER", "ACCELERATE_USE_FSDP": "true"},
]


@pytest.mark.parametrize("launcher", LAUNCHERS, ids=lambda found: next(iter(found)))
def test_a_launcher_does_not_reach_a_session(monkeypatch: pytest.MonkeyPatch, launcher: dict[str, str]) -> None:
    """Whatever launcher the process was started by, and left its variables: a session is what it was asked to be, and
    they are there again afterwards."""
    for name, value in launcher.items():
        monkeypatch.setenv(name, value)
    with session("cpu") as accelerator:
        assert (accelerator.num_processes, accelerator.process_index) == (1, 0)
        assert (accelerator.mixed_precision, accelerator.gradient_accumulation_steps) == ("no", 1)
        model = accelerator.prepare(torch.nn.Linear(1, 1))
        assert type(model) is torch.nn.Linear
    assert launcher.items() <= os.environ.items()


def test_float32_is_float32() -> None:
    """Without half precision convolutions are not computed in TF32 instead, and afterwards as before."""
    before = torch.backends.cudnn.allow_tf32
    for wanted in (True, False):
        torch.backends.cudnn.allow_tf32 = wanted
        with session("cpu"):
            assert torch.backends.cudnn.allow_tf32 is False
        with session("cpu", "bf16"):
            assert torch.backends.cudnn.allow_tf32 is wanted
        assert torch.backends.cudnn.allow_tf32 is wanted
    torch.backends.cudnn.allow_tf32 = before


def test_a_device_that_is_not_there() -> None:
    """No GPU is a clear error."""
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(SpoiledError, match="'cuda' was asked for, and torch sees no GPU here"), session("cuda"):
        pass
