"""Who gets an answer: the hosts a request may name, the token, requests from other sites, the headers of all answers.

A page on another site can make a browser send requests here. It can neither read an answer (no CORS header is ever
sent), nor pretend to be this site under a name that it points at this machine (DNS rebinding: the Host header is
checked), nor make this site's pages part of its own.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import os
import re
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlencode

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from swingby.data.files import clear_os_errors
from swingby.errors import SwingbyError
from swingby.options import option
from swingby_analysis.serve import pages

METHODS = ("GET", "HEAD")
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "frame-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""What every answer carries, unless it says otherwise itself."""
OPEN = "/static/"
"""Paths that need no token: the style of the page that asks for one."""
LEAST = 16
"""Characters that a token has at least; a new one has 43, of 256 random bits."""
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9.-]{1,253}?))\.?(?::\d{1,5})?")


def is_loopback(address: str) -> bool:
    """Whether a host (an IP address or `localhost`) can be reached from this machine only."""
    try:
        return address == "localhost" or ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Hosts:
    """The names under which the server answers.

    On loopback: loopback addresses and `localhost`, with any port, since a tunnel may have another. Elsewhere every
    address as well: a name can be pointed anywhere by whoever owns it, an address cannot. `names` are allowed besides.
    """

    loopback: bool
    names: frozenset[str] = frozenset()

    def allows(self, header: str) -> bool:
        """Whether a request with this Host header is answered."""
        match = _HOST.fullmatch(header)
        if match is None:
            return False
        name = (match[1] or match[2]).lower()
        if is_loopback(name) or name in self.names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return not self.loopback


@dataclass(frozen=True)
class Token:
    """The token that visitors need, and the cookie by which a browser that gave it once is known afterwards.

    The cookie holds a keyed hash and not the token itself: browsers send it to every port of the machine.
    """

    value: str = field(repr=False)
    cookie: str = "swingby"
    secure: bool = False

    @property
    def sealed(self) -> str:
        """The value of the cookie."""
        return hmac.new(self.value.encode(), b"swingby serve cookie", hashlib.sha256).hexdigest()

    def is_right(self, token: str) -> bool:
        """Whether a text is the token; takes equally long for all wrong ones."""
        return hmac.compare_digest(token.encode(), self.value.encode())

    def knows(self, headers: Headers) -> bool:
        """Whether a request carries the token (Authorization: Bearer) or the cookie."""
        scheme, _, secret = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self.is_right(secret.strip()):
            return True
        # Not http.cookies: it stops at the first cookie that it does not like, and those of all ports come along.
        secret = cookie_parser(headers.get("cookie", "")).get(self.cookie, "")
        return hmac.compare_digest(secret.encode(), self.sealed.encode())


class Guard:
    """Answers requests that are refused, and passes all others to the application; adds `HEADERS` to every answer."""

    def __init__(self, app: ASGIApp, hosts: Hosts, token: Token | None = None) -> None:
        self.app, self.hosts, self.token = app, hosts, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await (self._refusal(scope) or self.app)(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        """What is answered instead of the page; None where the page is answered."""
        headers = Headers(scope=scope)
        if scope["method"] not in METHODS:
            allowed = {"Allow": ", ".join(METHODS)}
            return pages.message(405, "These pages can only be read", "Allowed: GET and HEAD.", allowed)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.hosts.allows(hosts[0]):
            remedy = f"Open it by its address, or start the server with {option('name')} and the name that you use."
            return pages.message(421, "The server does not answer to this name", remedy)
        # Another site's page may link here, and not fetch or frame anything.
        link = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not link:
            text = "Another site may link to these pages; it may not load parts of them."
            return pages.message(403, "Another site asked for this", text)
        if self.token is None or scope["path"].startswith(OPEN):
            return None
        query = QueryParams(scope["query_string"])
        if "token" in query:
            if self.token.is_right(query["token"]):
                return _welcome(self.token, scope["path"], query)
        elif self.token.knows(headers):
            return None
        return pages.token_form("token" in query, {"WWW-Authenticate": 'Bearer realm="swingby"'})


def _welcome(token: Token, path: str, query: QueryParams) -> Response:
    """Sets the cookie and leads to the page without the token in its address, which would stay in the history."""
    rest = urlencode([(name, value) for name, value in query.multi_items() if name != "token"])
    # Two slashes at the beginning, or a slash and a backslash, would lead to another site.
    place = "/" + quote(path.lstrip("/\\")) + (f"?{rest}" if rest else "")
    response = RedirectResponse(place, status_code=303)
    response.set_cookie(token.cookie, token.sealed, httponly=True, samesite="lax", secure=token.secure)
    return response


def new_token() -> str:
    """A random token."""
    return secrets.token_urlsafe(32)


def token_in(path: Path) -> str:
    """The token in a file; a file that is missing is made, with mode 600.

    Raises:
        SwingbyError: others can read the file, it is another user's, or it holds no token.
    """
    with clear_os_errors(f"use the token file {path}"):
        with suppress(FileExistsError):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "w") as file:
                token = new_token()
                file.write(token + "\n")
            return token
        # Opened once: the file that is checked is the file that is read, whoever moves it meanwhile.
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise SwingbyError(f"the token file {path} is no plain file")
            if status.st_uid != os.getuid():
                raise SwingbyError(f"the token file {path} belongs to another user")
            if status.st_mode & 0o077:
                raise SwingbyError(f"the token file {path} can be used by others; mend it by: chmod 600 {path}")
            text = file.read(10_000)
    try:
        token = text.decode("ascii").strip()
    except UnicodeDecodeError:
        token = ""
    if len(token) < LEAST or not token.isprintable() or " " in token:
        raise SwingbyError(
            f"the token file {path} holds no token: one line of at least {LEAST} letters, digits or signs, no spaces; "
            "a file that is missing is made"
        )
    return token
