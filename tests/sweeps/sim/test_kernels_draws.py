"""Laws of what is drawn inside kernels: NumPy's own numbers to the last bit, and moments of the very points."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from swingby.model.cell import Cell
from swingby_sweeps.dynamics.kernels import streams
from swingby_sweeps.dynamics.kernels.mixture import MixtureDraws
from swingby_sweeps.dynamics.shapes import Batching
from swingby_sweeps.sim import draws, task
from swingby_sweeps.sim.experiment import Sim
from swingby_sweeps.sim.init import draw_layers
from swingby_sweeps.sim.params import SimParams
from tests.sweeps.sim.plain import batch_moments, sample_moments

Array = np.ndarray
key_words = st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))

shapes = st.fixed_dictionaries(
    {
        "s": st.integers(1, 4),
        "extra": st.integers(0, 5),
        "layers": st.integers(1, 3),
        "width": st.integers(1, 6),
        "bias": st.booleans(),
        "zero_cluster": st.booleans(),
        "shuffle": st.sampled_from(["once", "every_epoch"]),
        "batch_size": st.integers(1, 40),
        "n": st.integers(1, 60),
        "seed": st.integers(0, 10**6),
    }
)


def begun(key: tuple[int, int]) -> Array:
    stream = np.empty(streams.STREAM, np.uint64)
    streams.begin(np.array(key, np.uint64), stream)
    return stream


def numpys(key: tuple[int, int]) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=key[0] | key[1] << 64))


def cells_of(shape: dict[str, Any]) -> list[Cell]:
    """Six cells of one shape: pairs of them share their seed, and they differ in all that a batch allows."""
    s = shape["s"]
    fixed = {key: value for key, value in shape.items() if key not in ("extra", "seed")} | {"d": s + shape["extra"]}
    cells = []
    for k, init in enumerate(("default", "normal", "uniform", "default", "normal", "uniform")):
        own: dict[str, Any] = {"mu": tuple(1 + 0.2 * k + p for p in range(s)), "sigma": (0.1 + 0.1 * k,) * s}
        own |= {"init": init, "init_gain": 0.5 + k, "init_high": 0.1 * k, "rotate": k % 2 == 0, "epochs": 3}
        own["truncate"] = s > 1 and k in (1, 4)
        own["sigma_is"] = ("sd", "variance")[k % 2]
        point = Sim.point(**{**fixed, **own}, seeds="independent" if k % 3 == 2 else "common")
        cells.append(point.cell(shape["seed"] + k // 2))
    return cells


def params(cell: Cell) -> SimParams:
    assert isinstance(cell.params, SimParams)
    return cell.params


@settings(max_examples=40)
@given(key_words, st.lists(st.integers(1, 3000), min_size=1, max_size=4))
def test_streams_are_numpys_to_the_last_bit(key: tuple[int, int], sizes: list[int]) -> None:
    """Normals, uniforms and permutations, one call after the other, are those of Generator(Philox(key))."""
    for kind in ("normals", "uniforms", "permutations"):
        stream, generator = begun(key), numpys(key)
        for size in sizes:
            if kind == "permutations":
                order = np.empty(size, np.int32)
                streams.permute(stream, order, np.empty(size, np.int32))
                np.testing.assert_array_equal(order, generator.permutation(size))
                continue
            out = np.empty(size)
            getattr(streams, kind)(stream, out)
            drawn = generator.standard_normal(size) if kind == "normals" else generator.random(size)
            np.testing.assert_array_equal(out, drawn)


def test_the_rare_numbers_of_the_ziggurat_are_numpys() -> None:
    """In a million normals every branch is taken: wedges, and tails on both sides beyond the last layer (3.654)."""
    out = np.empty(1_000_000)
    streams.normals(begun((5, 6)), out)
    np.testing.assert_array_equal(out, numpys((5, 6)).standard_normal(len(out)))
    assert out.max() > 3.66
    assert out.min() < -3.66


@settings(max_examples=40)
@given(shapes)
def test_a_batch_draws_what_its_cells_draw_alone(shape: dict[str, Any]) -> None:
    """Weights, rotations and points of a batch are, to the last bit, those of each cell by NumPy."""
    cells = cells_of(shape)
    layers, rotations, points = draws.layers(cells), draws.rotations(cells), MixtureDraws(draws.mixture(cells)).points()
    for place, cell in enumerate(cells):
        for (weight, bias), (own, own_bias) in zip(layers, draw_layers(cell), strict=True):
            np.testing.assert_array_equal(weight[place], own)
            assert (bias is None) == (own_bias is None)
            if bias is not None:
                np.testing.assert_array_equal(bias[place], own_bias)
        np.testing.assert_array_equal(rotations[place], task.random_rotation(cell))
        np.testing.assert_array_equal(points[place], task.draw_points(cell))


@settings(max_examples=40)
@given(shapes)
def test_moments_are_those_of_the_points_in_their_order(shape: dict[str, Any]) -> None:
    """The moments of every mini-batch of three epochs, and of the whole set, are those of its points, shuffled."""
    cells = cells_of(shape)
    made = MixtureDraws(draws.mixture(cells), Batching(shape["batch_size"], shape["shuffle"] == "every_epoch"))
    orders = [task.order(cell) for cell in cells]
    sums = made.sums()
    for epoch in range(3):
        if epoch and shape["shuffle"] == "every_epoch":
            sums = made.sums()
        moments = made.moments(sums)
        for place, cell in enumerate(cells):
            p = params(cell)
            shuffled = task.with_constant(task.draw_points(cell)[orders[place].next_epoch()], p.bias)
            wanted = batch_moments(shuffled, p.batch_size)
            np.testing.assert_allclose(moments[place], wanted, rtol=1e-11, atol=1e-12 * np.abs(wanted).max())
    whole = draws.whole_moments(cells)
    for place, cell in enumerate(cells):
        wanted = sample_moments(params(cell), task.draw_points(cell))
        np.testing.assert_allclose(whole[place], wanted, rtol=1e-11, atol=1e-12 * np.abs(wanted).max())
