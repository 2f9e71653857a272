"""Laws of sweep files: what they mean, and what is refused."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swingby.errors import Fault, InputFaults, SwingbyError
from swingby.model.experiment import Recording
from swingby.sweepfile.sweep import Sweep, named_sweeps
from tests.support.named import GROUP, packaged

HEAD = "name: try-1\nexperiment: toy\n"
MAPPED = f"{HEAD}axes: {{gain: [1, 2]}}\ndiagram: {{x: gain, outcome: bumped, maps: ["
GOOD = """\
name: try-1
title: A try
experiment: toy
preset: plain
base: {gain: 1.5}
axes:
  width: {logspace: {from: 2, to: 64, points: 6}}
  mu.1: {range: {from: 1.0, to: 3.0, step: 0.1}}
  zip: [{s: [1, 2], d: [2, 3]}]
where: d >= s and s == 2 and mu.1 / mu.0 > 1.5
seeds: {count: 3, first: 7, mode: independent}
record: {steps: log, points: 50, also: [jacobian]}
diagram: {x: mu.1, y: width, outcome: bumped}
"""

pytestmark = pytest.mark.usefixtures("toy")
# A toy entry point on the path is all that the fixture sets up: it may serve every example.
shared = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def parse(text: str, *overrides: str, confirm_above: int | None = 100_000) -> Sweep:
    return Sweep.parse(text, "try.yaml", overrides, confirm_above)


def axis(spec: str, name: str = "gain") -> list[Any]:
    """The values of one axis written as `spec`."""
    (only,) = parse(f"{HEAD}axes:\n  {name}: {spec}").axes
    return [value for (value,) in only.values]


def faults(text: str, *overrides: str) -> Sequence[Fault]:
    with pytest.raises(InputFaults) as caught:
        parse(text, *overrides)
    return caught.value.faults


def test_a_sweep_is_what_its_file_says() -> None:
    """Every key of a file reaches the attribute of its name."""
    sweep = parse(GOOD)
    assert (sweep.name, sweep.title, sweep.experiment_name, sweep.preset) == ("try-1", "A try", "toy", "plain")
    assert sweep.base == {"gain": 1.5}
    assert [axis.names for axis in sweep.axes] == [("width",), ("mu.1",), ("s", "d")]
    assert sweep.seeds == (7, 8, 9)
    assert sweep.seed_mode == "independent"
    assert sweep.recording == Recording("log", 50, ("jacobian",))
    assert sweep.diagram is not None
    assert (sweep.diagram.x, sweep.diagram.y, sweep.diagram.outcome) == ("mu.1", "width", "bumped")
    assert sweep.where == "d >= s and s == 2 and mu.1 / mu.0 > 1.5"
    assert len(sweep) == len(sweep.points) * 3 == sum(1 for _ in sweep.cells())


def test_points_are_the_filtered_product_last_axis_fastest() -> None:
    """The points are the product of the axes that the filter leaves, in the order of the file."""
    seen = [
        tuple(point.params.model_dump()[name] for name in ("width", "mu", "s", "d")) for point in parse(GOOD).points
    ]
    second = [float(Decimal(k) / 10) for k in range(10, 31)]
    product = itertools.product([2, 4, 8, 16, 32, 64], second, [(1, 2), (2, 3)])
    assert seen == [(width, (1.0, mu), s, d) for width, mu, (s, d) in product if s == 2 and mu > 1.5]


def test_cells_come_seed_by_seed() -> None:
    """All points have their first seed before any has its second."""
    sweep = parse(GOOD)
    cells = list(sweep.cells())
    assert [cell.seed for cell in cells] == [seed for seed in (7, 8, 9) for _ in sweep.points]
    assert [cell.point for cell in cells] == list(sweep.points) * 3
    assert len({cell.cell_id for cell in cells}) == len(sweep)


@given(st.integers(-999, 999), st.integers(1, 500), st.integers(1, 60), st.integers(0, 3))
@shared
def test_a_range_has_every_decimal_and_both_ends(first: int, step: int, count: int, places: int) -> None:
    """A range holds first, first + step, ..., last, each the float nearest to the decimal number."""
    spelt = [Decimal(first + step * k).scaleb(-places) for k in range(count)]
    numbers = [float(number) for number in spelt]
    entries = f"{{range: {{from: {spelt[0]}, to: {spelt[-1]}, step: {Decimal(step).scaleb(-places)}}}}}"
    assert axis(entries, "mu.1") == numbers
    down = f"{{range: {{from: {spelt[-1]}, to: {spelt[0]}, step: {Decimal(-step).scaleb(-places)}}}}}"
    assert axis(down, "mu.1") == numbers[::-1]


@given(st.integers(-99, 99), st.integers(1, 99), st.integers(2, 60))
@shared
def test_a_linspace_is_even_and_ends_where_it_says(first: int, length: int, points: int) -> None:
    """A linspace has its ends exactly, `points` values, and each gap the same to rounding."""
    low, high = first / 10, (first + length) / 10
    values = axis(f"{{linspace: {{from: {low}, to: {high}, points: {points}}}}}", "mu.1")
    gap = (high - low) / (points - 1)
    assert (len(values), values[0], values[-1]) == (points, low, high)
    assert all(abs(b - a - gap) <= 1e-14 * 20 for a, b in itertools.pairwise(values))


@given(st.integers(1, 999), st.integers(2, 9999), st.integers(2, 60))
@shared
def test_a_logspace_has_even_ratios_and_ends_where_it_says(first: int, factor: int, points: int) -> None:
    """A logspace has its ends exactly, `points` values, and each ratio the same to rounding."""
    low, high = first / 100, first * factor / 100
    values = axis(f"{{logspace: {{from: {low}, to: {high}, points: {points}}}}}")
    ratio = (high / low) ** (1 / (points - 1))
    assert (len(values), values[0], values[-1]) == (points, low, high)
    assert all(math.isclose(b / a, ratio, rel_tol=1e-13) for a, b in itertools.pairwise(values))


def test_powers_of_ten_are_exact() -> None:
    """A logspace over decades holds the powers of ten themselves, so that sweeps share those cells."""
    assert axis("{logspace: {from: 1e-3, to: 1000, points: 7}}") == [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0]


def test_a_logspace_over_integers_rounds_and_drops_duplicates() -> None:
    """On an integer parameter a logspace is rounded, and each integer is there once."""
    assert axis("{logspace: {from: 1, to: 10, points: 30}}", "width") == list(range(1, 11))
    assert all(type(value) is int for value in axis("{linspace: {from: 2, to: 10, points: 5}}", "width"))


def test_integers_widen_where_floats_belong() -> None:
    """1 and 1.0 are one value of a float parameter, on an axis, in base and inside a vector."""
    assert axis("[1, 2]") == axis("[1.0, 2.0]")
    assert [type(value) for value in axis("[1, 2]")] == [float, float]
    one, other = parse(f"{HEAD}base: {{gain: 1, mu: [1, 2]}}"), parse(f"{HEAD}base: {{gain: 1.0, mu: [1.0, 2.0]}}")
    assert one.points[0].point_id == other.points[0].point_id


def test_nearer_settings_win() -> None:
    """Preset defaults give way to base, base's vector to an axis over its entry, and all of them to --set."""
    text = f"{HEAD}preset: counted\nbase: {{s: 2, mu: [1, 4]}}\naxes: {{mu.1: [5, 6]}}"
    seen = [point.params.model_dump(include={"mu", "width"}) for point in parse(text).points]
    assert seen == [{"mu": (1.0, 5.0), "width": 50}, {"mu": (1.0, 6.0), "width": 60}]
    (only,) = parse(text, "axes.mu.1=[7]", "base.width=3").points
    expected = {"mu": (1.0, 7.0), "width": 3, "gain": 2.0, "d": 2}
    assert only.params.model_dump(include=set(expected)) == expected


def test_an_entry_may_complete_a_vector_that_only_the_preset_gives() -> None:
    """A preset that computes from a vector sees the entry that an axis puts into it."""
    (point,) = parse(f"{HEAD}preset: counted\nbase: {{s: 3}}\naxes: {{mu.2: [9]}}").points
    assert point.params.model_dump(include={"mu", "width"}) == {"mu": (1.0, 2.0, 9.0), "width": 90}


def test_without_a_preset_the_experiments_own_holds() -> None:
    """A file that names no preset means the default one."""
    named, unnamed = parse(f"{HEAD}preset: plain"), parse(HEAD)
    assert named.preset == unnamed.preset == "plain"
    assert named.sweep_id == unnamed.sweep_id


def test_an_axis_may_run_over_presets() -> None:
    """Each point of a preset axis is the point of a file with that preset; the axis may advance with others."""
    both = parse(f"{HEAD}axes:\n  preset: [plain, counted]\n  s: [2, 3]\nbase: {{d: 3, mu: [1, 2]}}\nwhere: s == 2")
    assert (both.preset, both.presets) == (None, ("plain", "counted"))
    for preset, point in zip(both.presets, both.points, strict=True):
        alone = parse(f"{HEAD}preset: {preset}\nbase: {{d: 3, mu: [1, 2], s: 2}}")
        assert (alone.points, alone.presets) == ((point,), (preset,))
    zipped = parse(f"{HEAD}axes: {{zip: [{{preset: [counted, plain], s: [3, 2]}}]}}")
    assert [(point.params.s, point.params.gain) for point in zipped.points] == [(3, 2.0), (2, 1.0)]  # type: ignore[attr-defined]
    assert zipped.resolved["presets"] == ["counted", "plain"]
    assert "presets" not in parse(f"{HEAD}preset: counted").resolved


def test_the_filter_knows_the_preset() -> None:
    """`where` may ask for the preset, be it the file's or an axis's."""
    text = f"{HEAD}axes: {{preset: [plain, counted], width: [2, 4]}}\nwhere: preset == 'plain' or width == 4"
    assert parse(text).presets == ("plain", "plain", "counted")
    assert len(parse(f"{HEAD}preset: counted\nwhere: preset == 'counted'").points) == 1
    assert parse(text, "preset=counted", "where=width == 4").presets == ("counted",)


def test_what_is_summed_up_is_kept() -> None:
    """Without a diagram a file may say which outcome its report sums up; it is no part of what is trained."""
    plain = f"{HEAD}axes: {{d: [2, 3]}}"
    assert parse(f"{plain}\noutcome: height").presentation["outcome"] == "height"
    assert parse(f"{plain}\noutcome: height").sweep_id == parse(plain).sweep_id


def test_drawings_are_kept_with_their_options() -> None:
    """A drawing is a name or one name with its options; defaults are spelt out."""
    text = f"{HEAD}record: {{also: [jacobian]}}\ndrawings: [sketch, {{sketch: {{size: 5}}}}]"
    drawn = parse(text).resolved["drawings"]
    assert drawn == [{"name": "sketch", "options": {"size": 3}}, {"name": "sketch", "options": {"size": 5}}]
    assert parse(text, "drawings=[sketch]").resolved["drawings"] == drawn[:1]


def test_seeds_in_three_spellings() -> None:
    """A count, a list and a mapping that name the same seeds make one sweep."""
    spellings = ["3", "[0, 1, 2]", "{count: 3}", "{count: 3, first: 0, mode: common}"]
    assert len({parse(f"{HEAD}seeds: {spelling}").sweep_id for spelling in spellings}) == 1


@given(st.randoms())
@settings(parent=shared, max_examples=20)
def test_the_order_of_keys_is_irrelevant(random: Any) -> None:
    """Keys in another order, save those of the axes, make the same sweep."""

    def shuffled(value: Any, path: tuple[str, ...] = ()) -> Any:
        if not isinstance(value, dict):
            return value
        keys = list(value)
        if path != ("axes",):
            random.shuffle(keys)
        return {key: shuffled(value[key], (*path, key)) for key in keys}

    text = yaml.safe_dump(shuffled(yaml.safe_load(GOOD)), sort_keys=False)
    assert parse(text).sweep_id == parse(GOOD).sweep_id


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("try-1", "try-2"),
        ("gain: 1.5", "gain: 1.6"),
        ("to: 64", "to: 128"),
        ("first: 7", "first: 8"),
        ("independent", "common"),
        ("points: 50", "points: 51"),
        ("also: [jacobian]", "also: []"),
        ("> 1.5", "> 1.6"),
    ],
)
def test_another_request_is_another_sweep(part: str, other: str) -> None:
    """Whatever is asked for differently makes another sweep id."""
    assert part in GOOD
    assert parse(GOOD.replace(part, other)).sweep_id != parse(GOOD).sweep_id


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("A try", "Another"),
        ("base: {gain: 1.5}", "base: {gain: 1.5, bias: no}"),
        ("y: width", "y: s"),
        ("outcome: bumped}\n", "outcome: height}\ndrawings: [{sketch: {size: 2}}]\n"),
    ],
)
def test_words_about_a_sweep_do_not_change_it(part: str, other: str) -> None:
    """A title, a default spelt out, or what is drawn, leaves the sweep the same."""
    assert parse(GOOD.replace(part, other.replace("no", "false"))).sweep_id == parse(GOOD).sweep_id


@pytest.mark.parametrize(
    ("overrides", "part", "other"),
    [
        (["base.gain=2"], "gain: 1.5", "gain: 2"),
        (["axes.width=[2, 4]"], "{logspace: {from: 2, to: 64, points: 6}}", "[2, 4]"),
        (["axes.width.logspace.points=3"], "points: 6", "points: 3"),
        (["axes.mu.1=[2, 3]"], "{range: {from: 1.0, to: 3.0, step: 0.1}}", "[2, 3]"),
        (["seeds.count=5", "seeds.first=0"], "count: 3, first: 7", "count: 5, first: 0"),
        (["record.points=9"], "points: 50", "points: 9"),
        (["where=s == 2"], "d >= s and s == 2 and mu.1 / mu.0 > 1.5", "s == 2"),
        (["name=other"], "try-1", "other"),
        (["diagram.outcome=height"], "bumped", "height"),
        (["drawings=[sketch]"], "outcome: bumped}\n", "outcome: bumped}\ndrawings: [sketch]\n"),
    ],
)
def test_set_is_the_same_as_another_file(overrides: list[str], part: str, other: str) -> None:
    """An option --set makes the sweep that the file would be with that value in it."""
    assert part in GOOD
    changed, written = parse(GOOD, *overrides), parse(GOOD.replace(part, other))
    assert (changed.sweep_id, changed.presentation) == (written.sweep_id, written.presentation)


def test_set_wins_over_the_file() -> None:
    """What --set puts into base takes the place of an axis, and the other way round."""
    text = f"{HEAD}base: {{gain: 3}}\naxes: {{width: [2, 4]}}"
    swapped = parse(text, "base.width=8", "axes.gain=[1, 2]")
    assert [axis.names for axis in swapped.axes] == [("gain",)]
    assert [point.params.model_dump()["width"] for point in swapped.points] == [8, 8]


def test_set_spells_out_short_seeds() -> None:
    """--set seeds.mode reaches a file that only gives a number of seeds."""
    sweep = parse(f"{HEAD}seeds: 4", "seeds.mode=independent")
    assert (sweep.seeds, sweep.seed_mode) == ((0, 1, 2, 3), "independent")


@pytest.mark.parametrize(
    ("option", "fragment"),
    [
        ("base.n", "no value"),
        ("basis.n=3", "did you mean 'base'?"),
        ("base.widht=3", "did you mean 'width'?"),
        ("seeds.cuont=3", "did you mean 'count'?"),
        ("name.x=3", "nothing below it"),
        ("axes.width.logspac.points=3", "did you mean 'logspace'?"),
        ("axes.width.logspace.points.x=3", "nothing below it"),
        ("base.width=[", "the value is not YAML"),
        ("base.width=many", "must be a valid integer"),
        ("axes.width=4", "a single value belongs under base"),
        ("axes.d=[4]", "on two axes"),
        ("seeds=[]", "no seeds"),
        ("=3", "no key ''"),
    ],
)
def test_a_bad_option_is_told_as_an_option(option: str, fragment: str) -> None:
    """A fault that an override brought in names it, and no line."""
    found = faults(GOOD, option)
    assert any(option in fault.message and fault.line is None for fault in found)
    assert any(fragment in str(fault) for fault in found)


BAD = [
    ("", None, "'name' is missing"),
    ("- 1", 1, "a sweep file is a mapping"),
    (f"{HEAD}axs: {{}}", 3, "did you mean 'axes'?"),
    (f"{HEAD}seeds: {{cuont: 3}}", 3, "did you mean 'count'?"),
    (f"{HEAD}axes:\n  width: {{linspace: {{from: 1, to: 3, pionts: 3}}}}", 4, "did you mean 'points'?"),
    (f"{HEAD}axes:\n  width: {{linspce: {{from: 1}}}}", 4, "did you mean 'linspace'?"),
    ("name: a\nexperiment: tyo", 2, "did you mean 'toy'?"),
    (f"{HEAD}preset: countd", 3, "did you mean 'counted'?"),
    (f"{HEAD}base:\n  gain: 1\n  widht: 3", 5, "did you mean 'width'?"),
    (f"{HEAD}axes:\n  widht: [3]", 4, "did you mean 'width'?"),
    (f"{HEAD}record:\n  also:\n  - jacobean", 5, "did you mean 'jacobian'?"),
    (f"{HEAD}axes: {{gain: [1, 2]}}\ndiagram: {{x: gain, outcome: bumpd}}", 4, "did you mean 'bumped'?"),
    (f"{HEAD}axes: {{gain: [1, 2]}}\ndiagram: {{x: gian, outcome: bumped}}", 4, "did you mean 'gain'?"),
    (f"{HEAD}axes: {{gain: [1, 2]}}\ndiagram: {{x: gain, y: gain, outcome: bumped}}", 4, "is x already"),
    (f"{HEAD}axes: {{gain: [1, 2]}}\ndiagram: {{x: gain}}", 4, "diagram.outcome is missing"),
    (f"{MAPPED}{{outcome: bumped, drawn: sum, title: t}}]}}", 4, "diagram.maps.0.drawn"),
    (f"{MAPPED}{{outcome: bumpd, drawn: category, title: t}}]}}", 4, "did you mean 'bumped'?"),
    (f"{MAPPED}{{outcome: bumped > 1, drawn: share, title: t}}]}}", 4, "does not go with it"),
    (f"{MAPPED}{{outcome: bumped, drawn: share}}]}}", 4, "diagram.maps.0.title is missing"),
    (f"{MAPPED}{{outcome: bumped, drawn: share, title: t, unit: s}}]}}", 4, "unknown key 'diagram.maps.0.unit'"),
    (f"{MAPPED}{{outcome: bumped, drawn: share, title: t}}], maps_of: other}}", 4, "drop one of the two"),
    (f"{HEAD}where: gian > 1", 3, "did you mean 'gain'?"),
    (f"{HEAD}where: mu.9 > 1", 3, "mu has 2 entries"),
    (f"{HEAD}where: gain.0 > 1", 3, "no vector"),
    (f"{HEAD}where: gain >", 3, "cannot be read"),
    (f"{HEAD}where: open('x')", 3, "is not allowed here"),
    (f"{HEAD}where: gain > 'x'", 3, "compares 1.0 with 'x'"),
    (f"{HEAD}where: 5", 3, "'where' must be text"),
    (f"{HEAD}where: gain > 100", 3, "no point of the grid is left"),
    (f"{HEAD}base: {{kind: lineer}}", 3, "did you mean 'linear'?"),
    (f"{HEAD}base: {{width: 5e3}}", 3, "write 5000"),
    (f"{HEAD}base: {{width: many}}", 3, "must be a valid integer, got 'many'"),
    (f"{HEAD}base: {{width: true}}", 3, "must be a valid integer"),
    (f"{HEAD}base: {{bias: yes}}", 3, "must be a valid boolean, got 'yes'"),
    (f"{HEAD}base: {{gain: -1}}", 3, "must be greater than 0, got -1"),
    (f"{HEAD}base: {{gain: .nan}}", 3, "finite"),
    (f"{HEAD}base: {{mu: [1, .inf]}}", 3, "mu.1 must be a finite number"),
    (f"{HEAD}base: {{mu: 3}}", 3, "must be a list, got 3"),
    (f"{HEAD}base: {{mu: [1, 2], mu.0: 3}}", 3, "both under base"),
    (f"{HEAD}base: [1]", 3, "base must be a mapping"),
    (f"{HEAD}base: {{s: 3}}", 3, "s = 3 does not fit into d = 2"),
    (f"{HEAD}axes:\n  d: [1, 2, 3]\n  width: [1, 2]", 4, "at d=1, width=1 (and at 1 more)"),
    (f"{HEAD}axes:\n  width: []", 4, "axis 'width' is empty"),
    (f"{HEAD}axes:\n  width: 4", 4, "a single value belongs under base: width: 4"),
    (f"{HEAD}axes:\n  width: [2, x]", 4, "value 2 must be a valid integer"),
    (f"{HEAD}axes:\n  width:\n  - 2\n  - 3\n  - 2", 7, "2 is given twice, as values 1 and 3"),
    (f"{HEAD}axes:\n  gain: [1, 1.0]", 4, "1.0 is given twice"),
    (f"{HEAD}axes:\n  width: {{linspace: {{from: 1, to: 4, points: 3}}}}", 4, "must be a valid integer, got 2.5"),
    (f"{HEAD}axes:\n  gain: {{linspace: {{from: 1, to: 1, points: 3}}}}", 4, "both ends are the same"),
    (f"{HEAD}axes:\n  gain: {{linspace: {{from: 1, to: 2, points: 1}}}}", 4, "greater than or equal to 2"),
    (f"{HEAD}axes:\n  gain: {{logspace: {{from: 0, to: 2, points: 3}}}}", 4, "above 0"),
    (f"{HEAD}axes:\n  gain: {{range: {{from: 1, to: 2, step: 0}}}}", 4, "never leads"),
    (f"{HEAD}axes:\n  gain: {{range: {{from: 1, to: 2, step: -0.5}}}}", 4, "never leads"),
    (f"{HEAD}axes:\n  gain: {{range: {{from: 1, to: 2, step: 0.3}}}}", 4, "end it at 1.9 or 2.2"),
    (f"{HEAD}axes:\n  gain: {{range: {{from: 1, to: .inf, step: 1}}}}", 4, "must be a finite number"),
    (f"{HEAD}axes:\n  mu.2: [1]", 4, "mu has 2 entries"),
    (f"{HEAD}axes:\n  mu.x: [1]", 4, "an entry of a vector is written mu.0"),
    (f"{HEAD}axes:\n  gain.0: [1]", 4, "no vector"),
    (f"{HEAD}axes:\n  weights.0: [1]", 4, "no vector"),
    (f"{HEAD}axes:\n  mu: [[1, 2]]\n  mu.1: [3]", 5, "on two axes"),
    (f"{HEAD}axes:\n  width: [3]\n  zip: [{{width: [4], d: [3]}}]", 5, "on two axes"),
    (f"{HEAD}axes:\n  zip:\n  - d: [2, 3]\n    width: [4]", 5, "d has 2, width has 1"),
    (f"{HEAD}axes: {{zip: {{d: [2]}}}}", 3, "must be a list of mappings"),
    (f"{HEAD}axes: {{size: {{zip: [{{d: [2]}}]}}}}", 3, "zip stands under axes itself"),
    (f"{HEAD}axes: [1]", 3, "axes must be a mapping"),
    (f"{HEAD}base:\n  width: 3\naxes:\n  width: [2]", 6, "set under base on line 4\n    the axis would win"),
    (f"{HEAD}base:\n  mu.0: 3\naxes:\n  mu: [[1, 2]]", 6, "the axis would win"),
    (f"{HEAD}base: {{mu.5: 1}}", 3, "mu has 2 entries"),
    (f"{HEAD}axes:\n  width: {{range: {{from: 1, to: 1000000000, step: 1}}}}", 3, "1,000,000,000 cells"),
    (f"{HEAD}seeds: 0", 3, "greater than or equal to 1"),
    (f"{HEAD}seeds: -1", 3, "greater than or equal to 1"),
    (f"{HEAD}seeds: [1, 1]", 3, "given twice"),
    (f"{HEAD}seeds: [-1]", 3, "is no seed"),
    (f"{HEAD}seeds: [1.5]", 3, "is no seed"),
    (f"{HEAD}seeds: true", 3, "seeds must be a mapping"),
    (f"{HEAD}seeds: {{mode: shared}}", 3, "'common' or 'independent'"),
    (f"{HEAD}axes:\n  preset: [plain, plane]", 4, "value 2 is 'plane', no preset\n    did you mean 'plain'?"),
    (f"{HEAD}preset: plain\naxes:\n  preset: [plain]", 3, "preset is an axis too"),
    (f"{HEAD}base: {{preset: plain}}", 3, "a preset is no parameter"),
    (f"{HEAD}axes:\n  preset: [plain]\n  zip: [{{preset: [counted], d: [2]}}]", 5, "on two axes"),
    (f"{HEAD}drawings: sketch", 3, "drawings must be a list of names"),
    (f"{HEAD}drawings: [skech]", 3, "unknown drawing 'skech'\n    did you mean 'sketch'?"),
    (f"{HEAD}drawings: [sketch]", 3, "needs the recording 'jacobian'"),
    (f"{HEAD}record: {{also: [jacobian]}}\ndrawings:\n- sketch: {{size: 0}}", 5, "greater than or equal to 1"),
    (f"{HEAD}record: {{also: [jacobian]}}\ndrawings: [{{sketch: {{sise: 2}}}}]", 4, "did you mean 'size'?"),
    (f"{HEAD}record: {{also: [jacobian]}}\ndrawings: [trajectories]", 4, "drawing 'trajectories' is not for toy"),
    (f"{HEAD}outcome: bumpd", 3, "unknown outcome 'bumpd'\n    did you mean 'bumped'?"),
    (f"{HEAD}outcome: [bumped]", 3, "outcome must be text"),
    (f"{HEAD}axes: {{d: [2]}}\ndiagram: {{x: d, outcome: bumped}}\noutcome: bumped", 5, "beside a diagram"),
    (f"{HEAD}record: {{steps: sometimes}}", 3, "'epoch', 'every' or 'all'"),
    (f"{HEAD}record: {{points: 0}}", 3, "greater than or equal to 2"),
    (f"{HEAD}record: []\nseeds: {{}}\ndiagram: 3", 5, "diagram must be a mapping"),
    ("name: ../../etc\nexperiment: toy", 1, "cannot leave the data folder"),
    ("name: /tmp/x\nexperiment: toy", 1, "cannot leave the data folder"),
    ("name: A b\nexperiment: toy", 1, "cannot be part of a file name"),
    (f"name: {'a' * 65}\nexperiment: toy", 1, "up to 64"),
    ("name: 3\nexperiment: toy", 1, "'name' must be text, got 3"),
    (f"{HEAD}title: 3", 3, "'title' must be text"),
    (f"{HEAD}name: again", 3, "'name' is given twice"),
    (f"{HEAD}\tbase: 3", 3, "tab"),
]


@pytest.mark.parametrize(("text", "line", "fragment"), BAD)
def test_a_bad_file_is_refused_where_it_is_bad(text: str, line: int | None, fragment: str) -> None:
    """Each fault is told with its line, what is allowed, and the nearest name."""
    told = [fault for fault in faults(text) if fragment in str(fault)]
    assert [fault.line for fault in told] == [line], faults(text)


def test_every_fault_is_told_at_once() -> None:
    """A file with many faults is refused once, with all of them, in the order of their lines."""
    text = """\
name: No Slug
experiment: toy
presett: plain
base:
  gain: -1
  widht: 3
axes:
  width: []
  gain: [1, 1]
  zip: [{d: [2, 3], s: [2]}]
where: dd > s
seeds: {count: 0}
record: {also: [jacobean]}
diagram: {x: layers, outcome: bump}
"""
    lines = [fault.line or 0 for fault in faults(text)]
    assert sorted(set(lines)) == [1, 3, 5, 6, 8, 9, 10, 11, 12, 13, 14]
    assert lines == sorted(lines)


def test_no_fault_in_one_part_hides_a_fault_between_parameters() -> None:
    """A grid whose own parts are sound is checked point by point whatever else is wrong."""
    found = faults(f"{HEAD}base: {{s: 3}}\nseeds: 0\nrecord: {{also: [nothing]}}")
    assert [fault.line for fault in found] == [3, 4, 5]


def test_faults_between_parameters_are_told_beside_others() -> None:
    """What does not fit together is told also where other parts of the file are wrong, and no consequence of these."""
    base = "name: x\nexperiment: sim\nbase: {s: 3, d: 2, sigma: [1, -1, 1]}\n"
    alone = faults(base)
    assert len(alone) == 2
    for other in ("preset: papre", "axes: {widht: [1]}", "axes: {mu: []}", "where: layers >", "axes: {n: [1, 1]}"):
        assert set(alone) < set(faults(base + other)), other
    for other in ("axes: {d: [1, x]}", "axes: {d: []}", "axes: {d: [2, 3]}\nwhere: widht > 3", "preset: papre"):
        found = faults(base.replace("d: 2, ", "") + other)
        assert not any("do not fit" in fault.message for fault in found), other
    assert [fault.line for fault in faults("name: x\nexperiment: sim\npreset: papre\naxes: {mu.7: [1.0]}")] == [3]


def test_a_fault_that_many_points_show_is_told_once() -> None:
    """One distinct fault of the grid is one fault, with the first point that shows it and how many more do."""
    (fault,) = faults(
        f"{HEAD}base: {{s: 9, mu: [1, 1, 1, 1, 1, 1, 1, 1, 1]}}\naxes: {{d: [1, 2, 3, 9], width: [1, 2]}}"
    )
    assert "at d=1, width=1 (and at 5 more)" in fault.message


def test_the_filter_keeps_bad_points_from_being_faults() -> None:
    """A point that `where` leaves out is not checked any further."""
    sweep = parse(f"{HEAD}axes: {{s: [2, 3], d: [2, 3]}}\nbase: {{mu: [1, 2]}}\nwhere: s <= d and s == 2")
    assert len(sweep) == 2


def test_points_that_coincide_are_a_fault() -> None:
    """Two places of the grid that resolve to the same cell are named, since either could be meant."""
    (fault,) = faults(f"{HEAD}axes:\n  note: [Some, other, some]")
    assert fault.line == 3
    assert fault.message == "this point is the same, once resolved, as note='Some'; at note='some'"


def test_more_cells_than_a_sweep_can_have_are_refused() -> None:
    """The most that can be planned at once is told, whatever was confirmed."""
    with pytest.raises(InputFaults, match=r"67,108,864 cells before .*\n.*allowed: 67,108,863 cells; several"):
        parse(f"{HEAD}axes:\n  width: {{range: {{from: 1, to: 8, step: 1}}}}\nseeds: {2**23}", confirm_above=None)


@pytest.mark.parametrize("confirm_above", [100_000, 10**17, None])
def test_a_grid_too_large_is_refused_without_being_written_out(confirm_above: int | None) -> None:
    """10^18 points are counted, not enumerated, whatever was confirmed."""
    wide = "{range: {from: 1, to: 1000000000, step: 1}}"
    with pytest.raises(InputFaults, match="1,000,000,000,000,000,000"):
        parse(f"{HEAD}axes:\n  width: {wide}\n  d: {wide}", confirm_above=confirm_above)


def test_the_limit_is_on_cells_and_can_be_raised() -> None:
    """Points times seeds above the limit are refused with the option that allows them; at the limit they are not."""
    text = f"{HEAD}axes: {{width: [1, 2, 3]}}\nseeds: 4"
    with pytest.raises(InputFaults, match=r"12 cells before `where`: width 3 x seeds 4\n.*confirm_above=12"):
        parse(text, confirm_above=11)
    assert len(parse(text, confirm_above=12)) == 12
    assert len(parse(text, confirm_above=None)) == 12


def test_resolved_is_plain_json_and_says_what_all_points_share() -> None:
    """The resolved sweep survives JSON, and its common parameters are those with one value over the grid."""
    sweep = parse(GOOD)
    resolved = json.loads(json.dumps(sweep.resolved, allow_nan=False))
    assert resolved == sweep.resolved
    points = [point.params.model_dump(mode="json") for point in sweep.points]
    shared_names = {name for name in points[0] if all(point[name] == points[0][name] for point in points)}
    assert resolved["common"] == {name: points[0][name] for name in shared_names}
    assert resolved["seeds"] == [7, 8, 9]


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    """Bytes that are no UTF-8, a folder and a missing file are clear errors."""
    broken = tmp_path / "broken.yaml"
    broken.write_bytes(b"name: \xff\xfe")
    with pytest.raises(SwingbyError, match="not UTF-8"):
        Sweep.load(broken)
    with pytest.raises(SwingbyError, match="no file"):
        Sweep.load(tmp_path)
    with pytest.raises(SwingbyError, match="no file"):
        Sweep.load(str(tmp_path / "missing.yaml"))


def test_a_file_is_loaded_by_path_and_its_faults_name_it(tmp_path: Path) -> None:
    """Loading a file is parsing its text; a byte-order mark is no fault."""
    path = tmp_path / "try.yaml"
    path.write_text(GOOD, encoding="utf-8-sig")
    assert Sweep.load(path).sweep_id == Sweep.load(str(path)).sweep_id == parse(GOOD).sweep_id
    path.write_text("name: x")
    with pytest.raises(InputFaults, match=r"try\.yaml: 1 fault"):
        Sweep.load(path)


def test_a_name_that_nobody_has_finds_the_file_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who gives the name of a sweep of their own, or another ending, is shown the file."""
    (tmp_path / "my-first.yaml").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    for name in ("my-first", "my-frist", "my-first.yml", str(tmp_path / "my-frist.yaml")):
        with pytest.raises(SwingbyError, match=r"did you mean \S*my-first\.yaml\?"):
            Sweep.load(name)
    with pytest.raises(SwingbyError, match="did you mean 'transient-memorization'"):
        Sweep.load("transient-memorisation")


@pytest.mark.xdist_group(GROUP)
def test_every_packaged_sweep_is_sound() -> None:
    """Each named sweep loads by its name, without raising the limit."""
    assert packaged().keys() == named_sweeps().keys()
    assert all(len(sweep) > 0 for sweep in packaged().values())
    with pytest.raises(SwingbyError, match="no sweep is called 'nothing-of-the-kind'"):
        Sweep.load("nothing-of-the-kind")


def test_the_first_diagram_is_large_enough() -> None:
    """The demo trains nets by SGD over depth, width and the ratio of the signals: 2,000 cells, 20 seeds, or more."""
    sweep = Sweep.load("transient-memorization")
    assert len(sweep) >= 2000
    assert len(sweep.seeds) >= 20
    assert {name for axis in sweep.axes for name in axis.names} == {"layers", "width", "mu.1"}
    assert sweep.common["drive"] == "sgd"


@pytest.mark.parametrize(
    ("base", "fragment"),
    [("{s: 3, d: 2, mu: [1, 1, 1], sigma: [1, 1, 1]}", "s = 3 concepts"), ("{sigma: [0.05, -0.05]}", "sigma.1")],
)
def test_sims_own_rules_are_told_with_their_line(base: str, fragment: str) -> None:
    """What the experiment itself forbids (s > d, a negative sigma) is a fault of the file, at the line that set it."""
    (fault,) = faults(f"name: x\nexperiment: sim\nbase: {base}")
    assert (fault.line, fragment in fault.message) == (3, True)


known = (
    "name experiment toy base axes where seeds record diagram zip width gain mu mu.1 linspace logspace range from to"
)
words = st.sampled_from(
    [*known.split(), *["points", "step", "count", "x", "also", "preset", "kind"], "d >= s", "mu.1 > 1"]
)
values = st.recursive(
    words | st.none() | st.booleans() | st.integers(-3, 12) | st.floats() | st.sampled_from([2**62, 10**9]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(words, values, max_size=6), st.sampled_from(list(yaml.safe_load(GOOD))), values)
@settings(parent=shared, max_examples=120)
def test_any_file_is_a_sweep_or_faults(noise: dict[str, Any], key: str, value: Any) -> None:
    """No YAML, however odd, leads to anything but a sweep or a list of faults."""
    for content in ({"name": "x", "experiment": "toy", **noise}, {**yaml.safe_load(GOOD), key: value}):
        with contextlib.suppress(InputFaults):
            assert len(parse(yaml.safe_dump(content))) > 0


@given(st.lists(st.tuples(words, words, values), min_size=1, max_size=3))
@shared
def test_any_option_is_a_sweep_or_faults(options: list[tuple[str, str, Any]]) -> None:
    """No --set, however odd, leads to anything but a sweep or a list of faults."""
    spelt = [f"{key}.{name}={yaml.safe_dump(value, default_flow_style=True)}" for key, name, value in options]
    with contextlib.suppress(InputFaults):
        assert len(parse(GOOD, *spelt)) > 0
