"""Claims on diffusion: each predicate on curves of known truth; sweeps of hours are judged and never trained."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from swingby.archive import fetch, pack, recorded_results
from swingby.cli import app
from swingby.errors import SwingbyError
from swingby.store import Store
from swingby.sweepfile.sweep import Sweep
from swingby_analysis.statements import needed as sweeps
from swingby_analysis.statements.catalogue import claims
from swingby_analysis.statements.claims import PAGE, write_claims
from swingby_analysis.statements.kinds import HOLDS, NOT_SHOWN, REVERSE, UNTOLD
from swingby_analysis.statements.verdict import MISSING, Answer, verdict
from swingby_sweeps.diffusion.detect.bends import Bends
from swingby_sweeps.diffusion.detect.runs import runs_of
from tests.support import synthetic_diffusion as synthetic
from tests.support.claims import answers
from tests.support.synthetic_diffusion import Truth, mirrored

CLAIMS = claims("diffusion")
CONTRASTS = (0.2, 0.3, 0.5, 0.7)
CURVES = ("color", "size", "color_sd", "size_sd")
SHARP = 0.01
"""Spread over images that decides nothing."""
Row = dict[str, Any]
Counts = dict[str, tuple[int, int]]
"""n and k by setting."""


def run(truth: Truth, seed: int, contrast: float = 0.5, size_contrast: float = 0.4, *, turned: bool = False) -> Row:
    """A run as the store has it, by both judges alike; turned: with color and size exchanged, contrasts too."""
    row = synthetic.run(truth, np.random.default_rng(seed))
    if turned:
        row, contrast, size_contrast = mirrored(row), size_contrast, contrast
    return row | {
        **{f"trained_{name}": row[name] for name in CURVES},
        "seed": seed,
        "contrast": contrast,
        "size_contrast": size_contrast,
        "preset": "small",
        "pixels": 16,
        "training_steps": 20_000,
        "decay": "constant",
        "circle_edge": "ramp",
    }


def ask(slug: str, runs: Iterable[Row]) -> Counts:
    """What a claim's query counts over these runs, in the place of those of a store."""
    return {row.setting: (row.outcome.n, row.outcome.k) for row in asked(slug, runs)}


def asked(slug: str, runs: Iterable[Row]) -> list[Answer]:
    """The rows of a claim on these runs."""
    rows = [{"cell_id": str(k), **row} for k, row in enumerate(runs)]
    names = [*rows[0], *(name for name in Bends.needs if name not in rows[0])]
    table = pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})
    outcomes = Bends().detect(table).drop_columns(["cell_id"])
    for name in outcomes.column_names:
        table = table.append_column(name, outcomes[name])
    return answers(f"diffusion-{slug}", table)


def only(counts: Counts) -> set[tuple[int, int]]:
    """The counts of all settings."""
    return set(counts.values())


def contrasts(truth: Callable[[float], Truth], seeds: int = 3, *, turned: bool = False) -> list[Row]:
    """A run for each seed and contrast, of which the mirror image keeps its contrast."""
    keys = [(contrast, seed) for contrast in CONTRASTS for seed in range(seeds)]
    return [run(truth(c), seed, turned=turned) | {"contrast": c, "size_contrast": 0.4} for c, seed in keys]


def stronger(contrast: float) -> Truth:
    """Color is the faster, and size the slower, the larger the contrast."""
    return Truth(color=1500 * 0.4 / contrast, size=1500 * contrast / 0.4, spread=SHARP)


# each predicate where it is true, and where it is not


def test_order_and_speed_follow_the_contrast_one_way() -> None:
    """Where color gains with contrast both hold in every seed; with color and size exchanged in none."""
    right, wrong = (contrasts(stronger, turned=turned) for turned in (False, True))
    for slug in ("order", "speed"):
        assert only(ask(slug, right)) == {(3, 3)}
        assert only(ask(slug, wrong)) == {(3, 0)}
        assert len(ask(slug, right)) == 2


def test_order_takes_both_ends_and_speed_three_contrasts() -> None:
    """Without the highest contrast a seed tells no order, with two no speed; ties are against, equal times silent."""
    rows = [row for row in contrasts(stronger) if (row["seed"], row["contrast"]) != (0, 0.7)]
    assert only(ask("order", rows)) == {(2, 2)}
    assert only(ask("speed", rows)) == {(3, 3)}
    assert only(ask("speed", [row for row in rows if (row["seed"], row["contrast"]) != (0, 0.2)])) == {(2, 2)}
    alike = contrasts(lambda contrast: Truth(spread=SHARP))
    assert only(ask("order", alike)) == {(3, 0)}
    assert only(ask("speed", contrasts(lambda contrast: Truth(color=np.inf, spread=SHARP)))) == {(0, 0)}
    mostly = {0.2: 3000, 0.3: 4000, 0.5: 800, 0.7: 1500}  # a rank correlation of -0.6
    for row in asked("speed", contrasts(lambda contrast: Truth(color=mostly[contrast], spread=SHARP), seeds=5)):
        assert row.outcome.verdict == HOLDS
        assert row.outcome.effect is not None
        assert row.outcome.effect.value == pytest.approx(0.6)


def test_a_larger_contrast_brings_its_own_concept_forward() -> None:
    """Over the grid of both contrasts either claim holds, in the mirrored grid too, and in the reversed one neither."""
    grid = [(a, b, seed) for a in CONTRASTS for b in (0.2, 0.35, 0.5) for seed in range(2)]

    def rows(truth: Callable[[float], Truth], *, turned: bool = False) -> list[Row]:
        return [run(truth(a / b), seed, a, b, turned=turned) for a, b, seed in grid]

    def follows(ratio: float) -> Truth:
        return Truth(1500 / ratio, 1500 * ratio, spread=SHARP)

    for slug in ("size-contrast", "color-contrast"):
        assert only(ask(slug, rows(follows))) == {(2, 2)}
        assert only(ask(slug, rows(follows, turned=True))) == {(2, 2)}
        assert only(ask(slug, rows(lambda ratio: follows(1 / ratio)))) == {(2, 0)}
        assert only(ask(slug, rows(lambda ratio: follows(3)))) == {(0, 0)}


COLOR = Truth(color=500, size=4000, spread=SHARP)
"""Color first, and so a bend toward color that comes back."""


@pytest.mark.parametrize("turned", [False, True])
def test_a_bend_is_judged_by_what_the_others_learn_first(turned: bool) -> None:
    """Three seeds of one side and one of the other: it alone is wrong; one seed, or an even split, tells nothing."""
    three = [run(COLOR, seed, 0.4, turned=turned) for seed in range(3)]
    other = run(COLOR, 3, 0.4, turned=not turned)
    assert only(ask("bend", three)) == {(3, 3)}
    assert only(ask("bend", [*three, other])) == {(4, 3)}
    assert only(ask("bend", [three[0], three[1], other])) == {(1, 0)}
    assert only(ask("bend", three[:1])) == {(0, 0)}
    straight = Truth(color=1500, size=1500, spread=SHARP)
    assert only(ask("bend", [*three, run(straight, 4, 0.4)])) == {(4, 3)}


@pytest.mark.parametrize("turned", [False, True])
def test_a_bend_has_to_come_back_and_the_end_to_be_right(turned: bool) -> None:
    """A concept that is never learned leaves the path bent, and the class wrong; a straight path has no bend."""
    for truth, bent, right in (
        (COLOR, (2, 2), (2, 2)),
        (replace(COLOR, size=np.inf), (2, 0), (2, 0)),
        (replace(COLOR, color=1500, size=1500), (0, 0), (2, 2)),
    ):
        rows = [run(truth, seed, 0.4, turned=turned) for seed in range(2)]
        assert only(ask("bend-transient", rows)) == {bent}
        assert only(ask("converges", rows)) == {right}


def test_a_class_that_is_lost_has_not_converged() -> None:
    """A run that was right and has no circles at the end counts against, and is in no order."""
    rows = [run(COLOR, seed, contrast) for seed in range(3) for contrast in (0.2, 0.6)]
    lost = [row | {"found": [*row["found"][:-1], [0.1] * 4]} for row in rows]
    assert only(ask("converges", rows)) == {(3, 3)}
    assert only(ask("converges", lost)) == {(3, 0)}
    assert only(ask("judges-agree", rows)) == {(3, 3)}
    assert only(ask("judges-agree", lost)) == {(0, 0)}


SWUNG = Truth(color=1000, size=1000, swing=0.6, spread=SHARP)
"""The error falls, rises and falls, toward the corner of blue-big."""


@pytest.mark.parametrize("turned", [False, True])
def test_a_rise_is_memorization_unless_the_training_loss_rises_too(turned: bool) -> None:
    """Runs that swing rise; runs that do not tell nothing of what a rise is; one that unlearns does not memorize."""
    swung = [run(SWUNG, seed, 0.4, turned=turned) for seed in range(3)]
    plain = run(replace(SWUNG, swing=0), 3, 0.4, turned=turned)
    assert only(ask("descents", [*swung, plain])) == {(4, 3)}
    assert only(ask("memorization", [*swung, plain])) == {(3, 3)}
    loss = np.array(swung[0]["loss_diffusion"])
    loss[(synthetic.STEPS > 4500) & (synthetic.STEPS < 8000)] += 3
    assert only(ask("memorization", [swung[0] | {"loss_diffusion": loss.tolist()}, *swung[1:]])) == {(3, 2)}
    assert only(ask("memorization", [swung[0] | {"loss_diffusion": None}, *swung[1:]])) == {(2, 2)}


def test_what_could_not_be_seen_tells_nothing() -> None:
    """Under noise that hides a move halfway to another class no run tells that there was none; under half of it all."""
    for spread, tells in ((1.0, 0), (0.1, 3)):
        rows = [run(Truth(color=1500, size=1500, spread=spread), seed, 0.4) for seed in range(3)]
        assert only(ask("descents", rows)) == {(tells, 0)}
        # That it is straight tells of no bend, where what the others learn first is known.
        bent = [run(COLOR, seed, 0.4) for seed in range(3, 6)]
        assert only(ask("bend", [*rows, *bent])) == {(3 + tells, 3)}
        assert "threshold" in asked("descents", rows)[0].measured


def test_a_bend_tells_of_its_return_where_half_of_it_could_be_seen() -> None:
    """A bend that is beyond its threshold, but by less than twice, does not tell whether it comes back."""
    sharp, blurred = ([run(replace(COLOR, spread=spread), seed, 0.4) for seed in range(3)] for spread in (SHARP, 0.22))
    assert only(ask("bend-transient", sharp)) == {(3, 3)}
    assert only(ask("bend-transient", blurred)) == {(0, 0)}


def test_few_seeds_give_no_verdict() -> None:
    """Five seeds that tell, of one mind, are too few for what is said of most seeds; six are enough."""
    (claim,) = claims(only=["diffusion-bend-transient"])
    for count, expected in ((5, UNTOLD), (6, HOLDS)):
        rows = asked("bend-transient", [run(COLOR, seed, 0.4) for seed in range(count)])
        assert verdict(rows, claim.shared.presets) == expected


def test_a_bump_of_the_mean_holds_fails_or_cannot_be_told() -> None:
    """Seeds that share a swing have it; quiet ones without have none; one seed, or few that scatter, tell neither."""
    for truth, seeds, expected in (
        (SWUNG, 5, {HOLDS}),
        (replace(SWUNG, swing=0.0), 5, {NOT_SHOWN, REVERSE}),
        (replace(SWUNG, swing=0.0, jitter=0.25), 3, {UNTOLD}),
        (SWUNG, 1, {UNTOLD}),
    ):
        found = asked("mean-descents", [run(truth, seed) for seed in range(seeds)])
        assert {row.outcome.verdict for row in found} <= expected


@pytest.mark.parametrize(("seeds", "gappy"), [(5, 24), (9, 24), (9, 60)])
def test_the_bump_in_sql_is_the_one_of_the_report(seeds: int, gappy: int) -> None:
    """Rise and interval are those of the leave-one-seed-out test, on wandering errors and with gaps in some seeds.

    Neither tells anything of seeds that have fewer than half of the evaluations in common; nor hides what all
    evaluations show.
    """
    rng = np.random.default_rng(seeds)
    shared, own = (np.cumsum(rng.normal(size=(n, len(synthetic.STEPS))), axis=1) for n in (1, seeds))
    rows = [along(seed, 0.6 + 0.06 * shared[0] + 0.02 * own[seed]) for seed in range(seeds)]
    for row in rows[1:]:
        gaps = rng.choice(gappy, 12, replace=False)
        row["found"] = [[0.25] * 4 if k in gaps else entry for k, entry in enumerate(row["found"])]
    bump = runs_of([{"point": 0, **row} for row in rows])[0].bump()
    assert (bump is None) == (gappy > len(synthetic.STEPS) / 2)
    for row in asked("mean-descents", rows):
        effect = row.outcome.effect
        if "all of 60" in row.setting:
            assert row.measured.startswith("rise on the seed left out")
        elif bump is None:
            assert effect is None
        else:
            assert row.measured.startswith(f"rise on the seed left out {bump.height:.3g}, {seeds} seeds")
            assert effect is not None
            assert (effect.value, effect.low, effect.high) == pytest.approx(
                (bump.height, bump.low, bump.high), rel=1e-9
            )
            assert (row.outcome.sign == 1) == bump.significant


def along(seed: int, distance: np.ndarray) -> Row:
    """A run whose held-out class is so far from its corner in both concepts at STEPS, but for a ten-thousandth."""
    row = run(Truth(spread=SHARP), seed)
    places = 1 - distance + 1e-4 * np.random.default_rng(seed).normal(size=len(distance))
    for name in ("color", "size", "trained_color", "trained_size"):
        row[name] = [[*entry[:3], place] for entry, place in zip(row[name], places.tolist(), strict=True)]
    return row


def test_exponential_and_power_law_are_told_apart() -> None:
    """A distance that decays exponentially holds; one that decays as a power of time does not, nor fits."""
    step = synthetic.STEPS.astype(float)
    exponential = [along(seed, np.exp(-step / 2500)) for seed in range(3)]
    power = [along(seed, (1 + step / 20) ** -0.5) for seed in range(3)]
    for slug in ("slowdown", "exponential"):
        assert only(ask(slug, exponential)) == {(3, 3)}
        assert only(ask(slug, power)) == {(3, 0)}
    # Over steps that hardly grow by a factor both laws fit, which tells nothing of which it is.
    late = [along(seed, np.exp(-np.maximum(step - 9000, 0) / 2500)) for seed in range(3)]
    assert only(ask("slowdown", late)) == {(0, 0)}
    assert only(ask("exponential", late)) == {(3, 3)}
    assert only(ask("slowdown", [along(0, np.full(step.shape, 0.5))])) == {(0, 0)}


@pytest.mark.parametrize(("number", "name"), [(0, "color"), (1, "size"), (2, "size"), (2, "color")])
def test_every_trained_class_has_to_be_learned(number: int, name: str) -> None:
    """One concept of one class that ends wrong, one that was never told, or images without a circle, are enough."""
    good = [run(Truth(spread=SHARP), seed) for seed in range(2)]
    assert only(ask("trained-learned", good)) == {(2, 2)}
    for curve, value in ((name, 0.5), (name, float("nan")), (name, None), ("found", 0.25)):
        bad = run(Truth(spread=SHARP), 2)
        for judge in ("", "trained_") if curve != "found" else ("",):
            end = bad[judge + curve][-1]
            bad[judge + curve] = [*bad[judge + curve][:-1], [*end[:number], value, *end[number + 1 :]]]
        assert only(ask("trained-learned", [*good, bad])) == {(3, 2)}


def test_judges_agree_unless_they_name_different_concepts() -> None:
    """The same order agrees, the opposite one does not, and a tie tells nothing."""
    agree, other, tie = (run(COLOR, seed, 0.4) for seed in range(3))
    other |= {f"trained_{name}": mirrored(other)[name] for name in CURVES}
    level = synthetic.run(Truth(spread=SHARP), np.random.default_rng(2))
    tie |= {f"trained_{name}": level[name] for name in CURVES}
    setting = "contrast 0.4; 16 x 16 pixels, 20,000 steps, constant rate, ramp edge"
    assert ask("judges-agree", [agree, other, tie]) == {setting: (2, 1)}


def test_each_judge_speaks_for_itself() -> None:
    """With a classifier that sees the mirror image, the rows of one judge stay and those of the other turn."""
    rows = contrasts(stronger)
    for row in rows:
        row |= {f"trained_{name}": mirrored(row)[name] for name in CURVES}
    for slug in ("order", "speed"):
        found = ask(slug, rows)
        assert {setting.split(" judge")[0]: counts for setting, counts in found.items()} == {
            "measured": (3, 3),
            "trained": (3, 0),
        }


def test_what_was_never_seen_counts_as_said() -> None:
    """A run without a circle is not learned and in no order; of bends, descents and slow-downs it tells nothing."""
    blind = [run(replace(COLOR, blind=len(synthetic.STEPS)), seed, c) for seed in range(2) for c in (0.2, 0.6)]
    assert only(ask("order", blind)) == {(2, 0)}
    assert only(ask("converges", blind)) == {(2, 0)}
    for slug in ("speed", "bend", "bend-transient", "descents", "memorization", "slowdown", "exponential"):
        assert only(ask(slug, blind)) == {(0, 0)}, slug
    assert only(ask("mean-descents", blind)) == {(0, 0)}


# sweeps of hours


@cache
def sweep_id(name: str) -> str:
    """The id of a named sweep."""
    return Sweep.load(name).sweep_id


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which figure-6-small was run: made-up curves."""
    folder = tmp_path_factory.mktemp("here") / "data"
    synthetic.write(folder, Sweep.load("figure-6-small"))
    return folder


@pytest.fixture(scope="module")
def shipped(here: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Whole recorded results of it, as a package ships them."""
    out = tmp_path_factory.mktemp("shipped")
    return {sweep_id("figure-6-small"): pack(here, "figure-6-small", out, whole=True, without=("samples",)).path}


@pytest.fixture
def ships(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Path]], None]:
    """Makes these the recorded results that packages ship; nothing until it is called."""

    def now(files: dict[str, Path]) -> None:
        monkeypatch.setattr(fetch, "shipped", lambda: files)

    now({})
    return now


def rows_of(data: Path, slug: str) -> list[tuple[Any, ...]]:
    """What the table `claims` says of one claim."""
    with Store.open(data) as store:
        rows = store.sql(
            "select verdict, convention, setting, n, k from claims where claim = ? order by place", [slug]
        ).rows()
    return [tuple(row) for row in rows]


def test_overrides_leave_sweeps_of_hours_alone() -> None:
    """Fewer seeds change the sweeps that are trained here, and none of those that are not."""
    asked = [*CLAIMS, *claims(only=["fig-2a-order", "bottleneck-is-structural"])]
    plain, fewer = (sweeps.needed_sweeps(asked, given) for given in ((), ("seeds.count=2",)))
    assert {item.hours for item in plain.values()} == {True, False}
    for name, item in plain.items():
        assert (fewer[name].sweep_id == item.sweep_id) == item.hours, name
        assert item.hours == (item.sweep.experiment_name == "diffusion")


def test_nothing_is_trained_and_the_exit_code_is_0(
    tmp_path: Path, ships: Callable[[dict[str, Path]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From nothing, with nothing shipped: no verdict, said on page, in table and terminal, and no fault."""

    def forbidden(*args: object) -> None:
        raise AssertionError(args)

    monkeypatch.setattr("swingby_analysis.statements.needed.train", forbidden)
    only = [part for slug in ("diffusion-order", "diffusion-size-contrast") for part in ("--only", slug)]
    options = ["--data", str(tmp_path / "data"), "--out", str(tmp_path / "out"), "--quick", *only]
    result = CliRunner().invoke(app, ["claims", *options])
    assert result.exit_code == 0, result.output
    said = re.sub(r"\s+", " ", result.output)
    assert "2 claims have no verdict yet" in said
    assert "(figure-6-small, figure-6-learned, figure-6, learning-order); swingby run trains one" in said
    assert [row[0] for row in rows_of(tmp_path / "data", "diffusion-order")] == [MISSING]
    page, text = ((tmp_path / "out" / "claims" / name).read_text() for name in (PAGE, "claims.md"))
    assert "No verdict: sweep learning-order: 0 of 48 cells. It takes hours" in page
    cells = len(list(Sweep.load("figure-6-learned").cells()))
    assert f"sweep figure-6-small: 0 of 30 cells; sweep figure-6-learned: 0 of {cells} cells" in text


def test_results_that_are_here_are_judged(here: Path, ships: Callable[..., None], tmp_path: Path) -> None:
    """With one of two sweeps there, the claim is judged on it, and says that the other is not; nothing is recorded."""
    slugs = ["diffusion-order", "diffusion-mean-descents"]
    done = write_claims(here, tmp_path, run=None, only=slugs, overrides=("seeds.count=2",))
    assert (done.missing, done.waiting) == (0, 0)
    assert [(row[0], row[1], *row[3:]) for row in rows_of(here, slugs[0])] == [(UNTOLD, "small", 5, 5)] * 2
    page = done.page.read_text()
    cells = len(list(Sweep.load("figure-6-learned").cells()))
    for more in ("", "sweep figure-6-swing: 0 of 20 cells; "):
        lacking = f"sweep figure-6-learned: 0 of {cells} cells; {more}sweep figure-6: 0 of 30 cells"
        assert page.count(f"Not judged on {lacking}.") == 1
    assert "recorded results" not in page.split('id="details"')[1].split('id="made"')[0]
    assert "30 runs of 1 sweeps, 5 to 5 seeds a sweep" in done.page.with_name("claims.md").read_text()


def test_shipped_results_stand_in_and_are_called_so(
    here: Path, shipped: dict[str, Path], ships: Callable[[dict[str, Path]], None], tmp_path: Path
) -> None:
    """In a fresh folder the shipped results give the same counts; page and Markdown say whence they came, and once."""
    ships(shipped)
    # One by a query alone, one by a detector's outcomes, one by its own test over seeds.
    slugs = ["diffusion-trained-learned", "diffusion-bend", "diffusion-mean-descents"]
    assert all("figure-6-small" in claim.sweeps for claim in claims(only=slugs))
    first, fresh = tmp_path / "first", tmp_path / "fresh"
    write_claims(here, first, run=None, only=slugs)
    heard: list[str] = []
    for out in ("out", "again"):
        done = write_claims(fresh, tmp_path / out, run=("--local",), only=slugs, say=heard.append)
        assert (done.missing, done.waiting, done.training) == (0, 0, 0)
    assert sum("are unpacked there" in line for line in heard) == 1
    for slug in slugs:
        assert rows_of(fresh, slug) == rows_of(here, slug), slug
    with Store.open(fresh) as store:
        recorded = recorded_results(store, sweep_id("figure-6-small"))
    assert recorded is not None
    came = f"computed {recorded.when} on {recorded.where}, by {recorded.code}"
    page, text = done.page.read_text(), done.page.with_name("claims.md").read_text()
    assert page.count(came) == len(slugs)
    assert text.count("recorded results, not trained here") == 1
    assert came.replace("_", r"\_") in text
    assert text.rstrip().splitlines()[-1].startswith("Made by ")


def test_results_that_cannot_be_used_are_told(
    shipped: dict[str, Path], ships: Callable[[dict[str, Path]], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be unpacked is no fault of the claims: it is said why, and they have no verdict."""

    def refuse(*args: object) -> None:
        raise SwingbyError("the file is torn")

    ships(shipped)
    monkeypatch.setattr(fetch, "unpack", refuse)
    heard: list[str] = []
    done = write_claims(tmp_path / "data", tmp_path, only=["diffusion-order"], say=heard.append)
    assert (done.missing, done.waiting) == (0, 1)
    assert "recorded results of figure-6-small cannot be used: the file is torn" in heard
