"""The command as its user meets it: help with examples that work, exit codes, formats, nothing half-written."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl
import pytest

from swingby import sandbox
from swingby.errors import SwingbyError
from tests.support.command import swingby
from tests.support.places import ROOT

SMALL = ["--set", "base.n=30", "--set", "base.epochs=2", "--set", "axes.width=[2]", "--set", "axes.layers=[2,3]"]
FEW = ["--set", "axes.mu.1=[1.0,2.0]", "--set", "seeds.count=2"]


def test_the_installed_command_is_this_command(tmp_path: Path) -> None:
    """`swingby` as installed runs: the version, and a fault with exit code 2 and nothing but its message."""
    command = Path(sys.executable).with_name("swingby")
    version = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=60, check=True)
    assert re.fullmatch(r"swingby \S+\n", version.stdout)
    bad = subprocess.run([command, "status", "--data", tmp_path / "no"], capture_output=True, text=True, timeout=60)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("error: ")


def verbs() -> list[str]:
    """Every verb that the help lists."""
    shown = swingby("--help")
    assert shown.exit_code == 0, shown.stderr
    return re.findall(r"^│ ([a-z]+)  ", shown.stdout, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with one finished sweep of eight small cells."""
    data = tmp_path_factory.mktemp("cli") / "data"
    done = swingby("run", "transient-memorization", "--data", data, "--local", *SMALL, *FEW)
    assert done.exit_code == 0, done.stderr
    assert "8 ok" in done.stdout
    return data


def test_every_verb_is_in_the_readme_and_has_an_example() -> None:
    """Each verb has help with an example, and the table of docs/verbs.md names exactly the verbs there are."""
    listed = verbs()
    assert len(listed) >= 11
    table = re.findall(r"^\| `([a-z]+)[a-z ]*` \|", (ROOT / "docs" / "verbs.md").read_text(), flags=re.MULTILINE)
    assert sorted(set(table)) == sorted(listed)
    for verb in listed:
        shown = swingby(verb, "--help")
        assert shown.exit_code == 0
        assert re.search(rf"swingby {verb}\b", shown.stdout), f"{verb} --help has no example"


@pytest.mark.parametrize(
    "verb", ["validate", "status", "watch", "attach", "ingest", "rebuild", "doctor", "sql", "export"]
)
def test_the_examples_of_the_help_work(verb: str, trained: Path, tmp_path: Path) -> None:
    """The example of a verb's help, typed as it stands where ./data holds the small sweep, ends with code 0."""
    text = re.sub(r"[│╭╮╰╯─]", "", swingby(verb, "--help").stdout)
    (example,) = re.findall(
        rf"^ *(swingby {verb}\b.*(?:\n +[^\n ].*)*?)\n *\n", text[text.index("Example") :], re.MULTILINE
    )
    (tmp_path / "data").symlink_to(trained)
    done = swingby(*shlex.split(example)[1:], cwd=tmp_path)
    assert done.exit_code == 0, f"{example}\n{done.stdout}\n{done.stderr}"


def test_a_second_run_trains_nothing(trained: Path) -> None:
    """A finished sweep has no work left."""
    shards = sorted((trained / "shards").rglob("*.parquet"))
    again = swingby("run", "transient-memorization", "--data", trained, "--local", *SMALL, *FEW)
    assert again.exit_code == 0
    assert sorted((trained / "shards").rglob("*.parquet")) == shards


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    """--dry-run says how many cells there are and leaves no folder behind."""
    done = swingby("run", "transient-memorization", "--data", tmp_path / "none", "--dry-run", *SMALL, *FEW)
    assert done.exit_code == 0
    assert "8 cells" in done.stdout
    assert not (tmp_path / "none").exists()


def test_formats_hold_the_same_rows(trained: Path, tmp_path: Path) -> None:
    """Table, CSV, JSON and Parquet of one query tell the same rows."""
    query, data = "select cell_id, layers, final_ood_loss from sim order by cell_id", ["--data", str(trained)]
    csv = swingby("sql", query, *data, "--format", "csv").stdout
    rows = json.loads(swingby("sql", query, *data, "--format", "json").stdout)
    made = swingby("sql", query, *data, "--format", "parquet", "--out", tmp_path / "rows.parquet")
    assert made.exit_code == 0
    frame = pl.read_parquet(tmp_path / "rows.parquet")
    assert len(frame) == 8
    assert frame.to_dicts() == rows
    assert pl.read_csv(csv.encode()).to_dicts() == rows
    shown = swingby("sql", "select count(*) as n from sim", *data).stdout
    assert re.search(r"^8\s*$", shown, flags=re.MULTILINE)


def test_export_holds_every_cell_with_its_outcome(trained: Path, tmp_path: Path) -> None:
    """An exported sweep has a row a cell, with parameters, curves and what the detector said."""
    out = tmp_path / "sweep.parquet"
    assert swingby("export", "transient-memorization", "--data", trained, "--out", out).exit_code == 0
    frame = pl.read_parquet(out)
    assert len(frame) == 8
    assert frame["cell_id"].n_unique() == 8
    assert {"layers", "mu", "ood_loss", "transient_memorization", "outcome"} <= set(frame.columns)
    assert frame["outcome"].null_count() == 0


def test_a_replay_equals_what_is_stored(trained: Path, tmp_path: Path) -> None:
    """One cell again agrees with its stored curve, and leaves a recording of every step with the weights."""
    cell = swingby("sql", "select min(cell_id) as c from sim", "--data", trained, "--format", "csv").stdout.split()[1]
    out = tmp_path / "cell.parquet"
    done = swingby("replay", cell[:16], "--data", trained, "--out", out)
    assert done.exit_code == 0, done.stdout
    frame = pl.read_parquet(out)
    steps = frame["step"][0].to_list()
    assert steps == list(range(len(steps)))
    assert "weights" in frame.columns


@pytest.mark.slow
def test_a_replayed_flow_agrees_though_it_steps_otherwise(tmp_path: Path) -> None:
    """A flow recorded at every step takes other adaptive steps than one recorded at few; that is no difference."""
    text = "{name: flow, experiment: sim, base: {model: symmetric, drive: flow, d: 3, width: 3, n: 50, rotate: false}}"
    (tmp_path / "flow.yaml").write_text(text)
    assert swingby("run", "flow.yaml", "--local", "--no-pilot", cwd=tmp_path).exit_code == 0
    cell = swingby("sql", "select cell_id from sim", "--format", "csv", cwd=tmp_path).stdout.split()[1]
    done = swingby("replay", cell, cwd=tmp_path)
    assert done.exit_code == 0, done.stdout


def test_a_wide_row_stays_readable(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row too wide for its terminal is written a line a column; into a pipe it is a table, nothing folded."""
    ask = ["sql", "select * from sim limit 2", "--data", str(trained)]
    monkeypatch.delenv("COLUMNS", raising=False)
    piped = swingby(*ask).stdout.splitlines()
    assert len(piped) == 4
    assert "cell_id" in piped[0]
    assert "final_ood_loss" in piped[0]
    monkeypatch.setenv("COLUMNS", "60")
    lines = swingby(*ask).stdout.splitlines()
    assert sum(bool(re.match(r"cell_id +[0-9a-f]{32}$", line)) for line in lines) == 2
    assert any(re.match(r"epochs +2$", line) for line in lines)
    narrow = swingby("sql", "select seed, layers from sim", "--data", trained).stdout
    assert re.match(r"seed +┃ layers", narrow)


def test_status_counts_the_cells(trained: Path) -> None:
    """Status tells cells, results, and that nobody runs the sweep."""
    shown = swingby("status", "--data", trained).stdout
    assert re.search(r"8\s*│\s*8\s*│\s*0\s*│\s*0\s*│\s*0\s*$", shown, flags=re.MULTILINE), shown
    assert "running now" not in shown


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "transient-memorisation"], "did you mean 'transient-memorization'"),
        (["run", "transient-memorization", "--set", "base.lr=-1"], "lr"),
        (["run", "transient-memorization", "--local", "--address", "127.0.0.1:6379"], "exclude each other"),
        (["run", "transient-memorization", "--device", "gpu"], "--device gpu is unknown; allowed: cpu, cuda"),
        (["sql", "drop table sim"], "SELECT"),
        (["sql", "select * from simm"], "did you mean 'sim'"),
        (["export", "transient-memorization", "--out", "rows.xlsx"], ".parquet"),
        (["export", "nothing", "--out", "rows.csv"], "nothing"),
        (["replay", "zzzz"], "no cell"),
        (["status", "nothing"], "nothing"),
        (["report", "nothing"], "no sweep 'nothing' here"),
        (["reprot"], "Did you mean 'report'"),
    ],
)
def test_bad_input_is_told_with_code_2(arguments: list[str], told: str, trained: Path, tmp_path: Path) -> None:
    """A fault names itself and what is allowed, without a traceback, with exit code 2, and leaves no file."""
    done = swingby(*arguments, "--data", trained, cwd=tmp_path)
    assert done.exit_code == 2, done.stdout + done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert "drawing" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_python_api_has_the_same_nouns(trained: Path, tmp_path: Path) -> None:
    """`Sweep.load`, `sweep.run` and `Store.open(...).sql(...)` as Arrow and polars."""
    from swingby.api import Store, Sweep

    overrides = [value for value in [*SMALL, *FEW] if value != "--set"]
    sweep = Sweep.load("transient-memorization", overrides)
    result = sweep.run(data=trained, local=True)
    assert (result.cells, result.ok, result.trained) == (8, 8, 0)
    fresh = Sweep.load("transient-memorization", [*overrides, "seeds.count=1"]).run(data=tmp_path / "data", local=True)
    assert (fresh.cells, fresh.ok, fresh.trained) == (4, 4, 4)
    with Store.open(trained) as store:
        rows = store.sql("select * from sim")
        assert rows.arrow().num_rows == 8
        assert rows.polars()["cell_id"].n_unique() == 8


def test_the_self_test_goes_the_whole_way() -> None:
    """A line a step, all in order; nothing is left behind."""
    before = set(Path(tempfile.gettempdir()).glob("swingby-self-test-*"))
    told = swingby("doctor", "--self-test")
    assert told.exit_code == 0, told.stdout
    steps = [line.removeprefix("ok    ").partition(":")[0] for line in told.stdout.splitlines()]
    assert steps == [
        "read a sweep file",
        "train it by the for-loop",
        "make the store from the records",
        "derive outcomes",
        "ask SQL in the sandbox",
        "read the results back",
        "write a report",
    ]
    assert set(Path(tempfile.gettempdir()).glob("swingby-self-test-*")) <= before


def test_the_self_test_ends_where_something_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed, with what was said and what to do; exit code 1."""

    def refused(*_: object, **__: object) -> None:
        raise SwingbyError("there is no sandbox here")

    monkeypatch.setattr(sandbox, "query", refused)
    told = swingby("doctor", "--self-test")
    assert told.exit_code == 1
    *_, fault, remedy = told.stdout.splitlines()
    assert fault == "FAULT ask SQL in the sandbox: there is no sandbox here"
    assert remedy.startswith("      -> ")


def test_the_doctor_names_a_torn_shard(trained: Path, tmp_path: Path) -> None:
    """A shard cut short is a fault with its name and a remedy, and the doctor then ends with code 1."""
    data = tmp_path / "data"
    shutil.copytree(trained, data)
    whole = next((data / "shards").rglob("*.parquet"))
    torn = whole.with_name("b000099-a9001-00000000.parquet")
    torn.write_bytes(whole.read_bytes()[:100])
    assert swingby("ingest", "--data", data).exit_code == 2
    told = swingby("doctor", "--data", data, "--no-ray")
    assert told.exit_code == 1
    assert torn.name in told.stdout
    assert "move the file away" in told.stdout
