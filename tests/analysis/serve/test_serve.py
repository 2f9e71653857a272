"""Laws of the web page: what it answers, to whom, how much at once, and that nothing can be changed through it."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import html
import http.client
import io
import ipaddress
import json
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
import psutil
import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers, QueryParams

from swingby.api import Sweep
from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.run.driver import run_sweep
from swingby.run.progress import Progress
from swingby.sandbox import query
from swingby.store import ingest
from swingby_analysis.serve import examples, guard, pages, queries, server
from swingby_analysis.serve.board import Board
from swingby_analysis.serve.guard import HEADERS, Hosts, Token
from swingby_analysis.serve.queries import Limits
from tests.support.command import swingby
from tests.support.server import Served, served
from tests.support.store import Segment, write_plan, write_shard
from tests.support.waiting import awaited

HOSTILE = "<img src=x onerror=alert(1)>\"'&{{7*7}}</title><script>alert(2)</script>"
CELLS = [f"{number:032x}" for number in range(40)]
SECRET = "a-token-of-the-tests-0123456789"
LIMITS = Limits(rows=500, seconds=120.0, at_once=1, waiting=3, patience=120.0, length=1000)
T = TypeVar("T")
PAGES = ("/", "/sql", "/sql?q=select+1", "/sql.csv?q=select+1", "/sweeps/none", "/reports/none", "/static/serve.css")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with 40 cells of a sweep that was made up; its title, and another's name, are hostile."""
    records = Records.open(tmp_path_factory.mktemp("serve") / "data")
    plan = write_plan(records, CELLS, width=[number % 4 for number in range(40)])
    shown = {"title": HOSTILE, "axes": [{"names": ["width"], "values": [[0], [1], [2], [3]]}]}
    records.write_plan(dataclasses.replace(plan, sequence=2, resolved=shown, created="2026-01-02T00:00:00+00:00"))
    named = {"name": "<b>bold", "sweep_id": "bb" * 8, "resolved": {"title": ""}}
    records.write_plan(dataclasses.replace(plan, **named))
    write_shard(records, [Segment(cell, value=float(number)) for number, cell in enumerate(CELLS[:30])])
    ingest(records)
    return records.data


@pytest.fixture(scope="module")
def site(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Its server."""
    with served(data, tmp_path_factory.mktemp("reports"), LIMITS) as running:
        yield running


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file below a folder with its size and time."""
    found = ((path, path.stat()) for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): (stat.st_size, stat.st_mtime_ns) for path, stat in found}


# who may look


@given(st.from_regex(r"[a-z0-9-]{1,20}(\.[a-z0-9-]{1,20}){0,3}(:[0-9]{1,5})?", fullmatch=True))
def test_no_name_that_could_be_pointed_here_is_answered(host: str) -> None:
    """On loopback only loopback's own names come in, whatever the port: others may be pointed here by their owners."""
    bare = host.partition(":")[0]
    assert Hosts(loopback=True).allows(host) == (guard.is_loopback(bare))
    named = Hosts(loopback=False, names=frozenset({"lab.example.org"}))
    assert named.allows(host) == (bare in ("lab.example.org", "localhost") or is_address(bare))


def is_address(text: str) -> bool:
    """Whether it is an IP address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("host", "inside", "outside"),
    [
        ("127.0.0.1:8350", True, True),
        ("127.8.9.1", True, True),
        ("[::1]:8350", True, True),
        ("LOCALHOST:1", True, True),
        ("localhost.", True, True),
        ("192.168.1.7:8350", False, True),
        ("[fe80::1]", False, True),
        ("127.0.0.1.evil.example", False, False),
        ("localhost.evil.example", False, False),
        ("evil.example:8350", False, False),
        ("127.0.0.1@evil.example", False, False),
        ("evil.example#127.0.0.1", False, False),
        ("127.0.0.1:8350:9", False, False),
        ("127.0.0.1\t", False, False),
        ("", False, False),
    ],
)
def test_hosts(host: str, inside: bool, outside: bool) -> None:
    """Loopback answers to itself; a server for others also to addresses, and neither to anybody's name."""
    assert (Hosts(loopback=True).allows(host), Hosts(loopback=False).allows(host)) == (inside, outside)


def test_another_host_name_gets_nothing(site: Served) -> None:
    """A request under a foreign name, as after DNS rebinding, is refused on every path."""
    assert {site.ask(path, host="evil.example").status for path in PAGES} == {421}
    assert site.ask("/", host=f"localhost:{site.port}").status == 200


def test_other_sites_may_link_here_and_no_more(site: Served) -> None:
    """What a browser fetches for another site's page is refused; where it follows a link, it is answered."""
    for kind in ("cross-site", "same-site"):
        part = site.ask("/sql?q=select+1", Sec_Fetch_Site=kind, Sec_Fetch_Mode="no-cors", Sec_Fetch_Dest="image")
        frame = site.ask("/", Sec_Fetch_Site=kind, Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="iframe")
        link = site.ask("/", Sec_Fetch_Site=kind, Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document")
        assert (part.status, frame.status, link.status) == (403, 403, 200)
    assert not [name for name in link.headers if name.startswith("access-control")]


def test_the_token_opens_every_door_and_nothing_else_does(data: Path, tmp_path: Path) -> None:
    """Without it no page tells anything; in an address it becomes a cookie, which does not hold it; in a header it
    works as it is."""
    token = Token(SECRET, "swingby-test")
    with served(data, tmp_path, LIMITS, token) as site:
        for path in PAGES[:-1]:
            for given_ in ({}, {"Authorization": f"Bearer {SECRET}x"}, {"Cookie": f"swingby-test={SECRET}"}):
                reply = site.ask(path, **given_)
                assert reply.status == 401
                assert HOSTILE[:10] not in reply.text
                assert "toy" not in reply.text
        assert site.ask("/?token=wrong").status == 401
        assert site.ask("/", Authorization=f"Bearer {SECRET}").status == 200
        welcome = site.ask(f"/sql?q=select+41%2B1&token={SECRET}")
        assert (welcome.status, welcome.headers["location"]) == (303, "/sql?q=select+41%2B1")
        cookie = welcome.headers["set-cookie"]
        assert SECRET not in cookie
        assert {"HttpOnly", "SameSite=lax"} <= {part.strip() for part in cookie.split(";")}
        inside = site.ask(welcome.headers["location"], Cookie=cookie.split(";")[0])
        assert (inside.status, ">42</td>" in inside.text) == (200, True), inside.text


@given(st.text(max_size=30), st.dictionaries(st.sampled_from(["q", "limit", "x"]), st.text(max_size=10)))
def test_a_token_in_the_address_never_leads_away(path: str, rest: dict[str, str]) -> None:
    """After the token was taken out of the address, the browser is sent to this very site."""
    reply = guard._welcome(Token(SECRET), f"/{path}", QueryParams({**rest, "token": SECRET}))
    place = reply.headers["location"]
    assert re.match(r"/(?![/\\])", place)
    assert SECRET not in place
    assert "\n" not in place


@given(st.text(max_size=60))
def test_no_cookie_or_header_but_the_right_one_is_known(text: str) -> None:
    """Whatever is sent in place of the token is not taken for it, and breaks nothing."""
    raw = [(b"authorization", text.encode()), (b"cookie", f"swingby={text}".encode())]
    assert not Token(SECRET).knows(Headers(raw=raw))
    assert Token(SECRET).knows(Headers({"authorization": f"bearer {SECRET}", "cookie": "x"}))


def test_the_cookies_of_other_ports_lock_nobody_out() -> None:
    """A browser sends them along, whatever they look like; the right one is found among them."""
    token = Token(SECRET)
    for beside in ('prefs={"a":1}', "x=[1, 2]", 'quoted="a; b"', "=", ";;", "a=b"):
        assert token.knows(Headers({"cookie": f"{beside}; swingby={token.sealed}"}))
        assert not token.knows(Headers({"cookie": f"{beside}; swingby={token.sealed}x"}))


def test_a_token_file_is_nobody_elses(tmp_path: Path) -> None:
    """A missing one is made with mode 600 and read again as it was; one that others can read, or an empty one, is
    refused."""
    path = tmp_path / "token"
    made = guard.token_in(path)
    assert (guard.token_in(path), path.stat().st_mode & 0o777, len(made)) == (made, 0o600, 43)
    for mode in (0o640, 0o604, 0o620):
        path.chmod(mode)
        with pytest.raises(SwingbyError, match="chmod 600"):
            guard.token_in(path)
    path.chmod(0o600)
    for bad in ("", "short", "two words of a token", "ü" * 20, "a" * 9 + "\n" + "b" * 9):
        path.write_text(bad)
        with pytest.raises(SwingbyError, match="holds no token"):
            guard.token_in(path)
    with pytest.raises(SwingbyError, match="token file"):
        guard.token_in(tmp_path)


# what it answers


def test_every_answer_carries_the_headers(site: Served) -> None:
    """Pages, files, faults and refusals alike say what they may load, and that nobody may guess their type."""
    replies = [*map(site.ask, PAGES), site.ask("/", "POST"), site.ask("/", host="x.example"), site.sql("selec")]
    assert {reply.status for reply in replies} == {200, 400, 404, 405, 421}
    for reply in replies:
        assert all(reply.headers[name.lower()] == value for name, value in HEADERS.items() if name != "Cache-Control")
        assert "uvicorn" not in reply.headers.get("server", "")


def test_nothing_can_be_changed(site: Served, data: Path) -> None:
    """Only GET and HEAD are answered; no page, and no statement that would write, leaves a trace in the data folder."""
    before = tree(data)
    methods = ("POST", "PUT", "PATCH", "DELETE", "OPTIONS")
    assert {site.ask(path, method).status for path in PAGES for method in methods} == {405}
    for path in PAGES:
        site.ask(path)
    for sql in ("drop table toy", f"copy toy to '{data}/x.csv'", f"select * from read_text('{data}/swingby.json')"):
        reply = site.sql(sql)
        assert reply.status == 400
        assert "refused" in reply.text
    assert tree(data) == before


@pytest.mark.parametrize("prefix", ["/static/", "/reports/", "/sweeps/", "/"])
@pytest.mark.parametrize("rest", ["../cli.py", "..%2fcli.py", "%2e%2e/%2e%2e/swingby.json", "/etc/passwd", "..", "%00"])
def test_no_path_leads_to_a_file(prefix: str, rest: str, site: Served) -> None:
    """What is no page of the site is not there, however it is written."""
    reply = site.ask(prefix + rest)
    assert reply.status == 404
    assert "import" not in reply.text


def test_names_are_text(site: Served) -> None:
    """A hostile name, title, query or value appears as the text it is, and never as markup."""
    shown = [site.ask("/"), site.ask(f"/sweeps/{'aa' * 8}"), site.sql(f"select '{HOSTILE.replace(chr(39), '')}' as a")]
    shown += [site.sql(HOSTILE), site.ask("/sql"), site.ask("/sql.csv?q=%3Cscript%3E")]
    for reply in shown:
        assert not re.search(r"<img src=x|<script>|<b>bold|</title><", reply.text)
    assert html.escape(HOSTILE[:28]) in shown[0].text
    assert "&lt;b&gt;bold" in shown[0].text
    assert HOSTILE in html.unescape(shown[1].text)


@pytest.mark.parametrize(
    "value",
    [
        "{'a': ['x'::blob]}",
        "'infinity'::date",
        "interval '1 day'",
        "'9'::bignum",
        "map {'x'::blob: 1}",
        "'1'::bit",
        "1, 2",
    ],
)
def test_every_value_is_shown_and_downloaded(value: str, site: Served) -> None:
    """Whatever type a query returns, its page and its files are there."""
    query = f"select {value}"
    assert site.sql(query).status == 200
    for form in (".json", ".csv", ".parquet"):
        reply = site.sql(query, form)
        assert (reply.status, bool(reply.body)) == (200, True), (form, reply.text)
    assert len(json.loads(site.sql(query, ".json").text)) == 1


def test_the_list_says_how_far_each_sweep_is(site: Served) -> None:
    """Cells with a result and all of them; the bar is as long as their share."""
    text = site.ask("/").text
    assert "<strong>30</strong> of 40 cells" in text
    assert '<rect class="ok" x="0.0" width="75.0" height="1"/>' in text


def test_a_sweep_is_found_by_its_name(site: Served) -> None:
    """A name leads to the newest sweep of that name; an unknown one is not there; neither has a report yet."""
    assert site.ask("/sweeps/a").headers["location"] == f"/sweeps/{'aa' * 8}"
    assert site.ask(f"/sweeps/{'ab' * 8}").status == 404
    assert site.ask(f"/reports/{'aa' * 8}").status == 404


def test_page_and_files_hold_the_rows_of_the_sandbox(site: Served, data: Path) -> None:
    """CSV, JSON and Parquet are what the sandbox answers; the page shows them, and its link leads to the same page."""
    sql = "select cell_id, score, loss from toy order by cell_id"
    rows = query(data, sql)
    assert pl.read_parquet(io.BytesIO(site.sql(sql, ".parquet").body)).to_dicts() == rows.to_pylist()
    assert json.loads(site.sql(sql, ".json").body) == rows.to_pylist()
    csv = pl.read_csv(site.sql(sql, ".csv").body)
    assert csv["score"].to_list() == rows["score"].to_pylist()
    assert [json.loads(text) for text in csv["loss"]] == rows["loss"].to_pylist()
    page = site.sql(sql, limit=500).text
    assert all(cell in page for cell in CELLS[:30])
    (link,) = re.findall(r'<a id="link" href="([^"]*)"', page)
    assert site.ask(html.unescape(link)).text == page


def test_rows_are_cut_where_the_visitor_and_the_server_say(site: Served) -> None:
    """At most as many rows as asked for, and it says so; more than the server allows cannot be asked for."""
    assert site.sql("from range(10000)", ".csv", limit=7).body.count(b"\n") == 8
    assert site.sql("from range(10000)", ".csv", limit=7).headers["x-rows-cut"] == "true"
    assert "There are more: cut at 7." in site.sql("from range(10000)", limit=7).text
    assert "There are more" not in site.sql("from range(7)", limit=7).text
    for limit in (0, 501, -1, "many", "1e3", "９", "9" * 30):
        assert site.sql("select 1", limit=limit).status == 400
    assert site.sql(f"select {'1 + ' * 500} 1").status == 400


def test_two_columns_of_one_name_keep_their_values(site: Served) -> None:
    """A page shows both, and so does a file."""
    text = site.sql("select 3 as a, 4 as a").text
    assert [text.count(f'<td class="number">{value}</td>') for value in (3, 4)] == [1, 1]
    assert site.sql("select 3 as a, 4 as a", ".csv").body.split()[1] == b"3,4"


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(), st.lists))
def test_every_value_can_be_shown(value: Any) -> None:
    """Whatever a query gives has a short text; no value is taken for another's absence."""
    text = pages._text(value)
    assert (text is None) == (value is None)
    assert text is None or len(text) <= max(pages.LONG + 1, 5 * (pages.LONG + 10)) or isinstance(value, int | list)


def test_the_example_of_every_sweep_works(site: Served, data: Path) -> None:
    """The query behind a sweep's phase diagram has a row a point of its grid, and its parameters."""
    board = Board(data)
    status = board.standing().find("a")
    assert status is not None
    answer = site.sql(examples.phase_query(status, board.tables()), ".json", limit=500)
    board.close()
    assert answer.status == 200, answer.text
    assert {row["width"] for row in json.loads(answer.body)} == {0, 1, 2, 3}


KEYWORDS = '''
from typing import Annotated
import pyarrow as pa
from pydantic import Field
from swingby import Column, experiment


@experiment(curves={"end": Column(pa.list_(pa.float64()), "<b>squared</b> 'error'", unit="nat")})
def select(cell, order: Annotated[int, Field(description="<i>width</i>")], steps: int = 4):
    """Has names that SQL takes for its own."""
    for step in range(steps + 1):
        cell.record(step, end=float(step))
    return {"when": step / order, "limit": step > order}
'''


def test_every_example_runs_and_columns_are_explained(tmp_path: Path) -> None:
    """Each fits the tables that are there: cells, curves, outcomes; beside the box stand types, units and meanings."""
    (tmp_path / "train.py").write_text(KEYWORDS)
    text = "name: a\nexperiment: train.py\naxes: {order: [2, 8]}\noutcomes: {late: '\"when\" > 1'}\n"
    (tmp_path / "a.yaml").write_text(text + "diagram: {x: order, outcome: late}\n")
    run_sweep(Sweep.load(tmp_path / "a.yaml"), tmp_path / "data", local=True, pilot=False)
    with closing(Board(tmp_path / "data")) as board:
        tables, sweeps, said = board.tables(), board.standing().sweeps, board.meanings()
    offered = examples.examples(tables, sweeps)
    for example in offered:
        rows = query(tmp_path / "data", example.sql)
        assert rows.num_rows, example.title
    titles = " ".join(example.title for example in offered)
    assert all(text in titles for text in ("largest when", "mean end at each step", "what its columns mean"))
    assert said["select"].columns["end"].unit == "nat"
    with served(tmp_path / "data", tmp_path / "reports", LIMITS) as site:
        page = site.ask("/sql").text
    assert "<b>squared" not in page
    assert 'double[], nat</span><span class="meaning">&lt;b&gt;squared&lt;/b&gt; &#39;error&#39;</span>' in page
    assert "&lt;i&gt;width&lt;/i&gt;" in page
    assert all(html.unescape(line) for line in re.findall(r'title="(select[^"]*)"', page))


def test_examples_of_made_up_results_run(site: Served, data: Path) -> None:
    """Also where nothing is declared of tables, and some have no rows."""
    with closing(Board(data)) as board:
        offered = examples.examples(board.tables(), board.standing().sweeps)
    assert len(offered) > 4
    for example in offered:
        assert query(data, example.sql) is not None


# how much at once


def test_those_who_ask_the_same_share_one_answer(site: Served) -> None:
    """Twenty who ask one query of one generation at once get one answer: it was computed once."""
    with ThreadPoolExecutor(20) as many:
        replies = list(many.map(lambda _: site.sql("select uuid() as name", ".csv"), range(20)))
    assert {reply.status for reply in replies} == {200}
    assert len({reply.body for reply in replies}) == 1


def test_a_deadline_is_kept(data: Path, tmp_path: Path) -> None:
    """A query that takes longer than it may is stopped, and whoever asked is told so."""
    with served(data, tmp_path, dataclasses.replace(LIMITS, seconds=1.0)) as site:
        reply = site.sql("select sleep_ms(60000)")
        assert reply.status == 400
        assert "stopped after 1 s" in reply.text


def test_who_asks_nothing_holds_no_place(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many silent connections as there may be, and then some that end in the middle of a word: a moment later
    others are answered again; one that asks slowly, and one that asks again, are not cut off."""
    monkeypatch.setattr(server, "SILENT", 1.0)
    monkeypatch.setattr(server, "CONNECTIONS", 50)  # as are made long before the first of them was silent for so long
    patient = functools.partial(uvicorn.Config, timeout_keep_alive=300)  # so that nothing else cuts anybody off
    monkeypatch.setattr(server.uvicorn, "Config", patient)
    with served(data, tmp_path) as site, ExitStack() as open_ones:
        again = open_ones.enter_context(closing(http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)))
        again.request("GET", "/")
        assert again.getresponse().read()
        for number in range(server.CONNECTIONS):
            silent = open_ones.enter_context(socket.create_connection(("127.0.0.1", site.port)))
            if number % 2:
                silent.sendall(b"GET / HT")
        assert site.ask("/").status == 503
        awaited(lambda: site.ask("/").status == 200, 30)
        assert site.sql("select sleep_ms(1500)").status == 200
        again.request("GET", "/")
        assert again.getresponse().status == 200


def test_what_is_remembered_is_bounded(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers without a row count, too: the oldest are forgotten, by number and by the length of their questions."""
    monkeypatch.setattr(queries, "ANSWERS", 3)
    monkeypatch.setattr(queries, "REMEMBERED", 10_000)

    async def asked() -> list[int]:
        many = queries.Queries(Records.open(data).data, LIMITS)
        try:
            for number in range(5):
                await many.ask(f"select {number} as n where false", 10)
                await asyncio.sleep(0)  # it is remembered when its task has ended
            short = len(many._remembered)
            for number in range(2):
                await many.ask(f"select {number} as n where false -- {'x' * 6000}", 10)
                await asyncio.sleep(0)
            return [short, len(many._remembered)]
        finally:
            many.close()

    with ThreadPoolExecutor(1) as other:  # a browser that tests of pages keep open has a loop in this thread
        assert other.submit(lambda: asyncio.run(asked())).result() == [3, 1]


def test_too_many_are_sent_away(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One query runs and one waits; a third is told to come back, at once, while pages are answered. Those who waited
    get their answer when the first one ends."""
    limits, asked = dataclasses.replace(LIMITS, waiting=1), list[queries.Queries]()

    def made(*given: Any) -> queries.Queries:
        asked.append(queries.Queries(*given))
        return asked[-1]

    monkeypatch.setattr("swingby_analysis.serve.app.Queries", made)
    with served(data, tmp_path, limits) as site, ThreadPoolExecutor(2) as many:
        first = many.submit(site.sql, "select sleep_ms(600000)")
        running = awaited(sandboxes)
        second = many.submit(site.sql, "select 42 as answer", ".csv")
        awaited(lambda: asked[0]._waiting)
        third = site.sql("select 43")
        assert (third.status, third.headers["retry-after"]) == (503, "120")
        assert site.ask("/").status == 200
        assert (first.done(), second.done(), len(running)) == (False, False, 1)
        running[0].kill()
        assert first.result().status == 400
        assert second.result().body == b"answer\n42\n"


def sandboxes() -> list[psutil.Process]:
    """The processes in which this one's queries run."""
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):  # it has just ended
            found += [child] if "swingby.sandbox" in child.cmdline() else []
    return found


def test_fifty_clients_are_answered_while_a_sweep_runs(walk: Any, tmp_path: Path) -> None:
    """Fifty who ask for lists and phase diagrams at once, while cells come in, all get theirs; the sweep loses none."""
    sweep = walk.sweep(seeds=20, base={"pause": 0.02})
    walk.records()
    runner = threading.Thread(
        target=run_sweep, args=(sweep, walk.data), kwargs={"local": True, "pilot": False, "progress": Progress()}
    )
    runner.start()
    sql = "select width, rate, count(*) as cells, avg(final_position) as height from walk group by all order by all"
    with served(walk.data, tmp_path, Limits(seconds=120.0, patience=240.0)) as site, ThreadPoolExecutor(50) as many:
        awaited(lambda: re.search("<strong>[1-9]", site.ask("/").text))
        asked = [many.submit(site.ask, "/") if n % 2 else many.submit(site.sql, sql, ".json") for n in range(100)]
        found = [one.result() for one in asked]
        runner.join()
        assert {reply.status for reply in found} == {200}
        counts = [sum(row["cells"] for row in json.loads(reply.body)) for reply in found[::2]]
        assert 1 <= min(counts) <= max(counts) <= 80
        awaited(lambda: "<strong>80</strong> of 80 cells" in site.ask("/").text)
        assert json.loads(site.sql("select count(*) as n from walk", ".json").body) == [{"n": 80}]


# the command


def command(*arguments: str) -> tuple[int, str]:
    """Exit code and standard error of `swingby serve` in this process."""
    result = swingby("serve", *arguments)
    return result.exit_code, result.stderr


def test_bad_input_ends_with_code_2(data: Path, tmp_path: Path) -> None:
    """A taken port, no data folder, half a certificate, one that is none, a foreign address: each is named."""
    here = ("--data", str(data), "--port", "0")
    (tmp_path / "bad.pem").write_text("none")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        found = [
            (command("--data", str(data), "--port", port), f"port {port}"),
            (command("--data", str(tmp_path / "none")), "no data folder"),
            (command("--data", str(tmp_path)), "not a data folder"),
            (command(*here, "--cert", "x.pem"), "go together"),
            (command(*here, "--cert", str(tmp_path / "bad.pem"), "--key", str(tmp_path / "bad.pem")), "unencrypted"),
            (command(*here, "--host", "192.0.2.1"), "cannot listen at 192.0.2.1"),
            (command(*here, "--host", "no such host"), "--host 'no such host'"),
            (command(*here, "--token-file", str(tmp_path / "bad.pem")), "chmod 600"),
        ]
    for (code, said), told in found:
        assert code == 2
        assert told in said
        assert "Traceback" not in said


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[str, str]:
    """A certificate for localhost that nobody has signed, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl to make a certificate with")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = [*("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")]
    about = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([openssl, *made, *about, "-keyout", key, "-out", cert], check=True, capture_output=True)
    return str(cert), str(key)


def test_it_serves_others_with_a_token_over_tls_and_stops_when_told(
    data: Path, tmp_path: Path, certificate: tuple[str, str]
) -> None:
    """At another address than loopback it makes a token and prints it; SIGTERM ends it with code 0, nothing is left."""
    cert, key = certificate
    (tmp_path / "tmp").mkdir()
    line = [sys.executable, "-W", "error", "-m", "swingby", "serve", "--data", str(data), "--host", "0.0.0.0"]
    child = subprocess.Popen(
        [*line, "--port", "0", "--cert", cert, "--key", key],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path / "tmp"), "HOME": str(tmp_path)},
    )
    with child:
        try:
            assert child.stdout is not None
            said = child.stdout.readline()
            found = re.search(r"https://\S+:(\d+)/\?token=(\S{43})", said)
            assert found, said
            context = ssl.create_default_context(cafile=cert)
            url = f"https://localhost:{found[1]}/"
            with pytest.raises(urllib.error.HTTPError, match="401"):
                urllib.request.urlopen(url, context=context, timeout=30)
            asked = urllib.request.Request(url, headers={"Authorization": f"Bearer {found[2]}"})
            with urllib.request.urlopen(asked, context=context, timeout=30) as reply:
                assert "of 40 cells" in reply.read().decode()
        finally:
            child.send_signal(signal.SIGTERM)
        assert child.stderr is not None
        assert child.stderr.read() == ""
    assert child.returncode == 0
    assert list((tmp_path / "tmp").iterdir()) == []
