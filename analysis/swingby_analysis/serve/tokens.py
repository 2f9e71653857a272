"""The token of a server: read from a file that nobody else can read, or made."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from swingby.data.files import clear_os_errors
from swingby.errors import SwingbyError

LEAST = 16
"""Characters that a token has at least; a made one has 43, of 256 random bits."""


def made() -> str:
    """A new token."""
    return secrets.token_urlsafe(32)


def kept(path: Path) -> str:
    """The token in a file; a file that is missing is made, with mode 600.

    Raises:
        SwingbyError: others can read the file, it is another user's, or it holds no token.
    """
    with clear_os_errors(f"use the token file {path}"):
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            return _checked(path)
        with os.fdopen(handle, "w") as file:
            token = made()
            file.write(token + "\n")
    return token


def _checked(path: Path) -> str:
    # Opened once: what is looked at is what is read, whoever moves the file meanwhile.
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise SwingbyError(f"the token file {path} is no plain file")
        if found.st_uid != os.getuid():
            raise SwingbyError(f"the token file {path} belongs to another user")
        if found.st_mode & 0o077:
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
