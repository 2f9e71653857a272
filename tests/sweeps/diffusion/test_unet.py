"""Laws of the diffusion network: what each block is told, masks and weights that belong to samples and names."""

from __future__ import annotations

import itertools
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from swingby_sweeps.diffusion.dropout import SampleDropout, give_keys
from swingby_sweeps.diffusion.initial import initialise
from swingby_sweeps.diffusion.params import DiffusionParams
from swingby_sweeps.diffusion.unet import ConceptUNet

KEY = bytes(range(16))
SMALL = {"pixels": 8, "width": 8, "levels": 2, "layers": 1, "norm_groups": 4}
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
INT64 = st.integers(-(2**63), 2**63 - 1)


def small(**changes: object) -> ConceptUNet:
    """A little network with weights of its own, without zeros at the start unless asked."""
    net = ConceptUNet.of(DiffusionParams.model_validate({**SMALL, "zero_init": False, **changes}))
    initialise(net, KEY)
    return net


def batch(size: int, pixels: int = 8, dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """z, time, condition and keys."""
    rng = np.random.default_rng(5)
    z = torch.tensor(rng.normal(size=(size, 3, pixels, pixels)), dtype=dtype)
    time, condition = (torch.tensor(rng.uniform(size=shape), dtype=dtype) for shape in (size, (size, 4)))
    return z, time, condition, torch.tensor(rng.integers(-(2**63), 2**63 - 1, size))


def mask(p: float, layer: int, keys: Tensor, shape: tuple[int, ...]) -> Tensor:
    """What a layer keeps of ones: (N, *shape)."""
    dropout = SampleDropout(p, layer)
    give_keys([dropout], keys)
    return dropout(torch.ones(len(keys), *shape, device=keys.device)) > 0


# The network


@pytest.mark.parametrize(("groups", "parameters"), [(8, 15_548_099), (1, 15_548_099)])
def test_paper_size(groups: int, parameters: int) -> None:
    """[64, 128, 256], two layers a level, attention in the middle only, one kind of norm and of activation."""
    net = ConceptUNet.of(DiffusionParams.model_validate({"norm_groups": groups}))
    assert sum(parameter.numel() for parameter in net.parameters()) == parameters
    assert [block.out_channels for block in net.resnets] == [64] * 2 + [128] * 2 + [256] * 7 + [128] * 3 + [64] * 3
    assert {m.num_groups for m in net.modules() if isinstance(m, nn.GroupNorm)} == {groups}
    assert [name for name, m in net.named_modules() if type(m).__name__ == "Attention"] == ["mid_block.attentions.0"]
    assert not [m for m in net.modules() if isinstance(m, nn.SiLU)]
    z, time, condition, keys = batch(1, 32)
    assert net(z, time, condition, keys).shape == z.shape


def test_every_block_is_told_time_and_condition() -> None:
    """What enters each ResNet block changes with the time and with each of the four numbers of the condition."""
    net, added = small(), []
    for block in net.resnets:
        assert block.time_emb_proj is not None
        block.time_emb_proj.register_forward_hook(lambda _module, _given, out: added.append(out))
    z, time, condition, keys = batch(3)
    net(z, time.requires_grad_(), condition.requires_grad_(), keys)
    assert len(added) == len(net.resnets) == 2 + 2 + 4
    for one in added:
        by_time, by_condition = torch.autograd.grad(one.square().sum(), (time, condition), retain_graph=True)
        assert (by_time != 0).all()
        assert (by_condition != 0).all()


@pytest.mark.parametrize("zero_init", [False, True])
def test_no_parameter_is_unused(zero_init: bool) -> None:
    """Every parameter has a gradient, so that processes which share it need not look for those without."""
    net = small(zero_init=zero_init)
    net(*batch(2)).square().sum().backward()
    assert [name for name, parameter in net.named_parameters() if parameter.grad is None] == []
    if not zero_init:
        assert [n for n, p in net.named_parameters() if p.grad is not None and not p.grad.any()] == []


@pytest.mark.parametrize("training", [False, True])
def test_samples_do_not_see_each_other(training: bool) -> None:
    """A batch of 8 is 8 batches of 1, and a batch in another order is the same in that order; gradients too."""
    net = small(dropout=0.3).train(training).double()
    z, time, condition, keys = batch(8, dtype=torch.float64)
    whole = net(z, time, condition, keys)
    alone = torch.cat([net(z[[i]], time[[i]], condition[[i]], keys[[i]]) for i in range(8)])
    torch.testing.assert_close(alone, whole)
    order = torch.tensor([3, 1, 7, 0, 2, 6, 5, 4])
    torch.testing.assert_close(net(z[order], time[order], condition[order], keys[order]), whole[order])
    gradients = [torch.autograd.grad(out.square().sum(), list(net.parameters())) for out in (whole, alone)]
    torch.testing.assert_close(*gradients)


def test_it_begins_as_the_identity() -> None:
    """With zeros in the last convolutions and the input added, the prediction is z itself; without, zero."""
    z, time, condition, keys = batch(4)
    assert torch.equal(small(zero_init=True)(z, time, condition, keys), z)
    assert not small(zero_init=True, residual=False)(z, time, condition, keys).any()
    torch.testing.assert_close(
        small()(z, time, condition, keys), small(residual=False)(z, time, condition, keys) + z, rtol=0, atol=1e-6
    )


def test_saved_and_loaded(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A network that was saved as safetensors comes back with its settings and, bit for bit, its predictions."""
    net = small(dropout=0.25, residual=False).eval()
    net.save_pretrained(tmp_path)
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".safetensors"}
    back = ConceptUNet.from_pretrained(tmp_path)
    assert [block.dropout.p for block in back.resnets] == [0.25] * len(net.resnets)
    assert torch.equal(back(*batch(2)), net(*batch(2)))
    assert torch.equal(back.train()(*batch(2)), net.train()(*batch(2)))
    assert not caplog.records


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision(dtype: torch.dtype, device: str) -> None:
    """Under autocast, and as a whole cast to it, predictions are those of float32 nearly, and typed as z."""
    net = small(dropout=0.1)
    nn.Module.to(net, device)
    z, time, condition, keys = (part.to(device) for part in batch(4))
    exact = net(z, time, condition, keys)
    with torch.autocast(device, dtype):
        rough = net(z, time, condition, keys)
        rough.square().mean().backward()
    whole = nn.Module.to(net, dtype)(z, time, condition, keys)
    for one in (rough, whole):
        assert one.dtype == torch.float32
        assert ((one - exact).norm() / exact.norm()) < 10 * torch.finfo(dtype).eps
    assert all(p.grad is not None and p.grad.isfinite().all() for p in net.parameters())


def test_memory_formats() -> None:
    """Channels last gives the same predictions and gradients as the plain format, dropout included."""
    net = small(dropout=0.3).double()
    z, time, condition, keys = batch(4, dtype=torch.float64)
    plain = net(z, time, condition, keys)
    before = torch.autograd.grad(plain.square().sum(), list(net.parameters()))
    moved: Any = net
    moved.to(memory_format=torch.channels_last)
    last = net(z.to(memory_format=torch.channels_last), time, condition, keys)
    torch.testing.assert_close(last, plain)
    torch.testing.assert_close(torch.autograd.grad(last.square().sum(), list(net.parameters())), before)


# Dropout


def _hash(key: int, layer: int, index: int) -> int:
    """The mask's 32 bits as they are defined, with Python's integers."""

    def mix(x: int, bits: int, shifts: tuple[int, int, int], factors: tuple[int, int]) -> int:
        for shift, factor in zip(shifts, (*factors, 1), strict=True):
            x = ((x ^ (x >> shift)) * factor) % 2**bits
        return x

    def mix32(x: int) -> int:
        return mix(x, 32, (16, 15, 16), (0x7FEB352D, 0x846CA68B))

    def mix64(x: int) -> int:
        return mix(x % 2**64, 64, (30, 27, 31), (0xBF58476D1CE4E5B9, 0x94D049BB133111EB))

    both = mix64(mix64(layer * 0x9E3779B97F4A7C15) + mix64(key))
    low, high = ((word + 2**31) % 2**32 for word in (both % 2**32, both >> 32))
    return ((mix32(mix32(index) ^ low) ^ high) * 0x9E3779B1 + 2**31) % 2**32


@pytest.mark.parametrize("device", DEVICES)
@given(keys=st.lists(INT64, min_size=1, max_size=3), layer=st.integers(0, 100), p=st.floats(0.01, 0.99))
@settings(max_examples=25, deadline=None)
def test_masks_are_the_hash(device: str, keys: list[int], layer: int, p: float) -> None:
    """On every device an element is kept just where the hash of key, layer and index, as integers, is not below p."""
    found = mask(p, layer, torch.tensor(keys, device=device), (2, 3, 3))
    wanted = [[_hash(key, layer, index) >= round(p * 2**32) for index in range(18)] for key in keys]
    assert found.cpu().flatten(1).tolist() == wanted


@given(
    keys=st.lists(INT64, min_size=2, max_size=6, unique=True),
    layer=st.integers(0, 30),
    order=st.randoms(use_true_random=False),
)
@settings(max_examples=25, deadline=None)
def test_masks_do_not_depend_on_company(keys: list[int], layer: int, order: Random) -> None:
    """A sample has the same mask alone, in a batch and in another order."""
    shuffled = list(keys)
    order.shuffle(shuffled)
    whole, other = (mask(0.5, layer, torch.tensor(k), (4, 4, 4)) for k in (keys, shuffled))
    for i, key in enumerate(keys):
        assert torch.equal(whole[i], other[shuffled.index(key)])
        assert torch.equal(whole[[i]], mask(0.5, layer, torch.tensor([key]), (4, 4, 4)))


@pytest.mark.parametrize("p", [0.1, 0.5])
@pytest.mark.parametrize(
    "keys", [torch.arange(48), torch.arange(48) << 32, batch(48)[3]], ids=["low", "high", "random"]
)
def test_masks_are_random(p: float, keys: Tensor) -> None:
    """Rates are binomial; samples, layers and neighbours are uncorrelated, even where keys differ by 1."""
    kept = torch.cat([mask(p, layer, keys, (8, 16, 16)).flatten(1) for layer in (0, 1)]).double()
    n = kept.shape[1]
    z = (kept - (1 - p)) / (p * (1 - p)) ** 0.5
    of_rate = z.sum(1) / n**0.5
    assert of_rate.abs().max() < 5
    assert 0.5 < of_rate.var() < 1.7  # 96 samples: the variance of a variance of 1 is 2 / 95
    pairs = (z @ z.T / n**0.5)[*torch.triu_indices(len(z), len(z), 1)]
    assert pairs.abs().max() < 6  # of 4560 pairs
    assert 0.9 < pairs.var() < 1.1
    for lag in (1, 2, 16, 256):
        assert ((z[:, lag:] * z[:, :-lag]).sum() / z[:, lag:].numel() ** 0.5).abs() < 5
    by_element = z.sum(0) / len(z) ** 0.5
    assert 0.9 < by_element.var() < 1.1


def test_dropout_keeps_the_mean_and_scales_gradients() -> None:
    """What is kept is divided by 1 - p, and gradients pass just there, with the same factor."""
    dropout = SampleDropout(0.25)
    x = torch.full((64, 8, 8, 8), 3.0, requires_grad=True)
    give_keys([dropout], torch.arange(64))
    out = dropout(x)
    (gradient,) = torch.autograd.grad(out.sum(), x)
    assert torch.equal(gradient * 3, out)
    assert set(out.unique().tolist()) == {0.0, 4.0}
    assert abs(out.mean() - 3) < 5 * 3 * (0.25 / 0.75) ** 0.5 / x.numel() ** 0.5


def test_dropout_does_nothing_when_it_should_not() -> None:
    """In evaluation and at p = 0 it hands on the very tensor, and needs no keys."""
    x = torch.ones(2, 4)
    assert SampleDropout(0.5).eval()(x) is x
    assert SampleDropout(0.0)(x) is x


def test_missing_keys_are_a_fault() -> None:
    """In training: no keys, or those of another batch, are refused with both numbers; and p = 1 at once."""
    net = small(dropout=0.1)
    z, time, condition, keys = batch(4)
    with pytest.raises(ValueError, match="none for a batch of 4"):
        net(z, time, condition)
    with pytest.raises(ValueError, match="3 keys for a batch of 4"):
        net(z, time, condition, keys[:3])
    with pytest.raises(ValueError, match="0 <= p < 1"):
        SampleDropout(1.0)


# Initialisation


def test_weights_belong_to_key_and_name() -> None:
    """The same key gives the same bits, whatever was there, whatever torch's random state; a name its own stream."""
    one, other = small(), small()
    torch.manual_seed(3)
    state = torch.get_rng_state()
    initialise(other, KEY)
    assert torch.equal(torch.get_rng_state(), state)
    for name, parameter in one.named_parameters():
        assert torch.equal(parameter, other.get_parameter(name))
    initialise(other, KEY[::-1])
    drawn = [name for name, p in one.named_parameters() if p.std() > 0]
    assert len(drawn) > 60
    assert not [name for name in drawn if torch.equal(one.get_parameter(name), other.get_parameter(name))]
    alike = [
        (a, b) for a, b in itertools.combinations(drawn, 2) if one.get_parameter(a).shape == one.get_parameter(b).shape
    ]
    assert not [pair for pair in alike if torch.equal(*map(one.get_parameter, pair))]


def test_weights_depend_on_nothing_else() -> None:
    """A layer's weights are the same beside other layers and in other orders, and cast from the same float64."""
    first = nn.ModuleDict({"a": nn.Linear(3, 4), "b": nn.Linear(4, 3)})
    second = nn.ModuleDict({"b": nn.Linear(4, 3), "c": nn.Linear(9, 9), "a": nn.Linear(3, 4)}).double()
    initialise(first, KEY)
    initialise(second, KEY)
    for name, parameter in first.named_parameters():
        assert torch.equal(second.get_parameter(name).float(), parameter)


@pytest.mark.parametrize(
    ("layer", "fan_in"),
    [
        (nn.Linear(400, 300), 400),
        (nn.Conv2d(64, 64, 3), 576),
        (nn.ConvTranspose2d(64, 128, 2), 512),
        (nn.Conv2d(64, 64, 3, groups=8), 72),
    ],
    ids=str,
)
def test_the_law_of_the_draws(layer: nn.Module, fan_in: int) -> None:
    """Weights and biases are uniform within 1 / sqrt(fan in), as torch's own are."""
    torch_bound = max(layer.get_parameter("weight").abs().max().item(), layer.get_parameter("bias").abs().max().item())
    initialise(layer, KEY)
    u = (layer.get_parameter("weight") * fan_in**0.5).double().flatten()
    assert u.abs().max() <= 1 + 1e-6
    assert abs(u.mean()) < 5 / (3 * u.numel()) ** 0.5
    assert abs(u.var() - 1 / 3) < 5 * (4 / 45 / u.numel()) ** 0.5
    assert (u < 0.5).double().mean() == pytest.approx(0.75, abs=5 * (0.1875 / u.numel()) ** 0.5)
    assert (layer.get_parameter("bias") * fan_in**0.5).abs().max() <= 1 + 1e-6
    assert torch_bound * fan_in**0.5 == pytest.approx(1, abs=0.01)


def test_a_scale_of_the_weights_is_a_factor() -> None:
    """Every weight and bias that is drawn is so many times as large; norms begin as they do."""
    nets = small(), small()
    for net, scale in zip(nets, (1.0, 0.25), strict=True):
        initialise(net, KEY, scale)
    for (name, one), other in zip(nets[0].named_parameters(), nets[1].parameters(), strict=True):
        assert torch.equal(other, one if "norm" in name else one / 4), name


def test_norms_zeros_and_what_it_does_not_know() -> None:
    """Norms begin as the identity, zeros stay zeros; a layer of another kind is named in the error."""
    net = small(zero_init=True)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(1)
    initialise(net, KEY)
    for layer in net.modules():
        if isinstance(layer, nn.GroupNorm):
            assert (layer.weight == 1).all()
            assert (layer.bias == 0).all()
    zeros = {name for name, parameter in net.named_parameters() if not parameter.any() and "norm" not in name}
    assert {name.rsplit(".", 2)[-2] for name in zeros} == {"conv2", "conv_out"}
    assert len(zeros) == 2 * (len(net.resnets) + 1)
    with pytest.raises(TypeError, match="1 is a Embedding"):
        initialise(nn.Sequential(nn.Linear(2, 2), nn.Embedding(3, 4)), KEY)
