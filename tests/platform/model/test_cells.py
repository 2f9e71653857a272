"""Laws of identity and randomness: a cell is its content, and its streams hang on nothing else."""

from __future__ import annotations

import hashlib
import math
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from swingby.model.cell import Cell, Point, SeedMode, canonical_json, philox, stream_key
from swingby.model.params import Matrix, Params, Vector, added


class Small(Params):
    """Parameters of every kind."""

    kind: Literal["linear", "relu"] = "linear"
    width: int = 4
    gain: float = 1.0
    mu: Vector = (1.0, 2.0)
    weights: Matrix | None = None
    bias: bool = False


class Grown(Small):
    """The same parameters, a version later."""

    slope: float = added(0.25)
    extra: Vector = added((0.0, 1.0))


finite = st.floats(allow_nan=False, allow_infinity=False)
contents = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["linear", "relu"]),
        "width": st.integers(-(2**63), 2**63 - 1),
        "gain": finite,
        "mu": st.lists(finite, max_size=3),
        "weights": st.none() | st.lists(st.lists(finite, max_size=2), max_size=2),
        "bias": st.booleans(),
        "dtype": st.sampled_from(["float32", "float64"]),
    },
)
names = st.text(max_size=8)
seeds = st.integers(0, 2**63 - 1)


def point(seed_mode: SeedMode = "common", version: int = 1, **content: Any) -> Point:
    return Point("toy", version, Small(**content), seed_mode)


@given(contents, st.randoms())
def test_the_order_of_parameters_is_irrelevant(content: dict[str, Any], random: Any) -> None:
    """The same parameters in any order make the same point."""
    shuffled = list(content.items())
    random.shuffle(shuffled)
    assert point(**dict(shuffled)).point_id == point(**content).point_id


@given(contents, contents)
def test_equal_content_is_equal_identity_and_other_content_another(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Two points have one id exactly if all their parameters are equal."""
    a, b = point(**one), point(**other)
    assert (a.point_id == b.point_id) == (a.params == b.params)


@given(contents)
def test_a_default_spelt_out_is_the_default(content: dict[str, Any]) -> None:
    """Leaving a parameter at its default and writing the default down are one."""
    assert point(**Small(**content).model_dump()).point_id == point(**content).point_id


def test_minus_zero_is_zero() -> None:
    """-0.0 and 0.0 are one number, alone and inside vectors and matrices."""
    minus = point(gain=-0.0, mu=(-0.0, 1.0), weights=((0.0, -0.0),))
    plus = point(gain=0.0, mu=(0.0, 1.0), weights=((0.0, 0.0),))
    assert minus.point_id == plus.point_id


@given(st.integers(-(2**53), 2**53))
def test_integers_widen_to_floats(number: int) -> None:
    """An integer where a float belongs is that float."""
    whole = point(gain=number, mu=[number], weights=[[number]])
    assert whole.point_id == point(gain=float(number), mu=[float(number)], weights=[[float(number)]]).point_id


@pytest.mark.parametrize(
    "content",
    [
        *({"gain": math.nan}, {"gain": math.inf}, {"mu": [1.0, -math.inf]}, {"weights": [[math.nan]]}),
        *({"width": 2.0}, {"width": True}, {"bias": 1}, {"gain": "1"}, {"kind": "tanh"}, {"dtype": "float16"}),
        {"widht": 2},
    ],
)
def test_what_is_not_finite_or_not_of_its_type_has_no_identity(content: dict[str, Any]) -> None:
    """Parameters that are not finite, of another type or of another name are refused."""
    with pytest.raises(ValidationError):
        Small(**content)


@given(contents, finite, st.lists(finite, max_size=2))
def test_a_parameter_added_later_keeps_the_ids_there_were(
    content: dict[str, Any], slope: float, extra: list[float]
) -> None:
    """A new parameter leaves the id alone exactly where it stands at its introduction default."""
    old = Point("toy", 1, Small(**content))
    new = Point("toy", 1, Grown(**content, slope=slope, extra=tuple(extra)))
    assert Point("toy", 1, Grown(**content)).point_id == old.point_id
    assert (new.point_id == old.point_id) == (slope == 0.25 and extra == [0.0, 1.0])


@given(contents, seeds, seeds)
def test_everything_that_makes_a_cell_is_in_its_id(content: dict[str, Any], seed: int, other: int) -> None:
    """Seed, experiment, stream version, arithmetic and seed mode each make another cell."""
    assume(seed != other)
    params = Small(**content)
    changed = params.model_copy(update={"dtype": "float64" if params.dtype == "float32" else "float32"})
    cells = [
        Point("toy", 1, params).cell(seed),
        Point("toy", 1, params).cell(other),
        Point("yot", 1, params).cell(seed),
        Point("toy", 2, params).cell(seed),
        Point("toy", 1, changed).cell(seed),
        Point("toy", 1, params, "independent").cell(seed),
    ]
    assert len({cell.cell_id for cell in cells}) == len(cells)
    assert all(len(cell.cell_id) == 32 and set(cell.cell_id) <= set("0123456789abcdef") for cell in cells)


def test_pinned_ids() -> None:
    """Ids never change: every stored result would be orphaned. A change here needs a migration."""
    cell = Point("toy", 3, Small(dtype="float32", width=8, mu=(1, 2.5), weights=((0, -0.0),)), "independent").cell(7)
    assert cell.point.point_id == "8888ca6378a7a88b2592506d188d4bae"
    assert cell.cell_id == "56ef5954fd58edacff071b55b68ff775"


def test_pinned_draws() -> None:
    """Streams never change: stored cells could not be computed again. A change here needs a new stream version."""
    assert philox(7, "data").standard_normal(3).tolist() == [1.181010578637385, 0.4687708561151485, -0.3923810592749117]
    assert philox(0).integers(0, 2**63, 2).tolist() == [3539241121946493231, 2697318605313961556]


@given(seeds, names, st.integers(0, 200), st.integers(0, 200))
def test_a_longer_draw_extends_a_shorter_one(seed: int, name: str, short: int, more: int) -> None:
    """The first numbers of a stream do not depend on how many are drawn."""
    cell = point().cell(seed)
    longer = cell.stream(name).standard_normal(short + more)
    assert np.array_equal(cell.stream(name).standard_normal(short), longer[:short])
    assert np.array_equal(cell.stream(name).random(short + more)[:short], cell.stream(name).random(short))


@given(st.lists(st.tuples(seeds, names), min_size=1, max_size=6, unique=True), st.randoms())
def test_a_stream_knows_nothing_of_its_company(keys: list[tuple[int, str]], random: Any) -> None:
    """What a cell draws does not depend on which other streams are drawn, in which order, or how often."""
    alone = {key: point().cell(key[0]).stream(key[1]).standard_normal(5) for key in keys}
    shuffled = keys * 2
    random.shuffle(shuffled)
    for key in shuffled:
        assert np.array_equal(point().cell(key[0]).stream(key[1]).standard_normal(5), alone[key])


@given(st.lists(st.tuples(seeds, names), min_size=2, max_size=6, unique=True))
def test_streams_with_other_keys_are_other_streams(keys: list[tuple[int, str]]) -> None:
    """Two streams that differ in seed or name share no draw."""
    draws = {tuple(point().cell(seed).stream(name).standard_normal(2)) for seed, name in keys}
    assert len(draws) == len(keys)


@given(contents, contents, seeds)
def test_common_seeds_share_draws_and_independent_ones_do_not(
    one: dict[str, Any], other: dict[str, Any], seed: int
) -> None:
    """With common seeds a seed draws the same at every point; with independent ones no two points share a draw."""
    assume(Small(**one) != Small(**other))

    def draw(content: dict[str, Any], mode: SeedMode) -> list[float]:
        return Cell(point(mode, **content), seed).stream("data").standard_normal(4).tolist()

    assert draw(one, "common") == draw(other, "common")
    assert set(draw(one, "independent")).isdisjoint(draw(other, "independent"))
    assert set(draw(one, "independent")).isdisjoint(draw(one, "common"))


@given(seeds)
def test_the_arithmetic_of_a_run_does_not_change_what_is_drawn(seed: int) -> None:
    """A cell in float32 and the same in float64 draw the same numbers: both cast afterwards."""
    single, double = point(dtype="float32").cell(seed), point(dtype="float64").cell(seed)
    assert np.array_equal(single.stream("init").standard_normal(4), double.stream("init").standard_normal(4))


def test_draws_are_what_they_are_called() -> None:
    """The numbers of many streams together are normal: mean, spread and tails within 5 standard errors."""
    numbers = np.concatenate([point().cell(seed).stream("data").standard_normal(50) for seed in range(2000)])
    error = 1 / math.sqrt(len(numbers))
    assert abs(numbers.mean()) < 5 * error
    assert abs(numbers.var() - 1) < 5 * error * math.sqrt(2)
    tail = math.erfc(2 / math.sqrt(2))
    assert abs((np.abs(numbers) > 2).mean() - tail) < 5 * error * math.sqrt(tail * (1 - tail))


def test_neighbouring_seeds_are_uncorrelated() -> None:
    """The streams of seed and seed + 1 have no correlation beyond 5 standard errors."""
    numbers = np.stack([point().cell(seed).stream("data").standard_normal(50) for seed in range(2000)])
    products = (numbers[1:] * numbers[:-1]).ravel()
    assert abs(products.mean()) < 5 / math.sqrt(len(products))


@given(st.dictionaries(st.text(max_size=4), st.integers() | finite | st.text(max_size=4) | st.none(), max_size=4))
def test_canonical_json_has_one_spelling(value: dict[str, Any]) -> None:
    """Canonical JSON sorts its keys, has no blanks between them, and is ASCII."""
    text = canonical_json(value)
    assert text == canonical_json(dict(reversed(value.items())))
    assert text.isascii()


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_canonical_json_is_finite(number: float) -> None:
    """What is not finite cannot be hashed."""
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_json({"a": number})


def test_cells_of_a_point_are_its_seeds() -> None:
    """The cells of a point have its parameters, and one seed each."""
    here = point(width=9)
    cells = list(here.cells([3, 1]))
    assert [(cell.seed, cell.params) for cell in cells] == [(3, here.params), (1, here.params)]
    assert cells[0].cell_id == here.cell(3).cell_id


@given(st.lists(st.one_of(st.integers(-(2**70), 2**70), st.text(max_size=8)), max_size=4))
def test_the_key_of_a_stream_is_the_hash_of_canonical_json(key: list[int | str]) -> None:
    """What is hashed is the canonical JSON of {"key": [...]}, also where a name needs escapes."""
    text = canonical_json({"key": list(key)})
    assert stream_key(*key) == hashlib.sha256(text.encode()).digest()[:16]
