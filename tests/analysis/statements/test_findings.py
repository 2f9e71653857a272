"""Findings: how a sentence is chosen, every query on a real store, and what page and Markdown owe to them."""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import vl_convert
import yaml
from scipy import stats
from typer.testing import CliRunner

from swingby.archive import pack
from swingby.cli import app
from swingby.errors import SwingbyError
from swingby.run.driver import run
from swingby.run.options import RunOptions
from swingby.store import Store
from swingby.store.refined import Refined
from swingby.sweepfile.sections import DiagramMap
from swingby.sweepfile.sweep import Sweep, named_sweeps
from swingby_analysis.page.html import VEGA_LITE
from swingby_analysis.page.pictures import titled
from swingby_analysis.report import write_report
from swingby_analysis.statements import needed
from swingby_analysis.statements.catalogue import claims, diagrams, findings
from swingby_analysis.statements.diagram import PREFIX, Diagram
from swingby_analysis.statements.effect import Number, OverSeeds, decide
from swingby_analysis.statements.figures import Read, figures
from swingby_analysis.statements.findings import FOLDER, PAGE, write_findings
from swingby_analysis.statements.fresh import FAILED, MOST, REPLICATED, WAITING, Again
from swingby_analysis.statements.judging import Sentence, worded
from swingby_analysis.statements.needed import queried_sweep
from swingby_analysis.statements.statement import NO, UNSURE, YES, Statement
from swingby_analysis.statements.template import Template
from swingby_analysis.statements.verdict import MISSING
from tests.support.command import train_here
from tests.support.named import GROUP, named, packaged

CATALOGUE = diagrams()
SENTENCES = [finding for diagram in CATALOGUE for finding in findings(diagram)]
TRAINED = diagrams("sim")
"""The diagrams whose sweeps are trained here, thinned; those of other experiments have tests in their own folders."""
TINY = ["axes.init_high=[0.01,0.1,0.5]", "seeds.count=2", "base.gd_steps=300"]
"""The sweep diagram-concepts-start with few starts and seeds, over a short time."""


# how a sentence is chosen


def test_the_interval_is_students() -> None:
    """Over seeds, as scipy has it; a single seed tells nothing."""
    values = [0.1, 0.4, 0.35, 0.2]
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert OverSeeds(values).interval == pytest.approx((expected.low, expected.high))
    assert OverSeeds([0.3]).interval == (-math.inf, math.inf)
    assert OverSeeds([0.3]).sign == 0


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"holds": True}, YES),
        ({"holds": False, "effect": [1.0, 1.1]}, NO),
        ({"holds": None}, UNSURE),
        ({"effect": [0.2, 0.21, 0.22]}, YES),
        ({"effect": [-0.2, -0.21, -0.22]}, NO),
        ({"effect": [-0.2, 0.3, 0.1]}, UNSURE),
        ({"effect": [0.2, 0.21], "effect_2": [0.5, 0.51]}, YES),
        ({"effect": [0.2, 0.21], "effect_2": [-0.5, -0.51]}, NO),
        ({"effect": [0.2, 0.21], "effect_2": [-0.5, 0.51]}, UNSURE),
        ({"effect": [0.2]}, UNSURE),
        ({"effect": []}, UNSURE),
        ({"effect": None}, UNSURE),
        ({"effect": [None, 0.2, 0.21, 0.2]}, YES),
    ],
)
def test_the_data_choose(row: dict[str, Any], expected: str) -> None:
    """By what holds, or by intervals on one side of zero: all above, or some below."""
    assert decide(row) == expected


def test_the_contrary_needs_all_effects() -> None:
    """Where the contrary is a finding too, effects of both signs tell nothing."""
    row = {"effect": [0.2, 0.21], "effect_2": [-0.5, -0.51]}
    assert decide(row, either=True) == UNSURE
    assert decide({"effect": [-0.2, -0.21], "effect_2": [-0.5, -0.51]}, either=True) == NO


@pytest.mark.xdist_group(GROUP)
def test_new_findings_are_few_and_have_seeds_of_their_own() -> None:
    """An experiment has few of them; their sweeps on fresh seeds have seeds that no other sweep uses.

    Where a closed form has no random draws, they have points of their own instead.
    """
    new = [sentence for sentence in SENTENCES if sentence.fresh]
    names = [name for sentence in new for name in sentence.fresh]
    by_package = Counter(sentence.shared.experiments for sentence in new)
    assert all(0 < count <= MOST for count in by_package.values())
    assert by_package
    used = packaged()
    for name in names:
        own = used[name]
        rivals = [one for one in used.values() if one.experiment_name == own.experiment_name and one.name != name]
        cells = {cell.cell_id for cell in own.cells()} if len(own.seeds) < 20 else set[str]()
        for one in rivals:
            shared = {*one.seeds} & {*own.seeds}
            assert not shared or (cells and not cells & {cell.cell_id for cell in one.cells()}), (name, one.name)


@pytest.mark.parametrize(
    ("first", "fresh", "expected"),
    [(YES, YES, REPLICATED), (NO, NO, REPLICATED), (YES, NO, FAILED), (YES, UNSURE, FAILED), (UNSURE, UNSURE, FAILED)],
)
def test_a_new_finding_has_to_come_out_again(first: str, fresh: str, expected: str) -> None:
    """By the same wording; what could not be told cannot be replicated, and what was not run waits."""
    finding = SENTENCES[0]
    asked, answer = (Sentence(finding, YES, "", decision=decision) for decision in (first, fresh))
    assert Again(asked, answer).verdict == expected
    assert Again(asked, Sentence(finding, MISSING, "")).verdict == WAITING


def test_a_query_that_decides_nothing_is_a_fault() -> None:
    """It has to return `holds` or an effect."""
    with pytest.raises(SwingbyError, match="neither 'holds' nor 'effect'"):
        decide({"share": 0.5})


def test_numbers_are_written_as_a_reader_writes_them() -> None:
    """Per cent apart and once, minus zero as zero, intervals of shares within 0 and 1, thousands told apart."""
    shares = OverSeeds([0.30, 0.32, 0.34])
    low, high = shares.interval
    assert f"{shares:.0%}" == f"32\u00a0% ({100 * low:.0f} to {100 * high:.0f}\u00a0%)"
    assert f"{OverSeeds([0.0, 0.0]):.0%}" == "0\u00a0% (every seed)"
    assert f"{OverSeeds([0.01, 0.0, 0.03]):.0%}".startswith("1\u00a0% (0 to ")
    assert f"{Number(12345)}" == "12,345"
    assert f"{Number(-0.0001):.2f}" == "0.00"
    assert f"{OverSeeds([]):.0%}" == "no number"


# the catalogue


@pytest.mark.xdist_group(GROUP)
def test_every_diagram_is_a_named_sweep_and_none_is_left_out() -> None:
    """A diagram a sweep `diagram-...`, each once, with a diagram of two axes; slugs of sentences are their own."""
    assert sorted(diagram.sweep for diagram in CATALOGUE) == sorted(n for n in named_sweeps() if n.startswith(PREFIX))
    assert len({sentence.slug for sentence in SENTENCES}) == len(SENTENCES)
    claimed = {name for claim in claims() for name in claim.sweeps}
    for diagram in CATALOGUE:
        sweep = named(diagram.sweep)
        assert sweep.diagram is not None
        assert sweep.diagram.y is not None
        if min(sweep.seeds) < 1000:
            continue
        # Seeds from a thousand on are kept for what is asked again: those of a claim's diagram no other sweep has.
        assert diagram.sweep in claimed
        others = [named(name) for name in named_sweeps() if name != diagram.sweep]
        alike = [other for other in others if other.experiment_name == sweep.experiment_name]
        assert alike
        assert all(set(sweep.seeds).isdisjoint(other.seeds) for other in alike)
    for diagram in TRAINED:
        sweep = named(diagram.sweep)
        assert len(sweep.seeds) >= 20


def test_every_finding_is_on_the_page_and_says_what_it_asks() -> None:
    """A finding stands in the part of one diagram; each has its question and its place there."""
    for diagram in CATALOGUE:
        order = [finding.place for finding in findings(diagram)]
        assert order == sorted(set(order)), diagram.slug
    assert all(findings(diagram) for diagram in TRAINED)
    for finding in SENTENCES:
        assert len(finding.question) > 30, finding.slug


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda sentence: sentence.slug)
def test_no_number_of_a_sentence_is_typed_in(sentence: Statement) -> None:
    """All three wordings are there and differ; what varies with the data is a field."""
    assert set(sentence.words) == {YES, NO, UNSURE}
    assert len(set(sentence.words.values())) == 3
    assert Template.of(sentence.words[YES]).fields


# on a real store


@cache
def thin(name: str) -> Sweep:
    """A named sweep with at most two values on each axis, two seeds, and short runs of few points."""
    text = yaml.safe_load(named_sweeps()[name].read_text(encoding="utf-8"))
    zipped = text["axes"].pop("zip", [])
    for item in (text["axes"], *zipped):
        item |= {key: _ends(values) for key, values in item.items()}
    text["axes"] |= {"zip": zipped} if zipped else {}
    text["seeds"] = {"count": 2, "first": 1000, "mode": "independent"}
    text["base"] |= {"n": 60, "gd_steps": 200, **({} if "epochs" in text["axes"] else {"epochs": 3})}
    return Sweep.parse(yaml.safe_dump(text), name)


def _ends(values: Any) -> Any:
    """The first and the last value of an axis, of however it is written."""
    if isinstance(values, dict):
        ((form, given),) = values.items()
        return {form: {**given, "points": 2}}
    return [values[0], values[-1]]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, dict[str, str]]]:
    """Every sweep of the page, thinned and trained, and their ids by name."""
    data = tmp_path_factory.mktemp("findings") / "data"
    sweeps = [thin(diagram.sweep) for diagram in TRAINED]
    ids = {diagram.sweep: sweep.sweep_id for diagram, sweep in zip(TRAINED, sweeps, strict=True)}
    run(sweeps, data, RunOptions(local=True, pilot=False))
    with Store.open(data) as opened:
        yield opened, ids


@pytest.mark.parametrize("diagram", TRAINED, ids=lambda diagram: diagram.slug)
def test_every_sentence_can_be_told(diagram: Diagram, store: tuple[Store, dict[str, str]]) -> None:
    """Each query gives one row that decides, and every field of every wording is a column of it."""
    opened, ids = store
    for finding in findings(diagram):
        asked = [queried_sweep(thin(name)) for name in finding.sweeps]
        every = " ".join(finding.words.values())  # whichever wording is chosen has the fields of all
        sentence = worded(opened, replace(finding, words=dict.fromkeys((YES, NO, UNSURE), every)), asked)
        assert sentence.verdict in (YES, NO, UNSURE)
        assert "{" not in sentence.text
        for sweep in asked:
            assert sweep.sweep_id in sentence.query
            assert sweep.sweep_id in ids.values()


@pytest.mark.parametrize("diagram", TRAINED, ids=lambda diagram: diagram.slug)
def test_every_figure_is_valid_and_holds_every_point(diagram: Diagram, store: tuple[Store, dict[str, str]]) -> None:
    """It compiles as Vega-Lite without a warning, and its map of outcomes has a tile a point; every cell of the sweep
    has a row in what it is made of."""
    opened, ids = store
    made = figures(opened, diagram, ids[diagram.sweep])
    assert [figure.slug for figure in made] == [
        f"{diagram.slug}-{item.outcome.replace('_', '-')}" for item in diagram.maps
    ]
    for figure in made:
        assert vl_convert.vegalite_to_svg(titled(figure), vl_version=VEGA_LITE).startswith("<svg")
    ((query,),) = {tuple(figure.queries) for figure in made}
    counted = opened.sql(f"select count(*) from ({query.text}) where status <> 'failed'", query.arguments)
    assert counted.rows() == [(len(thin(diagram.sweep)),)]
    (outcomes,) = (figure for figure in made if figure.slug.endswith("-outcome"))
    (rows,) = outcomes.spec["datasets"].values()
    tiles = [row for row in rows if row["kind"] == "tile"]
    assert len(tiles) == len(thin(diagram.sweep).points)


def test_a_share_may_be_of_a_category_or_beyond_a_level(store: tuple[Store, dict[str, str]]) -> None:
    """Its tiles count the runs of which the text is true, among those of which it can be told."""
    opened, ids = store
    diagram = TRAINED[0]
    cells = Read.of(opened, diagram, ids[diagram.sweep]).cells
    (common, *_) = cells["outcome"].mode()
    texts = {
        f"outcome = {common}": cells["outcome"] == common,
        "descents_fine > 1.5": cells["descents_fine"] > 1.5,
        "descents_fine < 1.5": cells["descents_fine"] < 1.5,
    }
    maps = [DiagramMap.model_validate({"outcome": text, "drawn": "share", "title": text}) for text in texts]
    made = figures(opened, replace(diagram, maps=maps), ids[diagram.sweep])
    assert len({figure.slug for figure in made}) == 3
    for figure, holds in zip(made, texts.values(), strict=True):
        (rows,) = figure.spec["datasets"].values()
        tiles = [row for row in rows if row["kind"] == "tile"]
        assert sum(row["k"] for row in tiles) == holds.sum()
        assert sum(row["n"] for row in tiles) == holds.count()


def test_a_refined_sweep_is_finished_when_its_search_has_ended() -> None:
    """With the cells that it asked for; as long as it goes on, and without a search, the whole grid is awaited."""
    asked = Refined(30, 100, 40, (), 10, 0.5, 0.01, 2, None)
    item = needed.Needed("coins", Sweep.load(CATALOGUE[0].sweep), done=29, failed=1)
    assert not item.finished
    assert not replace(item, refined=asked).finished
    assert replace(item, refined=replace(asked, ended="budget")).finished
    assert not replace(item, done=28, refined=replace(asked, ended="accuracy")).finished


# the page


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the data of one small diagram in `data` and its page in `out`."""
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(needed, "train", train_here)
        done = write_findings(
            folder / "data", folder / "out", overrides=TINY, run=["--local"], only=["concepts-start"], vector=True
        )
    assert (done.diagrams, done.missing) == (1, 0)
    return folder


def test_the_page_shows_each_sentence_beside_its_query(trained: Path) -> None:
    """The text, the SQL that decided it with its parameters, and its result; no script, and nothing is fetched."""
    page = (trained / "out" / FOLDER / PAGE).read_text()
    sweep = Sweep.load(f"{PREFIX}concepts-start", TINY)
    with Store.open(trained / "data") as opened:
        for finding in findings(diagrams(only=["concepts-start"])[0]):
            sentence = worded(opened, finding, [queried_sweep(sweep)])
            assert html.escape(sentence.text, quote=False).replace("'", "&#39;") in page
            assert html.escape(sentence.query).replace("&#x27;", "&#39;").replace("&quot;", "&#34;") in page
            for value in sentence.row:
                assert html.escape(str(value)) in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert "a first look, not the result" in page
    assert page.index("What we found that the paper did not say") < page.index('id="concepts-start"')


def test_files_beside_the_page(trained: Path) -> None:
    """Every figure as PNG, as SVG if asked, and the sentences as Markdown that names the command."""
    folder = trained / "out" / FOLDER
    names = {path.name for path in folder.iterdir()}
    assert {PAGE, "findings.md", "concepts-start-outcome.png", "concepts-start-outcome.svg"} <= names
    text = (folder / "findings.md").read_text()
    assert "Made by `swingby findings`" in text
    assert "![The number of descents](concepts-start-descents-fine.png)" in text


def test_recorded_results_give_the_same_page_and_say_so(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is shipped is unpacked, the sentences are those of the trained results, and page and Markdown say it."""
    names = (f"{PREFIX}concepts-start", "fresh-concepts-start")
    known = {Sweep.load(name, TINY).sweep_id: pack(trained / "data", name, tmp_path / "shipped").path for name in names}
    monkeypatch.setattr(needed, "shipped", lambda: known)
    said: list[str] = []
    done = write_findings(
        tmp_path / "data",
        tmp_path / "out",
        overrides=TINY,
        run=None,
        recorded=True,
        only=["concepts-start"],
        say=said.append,
    )
    assert done.missing == 0
    assert any("recorded results, computed on" in text for text in said)
    mine, shown = (folder / "out" / FOLDER for folder in (trained, tmp_path))
    texts = [(folder / "findings.md").read_text().split("\nMade by")[0] for folder in (mine, shown)]
    assert texts[0] == texts[1]
    for name in (PAGE, "findings.md"):
        assert "60 of 60 results are recorded ones" not in (mine / name).read_text()
        assert "60 of 60 results are recorded ones" in (shown / name).read_text()
    report = write_report(f"{PREFIX}concepts-start", tmp_path / "data", tmp_path / "out", ())
    assert [figure.slug for figure in report.figures if "curve" in figure.slug] == []
    assert any(figure.slug.startswith("phase-") for figure in report.figures)
    assert any("Few of the recorded results have curves" in text for text in report.warnings)


def test_without_its_sweep_a_diagram_says_what_is_missing(tmp_path: Path) -> None:
    """Nothing is trained with --no-run; the page says which sweep lacks what, and the exit code is 1."""
    (tmp_path / "data").mkdir()
    Path(tmp_path / "data" / "swingby.json").write_text('{"format": 1}')
    asked = ["findings", "sim", "--no-run", "--data", str(tmp_path / "data"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 1, done.output
    page = (tmp_path / "out" / FOLDER / PAGE).read_text()
    assert page.count("Not finished: sweep diagram-") == len(TRAINED)
    assert page.count(f">{MISSING}<") == sum(len(findings(diagram)) for diagram in TRAINED)


def test_unknown_diagrams_and_options_that_exclude_each_other(tmp_path: Path) -> None:
    """The nearest diagram is named; a recorded result has all seeds, so --quick cannot be meant."""
    with pytest.raises(SwingbyError, match="did you mean 'rate-depth'"):
        diagrams(only=["rate-dept"])
    assert [item.slug for item in diagrams(only=["diagram-rate-depth"])] == ["rate-depth"]
    done = CliRunner().invoke(app, ["findings", "--quick", "--recorded", "--data", str(tmp_path / "data")])
    assert done.exit_code == 2
