"""Laws of code in records: whatever they say, whoever opens, ingests, reports, serves or describes them runs none.

Code is planted in every place that a record has: names, titles, values, messages, sources, paths, metadata, and in
files beside. Reading is everything but `run`, `extend`, `replay` and the like, which train.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from swingby.data.parquet import read_parquet, write_parquet
from swingby.data.records.records import DIGITS
from swingby.run.driver import run_sweep
from swingby.sweepfile.sweep import Sweep
from tests.support.command import swingby
from tests.support.server import served

TRAIN = '''
from swingby import experiment

@experiment
def climb(cell, rate: float = 0.1, kind: str = "a"):
    """Climbs."""
    for step in range(5):
        cell.record(step, loss=rate * step)
    return {"end": 4 * rate, "note": kind}
'''
SWEEP = """
name: climbs
experiment: train.py
axes: {rate: [0.1, 0.2], kind: [a, b]}
seeds: 2
diagram: {x: rate, y: kind, outcome: end}
"""
STRUCTURE = {
    *("plan_id", "sweep_id", "name", "experiment", "created", "started", "finished", "seed_mode", "steps", "code"),
    *("git_dirty", "forecast_seconds", "kind", "key", "version", "x", "y", "names", "type", "curves", "recorded"),
    *("outcome", "file", "function"),
}
"""Values of headers without which a record is none, or another one."""
CANARY, MARK, BESIDE = "planted_by_a_record", "ran_by_a_record", "beside_a_record"


class Evil:
    """What runs code where a pickle of it is read."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return (os.system, (f"touch {self.mark}",))


def plant(mark: Path) -> str:
    """A text that is code in every language that may meet it."""
    python = f"__import__('os').system('touch {mark}')"
    return " ".join(
        (
            CANARY,
            f"');{python}#",
            f'"+{python}+"',
            f"{{{{ cycler.__init__.__globals__.os.system('touch {mark}') }}}} {{% import 'os' %}}",
            f"${{{python}}} %(x)s {{0}}",
            f"$(touch {mark}) `touch {mark}` ; touch {mark}",
            f"!!python/object/apply:os.system ['touch {mark}']",
            f"'); copy (select 1) to '{mark}'; --",
            f"</script><script>window.{CANARY}=1</script><img src=x onerror=window.{CANARY}=1>",
            f"javascript:window.{CANARY}=1 datum['x'] + (window.{CANARY}=1)",
            "[link=file:///etc/passwd]x[/link]",
        )
    )


def forged(value: Any, text: str, key: str = "") -> Any:
    """A header with the text in the place of every other one, and under a key of its own."""
    if isinstance(value, dict):
        return {name: forged(item, text, name) for name, item in value.items()} | ({} if key else {text: text})
    if isinstance(value, list) and key not in STRUCTURE:
        return [forged(item, text, key) for item in value]
    return text if isinstance(value, str | None) and key not in STRUCTURE else value


def forge(data: Path, mark: Path) -> None:
    """Plants code into every record of a folder, and in files beside them."""
    text, beside = plant(mark), mark.parent / BESIDE
    beside.mkdir()
    code = f"import os\nos.system('touch {mark}')\n{TRAIN}\nos.system('touch {mark}')\n"
    evil = pickle.dumps(Evil(mark))
    for path in [*data.glob("plans/*"), *data.glob("shards/*/*"), *data.glob("derived/*/*")]:
        header, table = read_parquet(path, "record")
        header = forged(header, text)
        if path.parent.name == "plans":
            names = ("train.py", "sitecustomize.py", "conftest.py", "swingby.py", f"{CANARY}.py")
            header["provenance"]["code"] |= {"files": dict.fromkeys(names, code), "file": "train.py"}
            header["provenance"]["code_folder"] = str(beside)
            header["resolved"] |= {"source": str(beside / "train.py"), "title": text, "notes": text, "tags": [text]}
            header["resolved"]["axes"][1]["values"] = [[text], ["b"]]
        for name in set(table.column_names) & {"kind", "note", "message"}:
            values = [text if value in ("a", None) else value for value in table[name].to_pylist()]
            table = table.set_column(table.column_names.index(name), name, pa.array(values))
        if path.parent.parent.name == "shards":
            # An extension of Arrow's that versions before 14.0.1 made by reading a pickle.
            meta = {"ARROW:extension:name": "arrow.py_extension_type", "ARROW:extension:metadata": evil}
            extra = pa.field(f"{CANARY}');window.{CANARY}=1;//", pa.binary(), metadata=meta)
            table = table.append_column(extra, pa.array([evil] * table.num_rows, pa.binary()))
        stem = path.name.removesuffix(".parquet")
        path.unlink()
        folder = "plans" if path.parent.name == "plans" else path.parent.parent.name
        name = stem if folder == "plans" else stem.rpartition("-")[0]
        write_parquet(path.with_name(f"{name}.parquet"), table, header, DIGITS.get(folder, 0))
    for place in ("plans", "shards", "derived", "derived/outcomes_x", "work", "cache/code", "store", "locks"):
        (data / place).mkdir(parents=True, exist_ok=True)
        for name in ("a.parquet", "a.pkl", "a.npy", "train.py", "sitecustomize.py", "$(touch x).parquet"):
            (data / place / name).write_bytes(code.encode() if name.endswith(".py") else evil)
    for name in ("train.py", "sitecustomize.py", "conftest.py", f"{CANARY}.py"):
        (beside / name).write_text(code)


watched: list[str] | None = None


def listen(event: str, arguments: tuple[Any, ...]) -> None:
    """Notes what this process runs of what was planted, and every pickle that names something."""
    if watched is None:
        return
    if event in ("compile", "exec", "import", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen"):
        said = arguments
        if event == "exec":
            said = (arguments[0].co_filename, arguments[0].co_names, arguments[0].co_consts)
        if any(word in str(said) for word in (CANARY, MARK, BESIDE)):
            watched.append(f"{event} {str(said)[:300]}")
    elif event == "pickle.find_class":
        watched.append(f"{event} {arguments}")


@contextmanager
def nothing_runs(mark: Path) -> Iterator[None]:
    """While inside, nothing that was planted is compiled, imported or run, and no pickle is read."""
    global watched
    watched = []
    sys.addaudithook(listen)
    try:
        yield
        assert watched == []
        assert not mark.exists()
    finally:
        watched = None


class Elements(HTMLParser):
    """The scripts of a page that are run, and the attributes that run something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self._runs = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._runs = tag == "script" and "json" not in (dict(attrs).get("type") or "")
        self.attributes += [(name, value) for name, value in attrs if name.startswith("on")]
        self.attributes += [(name, value) for name, value in attrs if (value or "").lower().startswith("javascript:")]

    def handle_data(self, data: str) -> None:
        if self._runs:
            self.scripts.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._runs = False


def expressions(value: Any, key: str = "") -> Iterator[str]:
    """The texts of a chart's description that Vega takes for expressions or addresses."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from expressions(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from expressions(item, key)
    elif isinstance(value, str) and key in ("expr", "signal", "calculate", "filter", "test", "update", "url", "href"):
        yield value


LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')


def check_page(text: str) -> None:
    """Nothing that was planted is a script, a handler, an address, or an expression of a chart."""
    found = Elements(text)
    assert found.attributes == []
    assert not any(CANARY in script for script in found.scripts)
    for part in text.split('<script type="application/json"')[1:]:
        described = json.loads(part.partition(">")[2].partition("</script>")[0])
        # Within quotes of an expression it is a text that is compared.
        assert not any(CANARY in LITERAL.sub("", expression) for expression in expressions(described))


def test_nothing_that_a_record_says_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder whose every record and file is full of code, on its way through every verb that reads, and the pages."""
    source, mark = tmp_path / "source", tmp_path / MARK
    source.mkdir()
    (source / "train.py").write_text(TRAIN)
    (source / "climbs.yaml").write_text(SWEEP)
    data = tmp_path / "data"
    sweep = Sweep.load(source / "climbs.yaml")
    run_sweep(sweep, data, local=True, pilot=False)
    shutil.rmtree(data / "store")
    forge(data, mark)
    monkeypatch.chdir(tmp_path)
    verbs = [
        ["ingest"],
        ["status"],
        ["watch", "--once", "--json"],
        ["doctor", "--no-ray"],
        ["sql", "select * from climb"],
        ["sql", "select * from climb_points", "--format", "json"],
        ["sql", "select * from plans", "--format", "csv"],
        ["export", "climbs", "--points", "--out", "points.parquet"],
        ["report", "climbs", "--out", "report"],
    ]
    with nothing_runs(mark):
        for arguments in verbs:
            result = swingby(*arguments, "--data", data)
            assert result.exception is None or isinstance(result.exception, SystemExit), (arguments, result.exception)
            if arguments[0] in ("status", "sql", "export", "report"):
                assert result.exit_code == 0, (arguments, result.output)
        swingby("merge", data, "--data", tmp_path / "other")
        swingby("describe", "climb", "--data", data)
        with served(data, tmp_path / "reports") as site:
            paths = ("/", f"/sweeps/{sweep.sweep_id}", f"/reports/{sweep.sweep_id}", "/sweeps/climbs")
            shown = [site.ask(path).text for path in paths]
            shown.append(site.sql("select * from climb").text)
            for form in (".csv", ".json", ".parquet"):
                assert site.sql("select * from climb", form).status == 200
    shown += [path.read_text() for path in (tmp_path / "report").rglob("*.html")]
    assert sum(CANARY in text for text in shown) >= 3
    for text in shown:
        check_page(text)
