"""An object storage on this machine, for tests: moto's S3 server on loopback, gone with the test."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEYS: Mapping[str, str] = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""What a client needs in its environment."""


SERVER = """
from moto.server import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server
application = DomainDispatcherApplication(create_backend_app)
server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=MotoRequestHandler)
print(server.port, flush=True)
server.serve_forever()
"""
"""As moto starts its server, but at a port that is free when it is taken, and tells which."""


@dataclass(frozen=True)
class Storage:
    """A server that is up, with a bucket called `records`."""

    port: int
    server: subprocess.Popen[bytes]

    def address(self, prefix: str) -> str:
        """Of a prefix in its bucket."""
        return f"s3://records/{prefix}?endpoint_override=127.0.0.1:{self.port}&scheme=http"


@contextmanager
def storage() -> Iterator[Storage]:
    """A fresh, empty storage; `KEYS` must be in the environment of whoever asks it."""
    command, environment = [sys.executable, "-c", SERVER], {**os.environ, **KEYS}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
    ) as server:
        try:
            assert server.stdout is not None
            told = server.stdout.readline()
            assert told, "the server does not start"
            _bucket(int(told))
            yield Storage(int(told), server)
        finally:
            server.kill()


def _bucket(port: int) -> None:
    from pyarrow.fs import S3FileSystem

    options = {"endpoint_override": f"127.0.0.1:{port}", "scheme": "http", "allow_bucket_creation": True}
    own = {"access_key": KEYS["AWS_ACCESS_KEY_ID"], "secret_key": KEYS["AWS_SECRET_ACCESS_KEY"], "region": "us-east-1"}
    S3FileSystem(**options, **own).create_dir("records")


HOPS = {"content-length", "transfer-encoding", "connection", "expect"}
"""Headers of one line, which are not passed on."""


class Proxy:
    """Stands before a storage, and does to requests what a network may do.

    Attributes:
        port: where it listens.
        fails: whether a request (its method, and path with query) is answered by 503 without being passed on.
        cuts: whether a request is passed on and the line is cut before the answer.
        seen: what was asked.
    """

    def __init__(self, storage: Storage) -> None:
        self.fails: Callable[[str, str], bool] = lambda method, path: False
        self.cuts: Callable[[str, str], bool] = lambda method, path: False
        self.seen: list[tuple[str, str]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler(storage.port))
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def address(self, prefix: str) -> str:
        """Of a prefix in the storage's bucket, through here."""
        return f"s3://records/{prefix}?endpoint_override=127.0.0.1:{self.port}&scheme=http"

    def close(self) -> None:
        """Ends it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self, port: int) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _body(self) -> bytes:
                if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
                    return self.rfile.read(int(self.headers.get("Content-Length") or 0))
                body = b""
                while length := int(self.rfile.readline().split(b";")[0], 16):
                    body += self.rfile.read(length)
                    self.rfile.readline()
                self.rfile.readline()
                return body

            def _pass(self) -> None:
                proxy.seen.append((self.command, self.path))
                headers = {name: value for name, value in self.headers.items() if name.lower() not in HOPS}
                body = self._body()
                if proxy.fails(self.command, self.path):
                    self.send_response(503)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                line = HTTPConnection("127.0.0.1", port, timeout=60)
                line.request(self.command, self.path, body, headers)
                answer = line.getresponse()
                content = answer.read()
                line.close()
                if proxy.cuts(self.command, self.path):
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                told = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
                for name, value in answer.getheaders():
                    if name.lower() not in {*HOPS, "date", "server"}:
                        self.send_header(name, value)
                self.send_header("Content-Length", told or "0")
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                return

        return Handler
