"""Imports of what other tools leave: the runs are those that were trained, and what cannot be read is told."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby.errors import SwingbyError
from swingby.imports.importing import ImportRequest, import_runs
from swingby.imports.layout import ColumnRoles
from swingby.imports.summary import Imported
from swingby.imports.tools import tensorboard, wandb_files
from swingby.imports.tools.names import pattern_of, settings_in, template_for
from swingby.imports.tools.run import Hints, LeftOut, Run
from swingby.store import Store
from tests.platform.imports.make_runs import GRID, losses
from tests.support.command import swingby

pytestmark = pytest.mark.usefixtures("as_a_command")

LEFT = Path(__file__).parent / "left.zip"
"""Files that the tools left, as `make_runs.py` has them made; without logs and pickles."""
PYTHON = os.environ.get("TOOLS_PYTHON", sys.executable)
"""A Python in which the tools are installed."""
FAILED = {"wandb": 1, "mlruns": 1, "mlflow.db": 1, "optuna.db": 1, "ray": 2, "search_runs.csv": 1, "trials.csv": 1}
"""Of what is left, how many runs failed."""
CURVES = {"optuna.db": "intermediate", "ray": "loss", "multirun": "loss"}
"""What the curve of the loss is called; else `train_loss`."""
FOLDERS = ["wandb", "mlruns", "mlflow.db", "tensorboard", "optuna.db", "ray", "multirun"]
TABLES = {"search_runs.csv": "train_loss", "trials.csv": "value", "frame.csv": "loss"}
"""Tables of the tools, and their column with the last loss."""


@pytest.fixture(scope="session")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the tools left."""
    folder = tmp_path_factory.mktemp("left")
    with zipfile.ZipFile(LEFT) as archive:
        archive.extractall(folder)
    return folder


def read(path: Path | list[Path], roles: ColumnRoles | None = None, **hints: Any) -> Imported:
    """What an import would take; nothing is written."""
    request = ImportRequest("theirs", roles or ColumnRoles(), hints=Hints(**hints))
    return import_runs("none", path, request, dry_run=True)


def rows_of(imported: Imported) -> list[dict[str, Any]]:
    """The cells."""
    return imported.cells.table.to_pylist()


def check(imported: Imported, kind: str) -> None:
    """Checks that the runs of a tool are those that `make_runs.py` trains."""
    rows = rows_of(imported)
    done = {(row["lr"], row["seed"]): row for row in rows if row["status"] == "ok"}
    assert sorted(done) == GRID
    assert len(rows) - len(done) == FAILED.get(kind, 0)
    for (rate, _), row in done.items():
        assert row["step"] == list(range(row["step"][0], row["step"][0] + 5))
        assert row[CURVES.get(kind, "train_loss")] == pytest.approx(losses(rate), rel=1e-6)
    told = "\n".join(imported.lines())
    assert "seeds       the column 'seed'" in told


@pytest.mark.parametrize("kind", FOLDERS)
def test_what_a_tool_left_is_imported(left: Path, kind: str) -> None:
    """Rates are the axis, seeds the seeds, the loss a curve; runs that failed are failed cells."""
    check(read(left / kind), kind)


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["wandb", "mlruns", "mlflow", "tensorboard", "optuna", "ray", "multirun"])
def test_what_the_installed_tool_leaves_is_imported(tmp_path: Path, tool: str) -> None:
    """As above, of the version that is installed."""
    module = {"mlruns": "mlflow", "tensorboard": "tensorboardX", "multirun": "hydra"}.get(tool, tool)
    if subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True).returncode:
        pytest.skip(f"{module} is not installed: pip install 'swingby[tools]'")
    script = Path(__file__).with_name("make_runs.py")
    subprocess.run([PYTHON, str(script), tool, str(tmp_path)], check=True, capture_output=True, cwd=tmp_path)
    kind = {"mlflow": "mlflow.db", "optuna": "optuna.db", "tensorboard": ""}.get(tool, tool)
    check(read(tmp_path / kind), kind)


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_tools_need_no_options(left: Path, name: str) -> None:
    """Settings are parameters and the seed is the seed, with the last loss of each run."""
    imported = read(left / name)
    done = {(row["lr"], row["seed"]): row for row in rows_of(imported) if row["status"] == "ok"}
    assert sorted(one for one in done if one[1] < 2) == GRID
    assert all(done[rate, seed][TABLES[name]] == pytest.approx(losses(rate)[-1]) for rate, seed in GRID)


def test_what_is_no_axis_is_told(left: Path) -> None:
    """A path of each run's own is no parameter; a parameter of some runs alone is null in the others; MLflow's largest
    number is infinity, which is a gap, and told."""
    for kind in ("mlruns", "mlflow.db", "search_runs.csv"):
        imported = read(left / kind)
        assert list(imported.layout.params) in (["lr", "momentum"], ["momentum", "lr"])
        assert {(row["lr"], row["momentum"]) for row in rows_of(imported)} == {(0.1, None), (0.5, 0.9)}
        assert {row["acc"] for row in rows_of(imported) if row["lr"] == 0.5} == {None}
        assert all("acc is inf" in row["message"] for row in rows_of(imported) if row["lr"] == 0.5)
        assert any("out" in name for name in imported.layout.settings)
        assert "3 runs without momentum" in "\n".join(imported.lines())


def test_conditional_parameters_are_stored(left: Path, tmp_path: Path) -> None:
    """A study whose trials differ in what parameters they have: a second import adds nothing, and null is a value."""
    words = ["import", left / "optuna.db", "--data", tmp_path / "data"]
    first, second = swingby(*words), swingby(*words)
    assert re.search(r"toy \(\w+\): 5 cells imported", first.output)
    assert "0 cells imported from optuna.db, 5 there already" in second.output
    with Store.open(tmp_path / "data") as store:
        rows = store.sql("select kind, momentum, count(*) as n from toy group by all order by kind").rows()
    assert [(row.kind, row.momentum, row.n) for row in rows] == [("adam", None, 2), ("sgd", 0.9, 3)]


@pytest.mark.slow
def test_conditional_parameters_are_drawn(left: Path, tmp_path: Path) -> None:
    """On the page of a study."""
    swingby("import", left / "optuna.db", "--data", tmp_path / "data")
    drawn = swingby("report", "toy", "--data", tmp_path / "data", "--out", tmp_path / "out")
    assert drawn.exit_code == 0, drawn.output


def test_settings_of_every_kind_are_stored(tmp_path: Path) -> None:
    """Lists of some runs and none of others, booleans, texts, and numbers that are whole here and broken there."""
    kinds = [None, [16, 16], [8]], [True, False, True], ["a", None, "b c"], [1, 0.5, 2]
    for place, (hidden, flag, word, rate) in enumerate(zip(*kinds, strict=True)):
        folder = tmp_path / "runs" / str(place)
        folder.mkdir(parents=True)
        settings = {"model": {"hidden": hidden, "flag": flag}, "word": word, "rate": rate, "seed": 7}
        (folder / "config.json").write_text(json.dumps(settings))
        (folder / "metrics.jsonl").write_text('{"step": 0, "loss": 1}\n{"step": 5, "loss": 0.5}\n')
    done = swingby("import", tmp_path / "runs", "--experiment", "kinds", "--data", tmp_path / "data")
    assert "3 cells imported" in done.output, done.output
    with Store.open(tmp_path / "data") as store:
        rows = store.sql(
            'select "model.hidden" as h, "model.flag" as f, word, rate, step, loss, seed from kinds order by rate'
        )
        found = [tuple(row.values()) for row in rows.arrow().to_pylist()]
    curve = ([0, 5], [1, 0.5], 7)
    assert found == [([16, 16], False, None, 0.5, *curve), (None, True, "a", 1, *curve), ([8], True, "b c", 2, *curve)]


def test_versions_of_lightning(tmp_path: Path) -> None:
    """Settings with a tuple of Python, and a table in which training and validation share a step in two rows."""
    for version, rate in enumerate((0.1, 0.2)):
        folder = tmp_path / "logs" / f"version_{version}"
        folder.mkdir(parents=True)
        (folder / "hparams.yaml").write_text(f"lr: {rate}\nseed: 3\nwidths: !!python/tuple\n- 16\n- 8\n")
        (folder / "metrics.csv").write_text("epoch,step,loss,val_loss\n0,9,1.0,\n0,9,,0.9\n1,19,0.5,\n1,19,,0.6\n")
    rows = rows_of(read(tmp_path / "logs"))
    assert [(row["lr"], row["widths"], row["seed"], row["step"]) for row in rows] == [
        (rate, [16, 8], 3, [9, 19]) for rate in (0.1, 0.2)
    ]
    assert {tuple(row["loss"] + row["val_loss"]) for row in rows} == {(1, 0.5, 0.9, 0.6)}


def test_several_studies_are_told_apart(left: Path, tmp_path: Path) -> None:
    """Of a store with two, one is to be named."""
    copy = tmp_path / "two.db"
    shutil.copy(left / "optuna.db", copy)
    with sqlite3.connect(copy) as connection:
        connection.execute("insert into studies values (2, 'other')")
        connection.execute("insert into trials select 100, 0, 2, state, null, null from trials limit 1")
        connection.execute("insert into trial_values values (100, 100, 0, 0.5, 'FINITE')")
    with pytest.raises(SwingbyError, match=r"--study takes one of toy \(5 runs\), other \(1 run\)"):
        read(copy)
    assert len(rows_of(read(copy, study="toy"))) == 5


PANEL = """"Step","width: 4 seed: 0 - {m}","width: 4 seed: 0 - {m}__MIN","width: 4 seed: 0 - {m}__MAX",\
"width: 8 seed: 0 - {m}"
"0","1.0","0.5","1.5","0.9"
"10","0.5","0.5","0.5",""
"20","NaN","NaN","NaN","0.2"
"""


def test_panels_of_wandb(tmp_path: Path) -> None:
    """A column is a run; two panels are two metrics of the same runs; means of several points are told."""
    files = []
    for metric in ("val/loss", "val/acc"):
        files.append(tmp_path / f"{metric[4:]}.csv")
        files[-1].write_text(PANEL.replace("{m}", metric))
    imported = read(files, ColumnRoles(params=("width",), step="Step"))
    assert imported.cells.curves == ("val_loss", "val_acc")
    four, eight = rows_of(imported)
    assert (four["width"], eight["width"], four["seed"]) == (4, 8, 0)
    assert (eight["step"], eight["val_loss"]) == ([0, 20], [0.9, 0.2])
    assert (four["status"], four["step"]) == ("diverged", [0, 10, 20])
    assert "1 mean of several points or runs" in "\n".join(imported.lines())
    files[0].write_text("Step,a - loss,a - loss\n0,1,2\n")
    with pytest.raises(SwingbyError, match="two columns are called 'a - loss'"):
        read(files[0])


def test_panels_beside_the_table_of_runs(tmp_path: Path) -> None:
    """The table says the settings and the ends of the runs whose names say nothing; a run that it lacks is left out."""
    (tmp_path / "loss.csv").write_text("Step,glad-1 - loss,red-2 - loss,odd-3 - loss\n0,1,2,3\n1,0.5,1,2\n")
    (tmp_path / "runs.csv").write_text("Name,State,Runtime,lr,seed\nglad-1,finished,9,0.1,0\nred-2,crashed,9,0.2,0\n")
    with pytest.raises(SwingbyError, match="the table of all runs, as the tool exports it, has them too"):
        read(tmp_path / "loss.csv")
    imported = read([tmp_path / "runs.csv", tmp_path / "loss.csv"], ColumnRoles(params=("lr",)))
    rows = [(row["lr"], row["seed"], row["status"], row["loss"]) for row in rows_of(imported)]
    assert rows == [(0.1, 0, "ok", [1, 0.5]), (0.2, 0, "failed", [2, 1])]
    assert "1 run left out (odd-3): it is not in the table of runs" in "\n".join(imported.lines())


def test_names_hold_settings(tmp_path: Path) -> None:
    """TensorBoard's CSV is a file a run; without a template the message proposes the one that fits."""
    for rate, seed in GRID:
        text = "Wall time,Step,Value\n" + "".join(f"1.5,{step},{loss}\n" for step, loss in enumerate(losses(rate)))
        (tmp_path / f"run-lr{rate}_s{seed}-tag-train_loss.csv").write_text(text)
    with pytest.raises(SwingbyError, match=r"--from-name 'lr\{lr\}_s\{seed\}' would read them"):
        read(tmp_path)
    with pytest.raises(SwingbyError, match=r"--from-name 'lr\{lr\}_s\{seed\}' would read them"):
        read(next(tmp_path.iterdir()))
    check(read(tmp_path, from_name="lr{lr}_s{seed}"), "plain")
    (tmp_path / "other.csv").write_text("step,loss\n0,1\n1,2\n")
    told = "\n".join(read(tmp_path, from_name="lr{lr}_s{seed}").lines())
    assert "1 run left out (other.csv): its name does not fit" in told


@settings(max_examples=50)
@given(
    st.lists(st.sampled_from(["lr", "width", "seed", "n.layers"]), min_size=1, max_size=4, unique=True),
    st.lists(st.sampled_from(["-", "_", "=", " x ", "(", ".*"[:1]]), min_size=4, max_size=4),
    st.lists(st.integers(0, 999) | st.floats(0.001, 9).map(lambda x: round(x, 3)), min_size=4, max_size=4),
)
def test_a_template_reads_what_it_writes(names: list[str], between: list[str], values: list[float]) -> None:
    """Numbers put into a template are read back, with folders before it and an ending behind it."""
    template = "run" + "".join(f"{text}{{{name}}}" for name, text in zip(names, between, strict=False))
    name = "run" + "".join(f"{text}{value}" for _, text, value in zip(names, between, values, strict=False))
    found = settings_in(template, pattern_of(template), f"a/b/{name}.csv")
    assert found is not None
    if "." not in between[: len(names)]:
        assert found == dict(zip(names, values, strict=False))


def test_a_proposed_template_fits() -> None:
    """Where all names have one form, that form; else none."""
    names = ["a/run-lr0.1_s0", "a/run-lr0.2_s1"]
    proposal = template_for(names)
    assert proposal == "run-lr{lr}_s{seed}"
    assert [settings_in(proposal, pattern_of(proposal), name) for name in names] == [
        {"lr": 0.1, "seed": 0},
        {"lr": 0.2, "seed": 1},
    ]
    assert template_for(["glad-moon", "run_2"]) is None


def test_files_of_runs_in_any_dialect(tmp_path: Path) -> None:
    """Semicolons with decimal commas, tabs, JSON of lists, JSON lines of which the last was half written, and a text
    among numbers: all are read, and what is lost is told."""
    texts = {
        "lr1_s0.csv": "step;loss\n0;1,5\n1;0,5\n",
        "lr1_s1.tsv": "step\tloss\n0\t1.5\n1\t0.5\n",
        "lr1_s2.json": '{"loss": [1.5, 0.5], "acc": 0.5}',
        "lr1_s3.jsonl": '{"step": 0, "loss": 1.5}\n{"step": 1, "loss": 0.5}\n{"step": 2, "lo',
        "lr1_s4.csv": "step,loss\n0,1.5\n1,oops\n",
        "lr1_s5.csv": "",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    imported = read(tmp_path, from_name="lr{lr}_s{seed}")
    rows = {row["seed"]: row for row in rows_of(imported)}
    assert [rows[seed]["loss"] for seed in range(5)] == [[1.5, 0.5]] * 4 + [[1.5]]
    told = "\n".join(imported.lines())
    assert "a line that was half written, of 1 run (lr1_s3.jsonl)" in told
    assert "values of loss that are no numbers, of 1 run (lr1_s4.csv)" in told
    assert "1 run left out (lr1_s5.csv): lr1_s5.csv is empty" in told


def test_a_table_with_semicolons_and_a_text_among_numbers(tmp_path: Path) -> None:
    """As spreadsheets write it: the decimal comma is read, and a column that a text spoils is said to be one."""
    (tmp_path / "a.csv").write_text("lr;acc;note\n0,1;0,5;1\n0,2;0,25;high\n")
    imported = read(tmp_path / "a.csv", ColumnRoles(params=("lr",)))
    assert [(row["lr"], row["acc"], row["note"]) for row in rows_of(imported)] == [(0.1, 0.5, "1"), (0.2, 0.25, "high")]
    assert "note is a text: 1 of its values are no numbers, such as 'high'" in imported.cells.notes


def test_a_run_that_was_started_again_counts_once(tmp_path: Path) -> None:
    """Of runs of one cell that one counts that ended well, else the last; the others are told. Two that ended well are
    a fault."""
    states = [("a", "crashed", 0, 0.9), ("b", "finished", 0, 0.5), ("c", "failed", 1, 0.8), ("d", "failed", 1, 0.7)]
    text = "Name,State,lr,seed,loss\n" + "".join(f"{n},{state},0.1,{s},{loss}\n" for n, state, s, loss in states)
    (tmp_path / "runs.csv").write_text(text)
    imported = read(tmp_path / "runs.csv", ColumnRoles(params=("lr",)))
    assert [(row["seed"], row["status"], row["loss"]) for row in rows_of(imported)] == [
        (0, "ok", 0.5),
        (1, "failed", 0.7),
    ]
    assert "2 runs that did not end well left out" in "\n".join(imported.lines())
    (tmp_path / "runs.csv").write_text(text.replace("crashed", "finished"))
    with pytest.raises(SwingbyError, match="one cell comes more than once"):
        read(tmp_path / "runs.csv", ColumnRoles(params=("lr",)))


def test_files_that_hold_their_settings(tmp_path: Path) -> None:
    """Of a file a run, that has settings and results alike, --params says which are settings."""
    for seed in range(2):
        (tmp_path / f"r{seed}.json").write_text(f'{{"lr": 0.1, "seed": {seed}, "acc": 0.5}}')
    with pytest.raises(SwingbyError, match="--params lr where the files do"):
        read(tmp_path)
    imported = read(tmp_path, ColumnRoles(params=("lr",)))
    assert [(row["lr"], row["seed"], row["acc"]) for row in rows_of(imported)] == [(0.1, 0, 0.5), (0.1, 1, 0.5)]


# counts


def test_tables_of_counts(tmp_path: Path) -> None:
    """Of each row as many cells as were counted, of which as many are a yes; no other columns than parameters."""
    (tmp_path / "counts.csv").write_text("rate,k,n\n0.1,0,4\n0.2,3,4\n0.4,5,5\n")
    words = ["import", tmp_path / "counts.csv", "--counts", "k,n", "--outcome", "k", "--data", tmp_path / "data"]
    done = swingby(*words)
    assert "13 cells imported" in done.output, done.output
    assert "worth training next for k" in done.output
    query = "select rate, count(*) filter (k) as k, count(*) as n from counts group by all order by all"
    with Store.open(tmp_path / "data") as store:
        assert store.sql(query).arrow().to_pylist()[1] == {"rate": 0.2, "k": 3, "n": 4}
    (tmp_path / "counts.csv").write_text("rate,k,n\n0.1,5,4\n")
    with pytest.raises(SwingbyError, match="row 1 has 5 of 4"):
        read(tmp_path / "counts.csv", counts=("k", "n"))


def test_the_next_cells_lie_where_shares_are_open(tmp_path: Path) -> None:
    """Where an outcome turns from never to always at one point, that point gets most of the ten cells."""
    rows = [
        f"{rate},{seed},{str(rate > 5 or (rate == 5 and seed % 2 == 0)).lower()}"
        for rate in range(1, 11) for seed in range(10)
    ]  # fmt: skip
    (tmp_path / "runs.csv").write_text("\n".join(["rate,seed,won", *rows]))
    words = ["import", tmp_path / "runs.csv", "--params", "rate", "--outcome", "won", "--data", tmp_path / "data"]
    lines = [line for line in swingby(*words).output.splitlines() if line.startswith("  rate = ")]
    cells = {line.split(":")[0].split()[-1]: int(line.split(":")[1].split()[0]) for line in lines}
    assert max(cells, key=lambda rate: cells[rate]) == "5"
    assert sum(cells.values()) == 10


# damage


@settings(max_examples=40)
@given(st.data())
def test_damage_is_told(left: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """A file that ends early, or has a wrong byte, gives a beginning of each curve, and says so; or it is left out."""
    tool = data.draw(st.sampled_from([wandb_files, tensorboard]))
    pattern = "wandb/*/*.wandb" if tool is wandb_files else "tensorboard/lr*/events*"
    file = sorted(left.glob(pattern))[0]
    content = bytearray(file.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    if cut := data.draw(st.booleans()):
        del content[at:]
    else:
        content[at] ^= 1 << data.draw(st.integers(0, 7))
    damaged = tmp_path_factory.mktemp("damaged") / file.name
    damaged.write_bytes(content)
    (whole,), (one,) = list(tool.runs(file)), list(tool.runs(damaged))
    assert isinstance(whole, Run)
    if isinstance(one, LeftOut):
        assert one.why
        return
    for name, curve in one.curves.items():
        kept = list(curve.items())
        assert kept == list(whole.curves[name].items())[: len(kept)]
    complete = one.curves == whole.curves and (one.params, one.scalars, one.status) == (
        whole.params, whole.scalars, whole.status,
    )  # fmt: skip
    # A cut between two records of an event file leaves a whole file; of W&B's, one that has no end.
    whole_records = cut and tool is tensorboard and not one.notes
    assert complete or one.notes or one.status == "crashed" or whole_records


@pytest.mark.parametrize("kind", ["mlflow.db", "optuna.db"])
def test_damaged_and_locked_stores_are_refused_by_name(left: Path, tmp_path: Path, kind: str, monkeypatch: Any) -> None:
    """A store that another process writes, one with a page of noise, and one that ends early."""
    monkeypatch.setattr("swingby.imports.tools.sqlite.WAIT", 0.1)
    copy = tmp_path / kind
    shutil.copy(left / kind, copy)
    with locked(copy), pytest.raises(SwingbyError, match=rf"{kind} cannot be read: database is locked; copy it"):
        read(copy)
    content = copy.read_bytes()
    copy.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    with pytest.raises(SwingbyError, match=rf"{kind} cannot be read"):
        read(copy)
    copy.write_bytes(content[:5000])
    with pytest.raises(SwingbyError, match=rf"{kind} cannot be read"):
        read(copy)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """A context in which another connection writes."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("begin exclusive")
        yield


class Trap:
    """An object that says so when it is unpickled."""

    def __reduce__(self) -> Any:
        return (Path.touch, (Path(os.environ["TRAP"]),))


def test_nothing_that_a_folder_holds_is_run(left: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pickles beside results are not opened, tags of Python in YAML are not obeyed, and aliases do not multiply."""
    trap = tmp_path / "sprung"
    monkeypatch.setenv("TRAP", str(trap))
    shutil.copytree(left / "ray", tmp_path / "ray")
    trials = sorted((tmp_path / "ray").iterdir())
    for trial in trials:
        (trial / "params.pkl").write_bytes(pickle.dumps(Trap()))
    check(read(tmp_path / "ray"), "ray")
    shutil.copytree(left / "multirun", tmp_path / "multirun")
    first, second = sorted((tmp_path / "multirun").rglob("config.yaml"))[:2]
    first.write_text(f"lr: !!python/object/apply:pathlib.Path.touch [{trap}]\n")
    second.write_text("a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
        f"b{k}: &b{k} [{', '.join(['*' + (f'b{k - 1}' if k else 'a')] * 9)}]\n" for k in range(9)))  # fmt: skip
    told = "\n".join(read(tmp_path / "multirun").lines())
    assert "aliases are not read" in told
    assert "could not determine a constructor" in told
    with pytest.raises(SwingbyError, match="a pickle is not read: it can run code"):
        read(trials[0] / "params.pkl")
    assert not trap.exists()


def test_what_is_not_known_is_refused_with_what_is(tmp_path: Path) -> None:
    """An empty folder, a folder of pictures, a path that is not there, an unknown ending."""
    (tmp_path / "picture.png").write_bytes(b"x")
    for path, why in ((tmp_path, "has no runs that are known"), (tmp_path / "no", "no file"),
                      (tmp_path / "picture.png", "the ending says the format")):  # fmt: skip
        with pytest.raises(SwingbyError, match=why):
            read(path)
