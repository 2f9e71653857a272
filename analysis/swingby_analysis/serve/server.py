"""Runs the site: takes its port first, then TLS if asked for, and leaves nothing behind when it ends."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from swingby.data.records import Records
from swingby.errors import SwingbyError
from swingby.options import option
from swingby_analysis.serve.app import application
from swingby_analysis.serve.guard import Hosts, Token, is_loopback, new_token
from swingby_analysis.serve.queries import Limits
from swingby_analysis.serve.reports import Folder

LINE = 100_000
"""The most bytes of an address with its headers: the longest query fits, with every character escaped."""
CONNECTIONS = 500
"""Connections at once; more are answered with status 503."""
SILENT = 10.0
"""Seconds in which the first request of a connection has to arrive as a whole; then the connection is closed."""
GRACE = 5
"""Seconds that running answers get when the server is stopped."""


@dataclass(frozen=True)
class Certificate:
    """The files of a certificate chain and of its key (PEM)."""

    cert: Path
    key: Path

    def check(self) -> None:
        """Loads both files.

        Raises:
            SwingbyError: they cannot be read, do not fit together, or the key is encrypted.
        """
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.cert, self.key, password=lambda: "")  # never asks on the terminal
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            raise SwingbyError(
                f"the certificate {self.cert} and the key {self.key} cannot be used: {error}; "
                "allowed: a chain and its unencrypted key as PEM files"
            ) from error


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; with port 0 at any free port.

    Raises:
        SwingbyError: the host is not this machine's, or the port is taken or not allowed.
    """
    try:
        kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError) as error:
        raise SwingbyError(f"{option('host', host)}: {error}; allowed: an address or a name of this machine") from error
    try:
        return socket.create_server(address[:2], family=kind, backlog=1024)
    except OSError as error:
        remedy = f"choose another by {option('port')}; {option('port', 0)} takes any that is free"
        raise SwingbyError(f"cannot listen at {host}, port {port}: {error.strerror or error}; {remedy}") from error


def run(
    data: Path,
    host: str,
    port: int,
    limits: Limits,
    token: Callable[[], str] | None,
    certificate: Certificate | None,
    names: frozenset[str],
    say: Callable[[str], None],
    warn: Callable[[str], None],
) -> None:
    """Serves a data folder until SIGINT or SIGTERM.

    Args:
        token: gives the token; None: on loopback no token is asked for, elsewhere a new one is made.
        names: further host names under which the server answers.
        say: called with the address of the site once the server listens.
        warn: called with a warning.

    Raises:
        SwingbyError: there is no data folder, the port is taken, or the certificate cannot be used.
    """
    records = Records.open(data, create=False)
    if certificate is not None:
        certificate.check()
    with listening(host, port) as listener, Folder() as folder:
        address, port = listener.getsockname()[:2]
        inside = is_loopback(address)
        secret = token() if token is not None else None if inside else new_token()
        known = Token(secret, f"swingby-{port}", certificate is not None) if secret else None
        addresses = set() if inside else {host, socket.gethostname(), socket.getfqdn()}
        hosts = Hosts(inside, frozenset(name.lower() for name in addresses | names))
        app = application(records.data, folder, limits, hosts, known)
        if not inside and certificate is None:
            warn(
                f"warning: without {option('cert')} and {option('key')} everybody on the way can read the token and "
                "the pages"
            )
        shown = socket.gethostname() if address in ("0.0.0.0", "::") else host  # noqa: S104  compared, not bound
        shown = f"[{shown}]" if ":" in shown else shown
        scheme = "https" if certificate is not None else "http"
        url = f"{scheme}://{shown}:{port}/{f'?token={known.value}' if known else ''}"
        _run_until_signal(new_server(app, certificate), listener, lambda: say(url))


class Impatient(H11Protocol):
    """A connection that is closed if its first request does not arrive in time; only `CONNECTIONS` may be open."""

    # As uvicorn declares it: asyncio's own protocol takes any BaseTransport.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._silent = self.loop.call_later(SILENT, self._give_up)

    def _give_up(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._silent.cancel()
        super().connection_lost(exc)


def new_server(app: Any, certificate: Certificate | None = None) -> uvicorn.Server:
    """A server of the site that does not run yet."""
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    config = uvicorn.Config(
        app,
        http=Impatient,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,  # addresses hold queries, and the first one the token
        proxy_headers=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=GRACE,
        h11_max_incomplete_event_size=LINE,
        ssl_certfile=None if certificate is None else certificate.cert,
        ssl_keyfile=None if certificate is None else certificate.key,
    )
    return uvicorn.Server(config)


def _run_until_signal(server: uvicorn.Server, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Runs until SIGINT or SIGTERM, and then returns, so that the caller can tidy up. `ready` is called first."""

    def stop(*_: object) -> None:
        server.should_exit = True

    # The server raises the signal again when it has ended: this handler is then the one that gets it.
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        ready()
        server.run(sockets=[listener])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
