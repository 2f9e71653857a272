"""Statements: claims of papers and findings of our own, in `.sql` files with a head of comment lines."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from itertools import pairwise

from swingby.errors import SwingbyError
from swingby.model.registry import nearest
from swingby_analysis.statements.kinds import KINDS, LAW, LEAST, MEAN
from swingby_analysis.statements.template import Template

YES, NO, UNSURE = "found", "not found", "cannot be told"
"""What becomes of a finding, and the keys of its wordings."""
CONTRARY = "contrary"
"""The key of the wording for the contrary, where that is a finding too; in the place of `NO`."""
KEYS = (
    *KINDS, YES, CONTRARY, NO, UNSURE, "asks", "slug", "sweeps", "fresh", "brief", "setting", "measured", "holds",
    "after", "why", "least", "within", "slope", "reverse", "hours",
)  # fmt: skip
"""What a head can say; the kind of a claim is the key of its words."""
NAMED = {"slug": "sweeps", "fresh": "brief"}
"""Keys that stand before names, as in `slug fig-16: figure-15`, and the key of the value behind these."""
SHARED = "views.sql"
"""The file of a folder with the views that its statements share, and what pages say of its experiment."""
_VIEW = re.compile(r"((?:^--[^\n]*\n)*)^create view (\w+) as\n(.*?);\s*?$", re.MULTILINE | re.DOTALL)


_KEY = re.compile(rf"^ ?((?:{'|'.join(NAMED)}) [\w, -]+|[a-z][a-z_ ]*):(?: +(.*))?$")
_WORD = re.compile(r"\[([a-z][a-z_]*)\]")


@dataclass(frozen=True)
class View:
    """A view of a folder's `views.sql`."""

    name: str
    comment: str
    select: str


@dataclass(frozen=True)
class Shared:
    """What all statements of a folder share.

    Attributes:
        experiments: names of the experiments that they are about.
        views: in the order of the file; a view may use those above it.
        presets: what a verdict calls the conventions of a preset, in the order of the rows.
        notes: what pages say of the experiment, by key, such as "note on claims".
        defaults: values of keys for every statement whose head does not say them.
        order: the slugs in the order of the pages.
    """

    experiments: tuple[str, ...] = ()
    views: Sequence[View] = ()
    presets: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[tuple[str, str]] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)
    order: Sequence[str] = ()

    def notes_of(self, key: str) -> list[str]:
        """The notes of one key."""
        return [value for name, value in self.notes if name == key]


@dataclass(frozen=True)
class Statement:
    """A sentence that a query decides.

    Attributes:
        slug: names it; lower-case letters, digits and hyphens.
        text: of a claim: its words, without a number; "" of a finding.
        source: of a claim: figure, section or equation.
        sweeps: named sweeps whose cells it is asked of.
        rule: of a claim, one of `KINDS`; "" of a finding.
        question: what the SQL asks, in words.
        body: its SQL, which gives the rows that are counted.
        setting, measured: of a claim: templates; plain names in `setting` make the rows of the claim.
        holds: of a finding: an aggregate over the rows that decides; "" where their columns `effect...` do.
        words: of a finding: a template for each of `YES`, `NO` and `UNSURE`.
        either: of a finding: the contrary is a finding too.
        after: what was done to it after results had been seen, and why; "" for nothing.
        why: of a claim that does not hold everywhere: the reason as far as it is known.
        least: so many seeds of a row have to tell before it has a verdict; of a finding it means nothing.
        within: of a law the largest mean error allowed at the smallest parameter; of a claim in the mean, that it is
            one about an effect of zero, and its tolerance.
        slope: of a law: the exponent that theory gives.
        reverse: of a claim in the mean: an effect below zero is the reverse; else it is only against the claim.
        hours: its sweeps take hours, and are not trained for it.
        shared: of its folder.
        fresh: of a finding that is new: named sweeps on fresh seeds, on which it has to come out again.
        brief: of a finding that is new: what it says, in a few words, for the list of what is new.
    """

    slug: str
    text: str
    source: str
    sweeps: tuple[str, ...]
    rule: str
    question: str
    body: str
    setting: str = ""
    measured: str = ""
    holds: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    either: bool = False
    after: str = ""
    why: str = ""
    least: int = 1
    within: float | None = None
    slope: float | None = None
    reverse: bool = True
    hours: bool = False
    shared: Shared = field(default_factory=Shared)
    fresh: tuple[str, ...] = ()
    brief: str = ""

    @property
    def claims(self) -> bool:
        """Whether the statement is a claim, and not a finding."""
        return bool(self.text)

    @property
    def place(self) -> tuple[int, str]:
        """The key by which statements of a folder are sorted; those that its order does not name come last."""
        order = self.shared.order
        return order.index(self.slug) if self.slug in order else len(order), self.slug


@dataclass(frozen=True)
class Head:
    """A file of statements: the keys above its SQL, each with its value, in the order of the file; and the SQL."""

    keys: Sequence[tuple[str, str]]
    body: str


def read_head(text: str) -> Head:
    """The head of a file: comment lines `-- key: value`. A value goes on over lines that are indented more.

    What begins with any other line is the body.
    """
    lines, place = text.strip().splitlines(), 0
    keys: list[tuple[str, list[str]]] = []
    for line in lines:
        content = line[2:].rstrip()
        if line.startswith("--") and (key := _KEY.match(content)):
            keys.append((key[1], [key[2] or ""]))
        elif line.startswith("--  ") and keys:
            keys[-1][1].append(content.strip())
        elif line.strip() != "--":
            break
        place += 1
    joined = [(key, " ".join(part for part in parts if part)) for key, parts in keys]
    return Head(joined, "\n".join(lines[place:]).strip())


def blocks(head: Head) -> Iterator[dict[str, str]]:
    """The keys of each statement of a file: those above the first `slug`, and those from its own `slug` on.

    A file without `slug` holds one statement.

    Raises:
        SwingbyError: a key stands twice in a block.
    """
    starts = [place for place, (key, _) in enumerate(head.keys) if key.startswith("slug ")]
    shared = _unique(head.keys[: starts[0]] if starts else head.keys)
    if not starts:
        yield shared
    for start, end in pairwise([*starts, len(head.keys)]):
        yield shared | _unique(head.keys[start:end])


def _unique(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    keys = dict[str, str]()
    for key, value in pairs:
        first, _, names = key.partition(" ")
        entries = {first: names} | ({NAMED[first]: value} if value else {}) if first in NAMED else {key: value}
        if twice := entries.keys() & keys.keys():
            raise SwingbyError(f"the key {min(twice)!r} stands twice")
        keys |= entries
    return keys


def filled(keys: Mapping[str, str], known: Collection[str]) -> dict[str, str]:
    """The known keys, with the others put where a value says `[key]`.

    Raises:
        SwingbyError: a key is neither known nor asked for by a value.
    """
    entries = {key: value for key, value in keys.items() if key in known}
    words = {key: value for key, value in keys.items() if key not in known}
    placeholders = {word for value in entries.values() for word in _WORD.findall(value)}
    for key in words:
        if key not in placeholders:
            raise SwingbyError(f"there is no key {key!r}, and no value says [{key}]; {nearest(key, list(known))}")
    return {key: _WORD.sub(lambda word: words.get(word[1], word[0]), value) for key, value in entries.items()}


def parse(text: str, name: str, shared: Shared | None = None) -> list[Statement]:
    """The statements of a file called `name`.

    Raises:
        SwingbyError: a key is unknown, missing, or has no such value; or there is no SQL.
    """
    try:
        head = read_head(text)
        return [_statement(head, keys, name.removesuffix(".sql"), shared or Shared()) for keys in blocks(head)]
    except SwingbyError as error:
        raise SwingbyError(f"statement {name}: {error}") from error


def _statement(top: Head, fields: Mapping[str, str], name: str, shared: Shared) -> Statement:
    keys = {**shared.defaults, **filled(fields, KEYS)}
    kinds = [kind for kind in KINDS if kind in keys]
    if len(kinds) > 1:
        raise SwingbyError(f"a claim has one kind; not {' and '.join(kinds)}")
    rule = kinds[0] if kinds else ""
    text, _, source = keys.get(rule, "").partition(" [")
    for key in ("asks", "sweeps", *(("setting", "measured") if rule else (YES, UNSURE))):
        if not keys.get(key):
            raise SwingbyError(f"its head says no {key!r}")
    if rule and not (text and source.endswith("]")):
        raise SwingbyError("a claim ends with its source in brackets")
    numbers = {key: _number(keys, key) for key in ("within", "slope")}
    allowed = {LAW: {"within", "slope"}, MEAN: {"within"}}.get(rule, set())
    for key, value in numbers.items():
        if value is not None and key not in allowed:
            raise SwingbyError(f"{key!r} is no key of a claim by the rule {rule!r}")
    if rule == LAW and numbers["within"] is None:
        raise SwingbyError("a law says 'within': the largest mean error allowed at the smallest parameter")
    if keys.get("reverse", "no") != "no" or ("reverse" in keys and rule != MEAN):
        raise SwingbyError("'reverse' is a key of a claim in the mean, and says 'no'")
    least = keys.get("least") or str(LEAST.get(rule, 1))
    if not least.isdecimal() or int(least) < 1:
        raise SwingbyError(f"'least' is a number of seeds, 1 or more; not {least!r}")
    if not rule and (NO in keys) == (CONTRARY in keys):
        raise SwingbyError(f"a finding has a wording for {NO!r} or one for {CONTRARY!r}")
    if "fresh" in keys and (rule or not keys.get("brief")):
        raise SwingbyError("'fresh' stands in a finding, with what is new in a few words")
    if not top.body:
        raise SwingbyError("there is no SQL under its head")
    words = {} if rule else {YES: keys[YES], NO: keys.get(NO) or keys[CONTRARY], UNSURE: keys[UNSURE]}
    for template in (keys.get("setting", ""), keys.get("measured", ""), *words.values()):
        Template.of(template)
    return Statement(
        slug=keys.get("slug", name),
        text=text,
        source=source.removesuffix("]"),
        sweeps=_names(keys["sweeps"]),
        rule=rule,
        question=keys["asks"],
        body=top.body,
        setting=keys.get("setting", "") if rule else "",
        measured=keys.get("measured", ""),
        holds=keys.get("holds", ""),
        words=words,
        either=CONTRARY in keys,
        after=keys.get("after", ""),
        why=keys.get("why", ""),
        least=int(least),
        **numbers,
        reverse="reverse" not in keys,
        hours=keys.get("hours") == "yes",
        shared=shared,
        fresh=_names(keys.get("fresh", "")),
        brief=keys.get("brief", ""),
    )


def _number(keys: Mapping[str, str], key: str) -> float | None:
    """The value of a key as a number above 0; None without the key."""
    if key not in keys:
        return None
    try:
        value = float(keys[key])
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise SwingbyError(f"{key!r} is a number above 0; not {keys[key]!r}")
    return value


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def parse_shared(text: str, experiments: tuple[str, ...]) -> Shared:
    """The views and notes of a folder's `views.sql`.

    Raises:
        SwingbyError: it has text that is no view.
    """
    head = read_head(text)
    left = _VIEW.sub("", head.body).strip()
    if left:
        raise SwingbyError(f"{SHARED}: only views can stand there, `create view <name> as ...;`; not {left[:60]!r}")
    views = [View(name, comment.strip(), select.strip()) for comment, name, select in _VIEW.findall(head.body)]
    presets = {key.removeprefix("preset "): value for key, value in head.keys if key.startswith("preset ")}
    notes = [(key, value) for key, value in head.keys if " on " in key or " of " in key]
    defaults = {key: value for key, value in head.keys if key in KEYS}
    order = _names(dict(head.keys).get("order", ""))
    known = {"order", *defaults, *(f"preset {name}" for name in presets), *(key for key, _ in notes)}
    for key, _ in head.keys:
        if key not in known:
            raise SwingbyError(f"{SHARED}: there is no key {key!r}; {nearest(key, [*KEYS, 'order'])}")
    return Shared(experiments, views, presets, notes, defaults, order)


def statements_in(folder: Traversable, experiments: tuple[str, ...]) -> list[Statement]:
    """Every statement of a folder, in the order of the pages.

    Raises:
        SwingbyError: as `parse` and `parse_shared`; or the order names a statement that is none.
    """
    shared_file = folder.joinpath(SHARED)
    shared = Shared(experiments)
    if shared_file.is_file():
        shared = parse_shared(shared_file.read_text(encoding="utf-8"), experiments)
    statements = [
        statement
        for path in _files(folder)
        if path.name != SHARED
        for statement in parse(path.read_text(encoding="utf-8"), path.name, shared)
    ]
    slugs = [statement.slug for statement in statements]
    for slug in shared.order:
        if slug not in slugs:
            raise SwingbyError(f"{SHARED}: its order names {slug!r}, which is no statement; {nearest(slug, slugs)}")
    return sorted(statements, key=lambda statement: statement.place)


def _files(folder: Traversable) -> Iterator[Traversable]:
    for path in sorted(folder.iterdir(), key=lambda item: item.name):
        if path.is_dir():
            yield from _files(path)
        elif path.name.endswith(".sql"):
            yield path
