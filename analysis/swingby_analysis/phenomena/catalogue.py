"""The phenomena that packages declare: files `phenomena/*.sql`, each an SQL expression over an experiment's runs.

A file is called as its phenomenon (else it says `phenomenon: stages`), and `means` says what the expression means for
this experiment:

    -- title: Learning in stages
    -- experiment: mine
    -- means: All but one of the modes saturate before the next one emerges.
    stages >= 2

The expression is true, false, or null where a run does not tell. Packages may declare one phenomenon for several
experiments, a file each; the title is that of the first file.

With a further key the expression gives one of several regimes, in an order from one end to the other:

    -- regimes: lazy, crossover, rich
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from swingby.errors import SwingbyError
from swingby.model import package_files, registry
from swingby_analysis.statements.statement import read_head

FOLDER = "phenomena"
"""The folder of a package that holds its phenomena."""
KEYS = ("title", "experiment", "means")
SLUG, REGIMES = "phenomenon", "regimes"
"""The key of a file with another name than its phenomenon, and that of those whose expression gives a text."""


@dataclass(frozen=True)
class Phenomenon:
    """What one experiment shows of a phenomenon.

    Attributes:
        slug: the phenomenon; several experiments may show it.
        title: its name on pages.
        experiment: whose runs the expression is about.
        meaning: what a run does that shows it, as a sentence.
        expression: SQL over the parameters, curves, scalars and outcomes of a run; true, false or null, or one of the
            regimes or null.
        regimes: in order; () of what a run shows or does not show.
    """

    slug: str
    title: str
    experiment: str
    meaning: str
    expression: str
    regimes: tuple[str, ...] = ()


def parse(text: str, name: str) -> Phenomenon:
    """The phenomenon in a file called `name`.

    Raises:
        SwingbyError: a key is missing, unknown or stands twice, or there is no expression.
    """
    head = read_head(text)
    values = dict(head.keys)
    for key in values:
        if key not in (*KEYS, SLUG, REGIMES):
            near = registry.nearest(key, [*KEYS, SLUG, REGIMES])
            raise SwingbyError(f"phenomenon {name}: there is no key {key!r}; {near}")
    lacking = [key for key in KEYS if not values.get(key)]
    if len(values) < len(head.keys):
        raise SwingbyError(f"phenomenon {name}: a key stands twice")
    if lacking:
        raise SwingbyError(f"phenomenon {name}: it lacks {', '.join(lacking)}")
    if not head.body:
        raise SwingbyError(f"phenomenon {name}: it lacks an SQL expression")
    regimes = tuple(word.strip() for word in values[REGIMES].split(",")) if REGIMES in values else ()
    if REGIMES in values and (len(regimes) < 2 or len(set(regimes)) < len(regimes) or not all(regimes)):
        raise SwingbyError(f"phenomenon {name}: regimes are two or more different words with commas between them")
    title, experiment, meaning = (values[key] for key in KEYS)
    slug = values.get(SLUG, name.removesuffix(".sql"))
    return Phenomenon(slug, title, experiment, meaning, head.body.rstrip(";"), regimes)


@cache
def every_phenomenon() -> tuple[Phenomenon, ...]:
    """Every declared phenomenon, those of one slug together, in the order in which packages name them first.

    Raises:
        SwingbyError: a file is wrong, one experiment declares a phenomenon twice, or two declare other regimes of one.
    """
    files = package_files.data_files(FOLDER, ".sql")
    parsed = [parse(file.read_text(encoding="utf-8"), file.name) for file in files]
    pairs = [(item.slug, item.experiment) for item in parsed]
    for slug, experiment in pairs:
        if pairs.count((slug, experiment)) > 1:
            raise SwingbyError(f"the phenomenon {slug!r} is declared twice for {experiment}")
    for item in parsed:
        other = next(one for one in parsed if one.slug == item.slug)
        if item.regimes != other.regimes:
            both = f"{item.experiment} and {other.experiment}"
            raise SwingbyError(f"the phenomenon {item.slug!r} has other regimes in {both}: {REGIMES} have to be alike")
    first = {slug: place for place, (slug, _) in reversed(list(enumerate(pairs)))}
    return tuple(sorted(parsed, key=lambda item: (first[item.slug], item.experiment)))


def phenomena(slugs: Sequence[str] = ()) -> list[Phenomenon]:
    """The phenomena of these slugs; all, without any.

    Raises:
        SwingbyError: a slug is none; names the nearest one.
    """
    known = list(dict.fromkeys(item.slug for item in every_phenomenon()))
    for slug in slugs:
        if slug not in known:
            raise SwingbyError(f"no phenomenon is called {slug!r}; {registry.nearest_offered(slug, known)}")
    return [item for item in every_phenomenon() if not slugs or item.slug in slugs]
