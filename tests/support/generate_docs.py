"""Tables of the .md files that are made from the code: `python -m tests.support.generate_docs [--check]`.

A table stands between `<!-- begin: parameters sim -->` and `<!-- end: parameters sim -->`: the first word names a
function below, the others are its arguments. `--check` writes nothing and ends with 1 where a file is not current.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import typer
from pydantic.fields import FieldInfo

from swingby.cli import app
from swingby.model import registry
from swingby.model.experiment import Column
from swingby.model.fields import default_of, values_of
from swingby.model.params import Params
from swingby.sweepfile.overrides import KEYS
from swingby.sweepfile.sections import SECTIONS
from swingby.sweepfile.sweep import Sweep
from swingby.text import first_sentence
from swingby_analysis.statements import catalogue
from tests.support.named import COARSE, packaged
from tests.support.places import ROOT

BLOCK = re.compile(r"(<!-- begin: (?P<name>[\w -]+) -->\n).*?(<!-- end: (?P=name) -->)", re.DOTALL)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def code(text: str) -> str:
    """A text as code; nothing of an empty one."""
    return f"`{text}`" if text else ""


def parameters(experiment: str) -> str:
    """Every parameter of an experiment, and the condition under which it is read if not every run reads it."""
    offered = registry.experiment(experiment)
    fields, conditions = offered.Params.model_fields, offered.read_where
    own = {name: info for name, info in fields.items() if name not in Params.model_fields}
    return table(
        ("parameter", "values", "default", "meaning"),
        (
            [
                code(name),
                values_of(info, code),
                code(default_of(info)),
                (info.description or "") + (f"; read where {code(conditions[name])}" if name in conditions else ""),
            ]
            for name, info in {**own, **fields}.items()
        ),
    )


def results(experiment: str) -> str:
    """The columns that every run of an experiment leaves."""
    offered = registry.experiment(experiment)
    groups = [("one value a run", offered.scalars), ("one a recorded step", offered.curves)]
    return table(
        ("column", "of", "meaning"),
        ([code(name), when, meaning_of(column)] for when, columns in groups for name, column in columns.items()),
    )


def recordings(experiment: str) -> str:
    """What `record: {also: [...]}` adds."""
    offered = registry.experiment(experiment).recordings
    return table(
        ("recording", "column", "meaning"),
        (
            [code(name), code(column), meaning_of(what)]
            for name, columns in offered.items()
            for column, what in columns.items()
        ),
    )


def meaning_of(column: Column) -> str:
    """What a column means, with its unit."""
    return f"{column.meaning} ({column.unit})" if column.unit else column.meaning


def outcomes(experiment: str) -> str:
    """What detectors say of an experiment's runs; those that a diagram can draw are marked by how."""
    rows = [
        [code(detector.name), code(name), detector.kinds.get(name, "").replace("_", "/"), meaning_of(column)]
        for detector in registry.detectors_for(experiment)
        for name, column in detector.outcomes.items()
    ]
    return table(("detector", "outcome", "in a diagram", "meaning"), rows)


def drawings(experiment: str) -> str:
    """What `drawings` of a sweep file may name, with options and what they need recorded."""
    found = [registry.drawing(name) for name in sorted(registry.offered(registry.DRAWINGS))]
    rows = [
        [
            code(drawing.name),
            first_sentence(drawing.__doc__),
            options_of(drawing),
            ", ".join(map(code, drawing.recordings)),
        ]
        for drawing in found
        if experiment in drawing.experiments
    ]
    return table(("drawing", "what it draws", "options", "needs the recordings"), rows)


def options_of(drawing: Any) -> str:
    """The options of a drawing, each with its meaning or default."""
    fields: dict[str, FieldInfo] = drawing.Options.model_fields
    return "; ".join(f"`{name}`: {info.description or values_of(info, code)}" for name, info in fields.items())


def sweeps(experiment: str) -> str:
    """The named sweeps of an experiment."""
    rows = []
    for name, sweep in packaged().items():
        if sweep.experiment_name == experiment:
            whole = Sweep.load(name) if name in COARSE else sweep
            rows.append([code(name), sweep.title or "", f"{len(whole):,}"])
    return table(("sweep", "title", "runs"), rows)


def claims(experiment: str) -> str:
    """The claims about an experiment; their verdicts are what `swingby claims` writes."""
    rows = ([item.text, item.source, ", ".join(map(code, item.sweeps))] for item in catalogue.claims(experiment))
    return table(("claim", "source", "sweeps"), rows)


def findings(experiment: str) -> str:
    """The diagrams of an experiment, each with the questions that decide what is found in it."""
    rows = [
        [code(diagram.sweep), " ".join(item.question.partition("?")[0] + "?" for item in catalogue.findings(diagram))]
        for diagram in catalogue.every_diagram()
        if diagram.experiment == experiment
    ]
    return table(("diagram", "questions"), rows)


def presets(experiment: str) -> str:
    """The presets of an experiment."""
    offered = registry.experiment(experiment)
    rows = [[code(name), first_sentence(preset.__doc__)] for name, preset in offered.presets.items()]
    return table(("preset", "what it stands for"), rows)


def keys() -> str:
    """The keys of a sweep file, those of its sections as `seeds.count`."""
    rows = []
    for name, text in KEYS.items():
        rows.append([code(name), text, ""])
        fields = SECTIONS[name].model_fields if name in SECTIONS else {}
        rows += [
            [code(f"{name}.{key}"), info.description or "", code(default_of(info))] for key, info in fields.items()
        ]
    return table(("key", "what it takes", "default"), rows)


def verbs() -> str:
    """Every verb of the command, with the first paragraph of its help and its options."""
    rows = []
    for name, command in commands():
        options = [max(option.opts, key=len) for option in command.params if option.opts[0].startswith("-")]
        rows.append([code(name), first_paragraph(command.help), " ".join(map(code, options))])
    return table(("verb", "what it does", "options"), rows)


def summary(*named: str) -> str:
    """Some verbs in the given order, with the first sentence of their help."""
    helps = {name: command.help for name, command in commands()}
    return table(("verb", "what it does"), ([code(name), first_sentence(helps[name])] for name in named))


def first_paragraph(text: str | None) -> str:
    """The first paragraph of a help text, on one line."""
    return " ".join((text or "").strip().split("\n\n")[0].split())


def commands() -> Iterator[tuple[str, Any]]:
    """Every verb, those of groups as `cluster slurm`."""
    group: Any = typer.main.get_command(app)
    context = typer.Context(group)
    for name in sorted(group.list_commands(context)):
        command = group.get_command(context, name)
        inner = getattr(command, "commands", None)
        yield from ((f"{name} {part}", inner[part]) for part in inner) if inner else [(name, command)]


TABLES: dict[str, Callable[..., str]] = {
    made.__name__: made
    for made in (
        keys,
        verbs,
        summary,
        claims,
        findings,
        parameters,
        presets,
        results,
        recordings,
        outcomes,
        drawings,
        sweeps,
    )
}


def files() -> list[Path]:
    """The .md files of the checkout."""
    rooms = ("platform", "analysis", "sweeps", "tests", "docs", "examples")
    return sorted({*ROOT.glob("*.md"), *(path for room in rooms for path in (ROOT / room).rglob("*.md"))})


def prose(text: str) -> str:
    """A file's text without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def renewed(text: str) -> str:
    """A file's text with every table made anew."""

    def filled(found: re.Match[str]) -> str:
        name, *words = found["name"].split()
        return f"{found[1]}\n{TABLES[name](*words)}\n{found[3]}"

    return BLOCK.sub(filled, text)


def main() -> None:
    """Write every file whose tables are not current, or name it."""
    stale = [path for path in files() if renewed(text := path.read_text()) != text]
    for path in stale:
        print(path.relative_to(ROOT))
        if "--check" not in sys.argv:
            path.write_text(renewed(path.read_text()))
    if stale and "--check" in sys.argv:
        sys.exit("not current; run python -m tests.support.generate_docs")


if __name__ == "__main__":
    main()
