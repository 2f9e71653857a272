"""Imports: runs trained elsewhere are cells like those trained here, each once, whatever the form of their file."""

from __future__ import annotations

import csv
import gzip
import html
import json
import math
import re
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby.api import Results, Sweep
from swingby.cli.rows import Format, write_rows
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.function.experiment import experiment
from swingby.imports import layout
from swingby.imports.importing import ImportRequest, import_runs
from swingby.imports.layout import ColumnRoles, column_name
from swingby.imports.notice import imported_results
from swingby.store import Store, ingest, rebuild
from swingby.store.lookup import find_sweep, sweep_rows
from swingby_analysis.statements.judging import judge
from swingby_analysis.statements.needed import needed_sweeps, progress
from swingby_analysis.statements.statement import parse
from tests.support.command import swingby

pytestmark = pytest.mark.usefixtures("as_a_command")

CLAIM = """-- in most seeds: Small rates learn slowly [1]
-- sweeps: theirs
-- setting: lr = {lr}
-- measured: last loss {median(loss[-1]):.2f} (median)
-- asks: Of every run at the smallest rate: is its last loss below a fifth of its first?
select preset, seed, lr, loss, loss[-1] < 0.2 * loss[1] as holds from runs where lr = 0.25"""
LONG = ImportRequest("theirs", ColumnRoles(params=("lr", "width"), step="step"))
OPTUNA = """number,value,datetime_start,datetime_complete,duration,params_lr,params_width,user_attrs_epochs,state
0,0.1875,2026-01-02 02:44:53.899791,2026-01-02 02:44:53.900613,0 days 00:00:00.000822,0.0044,16,3.0,COMPLETE
1,0.1491,2026-01-02 02:44:53.900671,2026-01-02 02:44:53.900977,0 days 00:00:00.000306,0.0044,16,3.0,COMPLETE
2,0.0028,2026-01-02 02:44:53.901314,2026-01-02 02:44:53.901574,0 days 00:00:00.000260,0.0014,16,,PRUNED
3,,2026-01-02 02:44:53.901860,2026-01-02 02:44:53.902039,0 days 00:00:00.000179,0.0002,64,,FAIL
4,inf,2026-01-02 02:44:53.902096,2026-01-02 02:44:53.902398,0 days 00:00:00.000302,0.0216,64,3.0,COMPLETE
5,,2026-01-02 02:44:53.902460,,,0.0250,64,,RUNNING
"""
"""What `study.trials_dataframe().to_csv(index=False)` writes: pandas' empty fields and times, Optuna's states."""
WANDB_RUNS = """"Name","State","Notes","User","Tags","Created","Runtime","Sweep","lr","seed","train/loss","val/acc"
"glad-1","finished","-","me","","2026-01-01T00:00:00.000Z","12","s1","0.1","0","0.5","0.9"
"glad-2","finished","-","me","","2026-01-01T00:00:00.000Z","12","s1","0.1","1","NaN","0.1"
"glad-3","crashed","-","me","","2026-01-01T00:00:00.000Z","12","s1","0.2","0","",""
"glad-4","running","-","me","","2026-01-01T00:00:00.000Z","12","s1","0.2","1","0.3",""
"""
"""The table of runs of W&B's web page."""
WANDB_API = [
    {"name": "a", "state": "finished", "config": {"lr": 0.1, "opt": {"name": "sgd"}, "seed": 0, "note": None},
     "summary": {"loss": 0.5, "_step": 100, "_runtime": 3.2, "_wandb": {"runtime": 3}}},
    {"name": "b", "state": "killed", "config": {"lr": 0.2, "opt": {"name": "adam"}, "seed": 0, "note": "x"},
     "summary": {"loss": "NaN", "_step": 10, "_runtime": 3.2, "_wandb": {"runtime": 3}}},
]  # fmt: skip
"""Runs of W&B's API, a JSON line each."""


def cells(data: Path, query: str = "from theirs order by cell_id") -> list[dict[str, Any]]:
    """Rows of a folder's store."""
    with Store.open(data) as store:
        return store.sql(query).arrow().to_pylist()


def written(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """A file of these rows, in the format that its ending says."""
    if path.suffix == ".parquet":
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(path)
    elif path.suffix == ".jsonl":
        text = [{name: str(v) if v != v else v for name, v in row.items()} for row in rows]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in text))
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    return path


def runs(last: float = 0.25, seeds: int = 3) -> list[dict[str, Any]]:
    """Runs of a grid of two rates and two widths, a row a step; `last` is the last loss of the first run."""
    rows = [
        {"lr": lr, "width": width, "seed": seed, "step": step, "loss": (1 + seed / 8) / (1 + step), "best": lr * width}
        for lr in (0.25, 0.5) for width in (2, 4) for seed in range(seeds) for step in (0, 1, 2, 5)
    ]  # fmt: skip
    rows[3]["loss"] = last
    return rows


# the form of the file


@settings(max_examples=3)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.5, 2.0, 3.25]), st.integers(1, 3), st.integers(0, 3),
            st.lists(st.floats(-1e6, 1e6) | st.just(math.nan), min_size=1, max_size=4),
        ),
        min_size=1, max_size=6, unique_by=lambda run: run[:3],
    )
)  # fmt: skip
def test_the_form_of_a_file_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[float, int, int, list[float]]]
) -> None:
    """CSV, Parquet and JSON lines, a row a step or a row a run with lists, give equal cells; a value that is not finite
    ends a run, which has diverged."""
    folder = tmp_path_factory.mktemp("forms")
    long = [
        {"lr": lr, "width": width, "seed": seed, "step": 2 * place, "loss": loss}
        for lr, width, seed, losses in drawn for place, loss in enumerate(losses)
    ]  # fmt: skip
    wide = [
        {"lr": lr, "width": width, "seed": seed, "step": [2 * place for place in range(len(losses))], "loss": losses}
        for lr, width, seed, losses in drawn
    ]
    varies = any(len({str(loss) for loss in losses}) > 1 for *_, losses in drawn)
    files = [written(folder / f"long{ending}", long) for ending in (".csv", ".parquet", ".jsonl")] if varies else []
    files.append(written(folder / "wide.parquet", wide))
    found = []
    for file in files:
        told = import_runs(folder / "none", file, LONG, dry_run=True)
        found.append(repr(sorted(zip(told.ids, map(str, told.cells.table.to_pylist()), strict=True))))
    assert set(found) == {found[0]}
    import_runs(folder / "data", files[0], LONG)
    by_run = {(row["lr"], row["width"], row["seed"]): row for row in cells(folder / "data")}
    assert by_run.keys() == {run[:3] for run in drawn}
    for lr, width, seed, losses in drawn:
        row, end = by_run[lr, width, seed], next((k for k, one in enumerate(losses) if math.isnan(one)), None)
        kept = losses if end is None else losses[: end + 1]
        assert repr(row["loss"]) == repr([float(one) for one in kept])
        assert row["status"] == ("ok" if end is None else "diverged")


def test_only_a_loss_ends_a_run(tmp_path: Path) -> None:
    """As in a function: of other curves and scalars a value that is not finite is a gap, told in the message; a loss
    that is not finite ends the curves of its run. Where no curve is a loss, a run without a last value has diverged."""
    nan, inf = math.nan, math.inf
    runs = {1.0: ([0.5, 0.4, 0.3], [nan, 0.2, inf], 0.5), 2.0: ([0.5, nan, 0.3], [0.1, 0.2, nan], nan)}
    rows = [
        {"lr": lr, "step": step, "loss": loss, "acc": acc, "best": best}
        for lr, (losses, accs, best) in runs.items() for step, (loss, acc) in enumerate(zip(losses, accs, strict=True))
    ]  # fmt: skip
    asked = ImportRequest("theirs", ColumnRoles(params=("lr",), step="step"))
    import_runs(tmp_path / "data", written(tmp_path / "a.parquet", rows), asked)
    query = "select status, message, step, loss, acc, best from theirs order by lr"
    one, other = cells(tmp_path / "data", query)
    assert (one["status"], one["step"], one["loss"]) == ("ok", [0, 1, 2], [0.5, 0.4, 0.3])
    assert (one["acc"], one["best"]) == ([None, 0.2, None], 0.5)
    assert one["message"] == "acc is not finite at 2 steps, first at step 0: a gap"
    assert (other["status"], other["step"], other["acc"]) == ("diverged", [0, 1], [0.1, 0.2])
    assert other["message"] == "loss is not finite at step 1"
    for row in rows:
        row["err"] = row.pop("acc")
        del row["loss"]
    import_runs(tmp_path / "other", written(tmp_path / "b.parquet", rows), asked)
    one, other = cells(tmp_path / "other", "select status, message, err, best from theirs order by lr")
    assert (one["status"], one["err"]) == ("diverged", [None, 0.2, None])
    assert (other["status"], other["best"]) == ("diverged", None)
    assert other["message"] == "no recorded value is finite any more at step 2"


def test_files_without_measure_are_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many columns in each other, a line that is too long: the error says which limit, in a few words."""
    monkeypatch.setattr("swingby.imports.reading.LONGEST_LINE", 2**20)  # of 16 times as much DuckDB takes seconds
    asked = ImportRequest("theirs", ColumnRoles(params=("lr",)))
    nested = {"lr": 0.1, "config": {f"k{number}": number for number in range(6000)}, "loss": 0.5}
    (tmp_path / "nested.jsonl").write_text(f"{json.dumps(nested)}\n")
    (tmp_path / "long.csv").write_text(f"lr,loss,text\n0.1,0.5,{'x' * 1_100_000}\n")
    (tmp_path / "deep.jsonl").write_text(f'{{"lr": 0.1, "loss": {"[" * 1000}{"]" * 1000}}}\n')
    for name, said in {"nested": "6,002 columns", "long": "size of 1048576 bytes", "deep": "recursion depth"}.items():
        (file,) = tmp_path.glob(f"{name}.*")
        with pytest.raises(SwingbyError, match=said) as told:
            import_runs(tmp_path / "data", file, asked)
        assert len(str(told.value)) < 1000
        assert "select" not in str(told.value)


def test_a_compressed_csv_in_an_odd_folder_is_read(tmp_path: Path) -> None:
    """Paths are no patterns, and what DuckDB decompresses counts."""
    folder = tmp_path / "lr=0.1 [old]*"
    folder.mkdir()
    plain = written(folder / "runs.csv", runs())
    packed = folder / "runs.csv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert len(import_runs(tmp_path / "data", packed, LONG).added) == 12
    assert not import_runs(tmp_path / "data", plain, LONG).added


# exactly once


def test_twice_is_once(tmp_path: Path) -> None:
    """A second import writes no record, whatever the order of the rows; a rebuilt store has the same cells."""
    data = tmp_path / "data"
    import_runs(data, written(tmp_path / "a.csv", runs()), LONG)
    records, before = Records.open(data), cells(data)
    there = records.paths()
    again = import_runs(data, written(tmp_path / "b.parquet", runs()[::-1]), LONG)
    assert (len(again.added), again.changed, records.paths()) == (0, [], there)
    rebuild(records)
    assert cells(data) == before


def test_a_file_that_has_grown_adds_what_is_new(tmp_path: Path) -> None:
    """New runs are added, cells of earlier files stay in the sweep, and each cell has one row."""
    data, rows = tmp_path / "data", runs(seeds=2)
    import_runs(data, written(tmp_path / "a.csv", rows[:20]), LONG)
    grown = import_runs(data, written(tmp_path / "b.csv", rows), LONG)
    assert (len(grown.added), grown.earlier) == (3, 0)
    part = import_runs(data, written(tmp_path / "c.csv", rows[-4:]), LONG)
    assert (len(part.added), part.earlier) == (0, 7)
    with Store.open(data) as store:
        assert find_sweep(store, "theirs").cells == 8
    assert len(cells(data)) == len({row["cell_id"] for row in cells(data)}) == 8


def test_an_import_that_was_killed_is_finished_by_the_next(tmp_path: Path) -> None:
    """A plan without its shard is no import: the cells are written then."""
    data, file = tmp_path / "data", written(tmp_path / "a.csv", runs())
    import_runs(data, file, LONG)
    (shard,) = data.glob("shards/*/*.parquet")
    shard.unlink()
    rebuild(Records.open(data))
    assert len(import_runs(data, file, LONG).added) == 12
    assert len(cells(data)) == 12


def test_other_values_are_refused_and_replaced_on_request(tmp_path: Path) -> None:
    """The message names the cell and what differs, nothing is written; --replace takes the earlier row back."""
    data = tmp_path / "data"
    import_runs(data, written(tmp_path / "a.csv", runs()), LONG)
    other, there = written(tmp_path / "b.csv", runs(last=0.75)), Records.open(data).paths()
    with pytest.raises(SwingbyError, match=r"lr = 0.25, width = 2, seed = 0 \(loss: .*0.25 before, .*0.75 now\)"):
        import_runs(data, other, LONG)
    assert Records.open(data).paths() == there
    replaced = import_runs(data, other, ImportRequest("theirs", LONG.roles, replace=True))
    assert (len(replaced.changed), len(cells(data))) == (1, 12)
    assert cells(data, "select loss[-1] as loss from theirs where seed = 0 and lr = 0.25 and width = 2") == [
        {"loss": 0.75}
    ]
    assert cells(data, "select reason from retractions") == [{"reason": "b.csv has other values"}]
    assert not import_runs(data, other, LONG).changed


# what trained cells and their export share


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with twelve walks of a function; one of the points diverges, one fails."""

    @experiment(name="walked")
    def walk(cell: Any, rate: float, width: int = 2) -> dict[str, Any]:
        position = cell.numpy("start").normal()
        for step in range(6):
            position = position * (1 - rate)
            cell.record(step, position=math.inf if rate == 3 and step == 4 else position)
        if width == 3 and rate == 3:
            raise ValueError("no such walk")
        return {"end": position, "near": bool(abs(position) < 0.1)}

    data = tmp_path_factory.mktemp("trained") / "data"
    Sweep.of(walk, axes={"rate": [0.25, 0.5, 3.0], "width": [2, 3]}, seeds=2).run(data, local=True, pilot=False)
    return data


SHARES = "select rate, width, status, avg(near::int) as share, count(*) as n from {} group by all order by all"


@pytest.mark.parametrize("form", [Format.parquet, Format.csv, Format.json])
def test_an_export_of_trained_cells_has_their_shares(trained: Path, tmp_path: Path, form: Format) -> None:
    """What `swingby export` writes is recognised: status, seeds, scalars and curves are those that were trained."""
    file, data = tmp_path / f"walks.{form.value}", tmp_path / "data"
    write_rows(sweep_rows(trained, "walked"), form, file)
    found = import_runs(data, file, ImportRequest("copies", ColumnRoles(params=("rate", "width"))))
    assert (found.layout.tool, found.cells.curves) == ("swingby export", ("position",))
    assert cells(data, SHARES.format("copies")) == cells(trained, SHARES.format("walked"))
    query = 'select rate, width, seed, seed_mode, status, message, position, step, "end" from {} order by all'
    here, there = cells(data, query.format("copies")), cells(trained, query.format("walked"))
    if form is Format.json:  # which has no infinity
        here, there = ([row for row in rows if row["status"] == "ok"] for rows in (here, there))
    assert repr(here) == repr(there)


# exports of other tools


def test_trials_of_optuna(tmp_path: Path) -> None:
    """Prefixes go; trials that were pruned or failed are failed cells, a value that is not finite has diverged, and a
    trial that runs is left out. Equal parameters are seeds in the order of the trials."""
    (tmp_path / "trials.csv").write_text(OPTUNA)
    found = import_runs(tmp_path / "data", tmp_path / "trials.csv", ImportRequest("trials"))
    rows = cells(
        tmp_path / "data", "select lr, width, seed, status, message, value, epochs from trials order by lr, seed"
    )
    assert [tuple(row.values()) for row in rows] == [
        (0.0002, 64, 0, "failed", "fail where it was trained", None, None),
        (0.0014, 16, 0, "failed", "pruned where it was trained", 0.0028, None),
        (0.0044, 16, 0, "ok", None, 0.1875, 3.0),
        (0.0044, 16, 1, "ok", None, 0.1491, 3.0),
        (0.0216, 64, 0, "diverged", "value is inf at the end", math.inf, 3.0),
    ]
    assert found.layout.params == {"lr": "float", "width": "int"}
    assert "1 run not over yet: left out" in found.cells.notes


def test_runs_of_wandb(tmp_path: Path) -> None:
    """Of the page's table the parameters have to be named; names, users and dates are no results."""
    (tmp_path / "runs.csv").write_text(WANDB_RUNS)
    with pytest.raises(SwingbyError, match=r"--params rate,width; values come again in lr \(2 values\)"):
        import_runs(tmp_path / "data", tmp_path / "runs.csv", ImportRequest("runs"))
    import_runs(tmp_path / "data", tmp_path / "runs.csv", ImportRequest("runs", ColumnRoles(params=("lr",))))
    rows = cells(tmp_path / "data", "select lr, seed, status, train_loss, val_acc from runs order by lr, seed")
    assert repr([tuple(row.values()) for row in rows]) == repr(
        [(0.1, 0, "ok", 0.5, 0.9), (0.1, 1, "diverged", math.nan, 0.1), (0.2, 0, "failed", None, None)]
    )


def test_runs_of_wandbs_api(tmp_path: Path) -> None:
    """Nested configurations are parameters without being named, unless some run lacks them; summaries are results."""
    (tmp_path / "runs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in WANDB_API))
    found = import_runs(tmp_path / "data", tmp_path / "runs.jsonl", ImportRequest("api"))
    assert (found.layout.params, found.cells.scalars) == ({"lr": "float", "opt.name": "str"}, ("loss",))
    rows = cells(tmp_path / "data", 'select lr, "opt.name", seed, status, loss from api order by lr')
    assert repr([tuple(row.values()) for row in rows]) == repr(
        [(0.1, "sgd", 0, "ok", 0.5), (0.2, "adam", 0, "failed", math.nan)]
    )


def test_histories_of_wandb(tmp_path: Path) -> None:
    """A history has a row a step; what is logged now and then is null between, and runs are told apart by their id."""
    history = [
        {"run_id": run, "_step": step, "_runtime": 0.5, "lr": lr, "loss": loss, "val_loss": val}
        for run, lr in (("a", 0.1), ("b", 0.1))
        for step, loss, val in ((0, 1.0, 0.9), (5, 0.5, None), (10, 0.25, 0.5))
    ]
    file = written(tmp_path / "history.parquet", history)
    found = import_runs(tmp_path / "data", file, ImportRequest("history", ColumnRoles(params=("lr",))))
    assert (found.layout.tool, found.cells.curves) == ("a history of W&B runs", ("loss", "val_loss"))
    rows = cells(tmp_path / "data", "select seed, step, val_loss from history order by seed")
    assert rows == [{"seed": seed, "step": [0, 5, 10], "val_loss": [0.9, None, 0.5]} for seed in (0, 1)]


# faults of files


FAULTS = {
    "a missing parameter": ({1: {"lr": ""}}, {}, r"row 2 has no value for the parameter 'lr'"),
    "a step twice": ({1: {"step": 0}}, {}, r"rows 1, 2 are all step 0 of one run: --run names the column"),
    "a seed that is none": ({0: {"seed": -1}}, {}, r"row 1 has the seed -1; allowed: 0 and more"),
    "half a step": ({2: {"step": 0.5}}, {}, r"row 3 has 0.5 for 'step', which holds integers"),
    "a rate that is not finite": ({4: {"lr": "inf"}}, {}, r"row 5 has inf for the parameter 'lr'"),
    "an unknown column": ({}, {"params": ("lrr", "width")}, r"no column 'lrr'; did you mean 'lr'\?"),
    "no parameters": ({}, {"params": ()}, r"say which columns are parameters"),
    "a text as step": ({0: {"step": "x"}}, {}, r"the column 'step' cannot be the step: it holds str"),
    "an unknown end": ({0: {"end": "?"}}, {"status": "end"}, r"row 1 ended as '\?', which is not known; allowed: ok"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_with_its_row_and_nothing_is_written(tmp_path: Path, fault: str) -> None:
    """The message says the row, counted without the header, and what is allowed there."""
    changes, wanted, message = FAULTS[fault]
    rows: list[dict[str, Any]] = [{**row, "end": "ok"} for row in runs()]
    for place, change in changes.items():
        rows[place] |= change
    asked = ImportRequest("theirs", ColumnRoles(**{"params": ("lr", "width"), "step": "step", **wanted}))  # type: ignore[arg-type]
    with pytest.raises(SwingbyError, match=message):
        import_runs(tmp_path / "data", written(tmp_path / "a.csv", rows), asked)
    assert not list(tmp_path.glob("data/plans/*"))


def test_a_cell_that_comes_twice_is_told_with_its_rows(tmp_path: Path) -> None:
    """Without a column of steps, two rows of equal parameters and seed are a fault; without a seed they are seeds."""
    rows = [
        {"lr": 0.5, "seed": 0, "loss": 1.0},
        {"lr": 0.25, "seed": 0, "loss": 1.0},
        {"lr": 0.5, "seed": 0, "loss": 2.0},
    ]
    file = written(tmp_path / "a.csv", rows)
    with pytest.raises(SwingbyError, match=r"rows 1, 3 \(lr = 0.5, seed 0\)"):
        import_runs(tmp_path / "data", file, ImportRequest("theirs", ColumnRoles(params=("lr",))))
    found = import_runs(
        tmp_path / "data", file, ImportRequest("theirs", ColumnRoles(params=("lr",), ignored=("seed",)))
    )
    assert "numbered from 0 on in the order of the file (at most 2)" in found.cells.notes[0]
    assert [row["seed"] for row in cells(tmp_path / "data", "select seed from theirs order by lr, seed")] == [0, 0, 1]


def test_names_of_others_are_refused(tmp_path: Path, trained: Path) -> None:
    """Imported runs stand neither among those of an installed experiment nor among those that were trained here."""
    file = written(tmp_path / "a.csv", runs())
    with pytest.raises(SwingbyError, match="the experiment 'sim' is installed"):
        import_runs(tmp_path / "data", file, ImportRequest("sim", LONG.roles))
    with pytest.raises(SwingbyError, match="the experiment 'walked' is trained here"):
        import_runs(trained, file, ImportRequest("walked", LONG.roles))
    import_runs(tmp_path / "data", file, LONG)
    with pytest.raises(SwingbyError, match="with the parameters lr, width, not lr"):
        import_runs(
            tmp_path / "data",
            file,
            ImportRequest("theirs", ColumnRoles(params=("lr",), step="step", ignored=("width",))),
        )


@settings(max_examples=30)
@given(st.text(max_size=12))
def test_names_of_columns_need_no_quotes(name: str) -> None:
    """Whatever a file calls a column, its name is an identifier in ASCII and none that every table has."""
    found = column_name(name)
    assert re.fullmatch(r"[A-Za-z_]\w*", found, re.ASCII)
    assert found.lower() not in {"status", "seed", "step", "shard", "message"}


def test_names_and_texts_are_no_sql(tmp_path: Path) -> None:
    """Quotes and statements in names and values stay texts."""
    names = ("lr'); drop table given; --", 'a"b', "x'y")
    rows = [
        {names[0]: f"'{place}\"; select 1", names[1]: place, names[2]: f'it\'s "{place % 2}"'} for place in range(4)
    ]
    found = import_runs(
        tmp_path / "data", written(tmp_path / "a.csv", rows), ImportRequest("odd", ColumnRoles(params=(names[0],)))
    )
    params, (text,) = list(found.layout.params), found.cells.scalars[1:]
    kept = cells(tmp_path / "data", f"select {params[0]}, a_b, {text} from odd order by a_b")
    assert [tuple(row.values()) for row in kept] == [tuple(row.values()) for row in rows]


# what readers see


def test_imported_cells_are_marked_and_cannot_be_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In SQL, in `status` and in `describe`; `run`, `plan`, `extend` and `replay` say so; a dry run writes nothing."""
    monkeypatch.setenv("COLUMNS", "300")
    data, file = tmp_path / "data", written(tmp_path / "a.csv", runs())
    words = ["import", str(file), "--experiment", "theirs", "--params", "lr,width", "--step", "step"]
    told = swingby(*words, "--data", data, "--dry-run")
    assert not data.exists()
    assert "theirs: 12 to import" in told.output
    assert swingby(*words, "--data", data).exit_code == 0
    assert "theirs: 12 there already" in swingby(*words, "--data", data, "--dry-run").output
    assert {tuple(row["recorded"]) for row in cells(data)} == {("imported",)}
    with Store.open(data) as store:
        notice = str(imported_results(store, find_sweep(store, "theirs").sweep_id))
    assert "12 cells from a.csv (SHA-256 " in notice
    assert notice in swingby("status", "--data", data).output
    assert "imported from a.csv" in swingby("describe", "theirs", "--data", data).output
    for verb in ("run", "plan", "extend"):
        refused = swingby(verb, "theirs", "--data", data)
        assert refused.exit_code == 2
    refused = swingby("run", "theirs", "--data", data)
    assert "They cannot be trained here" in refused.output
    replayed = swingby("replay", cells(data)[0]["cell_id"], "--data", data)
    assert "it has no code, and nothing of it can be trained" in replayed.output


def test_outcomes_and_reports_work_on_imported_cells(tmp_path: Path) -> None:
    """An outcome that the import names is computed at once; the page shows its map and the curves, and where they came
    from; a comparison with itself finds no difference."""
    data, file, number = tmp_path / "data", tmp_path / "a.jsonl", count()
    rows = [{**row, "val": row["loss"] if next(number) % 2 == 0 else None} for row in runs()]
    words = ["import", str(written(file, rows)), "--experiment", "theirs", "--params", "lr,width", "--step", "step"]
    words += ["--data", str(data), "--outcome", "learned: loss[-1] < 0.2 * loss[1]"]
    assert swingby(*words).exit_code == 0
    assert cells(data, "select count(*) filter (learned) as k, count(*) as n from outcomes_of_theirs") == [
        {"k": 11, "n": 12}
    ]
    options = ["--data", str(data), "--out", str(tmp_path / "out")]
    drawn = swingby("report", "theirs", *options)
    assert drawn.exit_code == 0, drawn.output
    page = (tmp_path / "out" / "theirs" / "report.html").read_text()
    assert "trained elsewhere and imported: 12 cells from a.jsonl" in page
    assert "Where “learned” is true" in page
    assert "Val over the steps" in page
    compared = swingby("diff", "theirs", "theirs", "--data", data)
    assert "Identical in all 12 cells" in compared.output


def test_scattered_points_are_one_axis(tmp_path: Path) -> None:
    """Points of a random search do not make a grid of mostly empty tiles."""
    rows = [
        {"lr": 2.0**-place, "width": 3 * place + 1, "depth": place * place, "loss": 1.0 / (1 + place)}
        for place in range(9)
    ]
    file = written(tmp_path / "a.csv", rows)
    import_runs(tmp_path / "data", file, ImportRequest("theirs", ColumnRoles(params=("lr", "width", "depth"))))
    (row,) = cells(tmp_path / "data", "select resolved from sweeps")
    (axis,) = json.loads(row["resolved"])["axes"]
    assert axis["names"] == ["lr", "width", "depth"]
    ingest(Records.open(tmp_path / "data"))


def test_statements_are_judged_on_imported_cells(tmp_path: Path) -> None:
    """A statement names the sweep, of which no package ships a file, and its page says that it was imported."""
    import_runs(tmp_path / "data", written(tmp_path / "a.csv", runs(seeds=4)), LONG)
    (claim,) = parse(CLAIM, "small-rates")
    needed = needed_sweeps([claim], (), tmp_path / "data")
    with Store.open(tmp_path / "data") as store:
        judged = judge(store, claim, progress(store, needed))
    (answer,) = judged.answers
    assert (answer.convention, answer.setting, answer.outcome.n, answer.outcome.k) == ("none", "lr = 0.25", 4, 3)
    assert "imported: 16 cells from a.csv" in judged.recorded[0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "lr,Loss,loss\n0.1,1,2\n"),
        ("b.csv", "lr,loss,loss\n0.1,1,2\n"),
        ("c.jsonl", '{"lr":0.1,"Loss":1,"loss":2}\n'),
        ("d.json", '[{"lr":0.1,"Loss":1},{"lr":0.2,"loss":2}]'),
        ("e.csv", "Lr,lr,loss\n0.1,0.1,1\n"),
    ],
)
def test_names_that_differ_in_case_alone_are_refused(tmp_path: Path, name: str, text: str) -> None:
    """In one file, whatever its format; nothing is written."""
    (tmp_path / name).write_text(text)
    with pytest.raises(SwingbyError, match=r"'loss'.*(case|one name)|'lr'.*case"):
        import_runs(tmp_path / "data", tmp_path / name, ImportRequest("t", ColumnRoles(params=("lr",))))
    assert not (tmp_path / "data").exists()


def test_names_that_differ_in_case_from_earlier_ones_are_refused(tmp_path: Path) -> None:
    """Of what was imported before."""
    (tmp_path / "first.csv").write_text("lr,loss\n0.1,1\n")
    import_runs(tmp_path / "data", tmp_path / "first.csv", ImportRequest("t", ColumnRoles(params=("lr",))))
    (tmp_path / "later.csv").write_text("lr,LOSS\n0.3,1\n")
    with pytest.raises(SwingbyError, match="'LOSS', and earlier imports have 'loss'"):
        import_runs(tmp_path / "data", tmp_path / "later.csv", ImportRequest("t", ColumnRoles(params=("lr",))))


def test_values_that_differ_in_their_last_bits_are_one_point(tmp_path: Path) -> None:
    """Within a file and in a later one, which takes the values that are there; booleans are one however spelt."""
    (tmp_path / "a.csv").write_text("lr,seed,flag,acc\n0.30000000000000004,0,true,1\n0.3,1,True,2\n0.1,0,1,3\n")
    (tmp_path / "b.csv").write_text(f"lr,seed,flag,acc\n{0.1 * 3!r},2,TRUE,1\n0.1,1,true,3\n")
    for name in ("a.csv", "b.csv"):
        import_runs(
            tmp_path / "data", tmp_path / name, ImportRequest("t", ColumnRoles(params=("lr", "flag"), seed="seed"))
        )
    with Store.open(tmp_path / "data") as store:
        rows = store.sql("select lr, flag, count(*) as n from t group by all order by lr").rows()
    assert [(row.lr, row.flag, row.n) for row in rows] == [(0.1, True, 2), (0.3, True, 3)]


def test_a_file_that_takes_too_much_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns, and memory once unpacked: a small file may hold much."""
    wide = tmp_path / "wide.csv"
    wide.write_text(",".join(["lr", *(f"c{k}" for k in range(20))]) + "\n" + ",".join(["1"] * 21) + "\n")
    monkeypatch.setattr("swingby.imports.reading.MOST_COLUMNS", 20)
    with pytest.raises(SwingbyError, match=r"wide.csv has 21 columns; allowed: 20"):
        import_runs(tmp_path / "data", wide, ImportRequest("t", ColumnRoles(params=("lr",))))
    packed = tmp_path / "packed.csv.gz"
    with gzip.open(packed, "wt") as file:
        file.write("lr,note\n" + "".join(f"{k},{'x' * 200}{k}\n" for k in range(200_000)))
    assert packed.stat().st_size < 2_000_000
    monkeypatch.setattr("swingby.imports.reading.MEMORY", "20MB")
    with pytest.raises(SwingbyError, match=r"packed.csv.gz needs more than 20MB of memory"):
        import_runs(tmp_path / "data", packed, ImportRequest("t", ColumnRoles(params=("lr",))))


def test_settings_with_parts_keep_their_dots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spelt by dots or slashes; what was imported when they had none goes on with its names."""
    file = tmp_path / "runs.csv"
    file.write_text("opt/lr,opt.kind,h.0,top/x,top,end\n0.1,a,1,1,1,0.5\n0.2,b,2,2,2,0.6\n")
    params = ("opt/lr", "opt_kind", "h.0", "top/x", "top")
    request = ImportRequest("theirs", ColumnRoles(params=params))
    now = import_runs(tmp_path / "now", file, request)
    assert list(now.layout.params) == ["opt.lr", "opt.kind", "h_0", "top_x", "top"]
    assert [row["opt.lr"] for row in cells(tmp_path / "now", 'from theirs order by seed, "opt.lr"')] == [0.1, 0.2]
    with monkeypatch.context() as patch:
        patch.setattr(layout, "_dotted", column_name)
        import_runs(tmp_path / "then", file, request)
    again = import_runs(tmp_path / "then", file, request)
    assert not again.added
    assert "opt_lr" in again.layout.params


def test_a_report_has_the_account_that_was_printed(tmp_path: Path) -> None:
    """Every entry of it, the names of what was left out among them."""
    rows = [{**row, "id": f"run {place}"} for place, row in enumerate(runs())]
    imported = import_runs(tmp_path / "data", written(tmp_path / "runs.csv", rows), LONG)
    page = Results.load("theirs", tmp_path / "data").report(tmp_path / "out").read_text()
    section = html.unescape(page[page.index('id="made"') :])
    account = imported.account()
    assert {"file", "parameters", "curves", "cells"} <= {term for term, _ in account}
    assert all(text in section for _, text in account)
    assert len(imported.lines()) == len(account)
