"""Files of a published folder, from this machine or by HTTP, each copied with its size and digest checked.

Nothing of a stranger's folder is followed: no link, no path out of it, no redirection to another scheme.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO, Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from swingby.archive.publication import FILE
from swingby.data.files import clear_os_errors
from swingby.errors import SwingbyError
from swingby.text import plain
from swingby.units import size as shown

CHUNK = 2**18
TRIES = 4
"""How often a file is asked for, from where it broke off, until it is given up."""
SECONDS = 30.0
"""Seconds without any byte after which a connection is given up."""
GRACE, SLOWEST = 60.0, 1_000.0
"""Seconds after which a download has to have come at so many bytes a second on average."""
ADDRESS = re.compile(r"https?://", re.IGNORECASE)


class Place(Protocol):
    """Where a published folder lies."""

    @property
    def where(self) -> str:
        """Its path or address."""
        ...

    def parts(self, name: str, begin: int) -> Iterator[tuple[int, bytes]]:
        """Pieces of a file with the place of each; they may begin before `begin`."""
        ...


def place_of(source: str) -> Place:
    """The folder behind a path or an address.

    Raises:
        SwingbyError: no such folder, an address of another scheme, or one with a name or password in it.
    """
    if ADDRESS.match(source):
        parts = urlsplit(source)
        if "@" in parts.netloc:
            raise SwingbyError("the address has a name or a password in it; give it without")
        if not parts.hostname:
            raise SwingbyError(f"{plain(source, 100)!r} names no machine; allowed: https://machine/path")
        path = parts.path.removesuffix("manifest.json").rstrip("/")
        return Web(f"{parts.scheme.lower()}://{parts.netloc}{path}")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", source):
        raise SwingbyError(f"{plain(source, 100)!r} is neither a folder nor an address of http:// or https://")
    folder = Path(source).expanduser().absolute()
    if not folder.is_dir():
        raise SwingbyError(f"there is no folder {plain(folder, 200)}")
    return Folder(folder)


def copy(place: Place, name: str, target: IO[bytes], size: int, digest: str | None) -> None:
    """Copies a file of exactly so many bytes with this SHA-256 (None: at most so many bytes, any content).

    A connection that breaks is taken up again from where it broke off.

    Raises:
        SwingbyError: it is not there, longer or shorter, of another content, or does not come.
    """
    what, at, began = f"{name} of {place.where}", 0, time.monotonic()
    hashed = hashlib.sha256()
    for attempt in range(TRIES):
        try:
            for begin, piece in place.parts(name, at):
                if begin < at:  # the server began anew
                    piece = piece[at - begin :]
                at += len(piece)
                if at > size:
                    raise SwingbyError(f"{what} is longer than {shown(size)}, which is allowed")
                hashed.update(piece)
                target.write(piece)
                passed = time.monotonic() - began
                if passed > GRACE and at < SLOWEST * passed:
                    raise SwingbyError(f"{what} comes too slowly: {shown(at)} in {passed:.0f} s")
        except BrokenOffError as error:
            if attempt == TRIES - 1:
                raise SwingbyError(f"{what} cannot be had: {error}; asked {TRIES} times") from error
            continue
        if digest is None or at == size:
            break
        if attempt == TRIES - 1 or isinstance(place, Folder):
            raise SwingbyError(f"{what} is cut off: it has {at:,} bytes; its manifest says {size:,}")
    if digest is not None and hashed.hexdigest() != digest:
        raise SwingbyError(f"{what} is damaged: its SHA-256 is {hashed.hexdigest()[:12]}..., not {digest[:12]}...")


class BrokenOffError(Exception):
    """A connection that ended too early, and may be tried again."""


@dataclass(frozen=True)
class Folder:
    """A folder on this machine."""

    path: Path

    @property
    def where(self) -> str:
        """Its path."""
        return str(self.path)

    def parts(self, name: str, begin: int) -> Iterator[tuple[int, bytes]]:
        """The pieces of a plain file; no link is followed, whether to a file or on the way to it."""
        assert FILE.fullmatch(name)
        with clear_os_errors(f"read {name} of {self.where}"):
            opened = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            for part in name.split("/"):
                above = opened
                try:
                    opened = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=above)
                except FileNotFoundError:
                    raise SwingbyError(f"{name} is missing in {self.where}") from None
                except OSError as error:
                    why = f"{name} of {self.where} is no plain file: {error.strerror}; links are not followed"
                    raise SwingbyError(why) from None
                finally:
                    os.close(above)
            with open(opened, "rb") as file:  # noqa: PTH123  a handle
                if not stat.S_ISREG(os.fstat(opened).st_mode):
                    raise SwingbyError(f"{name} of {self.where} is no plain file")
                while piece := file.read(CHUNK):
                    yield begin, piece
                    begin += len(piece)


@dataclass(frozen=True)
class Web:
    """A folder that a web server has, at an address of http or https."""

    where: str

    def parts(self, name: str, begin: int) -> Iterator[tuple[int, bytes]]:
        """The pieces of a file, from `begin` on if the server can do so, else from 0 on."""
        request = Request(f"{self.where}/{quote(name)}", headers={"Accept-Encoding": "identity"})  # noqa: S310
        if begin:
            request.add_header("Range", f"bytes={begin}-")
        with _clear_errors(name, self.where), _opener().open(request, timeout=SECONDS) as reply:
            if reply.headers.get("Content-Encoding", "identity") != "identity":
                raise SwingbyError(f"{name} of {self.where} comes compressed, which was not asked for")
            at = _begin(reply.headers) if reply.status == 206 else 0
            if at > begin:
                raise SwingbyError(f"{name} of {self.where}: the server leaves bytes out")
            expected = reply.headers.get("Content-Length", "")
            end = at + int(expected) if re.fullmatch(r"\d{1,18}", expected) else None
            while piece := reply.read1(CHUNK):
                yield at, piece
                at += len(piece)
            if end is not None and at < end:
                raise BrokenOffError("the connection broke off")


def _begin(headers: HTTPMessage | Any) -> int:
    match = re.fullmatch(r"bytes (\d{1,18})-\d+/(\d+|\*)", headers.get("Content-Range", ""))
    return int(match[1]) if match else 0


@contextmanager
def _clear_errors(name: str, where: str) -> Iterator[None]:
    """Turns errors of the network into `BrokenOffError`, and answers of the server into clear errors."""
    try:
        yield
    except HTTPError as error:
        text = f"{name} of {where}: the server answers {error.code} {plain(error.reason, 60)}"
        error.close()
        if error.code >= 500 or error.code == 429:
            raise BrokenOffError(text) from error
        raise SwingbyError(text) from error
    except URLError as error:
        raise BrokenOffError(plain(error.reason, 100)) from error
    except (HTTPException, OSError, ValueError) as error:
        raise BrokenOffError(plain(error, 100) or type(error).__name__) from error


class _Redirects(HTTPRedirectHandler):
    """Follows five redirections within http and https, never from https to http."""

    max_redirections = 5

    def http_error_302(self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any) -> Any:
        # Python's own handler refuses some schemes with an error of the network, which would be tried again.
        try:
            _check_redirection(req.full_url, headers.get("location") or headers.get("uri") or "")
        except SwingbyError:
            fp.close()
            raise
        return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def _check_redirection(old: str, new: str) -> None:
    before = urlsplit(old).scheme
    try:
        after = urlsplit(urljoin(old, new)).scheme
    except ValueError:  # no address at all
        after = ""
    if after not in ("http", "https") or (before, after) == ("https", "http"):
        raise SwingbyError(
            f"{plain(old, 100)} leads on to {plain(new, 100)!r}; allowed: http and https, and from https to https alone"
        )


def _opener() -> OpenerDirector:
    """An opener of http and https and nothing else: no file, no FTP, no cookies."""
    opener, handlers = OpenerDirector(), list[Callable[[], Any]]()
    handlers += [ProxyHandler, HTTPHandler, HTTPSHandler, HTTPDefaultErrorHandler, HTTPErrorProcessor, _Redirects]
    for handler in handlers:
        opener.add_handler(handler())
    return opener
