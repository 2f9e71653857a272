"""A web server of a folder for tests, with ranges: it counts what it gives, breaks off, and leads elsewhere."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass
class Web:
    """A running server, and how it behaves.

    Attributes:
        asked: what was asked for: path and range.
        given: bytes of bodies.
        cuts: for each of the next answers with a body, after how many bytes the connection is closed.
        ranges: whether it can give a part of a file.
        leads: path -> where it redirects.
        status: path -> an answer without a file.
        headers: further headers of every file.
    """

    folder: Path
    port: int = 0
    asked: list[tuple[str, str]] = field(default_factory=list)
    given: int = 0
    cuts: list[int] = field(default_factory=list)
    ranges: bool = True
    leads: dict[str, str] = field(default_factory=dict)
    status: dict[str, int] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def web(folder: Path) -> Iterator[Web]:
    """The folder behind an address of this machine."""
    state = Web(folder)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  as above it
            pass

        def do_HEAD(self) -> None:
            self.do_GET(body=False)

        def do_GET(self, body: bool = True) -> None:
            wanted = self.headers.get("Range", "")
            state.asked.append((self.path, wanted))
            path = state.folder / self.path.lstrip("/")
            if self.path in state.leads:
                self.send_response(302)
                self.send_header("Location", state.leads[self.path])
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if self.path in state.status or not path.is_file():
                self.send_error(state.status.get(self.path, 404))
                return
            content, begin = path.read_bytes(), 0
            match = re.fullmatch(r"bytes=(\d*)-(\d*)", wanted) if state.ranges else None
            end = len(content)
            if match is not None:
                begin = int(match[1]) if match[1] else len(content) - int(match[2])
                end = min(int(match[2]) + 1, end) if match[1] and match[2] else end
            self.send_response(206 if match else 200)
            if match:
                self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
            self.send_header("Content-Length", str(end - begin))
            if state.ranges:
                self.send_header("Accept-Ranges", "bytes")
            for name, value in state.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if body:
                part = content[begin:end]
                cut = state.cuts.pop(0) if state.cuts else len(part)
                state.given += len(part[:cut])
                self.wfile.write(part[:cut])
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
