"""Who may look: the hosts a request may name, the token, what other sites may ask for, and the headers of all answers.

A page on another site can make a browser send requests here. It can neither read an answer (no CORS header is ever
sent), nor pretend to be this site under a name that it points at this machine (DNS rebinding: the Host header is
checked), nor make this site's pages part of its own.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
"""Needs no token: the style of the page that asks for one."""
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9.-]{1,253}?))\.?(?::\d{1,5})?")


def is_loopback(address: str) -> bool:
    """Whether an IP address, or `localhost`, can only be reached from this machine."""
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
        """Whether a Host header may come in."""
        match = _HOST.fullmatch(header)
        if match is None:
            return False
        name = (match[1] or match[2]).lower()
        if is_loopback(name) or name in self.names:
            return True
        return not self.loopback and _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Token:
    """The token that visitors need, and the cookie that stands for it afterwards.

    The cookie does not hold the token itself: browsers send it to every port of the machine.
    """

    value: str = field(repr=False)
    cookie: str = "swingby"
    secure: bool = False

    @property
    def sealed(self) -> str:
        """What the cookie holds."""
        return hmac.new(self.value.encode(), b"swingby serve cookie", hashlib.sha256).hexdigest()

    def is_right(self, given: str) -> bool:
        """Whether it is the token; takes as long for any wrong one."""
        return hmac.compare_digest(given.encode(), self.value.encode())

    def knows(self, headers: Headers) -> bool:
        """Whether a request carries the token (Authorization: Bearer) or the cookie."""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self.is_right(given.strip()):
            return True
        # Not http.cookies: it stops at the first cookie that it does not like, and those of all ports come along.
        given = cookie_parser(headers.get("cookie", "")).get(self.cookie, "")
        return hmac.compare_digest(given.encode(), self.sealed.encode())


class Guard:
    """Stands before the whole application: what it refuses, no route ever sees."""

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
        """What is answered instead of the page; None: come in."""
        headers = Headers(scope=scope)
        if scope["method"] not in METHODS:
            return pages.message(405, "This page only shows", "Allowed: GET and HEAD.", {"Allow": ", ".join(METHODS)})
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.hosts.allows(hosts[0]):
            told = "Open it by its address, or start the server with --name and the name that you use."
            return pages.message(421, "The server does not answer to this name", told)
        if _from_elsewhere(headers):
            return pages.message(403, "Another site asked for this", "Links to these pages work, parts of them do not.")
        if self.token is None or scope["path"].startswith(OPEN):
            return None
        return self._unknown(self.token, scope, headers)

    def _unknown(self, token: Token, scope: Scope, headers: Headers) -> Response | None:
        query = QueryParams(scope["query_string"])
        if "token" in query:
            if token.is_right(query["token"]):
                return _welcome(token, scope["path"], query)
        elif token.knows(headers):
            return None
        return pages.asking("token" in query, {"WWW-Authenticate": 'Bearer realm="swingby"'})


def _from_elsewhere(headers: Headers) -> bool:
    """Whether another site's page asks for anything but to be left for this one."""
    if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
        return False
    return (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) != ("navigate", "document")


def _welcome(token: Token, path: str, query: QueryParams) -> Response:
    """The same page again without the token in its address, so that it does not stay in the browser's history."""
    rest = urlencode([(name, value) for name, value in query.multi_items() if name != "token"])
    # Two slashes at the beginning, or a slash and a backslash, would lead to another site.
    place = "/" + quote(path.lstrip("/\\")) + (f"?{rest}" if rest else "")
    response = RedirectResponse(place, status_code=303)
    response.set_cookie(token.cookie, token.sealed, httponly=True, samesite="lax", secure=token.secure)
    return response
