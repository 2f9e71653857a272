"""analysis and platform are libraries without any science: no experiment, parameter or paper is named there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from swingby.model import registry
from tests.support.places import ROOT

ROOMS = (ROOT / "analysis", ROOT / "platform")
OURS = "swingby_sweeps"
KINDS = {".py", ".sql", ".html", ".css", ".js", ".md"}
COMMON = {
    # Of every training and of every program.
    "step", "width", "layers", "dtype", "loss", "model", "seconds", "engine", "batch_size", "epochs", "noise",
    "samples", "output", "points", "trained", "found", "init", "levels", "clip", "growth", "outcome", "theory",
    "parameters", "processes", "trace", "decay", "residual", "certain", "learned", "time", "net", "gain", "classes",
    "momentum", "mixture", "lr", "optimizer",
    # Of every publication.
    "authors",
    # Of English, and of the languages that pages are written in.
    "color", "size", "background", "small", "paper", "centre", "images", "condition", "pixels", "rotate", "narrowest",
    "judged", "bounds", "descents", "stages", "trajectories", "moments",
    # A count and a side in a table, the plural, a letter of a state.
    "n", "a", "s", "d",
    # Of models and of statistics at large.
    "aligned", "bits", "cheap", "collapse", "counts", "data", "decades", "delay", "descent", "digits", "drawn",
    "duration", "exponent", "fast", "figures", "largest", "m", "mirrored", "mode", "modes", "moment", "overlap",
    "rank", "settled", "spread", "start", "strength", "system", "target", "text", "weights", "x",
    "amplitude", "beta", "draws", "fit", "gap", "kernel", "linear", "offset", "p", "phase",
    "pool", "ridge", "stopped", "tail", "features", "enters", "leaves", "regime", "regimes",
    "spectrum", "centres", "average", "blocks", "clocks", "labels", "mean", "nearest", "ratio", "tiny", "window",
}  # fmt: skip
"""Names that are ordinary English or technical words, or those of the platform itself; each is used there."""
WORD = re.compile(r"(?<![\w.-])[\w-]+")
QUOTES = {"'", '"'}
PAPER = (
    r"swing-by\b",
    r"\[S\]",
    r"(?<![\w\[])\[T\]",
    r"(?<![\w'\"])[Tt]hesis\b",
    r"\bApp\. [A-Z]",
    r"\beqs? \d",
    r"\bFigs? \d",
    r"\bTheorem \d",
    r"\bL_ref\b",
    r"\bOOD\b",
)


def names() -> set[str]:
    """Everything that our experiments and their detectors name: themselves, parameters, columns, outcomes, drawings."""
    found: set[str] = set()
    for group in (registry.EXPERIMENTS, registry.DETECTORS, registry.DRAWINGS):
        for name, offer in registry.offered(group).items():
            if not offer.value.startswith(OURS):
                continue
            found.add(name)
            if group == registry.EXPERIMENTS:
                kind = registry.experiment(name)
                found |= {*kind.Params.model_fields, *kind.curves, *kind.scalars, *kind.recordings, *kind.presets}
                found |= {column for columns in kind.recordings.values() for column in columns}
            if group == registry.DETECTORS:
                found |= {*registry.detector(name).outcomes}
    return found


def texts() -> Iterator[tuple[Path, str]]:
    """Every file of both rooms but their READMEs, which say where to find examples."""
    for room in ROOMS:
        for path in sorted(room.rglob("*")):
            left_out = "__pycache__" in path.parts or path.name == "README.md"
            if path.suffix in KINDS and not left_out:
                yield path, path.read_text(encoding="utf-8")


def named(patterns: list[str]) -> list[str]:
    """Where a pattern occurs: file, line, what."""
    pattern = re.compile("|".join(patterns))
    return [
        f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for path, text in texts()
        for match in pattern.finditer(text)
    ]


def test_the_registry_names_what_the_law_forbids() -> None:
    """The names come from the registry, so that a new experiment is under the law from its first day."""
    assert names() >= {*registry.offered(registry.EXPERIMENTS)} != set()
    assert len(names()) > 100


def test_no_experiment_is_named() -> None:
    """No name of an experiment, of its parameters, columns, outcomes or drawings; one letter counts in quotes.

    Every word that is allowed is needed.
    """
    forbidden = names()
    assert all(re.fullmatch(r"[\w-]+", name) for name in forbidden - COMMON), "a name of other characters is no word"
    found = [
        (match[0], f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}")
        for path, text in texts()
        for match in WORD.finditer(text)
        if match[0] in forbidden
        and (
            len(match[0]) > 1
            or {text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]} <= QUOTES
        )
    ]
    assert [one for one in found if one[0] not in COMMON] == []
    assert COMMON - {word for word, _ in found} == set(), "allowances that nothing needs"


@pytest.mark.parametrize("pattern", PAPER)
def test_no_paper_is_named(pattern: str) -> None:
    """No paper, no equation, figure or theorem of one, and no unit of one experiment."""
    assert named([pattern]) == []
