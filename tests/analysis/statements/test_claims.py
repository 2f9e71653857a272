"""Claims: the rule of verdicts, every query on a real store, and what table, page and Markdown owe to them."""

from __future__ import annotations

import html
import math
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from swingby.cli import app
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.select.intervals import wilson
from swingby.store import Store, ingest, rebuild
from swingby_analysis.page.html import html as html_of
from swingby_analysis.statements import judging
from swingby_analysis.statements import needed as sweeps
from swingby_analysis.statements.catalogue import claims
from swingby_analysis.statements.claims import PAGE, write_claims
from swingby_analysis.statements.compose import needed
from swingby_analysis.statements.judging import COLUMNS, Judged
from swingby_analysis.statements.kinds import ALWAYS, EXISTS, FAILS, HOLDS, LAW, MEAN, MOST, UNTOLD, most
from swingby_analysis.statements.page import claims_page
from swingby_analysis.statements.table import KEY, KIND, SCHEMA, write
from swingby_analysis.statements.verdict import MISSING, Answer, verdict
from tests.support import experiment_laws
from tests.support.command import train_here
from tests.support.named import GROUP, named

SEEDS = 2
TINY = (f"seeds.count={SEEDS}", "base.n=200", "record.points=80")
"""Every named sweep with few seeds, few points a cluster, and few records: a record takes as long as many steps."""
HOURS = experiment_laws.long_sweeps()
"""Sweeps that take hours, and how many seeds they have."""
CATALOGUE = sorted([*claims("diffusion"), *claims("sim")], key=lambda claim: claim.place)
"""The claims that are judged here; those of other experiments have tests in their own folders."""
CLAIMS = {claim.slug: claim for claim in CATALOGUE}
UNTOLD_HERE = {"fig-2c-direction", "terminal-rate-symmetric"}
"""Claims on runs whose loss rises, of which so few seeds may have none, and on rates that so few records do not fit."""


# the catalogue


@pytest.mark.xdist_group(GROUP)
def test_the_catalogue_is_whole() -> None:
    """Slugs are unique, every claim says what its query asks, and every sweep is there."""
    slugs = [claim.slug for claim in CATALOGUE]
    assert len(set(slugs)) == len(slugs) >= 50
    for claim in CATALOGUE:
        assert len(claim.question) > 40, claim.slug
        assert claim.hours == any(name in HOURS for name in claim.sweeps), claim.slug
        assert len({named(name).experiment_name for name in claim.sweeps}) == 1, claim.slug


@pytest.mark.xdist_group(GROUP)
def test_claims_of_one_experiment() -> None:
    """An experiment's claims are those of its folder; one of which nothing is claimed is answered with the nearest."""
    judged = sorted({named(claim.sweeps[0]).experiment_name for claim in CATALOGUE})
    assert "sim" in judged
    for name in judged:
        assert {named(claim.sweeps[0]).experiment_name for claim in claims(name)} == {name}
    assert sum(len(claims(name)) for name in judged) == len(CATALOGUE)
    with pytest.raises(SwingbyError, match="there is no claim about 'simm'; did you mean 'sim'"):
        claims("simm")


def test_what_was_done_after_results_were_seen_is_said() -> None:
    """A query with a repair says so in a comment, and its claim beside it; a claim never speaks of one that is not."""
    for claim in CATALOGUE:
        views = [view.comment for view in claim.shared.views if view.name in needed(claim)]
        said = re.sub(r"\n *--", "", "\n".join([claim.question, claim.body, *views]))
        repaired = "Repaired after results were seen" in said
        assert repaired == ("repaired" in claim.after), claim.slug
        assert claim.after == "" or re.match(
            "Added|Split|Rows|Reworded|Asked|The query was repaired|Its kind", claim.after
        ), claim.slug
    assert sum(bool(claim.after) for claim in CATALOGUE) >= 10


def test_nothing_is_typed_in() -> None:
    """No words of a claim and no reason hold a number: a theorem's name and a symbol's index are none."""
    for claim in CATALOGUE:
        words = re.sub(r"Theorem \d\.\d", "", f"{claim.text} {claim.why} {claim.after}")
        assert re.findall(r"(?<![\w.])\d[\d.]*", words) == [], claim.slug


@pytest.mark.parametrize(
    "slug",
    [
        *("fig-2a-order", "fig-2b-order", "fig-2c-low", "fig-3-low", "fig-3-high", "fig-5-descents", "fig-7-linear"),
        *("fig-8-descents", "fig-9-descents", "fig-10-trapped", "fig-11-order", "fig-12-order", "fig-13", "fig-14"),
        *("fig-15", "fig-16", "fig-17", "fig-18"),
    ],
)
def test_every_figure_has_its_claim(slug: str) -> None:
    """Each figure of the SIM experiments is judged, on its own sweep."""
    (claim,) = claims(only=[slug])
    assert any(name.removeprefix("figure-") in slug for name in claim.sweeps)


def test_an_unknown_claim_is_answered_with_the_nearest() -> None:
    """A misspelt slug is refused, with the nearest one."""
    with pytest.raises(SwingbyError, match="did you mean 'fig-2a-order'"):
        claims(only=["fig-2a-ordr"])


# every query on a real store


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `data`, every sweep trained small, and `out`, the claims judged on it.

    Sweeps that take hours are made up, and some of them are not there.
    """
    folder = tmp_path_factory.mktemp("claims")
    experiment_laws.long_sweeps(folder / "data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("swingby_analysis.statements.needed.train", train_here)
        done = write_claims(
            folder / "data", folder / "out", overrides=TINY, run=("--local", "--no-pilot"), only=[*CLAIMS]
        )
    assert (done.missing, done.waiting) == (0, 0)
    return folder


@pytest.fixture(scope="module")
def table(written: Path) -> pl.DataFrame:
    """The table `claims` of that store."""
    with Store.open(written / "data") as store:
        return store.sql("select * from claims").polars()


@pytest.fixture(scope="module")
def queries_of(written: Path) -> dict[str, str]:
    """The table `claims_queries` of that store: each claim's SQL as it was asked."""
    with Store.open(written / "data") as store:
        return dict(tuple(row) for row in store.sql("select claim, query from claims_queries").rows())


def test_the_queries_have_a_table_of_their_own(table: pl.DataFrame, queries_of: dict[str, str]) -> None:
    """Each claim's SQL is kept once, beside the rows, so that no value of `claims` runs over lines."""
    assert set(queries_of) == {claim.slug for claim in CATALOGUE}
    assert all("where sweep_id in (" in query for query in queries_of.values())
    assert "query" not in table.columns
    texts = [value for name in table.columns if table[name].dtype == pl.String for value in table[name]]
    assert not any("\n" in text for text in texts)


def test_every_claim_is_judged(table: pl.DataFrame) -> None:
    """Each claim has rows, each row names its convention and setting, and says what was measured; a claim of which no
    seed of these few tells says that."""
    assert set(table["claim"]) == {claim.slug for claim in CATALOGUE}
    assert MISSING not in set(table["verdict"])
    told = table.filter(pl.col("convention") != "")
    assert set(told["convention"]) == {"paper", "authors", "theory", "small"}
    for row in told.iter_rows(named=True):
        assert row["setting"], row["claim"]
        assert row["measured"], row["claim"]
    untold = table.filter(pl.col("convention") == "")
    assert set(untold["claim"]) <= UNTOLD_HERE
    assert set(untold["verdict"]) <= {UNTOLD}
    assert set(untold["measured"]) <= {"the query gave no row"}


def test_the_unit_is_the_seed(table: pl.DataFrame) -> None:
    """n is the number of seeds trained, or of those that tell, where the query says that some do not."""
    assert set(table["unit"]) == {"seed"}
    for row in table.iter_rows(named=True):
        said = CLAIMS[row["claim"]].question
        trained = [HOURS.get(name, SEEDS) for name in row["sweeps"]]  # settings of other sweeps are other rows
        seeds = max(trained)
        others = {named(name).seeds[0] for name in row["sweeps"]}  # a sweep on other seeds adds its own
        together = seeds * len(others)
        samples = 2 if "samples" in said else 1
        assert 0 <= row["k"] <= row["n"] <= together * samples, row["claim"]
        if row["kind"] in (EXISTS, MOST, ALWAYS) and not re.search("tells? nothing|tell; |are met", said):
            assert row["n"] in (*trained, together), (row["claim"], row["setting"])


def test_shares_and_intervals_follow_from_the_counts(table: pl.DataFrame) -> None:
    """The share of every row that counts seeds is that of its n and k; each claim has the verdict of its rows."""
    counted = table.filter(pl.col("kind").is_in([EXISTS, MOST, ALWAYS]), pl.col("convention") != "")
    low, high = wilson(counted["k"].to_numpy(), counted["n"].to_numpy())
    assert np.array_equal(counted["low"].to_numpy(), low)
    assert np.array_equal(counted["high"].to_numpy(), high)
    assert set(counted["effect"]) == {None}
    others = table.filter(~pl.col("kind").is_in([EXISTS, MOST, ALWAYS]))
    assert set(others["share"]) <= {None}
    for (slug,), rows in table.group_by(["claim"]):
        claim = CLAIMS[str(slug)]
        assert set(rows["kind"]) == {claim.rule}
        if claim.rule == MOST:
            told = [
                Answer(row["convention"], "", "", most(row["n"], row["k"], claim.least))
                for row in rows.iter_rows(named=True)
            ]
            assert set(rows["verdict"]) == {verdict(told, claim.shared.presets)}
            assert rows["row_verdict"].to_list() == [answer.outcome.verdict for answer in told]


def test_what_can_only_fail_does(table: pl.DataFrame) -> None:
    """D.5 never holds descending; of two seeds that agree most claims say nothing."""
    found = dict(table.select("claim", "verdict").iter_rows())
    assert found["d-5-descending"] == UNTOLD
    assert found["mean-is-a-shorter-step"] == UNTOLD


@pytest.mark.parametrize(
    ("slug", "was", "becomes"),
    [
        ("diagonal-bounded", "major_most <= major_bound", "major_most <= 0.5"),
        ("majors-in-order", "signals = list_reverse_sort(signals)", "signals = list_sort(signals)"),
        ("fig-16", "apart <= 0.05", "apart < 0"),
        ("mean-is-a-shorter-step", "apart <= 0.001", "apart < 0"),
        ("bottleneck-is-structural", "between 1 - 1e-6 and 1.01", "between 0.9 and 0.99"),
        ("minor-peaks-first", "peak <= half", "peak > half"),
    ],
)
def test_a_claim_that_is_false_by_construction_does_not_hold(slug: str, was: str, becomes: str, written: Path) -> None:
    """The same query with a predicate that cannot be true gets "does not hold" where the claim itself holds."""
    claim = replace(claims(only=[slug])[0], rule=ALWAYS, least=1)
    wrong = replace(claim, body=claim.body.replace(was, becomes))
    assert wrong != claim
    with Store.open(written / "data") as store:
        needed = sweeps.progress(store, sweeps.needed_sweeps([claim], TINY))
        assert judging.judge(store, claim, needed).verdict == HOLDS
        assert judging.judge(store, wrong, needed).verdict == FAILS


def test_assumptions_are_met_as_the_theory_says(written: Path) -> None:
    """The bounds' runs meet App. D's assumptions in exactly those in which they hold of the recorded start."""
    from swingby_sweeps.sim.assumptions import Constants, assumptions

    with Store.open(written / "data") as store:
        ids = [item.sweep_id for item in sweeps.needed_sweeps(claims(only=["d-11-upper-growth"]), TINY).values()]
        rows = store.sql(
            """select a, jacobian[1] as w0, if(drive = 'flow', 0, 2 * time_per_step) as eta,
                      unnest(app_d_K) as K, unnest(app_d_C) as C, unnest(app_d_log_P) as log_P,
                      unnest(app_d_kappa) as kappa, unnest(app_d_met) as met
               from sim join outcomes_bounds using (cell_id)
               where app_d_met is not null
                   and cell_id in (select cell_id from members where list_contains($1, sweep_id))""",
            [ids],
        ).rows()
    assert len(rows) > 10
    assert len({row.met for row in rows}) == 2
    for row in rows:
        constants = Constants(row.K, row.C, math.exp(row.log_P), row.kappa)
        side = math.isqrt(len(row.w0))
        held = assumptions(np.reshape(row.w0, (side, side)), np.array(row.a), constants, row.eta)
        assert held.all_ascending == row.met


def test_a_query_that_breaks_its_contract_is_told(written: Path) -> None:
    """Rows without an answer, or SQL that is wrong, are errors that name the claim."""
    (claim,) = claims(only=["fig-5-sign"])
    with Store.open(written / "data") as store:
        needed = sweeps.progress(store, sweeps.needed_sweeps([claim], TINY))
        claim = replace(claim, rule=ALWAYS)
        for body in ("select preset, seed, mu, drive from runs", "select from"):
            with pytest.raises(SwingbyError, match=r"claim fig-5-sign: .*cannot answer"):
                judging.judge(store, replace(claim, body=body), needed)


# table, page, Markdown


def test_the_page_shows_every_query_with_its_result(
    written: Path, table: pl.DataFrame, queries_of: dict[str, str]
) -> None:
    """Each claim's query stands on the page as it was asked, and so does every value that it returned."""
    shown = (written / "out" / "claims" / PAGE).read_text()
    sections = dict(re.findall(r'<section class="statement" id="([^"]+)">(.*?)</section>', shown, re.DOTALL))
    assert set(sections) == set(table["claim"])
    for row in table.iter_rows(named=True):
        section = html.unescape(sections[row["claim"]])
        assert queries_of[row["claim"]] in section
        if not row["convention"]:
            assert row["measured"] in section
            continue
        result = section[section.index('<table class="result">') :]
        for name in COLUMNS:
            assert f"<td>{row['convention' if name == 'preset' else name]}</td>" in result
        assert row["strength"] in section
        if row["share"] is not None:
            assert f"{row['k']} of {row['n']}" in section
        else:
            assert row["kind"] in (MEAN, LAW) or not row["n"]
    for claim in CATALOGUE:
        section = html.unescape(sections[claim.slug])
        assert ("After results were seen" in section) == bool(claim.after), claim.slug
        assert claim.after in section


def test_a_query_from_the_page_can_be_asked_again(
    written: Path, table: pl.DataFrame, queries_of: dict[str, str]
) -> None:
    """Pasted as it stands on the page, a query gives the counts that the table keeps."""
    with Store.open(written / "data") as store:
        for (slug,), rows in table.filter(pl.col("claim").str.starts_with("fig-5")).group_by(["claim"]):
            again = store.sql(queries_of[str(slug)]).polars()
            claim = CLAIMS[str(slug)]
            found = [judging.answer(claim, row) for row in again.iter_rows(named=True)]
            counts = sorted((row.convention, row.setting, row.outcome.n, row.outcome.k) for row in found)
            assert counts == sorted(rows.select("convention", "setting", "n", "k").iter_rows()), slug


def test_the_markdown_has_every_claim(written: Path, table: pl.DataFrame) -> None:
    """One row of five cells a claim, with its verdict; no text ends a cell early, and none is taken for markup."""
    text = (written / "out" / "claims" / "claims.md").read_text()
    lines = text.split("\n\n")[0].splitlines()
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines[2:]]
    assert re.findall(r"(?<!\\)[_*`<>\[\]]", "".join(lines)) == []
    assert {len(row) for row in rows} == {5}
    assert len(rows) == len(CATALOGUE)
    assert [(row[2].strip(), row[3].strip()) for row in rows] == [
        (row["kind"], row["verdict"]) for row in table.unique("claim", keep="first").sort("rank").iter_rows(named=True)
    ]


def test_the_markdown_ends_with_how_it_was_made(written: Path, table: pl.DataFrame, queries_of: dict[str, str]) -> None:
    """Claims by verdict, seeds and runs in its last line are those of the table and of the sweeps."""
    last = (written / "out" / "claims" / "claims.md").read_text().rstrip().splitlines()[-1]
    assert "`swingby claims`" in last
    claims = table.unique("claim")
    assert f"{len(claims)} claims;" in last
    for verdict_, count in claims.group_by("verdict").len().iter_rows():
        assert re.search(rf"[;,] {re.escape(verdict_)}: {count}[,.]", last), last
    ids = {cell for query in queries_of.values() for cell in re.findall(r"'([0-9a-f]{16})'", query)}
    with Store.open(written / "data") as store:
        ((runs,),) = store.sql("select count(distinct cell_id) from members where sweep_id in $1", [sorted(ids)]).rows()
    assert f"{runs:,} runs of {len(ids)} sweeps, {SEEDS} to {max(HOURS.values(), default=SEEDS)} seeds a sweep" in last


@pytest.mark.slow
def test_a_second_call_adds_nothing(written: Path, table: pl.DataFrame, tmp_path: Path) -> None:
    """Judged again, the table has the same rows, and no record was written; a store made again has them too."""
    records = Records.open(written / "data")
    before = records.derived()
    write_claims(written / "data", tmp_path / "out", overrides=TINY, run=None, only=list(CLAIMS))
    assert records.derived() == before
    rebuild(records)
    with Store.open(written / "data") as store:
        again = store.sql("select * from claims").polars()
    assert again.sort("rank", "place").equals(table.select(again.columns).sort("rank", "place"))


def test_one_claim_leaves_the_others(written: Path, table: pl.DataFrame, tmp_path: Path) -> None:
    """Judging one claim on other seeds replaces its rows alone; the page shows the others from the table."""
    other = ("seeds.count=1", "base.n=200")
    done = write_claims(written / "data", tmp_path / "out", overrides=other, run=None, only=["e-1-minor"])
    assert done.missing == 1
    with Store.open(written / "data") as store:
        now = store.sql("select * from claims").polars()
    kept = table.filter(pl.col("claim") != "e-1-minor").sort("rank", "place")
    assert now.filter(pl.col("claim") != "e-1-minor").select(table.columns).sort("rank", "place").equals(kept)
    (row,) = now.filter(pl.col("claim") == "e-1-minor").to_dicts()
    assert (row["verdict"], row["n"], row["share"]) == (MISSING, 0, None)
    assert row["measured"] == "sweep claim-initial-weights: 0 of 6 cells"
    shown = (tmp_path / "out" / "claims" / PAGE).read_text()
    assert "No verdict: sweep claim-initial-weights: 0 of 6 cells" in shown
    assert shown.count("Judged in an earlier run") == len(CATALOGUE) - 1
    write_claims(written / "data", tmp_path / "out", overrides=TINY, run=None, only=["e-1-minor"])


def test_rows_of_claims_that_are_no_more_are_dropped(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim that left the catalogue leaves the table with the next run."""
    fewer = tuple(replace(claim) for claim in CATALOGUE if claim.slug != "fig-13")
    monkeypatch.setattr("swingby_analysis.statements.claims.catalogue", lambda: fewer)
    write_claims(written / "data", tmp_path / "out", overrides=TINY, run=None, only=["fig-14"])
    with Store.open(written / "data") as store:
        left = set(store.sql("select claim from claims").polars()["claim"])
    assert left == {claim.slug for claim in fewer}
    monkeypatch.undo()
    write_claims(written / "data", tmp_path / "out", overrides=TINY, run=None, only=["fig-13"])


# the command


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Runs `swingby claims` in this process; exit code, and all that it printed."""

    def call(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, ["claims", "--out", str(tmp_path / "out"), *arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output

    return call


@pytest.mark.slow
def test_the_command_trains_what_is_missing(tmp_path: Path) -> None:
    """From nothing: one claim's sweep is trained, its page and Markdown written; again, nothing is trained."""
    options = ["--data", "data", "--seeds", "2", "--local", "--only", "bottleneck-is-structural"]
    command = [sys.executable, "-m", "swingby", "claims", *options, "--markdown", "claims.md"]
    first, second = (
        subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False) for _ in range(2)
    )
    assert first.returncode == 0, first.stderr
    assert "training 1 of 1 sweeps: claim-rank" in first.stderr
    assert "took" in first.stderr
    page = Path(first.stdout.strip())
    assert page == tmp_path / "out" / "claims" / PAGE
    assert (tmp_path / "claims.md").read_text() == page.with_name("claims.md").read_text()
    assert (second.returncode, "training" in second.stderr) == (0, False)


def test_the_command_reads_only_on_request(command: Callable[..., tuple[int, str]], written: Path) -> None:
    """Without training, a claim whose sweep was not run has no verdict, and the exit code says so."""
    code, said = command("--data", str(written / "data"), "--no-run", "--seeds", "1", "--only", "fig-5-sign")
    assert code == 1
    assert f"fig-5-sign, always: {MISSING}" in said


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--no-run", "--only", "fig-5-sgn"), "did you mean"),
        (("--quick", "--seeds", "2"), "exclude each other"),
        (("--no-run",), "there is no data folder"),
    ],
)
def test_bad_input_ends_with_code_2(
    options: tuple[str, ...], complaint: str, command: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    """A claim that is none, options that exclude each other, and a folder that is not there, each in words."""
    code, said = command("--data", str(tmp_path / "nothing"), *options)
    assert (code, complaint in said) == (2, True)
    assert not (tmp_path / "nothing").exists()


def test_a_table_of_an_older_version_is_still_shown(tmp_path: Path) -> None:
    """Its rows have no kind and no effect, and may speak of all seeds at once; they stay until they are judged again"""
    first, second, third = CATALOGUE[:3]
    records = Records.open(tmp_path / "data")
    new = ("kind", "effect", "effect_low", "effect_high", "example", "strength")
    schema = pa.schema([field for field in SCHEMA if field.name not in new])
    old = [
        {
            "claim": claim.slug,
            "place": 0,
            "rank": rank,
            "text": claim.text,
            "source": claim.source,
            "why": "",
            "verdict": "holds for some initialisations",
            "row_verdict": "holds for some initialisations",
            "convention": "paper",
            "setting": "s = 2",
            "unit": unit,
            "n": n,
            "k": k,
            "measured": "much",
            "share": share,
            "low": share,
            "high": share,
            "sweeps": ["figure-5"],
            "lacking": [],
            "recorded": [],
        }
        for rank, claim, unit, n, k, share in ((0, first, "seed", 4, 3, 0.75), (1, second, "all seeds", 1, 1, None))
    ]
    records.write_derived(KIND, "3.20260101000000", KEY, pa.Table.from_pylist(old, schema=schema))
    ingest(records)
    with Store.open(records.data) as store:
        assert write(records, store, [(2, Judged(third, missing=["nothing"]))], [claim.slug for claim in CATALOGUE])
    with Store.open(records.data) as store:
        kinds = dict(store.sql("select claim, kind from claims").rows())
        assert kinds == {first.slug: None, second.slug: None, third.slug: third.rule}
        shown = html_of(claims_page(store, CATALOGUE, {}, "swingby claims"))
    assert "holds for some initialisations" in shown
    assert "0.75, 0.75 to 0.75" in shown
