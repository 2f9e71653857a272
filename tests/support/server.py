"""The server of `swingby serve` for tests: in a thread of this process, on a free port, asked over real sockets."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from swingby_analysis.serve.app import application
from swingby_analysis.serve.guard import Hosts, Token
from swingby_analysis.serve.queries import Limits
from swingby_analysis.serve.server import listening, new_server
from tests.support.waiting import awaited


@dataclass(frozen=True)
class Reply:
    """What the server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass(frozen=True)
class Served:
    """A running server."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, path: str, method: str = "GET", host: str | None = None, **headers: str) -> Reply:
        """One request; names of headers are written with _ for -."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            sent = {"Host": host or f"127.0.0.1:{self.port}", **{k.replace("_", "-"): v for k, v in headers.items()}}
            connection.request(method, path, headers=sent)
            answer = connection.getresponse()
            return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def sql(self, query: str, form: str = "", **options: object) -> Reply:
        """A query, as a page or as a file."""
        return self.ask(f"/sql{form}?{urlencode({'q': query, **options})}")


@contextmanager
def served(data: Path, folder: Path, limits: Limits = Limits(), token: Token | None = None) -> Iterator[Served]:  # noqa: B008  frozen
    """A server over a data folder; its reports go into `folder`."""
    with listening("127.0.0.1", 0) as listener:
        server = new_server(application(data, folder, limits, Hosts(loopback=True), token))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            awaited(lambda: server.started)
            yield Served(listener.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join()
