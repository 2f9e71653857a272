"""Settings that stand in the names of runs and files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from swingby.errors import SwingbyError
from swingby.imports.tools.run import of_text
from swingby.options import option

_PAIR = re.compile(r"(?:^|[\s,;/&|])([A-Za-z_][\w./-]*?)\s*[=:]\s*([^\s,;/&|]+)")
_PIECE = re.compile(r"([A-Za-z]+)([=-]?)([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)(?![0-9A-Za-z])")
_ENDING = re.compile(r"(\.(csv|tsv|json|jsonl|ndjson|gz|zst))+$", re.IGNORECASE)
_FIELD = re.compile(r"\{(\w[\w.]*)\}")


def pattern_of(template: str) -> re.Pattern[str]:
    """What names have to match: `run-lr{lr}_s{seed}` names two settings; `{_}` and `*` stand for any text.

    Raises:
        SwingbyError: the template names nothing, or something twice.
    """
    pieces = _FIELD.split(template)
    names = [name for name in pieces[1::2] if name != "_"]
    if not names or len(set(names)) < len(names):
        raise SwingbyError(
            f"{option('from_name', template)} names no setting, or one twice; such as 'run-lr{{lr}}_s{{seed}}'"
        )
    parts = [re.escape(text).replace(r"\*", ".*?") for text in pieces[::2]]
    groups = ["(?:.+?)" if name == "_" else f"(?P<g{place}>.+?)" for place, name in enumerate(pieces[1::2])]
    return re.compile("".join(part for pair in zip(parts, [*groups, ""], strict=True) for part in pair), re.DOTALL)


def settings_in(template: str, pattern: re.Pattern[str], name: str) -> dict[str, Any] | None:
    """The settings in a name, or in its last part, without the ending of a file; None: it does not match."""
    plain = _ENDING.sub("", name)
    for text in (plain, plain.rsplit("/", 1)[-1], name, name.rsplit("/", 1)[-1]):
        if match := pattern.fullmatch(text):
            names = _FIELD.findall(template)
            return {name: of_text(match[f"g{at}"]) for at, name in enumerate(names) if name != "_"}
    return None


def pairs_in(name: str) -> dict[str, Any]:
    """The settings of a name that spells them out, as `lr=0.1,seed=0` or `lr: 0.1 seed: 0`."""
    return {key: of_text(value) for key, value in _PAIR.findall(_ENDING.sub("", name))}


def template_for(names: Iterable[str]) -> str | None:
    """A template that fits the names, where each has the same letters before its numbers; to be proposed, not used."""
    proposals = set[str]()
    for name in names:
        last, seen = _ENDING.sub("", name.rsplit("/", 1)[-1]), list[str]()

        def field(match: re.Match[str], seen: list[str] = seen) -> str:
            letters = match[1]
            if letters in seen:
                return match[0]
            seen.append(letters)
            return f"{letters}{match[2]}{{{'seed' if letters.lower() in ('s', 'seed') else letters}}}"

        proposals.add(_PIECE.sub(field, last))
    only = proposals.pop() if len(proposals) == 1 else None
    return only if only and only.count("{") > 1 else None  # one number alone may be that of a run
