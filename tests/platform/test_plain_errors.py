"""The law that what DuckDB and Arrow say reaches nobody as they say it: no kind of their errors, no line of a query."""

from __future__ import annotations

import io
import random
import re
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from swingby import sandbox
from swingby.data.records import Records
from swingby.errors import SwingbyError, plain_words
from swingby.imports.importing import ImportRequest, import_runs
from swingby.imports.layout import ColumnRoles
from swingby.sandbox.__main__ import answer, locked
from swingby.sandbox.scalar import evaluate, kind_of
from swingby.sandbox.statement import RefusedError
from swingby.store import Layout, Store, ingest
from tests.support.command import swingby
from tests.support.store import Segment, copied, write_plan, write_shard

RAW = re.compile(
    r"LINE \d|pyarrow|Traceback|duckdb\.|(Binder|Catalog|Parser|Conversion|Invalid Input|Invalid|IO|Internal|INTERNAL|"
    r"Constraint|Syntax|Out of Range|Not implemented|TransactionContext|Permission|Serialization) (Error|Exception):"
)
PIECES = (
    """
loss|rate|note|loss[-1]|loss[0]|rates|'x'|1|1e400|null|loss[1:2]|(|)|,|+|-|*|/|<|=|and|not|is|in|like|::double|::date
[|]|lambda x: x|list_max(|list_filter(|len(|if(|sqrt(|cast(|try(|case when|then|end|$1|;|--|select|from|read_csv('x')
{'a': 1}|'\\x00'|é|row(1, 2)|interval 1 day|10 ** 400
""".strip()
    .replace("\n", "|")
    .split("|")
)
LOSSES = pa.array([[1.0, 2.0], [], None], pa.list_(pa.float64()))
ROWS = pa.table({"loss": LOSSES, "rate": [0.1, 0.2, 0.3], "note": list("abc")})
QUERIES = """
select
select 1 +
select * from nothing
select nothing from sweeps
select name + 1 from sweeps
select cast('x' as int)
select * exclude (x) from sweeps
insert into sweeps values (1)
copy sweeps to 'x'
select sum(name) from sweeps
select 1 from toy group by nothing
select [1, 'x', date '2000-01-01'][1] + 'y'
select * from toy join sweeps using (x)
select 1 / (select 1, 2)
select error('a')
select 9223372036854775807 + 1
select strptime('x', '%Y')
select * from read_csv('/etc/passwd')
attach 'x'
select unnest(1)
from toy limit -1
select score over () from toy
select list_max(1, 2, 3)
select 1 where 'x'
with a as (select 1) select * from b
""".strip().splitlines()
VERBS = """
outcome a loss[
outcome a nothing>1
export nothing
report nothing
describe nothing
status nothing
diff a nothing
retract nothing --reason x
pack nothing
merge /nowhere
replay nothing
""".strip().splitlines()


def told(call: Callable[[], object]) -> str:
    """What is told of a fault; "" where there is none."""
    try:
        call()
    except SwingbyError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def one_cell(tmp_path_factory: pytest.TempPathFactory) -> Records:
    """A folder with a cell; only read."""
    records = Records.open(tmp_path_factory.mktemp("one") / "data")
    write_plan(records, ["x"])
    write_shard(records, [Segment("x")])
    ingest(records)
    return records


@pytest.fixture
def data(one_cell: Records, tmp_path: Path) -> Path:
    """A copy of it."""
    return copied(one_cell, tmp_path / "data").data


def test_no_expression_is_told_in_the_words_of_others() -> None:
    """A thousand that are none, or fail on a row."""
    rng, faults = random.Random(1), list[str]()
    for _ in range(1500):
        text = " ".join(rng.choices(PIECES, k=rng.randint(1, 6)))
        faults.append(told(lambda text=text: evaluate(text, ROWS, kind_of(text, ROWS.schema), strict=True)))
    assert sum(map(bool, faults)) > 1000
    assert [fault for fault in faults if RAW.search(fault)] == []


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_no_query_is_told_in_the_words_of_others(data: Path, tmp_path: Path, every: int) -> None:
    """Of `sql`: what the query's process tells, all by this process and some by one each; and by a store's reader."""
    layout = Layout(data)
    generation = layout.newest()
    assert generation is not None
    files = sandbox.link(layout.paths(generation), tmp_path)
    asked = {
        "statements": layout.statements(generation, files),
        "files": [str(path) for path in files.values()],
        "memory": "500MB",
        "threads": 1,
    }
    with Store.open(data) as store, locked(asked) as connection:
        for place, query in enumerate(QUERIES):
            fault = refusal(connection, query)
            assert not RAW.search(fault), (query, fault)
            if place % every == 0:
                assert (
                    told(lambda query=query: sandbox.query(data, query)).partition("\n")[0] == fault.partition("\n")[0]
                )
            assert not RAW.search(told(lambda query=query: store.sql(query))), query


def refusal(connection: duckdb.DuckDBPyConnection, query: str) -> str:
    """What is told where the query's process ends with a fault."""
    with pytest.raises((RefusedError, duckdb.Error)) as caught:
        answer(connection, {"sql": query, "limit_rows": 10**6, "limit_bytes": 2**30}, io.BytesIO())
    refused = "refused: " if caught.type is RefusedError else ""
    return sandbox._failure(3, {"error": f"{refused}{str(caught.value).strip()}"}, "500MB")


@pytest.mark.parametrize("files", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_file_is_told_in_the_words_of_others(tmp_path: Path, files: int) -> None:
    """Files of runs that are cut, mixed up or made of anything, of every ending."""
    rng, faults = random.Random(2), list[str]()
    pq.write_table(pa.table({"lr": [0.1], "loss": [1.0]}), tmp_path / "sound.parquet")
    sound = [b"lr,loss\n0.1,1\n", b'{"lr": 0.1, "loss": 1}\n', (tmp_path / "sound.parquet").read_bytes()]
    asked = ImportRequest("t", ColumnRoles(params=("lr",)))
    for number in range(files):
        content = bytearray(rng.choice(sound))
        for _ in range(rng.randint(1, 5)):
            at = rng.randrange(len(content) + 1)
            content[at : at + rng.randint(0, 3)] = rng.randbytes(rng.randint(0, 4))
        path = tmp_path / f"f{number}.{rng.choice(['csv', 'json', 'jsonl', 'parquet', 'csv.gz', 'parquet', 'tsv'])}"
        path.write_bytes(content)
        faults.append(told(lambda path=path: import_runs(tmp_path / "data", path, asked, dry_run=True)))
    assert sum(map(bool, faults)) > 0.4 * files
    assert [fault for fault in faults if RAW.search(fault)] == []


@pytest.mark.parametrize("words", VERBS)
def test_no_verb_speaks_in_the_words_of_others(data: Path, words: str) -> None:
    done = swingby(*words.split(), "--data", data)
    assert done.exit_code == 2, done.output
    assert not RAW.search(done.output), done.output


def test_plain_words() -> None:
    """The kind goes, the place stays; other texts are as they were."""
    raw = 'Binder Error: no column "a"\n\nLINE 1: select a\n               ^'
    assert plain_words(raw) == 'no column "a"\n\n  select a\n         ^'
    assert plain_words("a file: Error: x") == "a file: Error: x"
