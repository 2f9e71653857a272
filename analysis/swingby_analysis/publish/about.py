"""What a published folder says of itself: title, authors, licence, date and address; nothing is made up."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Self

from swingby.errors import SwingbyError
from swingby.options import option

LICENCES = (
    "CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "ODbL-1.0", "ODC-By-1.0", "PDDL-1.0",
    "Apache-2.0", "BSD-3-Clause", "MIT",
)  # fmt: skip
"""Identifiers of SPDX for licences of data, and of code, that are known by name; any other is given by its address."""
_ORCID = re.compile(r"\(?(?:https?://orcid\.org/)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])\)?")


@dataclass(frozen=True)
class Options:
    """What the command says; empty: not said."""

    title: str = ""
    authors: Sequence[str] = ()
    licence: str = ""
    date: str = ""
    address: str = ""


@dataclass(frozen=True)
class Author:
    """One author: the whole name, its two parts where they are known, and an ORCID iD, or ""."""

    name: str
    family: str = ""
    first: str = ""
    orcid: str = ""

    @classmethod
    def of(cls, text: str) -> Self:
        """The author in a text such as `Lovelace, Ada (0000-0002-1825-0097)`.

        Raises:
            SwingbyError: there is no name in it.
        """
        match = _ORCID.search(text)
        rest = re.sub(r"<[^>]*>", "", _ORCID.sub("", text))
        family, comma, first = (part.strip() for part in " ".join(rest.split()).partition(","))
        if not family:
            raise SwingbyError(f"{option('author')} {text!r:.80} has no name; write 'Family, Given' or a whole name")
        orcid = match[1] if match else ""
        return cls(f"{first} {family}", family, first, orcid) if comma and first else cls(family, orcid=orcid)


@dataclass(frozen=True)
class Licence:
    """A licence: its identifier or address as it was given, and where its text is."""

    name: str
    address: str

    @classmethod
    def of(cls, text: str) -> Self:
        """The licence behind an identifier of SPDX or an address.

        Raises:
            SwingbyError: it is neither; or none is given.
        """
        if re.fullmatch(r"https?://[^\s\"'<>]+", text):
            return cls(text, text)
        name = next((known for known in LICENCES if known.lower() == text.strip().lower()), None)
        if name is None:
            fault = f"{option('licence')} {text!r:.60} is not known" if text else "nobody has said under which licence"
            raise SwingbyError(
                f"{fault}: write {option('licence', 'CC-BY-4.0')}, or the address of its text; known by name: "
                f"{', '.join(LICENCES)}"
            )
        return cls(name, f"https://spdx.org/licenses/{name}")


@dataclass(frozen=True)
class About:
    """What the folder says of itself.

    Attributes:
        name: of the sweep.
        date: ISO 8601; the day on which the last result was computed, unless the command says another.
        address: where the folder will lie, without a slash at the end; "" if that is not known.
    """

    name: str
    title: str
    description: str
    authors: Sequence[Author]
    licence: Licence
    date: str
    address: str

    @classmethod
    def of(cls, options: Options, resolved: Mapping[str, Any], computed: str) -> Self:
        """From what the command says, then the sweep, then git's settings.

        Args:
            computed: the day on which the last result was computed.

        Raises:
            SwingbyError: author or licence are not said, or something has no sound form; all faults at once.
        """
        faults = list[str]()

        def sound(make: Any, text: str) -> Any:
            try:
                return make(text)
            except SwingbyError as error:
                faults.append(str(error))
                return None

        names = list(options.authors) or [name for name in [git_user()] if name]
        if not names:
            faults.append(
                f"nobody is named as author: write {option('author', 'Family, Given')}, or set user.name of git"
            )
        authors = [sound(Author.of, name) for name in names]
        licence = sound(Licence.of, options.licence)
        day = sound(_day, options.date or computed)
        if options.address and not re.fullmatch(r"https?://[^\s\"'<>]+", options.address):
            faults.append(f"{option('address')} {options.address!r:.80} is no address of http:// or https://")
        if faults:
            raise SwingbyError("\n".join(faults))
        title = " ".join((options.title or resolved.get("title") or resolved["name"]).split())
        description = " ".join((resolved.get("description") or "").split())
        return cls(resolved["name"], title, description, authors, licence, day, options.address.rstrip("/"))


def git_user() -> str:
    """The name that git signs commits with here; "" if none is set."""
    try:
        done = subprocess.run(["git", "config", "user.name"], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise SwingbyError(f"{option('date')} {text!r:.40} is no day; write 2026-01-31") from None
