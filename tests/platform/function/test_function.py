"""An experiment that is a function: what its signature and first results give, and what becomes of faults."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from swingby.api import Results, Sweep
from swingby.data.records import Records
from swingby.data.records.headers import PLAN_COLUMNS
from swingby.errors import InputFaults, SwingbyError
from swingby.function.agreed import TAKEN, Agreed, Row
from swingby.function.experiment import FunctionExperiment
from swingby.function.load import from_file
from swingby.function.source import local_files
from swingby.function.values import kind, plain
from swingby.model import columns, registry
from swingby.model.experiment import Recording, Resources
from swingby.run.driver import run_sweep
from swingby.run.options import RunOptions
from swingby.run.preview import plan
from swingby.run.progress import Progress
from swingby.store import Store, ingest
from swingby.store.lookup import find_sweep
from swingby.store.views import RESERVED
from tests.benchmarks.forms import both_forms
from tests.support.command import in_child, swingby
from tests.support.packages import install
from tests.support.places import ROOT
from tests.support.waiting import awaited

TRAIN = '''
"""A quadratic by gradient descent."""
import warnings
from swingby import experiment
from rule import gradient  # beside this file


@experiment
def quadratic(cell, lr: float, width: int = 3, steps: int = 40, kind: str = "plain"):
    """Gradient descent on a quadratic."""
    warnings.simplefilter("ignore")
    w = cell.numpy("init").normal(size=width)
    for step in range(steps + 1):
        loss = float(w @ w)
        cell.record(step, loss=loss, pair=w[:2])
        w = w - lr * gradient(w)
        if kind == "raise" and step == 7:
            raise ValueError("no data")
    if kind == "wrong":
        return 3
    if kind == "text":
        return {"end": "none"}
    if kind == "case":
        return {"End": loss}
    if kind == "other":
        return {"last": loss}
    return {"end": loss, "learned": loss < 1e-3, "count": step, "pair_end": w[:2]}
'''
SWEEP = """
name: quadratic
experiment: train.py
axes: {lr: [0.05, 0.3], width: [2, 3]}
seeds: 2
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a sweep file, the function, and a module beside it."""
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "rule.py").write_text("def gradient(w):\n    return 2 * w\n")
    (tmp_path / "quadratic.yaml").write_text(SWEEP)
    return tmp_path


def run(folder: Path, *overrides: str, **options: Any) -> Any:
    """Trains the sweep of the folder in the for-loop."""
    options = {"local": True, "pilot": False, "progress": Progress(), **options}
    return run_sweep(Sweep.load(folder / "quadratic.yaml", overrides), folder / "data", **options)


def rows(folder: Path, query: str = "from quadratic order by cell_id") -> list[Any]:
    """Rows of the folder's store."""
    with Store.open(folder / "data") as store:
        return store.sql(query).rows()


def test_a_file_is_an_experiment(folder: Path) -> None:
    """Parameters, curves and scalars are there with their types; curves are those that the same loop computes here."""
    assert run(folder).ok == 8
    found = rows(folder)
    assert len(found) == 8
    for row in found:
        assert list(row.step) == list(range(41))
        assert row.steps == row.last_step == 40
        assert np.shape(row.pair) == (41, 2)
        assert row.end == row.loss[-1]
        assert row.learned == (row.end < 1e-3)
        assert row.count == 40
        assert len(row.pair_end) == 2
        rate = (1 - 2 * row.lr) ** 2
        np.testing.assert_allclose(row.loss, row.loss[0] * rate ** np.arange(41), rtol=1e-9)
    same = {row.loss[0] for row in found if (row.seed, row.width) == (0, 2)}
    assert len(same) == 1  # common seeds: both rates begin at one point


def test_the_record_of_a_sweep_is_kept(folder: Path) -> None:
    """The steps are those that the sweep asks for, and `wants` says which."""
    run(folder, "record={points: 9}")
    expected = Recording(points=9).at(40).tolist()
    assert all(list(row.step) == expected for row in rows(folder))


def test_columns_keep_the_order_in_which_they_are_recorded(tmp_path: Path) -> None:
    """Reports show the first curves of a function: which these are hangs on the code alone."""
    names = [f"{letter}_curve" for letter in "qbzamkd"]
    values = ", ".join(f"{name}=1.0 + step" for name in names)
    scalars = ", ".join(f"'{name}_end': 1.0" for name in names)
    (tmp_path / "train.py").write_text(
        "from swingby import experiment\n\n\n@experiment\ndef quadratic(cell, lr: float, steps: int = 4):\n"
        f"    for step in range(steps + 1):\n        cell.record(step, {values})\n    return {{{scalars}}}\n"
    )
    (tmp_path / "quadratic.yaml").write_text("experiment: train.py\nname: ordered\naxes: {lr: [0.1]}\nseeds: 1\n")
    run(tmp_path)
    with Store.open(tmp_path / "data") as store:
        find_sweep(store, "ordered")
    known = registry.experiment("quadratic")
    assert [name for name in known.curves if name != "step"] == names
    assert list(known.scalars) == [f"{name}_end" for name in names]


def test_a_misspelt_outcome_is_told_at_the_end_of_the_run(folder: Path) -> None:
    """The columns of a function are known by its results; a name that is right is not complained of."""
    said = list[str]()

    class Heard(Progress):
        def line(self, text: str) -> None:
            said.append(text)

    run(folder, "diagram={x: lr, y: width, outcome: learnt}", progress=Heard())
    (warning,) = [text for text in said if text.startswith("warning: the runs")]
    assert "recorded no 'learnt', which its diagram shows; did you mean 'learned'?" in warning
    said.clear()
    for right in ("learned", "final_loss", "status"):
        run(folder, f"diagram={{x: lr, y: width, outcome: {right}}}", progress=Heard())
    assert not [text for text in said if text.startswith("warning: the runs")]


@pytest.mark.parametrize("ray", [pytest.param(True, marks=pytest.mark.slow), False])
def test_workers_train_what_the_loop_trains(folder: Path, ray: bool) -> None:
    """Workers get the code from the plan, also that of the module beside it, though both files are gone."""
    run(folder)
    expected = rows(folder, "select * exclude (shard, attempt) from quadratic order by cell_id")
    sweep = Sweep.load(folder / "quadratic.yaml")
    (folder / "train.py").unlink()
    (folder / "rule.py").unlink()
    # Worker processes of the driver's own train what pilots have shown to be short, and are the pilots' too.
    result = run_sweep(sweep, folder / "other" / "data", workers=2, ray=ray, pilot=not ray, progress=Progress())
    assert result.ok == 8
    assert rows(folder / "other", "select * exclude (shard, attempt) from quadratic order by cell_id") == expected


def test_a_sweep_file_sets_resources(folder: Path) -> None:
    """What it sets wins over the experiment; a part of a GPU is one, and the cells and their ids stay as they are."""
    plain_sweep = Sweep.load(folder / "quadratic.yaml")
    sweep = Sweep.load(folder / "quadratic.yaml", ["resources={cpus: 2, gpus: 0.5}"])
    planned = plan(sweep, Records.open(folder / "data"), RunOptions(pilot=False))
    assert planned.process_resources["quadratic"] == Resources(cpus=2, gpus=0.5)
    assert {planned.device(note) for note in planned.batches} == {"cuda"}
    assert sweep.sweep_id == plain_sweep.sweep_id
    for wrong in ("1.5", "0.00001"):
        with pytest.raises(InputFaults, match=rf"no process has {float(wrong):g} GPUs"):
            Sweep.load(folder / "quadratic.yaml", [f"resources.gpus={wrong}"])


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("raise", "ValueError: no data (train.py, line 18)"),
        ("wrong", "quadratic returned int; allowed: a dictionary of scalars by name, or nothing"),
        ("text", "end is str here, and float in cell"),
        ("case", "it returned 'End'; cell"),
    ],
)
def test_what_goes_wrong_is_the_cells_alone(folder: Path, kind: str, said: str) -> None:
    """A cell that raises, returns something else, or has other columns fails with the reason; its neighbours go on."""
    result = run(folder, f"axes={{kind: [plain, {kind}]}}", "base={lr: 0.1}")
    assert (result.ok, result.failed) == (2, 2)
    messages = {row.message for row in rows(folder) if row.kind == kind}
    assert all(said in message for message in messages), messages


def test_a_cell_may_lack_what_others_have(folder: Path) -> None:
    """Scalars that only some settings return are null elsewhere."""
    assert run(folder, "axes={kind: [plain, other]}", "base={lr: 0.1}").ok == 4
    found = {(row.kind, row.end is None, row.last is None) for row in rows(folder)}
    assert found == {("plain", False, True), ("other", True, False)}


def test_a_value_that_is_not_finite_ends_the_cell(folder: Path) -> None:
    """It counts as diverged, with the step and the name; its curve ends there; the others are not touched."""
    result = run(folder, "axes={lr: [0.1, 1.0e+20]}")
    assert (result.ok, result.diverged) == (2, 2)
    for row in rows(folder, "from quadratic where status = 'diverged'"):
        assert row.message == f"loss is inf at step {row.step[-1]}"
        assert row.loss[-1] == float("inf")
        assert len(row.loss) == len(row.step) == len(row.pair) < 41
        assert row.end is None


def test_a_run_whose_pilots_all_fail_stops(folder: Path) -> None:
    """It says why, with the line of the user's code, and trains nothing more."""
    with pytest.raises(SwingbyError, match=r"that were tried first have failed.*no data, train.py line 18"):
        run(folder, "base={kind: raise}", "seeds=20", pilot=True)
    assert len(rows(folder)) < 80


def test_results_of_other_code_never_count_silently(folder: Path) -> None:
    """Comments and layout change nothing; another line does: refused, kept, or taken back and trained again."""
    run(folder)
    (folder / "rule.py").write_text("# the same\ndef gradient( w ):\n\n    return 2 * w\n")
    assert run(folder).trained == 0
    (folder / "rule.py").write_text("def gradient(w):\n    return 2.5 * w\n")
    with pytest.raises(SwingbyError, match="8 cells of 'quadratic' have results of another version"):
        run(folder)
    assert run(folder, older="keep").trained == 0
    before = {row.cell_id: row.end for row in rows(folder)}
    sweep = Sweep.load(folder / "quadratic.yaml")
    assert sweep.run(folder / "data", local=True, pilot=False, older="retrain").ok == 8
    after = {row.cell_id: row.end for row in rows(folder)}
    assert after.keys() == before.keys()
    assert all(after[cell] != before[cell] for cell in after)
    assert {token for row in rows(folder) for token in row.recorded} >= {f"code:{sweep.experiment.code}"}
    assert run(folder).trained == 0


def test_the_code_is_in_the_plan(folder: Path) -> None:
    """Both files, by their names, and the hash that every row is marked with."""
    run(folder)
    (row,) = rows(folder, "select provenance from plans")
    assert '"train.py"' in row.provenance
    assert '"rule.py"' in row.provenance
    assert set(local_files(folder / "train.py")) == {"train.py", "rule.py"}


def test_readers_need_no_code(folder: Path) -> None:
    """In a process that has never seen the file a report's reader knows parameters and columns."""
    run(folder)
    (folder / "train.py").unlink()
    code = f"""
from pathlib import Path
from swingby.model import registry
from swingby.store import Store, ingest
from swingby.store.lookup import find_sweep
with Store.open(Path({str(folder / "data")!r})) as store:
    find_sweep(store, "quadratic")
of = registry.experiment("quadratic")
print(list(of.Params.model_fields), sorted(of.curves), sorted(of.scalars), of.title)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "['lr', 'width', 'steps', 'kind'] ['loss', 'pair', 'step'] ['count', 'end', 'learned', 'pair_end'] "
        "Gradient descent on a quadratic"
    )


BATCHED = '''
import warnings
import numpy as np
from swingby import experiment


@experiment(batched=True)
def quadratic(cells, lr: float, width: int = 3, steps: int = 40, kind: str = "plain"):
    """All cells at once."""
    warnings.simplefilter("ignore")
    start = [cell.numpy("init").normal(size=n) for cell, n in zip(cells, width)]
    loss = np.array([w @ w for w in start])
    for step in range(steps + 1):
        cells.record(step, loss=loss)
        loss = loss * (1 - 2 * lr) ** 2
    return {"end": loss / (1 - 2 * lr) ** 2}
'''


def test_a_batched_function_gives_what_the_plain_one_gives(folder: Path) -> None:
    """Columns of parameters in, arrays over cells out: the same losses, and what diverges ends alone."""
    run(folder)
    expected = {row.cell_id: row.loss for row in rows(folder)}
    (folder / "train.py").write_text(BATCHED)
    assert run_sweep(
        Sweep.load(folder / "quadratic.yaml"), folder / "b" / "data", local=True, pilot=False, progress=Progress()
    ).ok == 8  # fmt: skip
    found = {row.cell_id: row.loss for row in rows(folder / "b")}
    assert found.keys() == expected.keys()
    for cell_id, loss in found.items():
        np.testing.assert_allclose(loss, expected[cell_id], rtol=1e-9)
    sweep = Sweep.load(folder / "quadratic.yaml", ["axes={lr: [0.1, 1.0e+20]}"])
    run_sweep(sweep, folder / "c" / "data", local=True, pilot=False, progress=Progress())
    assert sorted(row.status for row in rows(folder / "c")) == ["diverged", "diverged", "ok", "ok"]


LONG = '''
import os, time
import numpy as np
import torch
from swingby import experiment


@experiment
def slow(cell, steps: int = 60):
    """Goes on from its checkpoint."""
    state = cell.resume() or {"step": 0, "w": torch.zeros(2, dtype=torch.bfloat16), "sum": np.zeros(3), 5: (1, None)}
    first = state["step"]
    for step in range(first, steps + 1):
        state["sum"] = state["sum"] + 1
        state["w"] = state["w"] + 1
        assert state[5] == (1, None)
        cell.record(step, total=state["sum"][0], w=float(state["w"][0]))
        if step % 10 == 9:
            cell.checkpoint({**state, "step": step + 1})
            with open(os.environ["MARK"], "a") as mark:
                mark.write(f"{step} ")
        time.sleep(0.02)
    return {"began": first}
'''


def test_a_killed_cell_goes_on_from_its_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its curve is that of a cell that was never killed, with no step twice and none missing."""
    (tmp_path / "train.py").write_text(LONG)
    (tmp_path / "quadratic.yaml").write_text("name: slow\nexperiment: train.py\nseeds: 1\n")
    command = [sys.executable, "-m", "swingby", "run", "quadratic.yaml", "--local", "--no-pilot"]
    mark = tmp_path / "mark"
    monkeypatch.setenv("MARK", str(mark))
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    child = subprocess.Popen(command, cwd=tmp_path, **pipes)
    awaited(mark.exists, child=child)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert run(tmp_path).ok == 1
    (row,) = rows(tmp_path, "from slow")
    assert row.began >= 10
    assert list(row.step) == list(range(61))
    assert row.total == [float(step + 1) for step in range(61)]
    assert row.w == row.total


LIVE = '''
import os, signal
from swingby import experiment


@experiment
def live(cell, steps: int = 30, known: bool = True, fault: str = "none"):
    """Leaves rows as it goes on."""
    state = cell.resume() or {"step": 0}
    for step in range(state["step"], steps + 1):
        cell.record(step, loss=float("inf") if fault == "infinite" and step == 20 else 1.0 / (1 + step))
        if step == 10:
            cell.checkpoint({"step": 11})
        if fault == "raise" and step == 20:
            raise ValueError("no more")
        if fault == "die" and step == 20 and state["step"] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    return {"end": step}
'''


def test_a_cell_that_goes_on_leaves_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its curve is whole at the end, whatever the end is."""
    monkeypatch.setattr("swingby.function.experiment.ROW_SECONDS", 0.0)  # a row at each recorded step
    (tmp_path / "train.py").write_text(LIVE)
    (tmp_path / "quadratic.yaml").write_text(
        "name: live\nexperiment: train.py\naxes: {fault: [none, infinite, raise]}\n"
    )
    assert run(tmp_path).trained == 3
    found = {row.fault: row for row in rows(tmp_path, "from live")}
    last = {"none": ("ok", 30), "infinite": ("diverged", 20), "raise": ("failed", 19)}
    for fault, row in found.items():
        assert (row.status, list(row.step)) == (last[fault][0], list(range(last[fault][1] + 1)))
        assert list(row.loss)[:20] == [1.0 / (1 + step) for step in range(20)]
    assert found["infinite"].message == "loss is inf at step 20"
    assert len(list((tmp_path / "data" / "shards").rglob("*.parquet"))) > 30


def test_a_killed_cell_has_its_rows_and_goes_on(tmp_path: Path) -> None:
    """Rows of steps after the checkpoint are replaced by those that are trained again."""
    (tmp_path / "train.py").write_text(LIVE)
    (tmp_path / "quadratic.yaml").write_text("name: live\nexperiment: train.py\nbase: {fault: die}\n")
    code = (
        "import swingby.function.experiment as module; module.ROW_SECONDS = 0.0; from swingby.cli import app; app("
        "['run', 'quadratic.yaml', '--local', '--no-pilot'])"
    )
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == -signal.SIGKILL
    ingest(Records.open(tmp_path / "data"))
    (row,) = rows(tmp_path, "from live")
    assert (row.status, list(row.step)) == ("running", list(range(20)))
    assert run(tmp_path).ok == 1
    (row,) = rows(tmp_path, "from live")
    assert list(row.step) == list(range(31))
    assert list(row.loss) == [1.0 / (1 + step) for step in range(31)]


@pytest.mark.parametrize("value", [np.float64(2.5), np.float32(2.5), np.array(2.5), 2.5])
def test_numbers_of_every_library_are_one_type(value: Any) -> None:
    """A column holds Python's numbers, whoever made them."""
    assert type(plain(value, "loss")) is float
    assert plain(value, "loss") == 2.5
    assert kind([plain(value, "loss"), 1.0]) == "float"


def test_a_function_of_a_script_or_notebook_is_a_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`Sweep.of` takes any function; results have frames and an HTML form; SWINGBY_DATA counts."""

    def parabola(cell: Any, lr: float = 0.1, width: int = 2) -> dict[str, Any]:
        """A parabola."""
        cell.record(0, loss=lr * width)
        return {"end": lr * width + cell.seed}

    monkeypatch.setenv("SWINGBY_DATA", str(tmp_path / "data"))
    sweep = Sweep.of(parabola, axes={"lr": np.linspace(0.1, 0.3, 3), "width": (1, 2)}, seeds=2)
    assert repr(sweep) == "<Sweep parabola: 6 points x 2 seeds of parabola>"
    with pytest.raises(SwingbyError, match=r"parabola\(\) is defined in a notebook or at a prompt"):
        run_sweep(sweep, tmp_path / "other", workers=1, pilot=False, progress=Progress())
    results = sweep.run(pilot=False, progress=Progress())
    assert results.ok == 12
    frame = results.polars()
    assert frame.height == 12
    expected = frame["lr"] * frame["width"] + frame["seed"]
    np.testing.assert_allclose(frame["end"].to_numpy(), expected.to_numpy(), rtol=1e-12)
    assert frame.columns[:6] == ["lr", "width", "end", "seed", "status", "step"]
    assert frame.columns.index("loss") < frame.columns.index("cell_id")
    assert "<table" in results._repr_html_()
    assert len(results.sql("from parabola")) == 12
    there = Results.load("parabola")
    assert (there.ok, there.missing) == (12, 0)
    assert there.polars().equals(frame)
    with pytest.raises(SwingbyError, match="did you mean 'parabola'"):
        Results.load("parabole")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def train(cell):\n    pass\n", "has 0 experiments"),
        ("def train(cell:\n", "train.py, line 1"),
        ("from swingby import experiment\n@experiment\ndef a(cell, x):\n    pass\n", "the parameter x has no type"),
        (
            "from swingby import experiment\n@experiment\ndef a(cell, batch: int):\n    pass\n",
            "no parameter can be called 'batch', as a column of every table is; call it batch_size",
        ),
        ("from swingby import experiment\n@experiment\ndef a(cell, x: dict = None):\n    pass\n", "no typed column"),
        ("from swingby import experiment\n@experiment\ndef sim(cell):\n    pass\n", "the name of an installed one"),
        ("1 / 0\n", "ZeroDivisionError: division by zero (train.py, line 1)"),
    ],
)
def test_a_file_that_is_no_experiment_is_a_fault_of_the_sweep_file(tmp_path: Path, text: str, said: str) -> None:
    """Its line in the sweep file, and what is wrong in the Python file."""
    (tmp_path / "train.py").write_text(text)
    (tmp_path / "quadratic.yaml").write_text("name: a\nexperiment: train.py\n")
    with pytest.raises(InputFaults, match="line 2") as raised:
        Sweep.load(tmp_path / "quadratic.yaml")
    assert said in str(raised.value)


def test_a_parameter_without_default_has_to_be_set(folder: Path) -> None:
    """The sweep file's fault names it."""
    with pytest.raises(InputFaults, match="lr"):
        Sweep.load(folder / "quadratic.yaml", ["axes={width: [2]}"])


def test_the_readmes_function_is_swept(tmp_path: Path) -> None:
    """The pair of files in sweeps/README.md, as it stands there, and its query."""
    text = (ROOT / "sweeps" / "README.md").read_text()
    own = text.partition("## Your own experiment")[2].partition("## The form of a folder")[0]
    train, sweep = (re.findall(rf"```{kind}\n(.*?)```", own, re.DOTALL)[0] for kind in ("python", "yaml"))
    (query,) = re.findall(r'swingby sql "(.* from decay .*)"', own)
    (tmp_path / "decay.py").write_text(train)
    (tmp_path / "decay.yaml").write_text(sweep)
    result = run_sweep(Sweep.load(tmp_path / "decay.yaml"), tmp_path / "data", local=True, progress=Progress())
    assert result.ok == 180
    found = rows(tmp_path, query)
    assert len(found) == 9
    assert [row[1] for row in found] == sorted((row[1] for row in found), reverse=True)


def test_one_loop_in_both_forms_gives_the_same_curves(tmp_path: Path) -> None:
    """The files of examples/batched, as they stand there; a batch rounds otherwise, and float32 rounds much."""
    curves = []
    for name in ("teacher", "teacher_together"):
        sweep = Sweep.load(
            both_forms(tmp_path),
            [f"experiment=teacher.py:{name}", "seeds=1", "base.steps=40", "axes.lr.logspace.points=2"],
        )
        assert run_sweep(sweep, tmp_path / name, local=True, pilot=False, progress=Progress()).ok == 4
        with Store.open(tmp_path / name) as store:
            found = store.sql(f"select lr, gain, loss from {name} order by lr, gain").rows()
        curves.append(np.array([row.loss for row in found]))
    np.testing.assert_allclose(curves[1], curves[0], rtol=1e-3)


@pytest.mark.filterwarnings("ignore:.*encountered in")
def test_a_new_study_runs(tmp_path: Path) -> None:
    """`swingby new` writes two files that are trained and drawn; it writes over nothing."""
    result = swingby("new", "my-study", "--in", tmp_path)
    assert result.exit_code == 0, result.output
    sweep = Sweep.load(tmp_path / "my-study.yaml", ["seeds=1"])
    trained = run_sweep(sweep, tmp_path / "data", local=True, pilot=False, progress=Progress())
    assert (trained.ok + trained.diverged, trained.failed, trained.missing) == (63, 0, 0)
    learned = [row.learned for row in rows(tmp_path, "select learned from my_study")]
    assert 10 < sum(map(bool, learned)) < 60
    again = swingby("new", "my-study", "--in", tmp_path)
    assert again.exit_code == 2
    assert "cannot write over what is there" in again.output
    assert swingby("new", "My Study").exit_code == 2


def test_a_packaged_study_is_installed_and_its_code_counts(tmp_path: Path) -> None:
    """Its function runs by its name with its named sweep; an edited module of the package makes another version."""
    done = swingby("new", "my-study", "--in", tmp_path, "--packaged")
    assert done.exit_code == 0, done.output
    project = tmp_path / "my-study"
    declared = tomllib.loads((project / "pyproject.toml").read_text())["project"]["entry-points"]["swingby.packages"]
    points = "".join(f"{name} = {value}\n" for name, value in declared.items())
    install(tmp_path / "site", "my-study", f"[swingby.packages]\n{points}")
    path = os.pathsep.join([str(tmp_path / "site"), str(project), *filter(None, [os.environ.get("PYTHONPATH")])])

    def run_it(*more: str) -> str:
        run = ("run", "my-study", "--local", "--no-pilot", "--set", "seeds=1")
        result = in_child(tmp_path, *run, *more, PYTHONPATH=path)
        return result.stdout + result.stderr

    assert "63 cells" in run_it()
    (project / "my_study" / "rule.py").write_text("# a note\n")
    assert "63 cells of 'my-study' have results of another version of my_study's code" in run_it()
    assert "63 done, 0 missing" in run_it("--keep")


def test_taken_names_are_those_of_the_store() -> None:
    """A function's results may have no name that the table has anyway, and parameters none that a plan has."""
    assert {*RESERVED, "step"} - {"from_step", "to_step"} <= {*TAKEN}
    assert {*PLAN_COLUMNS} <= columns.STANDARD


def test_two_experiments_in_a_file_are_told_apart(tmp_path: Path) -> None:
    """`file.py:name` chooses; without a name both are listed."""
    text = "from swingby import experiment\n"
    for name in ("one", "two"):
        text += f"@experiment\ndef {name}(cell, a: int = 1):\n    return {{'b': a}}\n"
    (tmp_path / "train.py").write_text(text)
    with pytest.raises(SwingbyError, match=r"2 experiments \(one, two\)"):
        from_file(tmp_path / "train.py")
    of = from_file(tmp_path / "train.py", "two")
    assert isinstance(of, FunctionExperiment)
    assert of.name == "two"
    assert ROOT.is_dir()


GROWS = """
from swingby import experiment


@experiment{added}
def quadratic(cell, lr: float, width: int = 2{more}):
    for step in range(5):
        cell.record(step, loss=lr * width * step)
"""


def test_a_parameter_that_is_added_keeps_all_cells(tmp_path: Path) -> None:
    """Without it `plan` says how many would be trained again, and what to write; with it none is."""
    (tmp_path / "quadratic.yaml").write_text(SWEEP)
    (tmp_path / "train.py").write_text(GROWS.format(added="", more=""))
    run(tmp_path)
    before = {row.cell_id for row in rows(tmp_path)}
    (tmp_path / "train.py").write_text(GROWS.format(added="", more=", decay: float = 0.0"))
    planned = plan(Sweep.load(tmp_path / "quadratic.yaml"), Records.open(tmp_path / "data"), RunOptions(pilot=False))
    (hint,) = planned.hints
    assert "8 cells" in hint
    assert '(added={"decay": 0.0})' in hint
    (tmp_path / "train.py").write_text(GROWS.format(added='(added={"decay": 0.0})', more=", decay: float = 0.0"))
    assert run(tmp_path, older="keep").trained == 0
    assert run(tmp_path, "base={decay: 0.5}", older="keep").trained == 8
    found = {row.decay: set() for row in rows(tmp_path)}
    for row in rows(tmp_path):
        found[row.decay].add(row.cell_id)
    assert found[0.0] == before
    assert not found[0.5] & before
    resolved = Sweep.load(tmp_path / "quadratic.yaml").resolved
    reader = FunctionExperiment.of_declaration(resolved["declared"])
    assert reader.Params(lr=0.3, decay=0.0).canonical() == {"lr": 0.3, "width": 2}
    bad = tmp_path / "bad.py"
    bad.write_text(GROWS.format(added='(added={"other": 0.0})', more=""))
    with pytest.raises(SwingbyError, match="added names other"):
        from_file(bad)


def test_results_of_another_recording_are_told(folder: Path) -> None:
    """Before they are trained again, with what reads them."""
    run(folder, "record={points: 9}")
    planned = plan(Sweep.load(folder / "quadratic.yaml"), Records.open(folder / "data"), RunOptions(pilot=False))
    assert planned.missing == 8
    (hint,) = planned.hints
    assert "`record: {steps: log, points: 9}`" in hint
    again = Sweep.load(folder / "quadratic.yaml", ["record={steps: log, points: 9}"])
    assert plan(again, Records.open(folder / "data"), RunOptions(pilot=False)).hints == ()


GLOBAL = """
import random
import numpy as np
import torch
from swingby import experiment


@experiment
def quadratic(cell, lr: float, width: int = 2):
    return {"a": random.random(), "b": float(np.random.rand()), "c": float(torch.rand(()))}
"""


def test_global_generators_are_seeded_by_the_cell(folder: Path) -> None:
    """Alone as in company: what draws from `random`, `np.random` or torch is repeatable, and differs between seeds."""
    (folder / "train.py").write_text(GLOBAL)
    run(folder)
    query = "select cell_id, seed, a, b, c from quadratic order by cell_id"
    together = {row.cell_id: tuple(row) for row in rows(folder, query)}
    assert len({draws[2:] for draws in together.values()}) == 2  # seeds; common to all points
    alone = Sweep.load(folder / "quadratic.yaml", ["axes={lr: [0.3], width: [3]}", "seeds={count: 1, first: 1}"])
    run_sweep(alone, folder / "b" / "data", local=True, pilot=False, progress=Progress())
    (row,) = rows(folder / "b", query)
    assert tuple(row) == together[row.cell_id]


def test_modules_that_the_hash_does_not_see_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those from elsewhere that the file imports; none where all lie beside it."""
    (folder / "lib").mkdir()
    (folder / "lib" / "far_away_rule.py").write_text("def gradient(w):\n    return 2 * w\n")
    monkeypatch.syspath_prepend(str(folder / "lib"))
    options = RunOptions(pilot=False)
    assert plan(Sweep.load(folder / "quadratic.yaml"), Records.open(folder / "data"), options).hints == ()
    (folder / "train.py").write_text(TRAIN.replace("from rule import", "from far_away_rule import"))
    (hint,) = plan(Sweep.load(folder / "quadratic.yaml"), Records.open(folder / "data"), options).hints
    assert "imports far_away_rule," in hint


@pytest.mark.parametrize(("place", "named"), [("lib", True), ("site-packages", False)])
def test_a_package_from_elsewhere_is_named_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: str, named: bool
) -> None:
    """Without its modules; none where it is installed, also where the folder comes by PYTHONPATH, as on clusters."""
    package = f"far_away_{place[:3]}"
    (folder / place / package).mkdir(parents=True)
    (folder / place / package / "__init__.py").write_text("from .descent import gradient\n")
    (folder / place / package / "descent.py").write_text("def gradient(w):\n    return 2 * w\n")
    monkeypatch.syspath_prepend(str(folder / place))
    (folder / "train.py").write_text(TRAIN.replace("from rule import", f"from {package} import"))
    hints = plan(Sweep.load(folder / "quadratic.yaml"), Records.open(folder / "data"), RunOptions(pilot=False)).hints
    assert [f"imports {package}, outside" in hint for hint in hints] == [True] * named


def test_what_travels_with_no_code_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module from elsewhere that the function imports once it runs, and a data file that is too large."""
    (folder / "lib").mkdir()
    (folder / "lib" / "far_away_later.py").write_text("def gradient(w):\n    return 2 * w\n")
    monkeypatch.syspath_prepend(str(folder / "lib"))
    lines = TRAIN.splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith("def "))
    lines[at + 1 : at + 1] = ["    from far_away_later import gradient", '    open("images.bin", "rb").close()']
    (folder / "train.py").write_text("\n".join(lines))
    (folder / "images.bin").write_bytes(bytes(2_000_001))
    code, data = plan(
        Sweep.load(folder / "quadratic.yaml"), Records.open(folder / "data"), RunOptions(pilot=False)
    ).hints
    assert "imports far_away_later," in code
    assert "names images.bin," in data


def test_a_cell_that_is_refused_claims_no_column(tmp_path: Path) -> None:
    """Its columns are as if it had never been; the others agree, whoever is first and whatever becomes of the file."""

    def said(agreed: Agreed, cell: str, **scalars: Any) -> str | None:
        return agreed.checked(Row(cell, "ok", scalars=scalars)).message

    path = tmp_path / "columns" / "toy.jsonl"
    one, other = Agreed(path, ()), Agreed(path, ())
    assert said(one, "a", loss=0.5) is None
    assert said(one, "b", acc="high", loss="low") == "loss is str here, and float in cell a: a column has one type"
    assert said(other, "c", acc=0.9, loss=0.5) is None
    assert said(one, "d", acc="high") == "acc is str here, and float in cell c: a column has one type"
    path.write_bytes(b'{"acc": 5}\n[1]\n{"torn')
    assert said(other, "e", acc="high", more=1) == "acc is str here, and float in cell c: a column has one type"
    assert said(other, "f", more=1) is None
    path.unlink()
    path.mkdir()
    assert said(one, "g", more=1.5, new=True) is None
    assert said(Agreed(path, ()), "h", new=2) == "new is int here, and bool in cell g: a column has one type"


@pytest.mark.parametrize(
    ("way", "local"),
    [*((way, True) for way in ("gone", "empty", "garbage", "folders", "files")), ("bytecode", False), ("files", False)],
)
def test_a_cache_may_be_lost(folder: Path, way: str, local: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two runs all of `cache/` goes, is emptied, garbled or of another kind: the second trains the rest."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    ways = {"local": local, "pilot": not local, "ray": False}  # in this process, or by processes of its own
    assert run(folder, **ways).ok == 8
    cache = folder / "data" / "cache"
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert {path.relative_to(cache).parts[0] for path in files} == {"columns"} | (set() if local else {"code"})
    if way in ("gone", "files"):
        shutil.rmtree(cache)
    if way == "files":
        cache.mkdir()
        (cache / "code").write_text("none")
        (cache / "columns").write_text("none")
    if way == "bytecode":
        files = [path for path in files if path.suffix == ".pyc"]
        assert files
    for path in filter(Path.exists, files):
        # Bytecode keeps the head that Python looks at.
        torn = path.read_bytes()[: 16 if path.suffix == ".pyc" else 0] + b"\x00{[PK\xff" * 9
        path.unlink()
        if way == "folders":
            (path / "below").mkdir(parents=True)
        else:
            path.write_bytes(b"" if way == "empty" else torn)
    done = run(folder, "seeds=3", **ways)
    assert (done.ok, done.failed) == (12, 0)
    assert len(rows(folder)) == 12
