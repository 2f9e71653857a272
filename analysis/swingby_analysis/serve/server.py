"""Runs the site: a socket that is taken before anything else, TLS if asked for, and an end without leftovers."""

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
from swingby_analysis.serve.app import application
from swingby_analysis.serve.guard import Hosts, Token, is_loopback
from swingby_analysis.serve.queries import Limits
from swingby_analysis.serve.reports import Folder

LINE = 100_000
"""Bytes of an address with its headers: a query of the greatest length, every character of it escaped."""
CONNECTIONS = 500
SILENT = 10.0
"""Seconds in which a connection's first request has to be there whole."""
GRACE = 5
"""Seconds that answers get to end when the server is told to stop."""


@dataclass(frozen=True)
class Certificate:
    """Files of a certificate chain and its key (PEM)."""

    cert: Path
    key: Path

    def check(self) -> None:
        """Tries them.

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
    """A socket that listens at an address; port 0: at any that is free.

    Raises:
        SwingbyError: the host is none of this machine, or the port is taken or not allowed.
    """
    try:
        kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError) as error:
        raise SwingbyError(f"--host {host}: {error}; allowed: an address or a name of this machine") from error
    try:
        return socket.create_server(address[:2], family=kind, backlog=1024)
    except OSError as error:
        remedy = "choose another by --port, or --port 0 for any that is free"
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
    """Serves a data folder until it is told to stop (SIGINT, SIGTERM).

    Args:
        token: gives the token; None: none is asked for on loopback, and one is made elsewhere.
        names: names under which it answers besides those it knows.
        say: is told where the site is, once it listens.

    Raises:
        SwingbyError: there is no data folder, the port is taken, or the certificate is none.
    """
    from swingby_analysis.serve import tokens

    records = Records.open(data, create=False)
    if certificate is not None:
        certificate.check()
    with listening(host, port) as listener, Folder() as folder:
        address, port = listener.getsockname()[:2]
        inside = is_loopback(address)
        secret = token() if token is not None else None if inside else tokens.made()
        known = Token(secret, f"swingby-{port}", certificate is not None) if secret else None
        app = application(records.data, folder, limits, _hosts(inside, host, names), known)
        if not inside and certificate is None:
            warn("warning: without --cert and --key everybody on the way can read the token and the pages")
        _until_told(made(app, certificate), listener, lambda: say(_url(host, address, port, known, certificate)))


def _hosts(inside: bool, host: str, names: frozenset[str]) -> Hosts:
    own = frozenset() if inside else frozenset({host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()})
    return Hosts(inside, own | {name.lower() for name in names})


def _url(host: str, address: str, port: int, token: Token | None, certificate: Certificate | None) -> str:
    wildcard = address in ("0.0.0.0", "::")  # noqa: S104  compared, not bound
    shown = socket.gethostname() if wildcard else host
    shown = f"[{shown}]" if ":" in shown else shown
    scheme = "https" if certificate is not None else "http"
    return f"{scheme}://{shown}:{port}/{f'?token={token.value}' if token else ''}"


class Impatient(H11Protocol):
    """A connection that is closed where nobody asks anything by it: so many of them may be open, and no more."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._silent = self.loop.call_later(SILENT, self._given_up)

    def _given_up(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._silent.cancel()
        super().connection_lost(exc)


def made(app: Any, certificate: Certificate | None = None) -> uvicorn.Server:
    """A server of the site, not running yet."""
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


def _until_told(server: uvicorn.Server, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Runs until a signal; returns instead of dying of it, so that whoever called can tidy up."""

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
