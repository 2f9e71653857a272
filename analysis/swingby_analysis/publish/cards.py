"""The data card (README.md) and CITATION.cff of a published folder."""

from __future__ import annotations

import shlex

import yaml

from swingby.archive.file import Recording
from swingby.store.recorded import DOUBLE
from swingby.store.sql import quoted
from swingby.text import plain
from swingby.units import counted
from swingby_analysis.publish.about import LICENCES, About
from swingby_analysis.publish.croissant import cite
from swingby_analysis.publish.sources import Sources
from swingby_analysis.publish.tables import CELLS, CURVES, Columns
from swingby_analysis.report import Report

NOWHERE = "https://ADDRESS-OF-THIS-FOLDER"
"""Stands for the address where that is not known."""


def citation(about: About) -> str:
    """The file CITATION.cff, version 1.2.0 of the format."""
    people = [
        {
            **({"family-names": author.family, "given-names": author.first} if author.first else {"name": author.name}),
            **({"orcid": f"https://orcid.org/{author.orcid}"} if author.orcid and author.first else {}),
        }
        for author in about.authors
    ]
    known = about.licence.name in LICENCES
    value = {
        "cff-version": "1.2.0",
        "message": "If you use these data, please cite them as below.",
        "type": "dataset",
        "title": about.title,
        **({"abstract": about.description} if about.description else {}),
        "authors": people,
        "date-released": about.date,
        **({"license": about.licence.name} if known else {"license-url": about.licence.address}),
        **({"url": about.address} if about.address else {}),
    }
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120)


def readme(about: About, header: Recording, columns: Columns, report: Report, sources: Sources) -> str:
    """The data card: what the data are, how they were made, what each column means, and how to read them by URL."""
    seeds = header.resolved["seeds"]
    outcome = (header.resolved.get("diagram") or {}).get("outcome") or header.resolved.get("outcome")
    points, cells = int(header.resolved["points"]), sum(int(entry["cells"]) for entry in header.computed)
    where = about.address or NOWHERE
    size = f"{counted(points, 'point')}, {counted(len(seeds), 'seed')} each, {counted(cells, 'run')}"
    lines = [
        f"# {_text(about.title)}",
        "",
        *([_text(about.description), ""] if about.description else []),
        f"{size} of the experiment `{header.experiment}`.",
        f"Licence: [{_text(about.licence.name)}]({about.licence.address}). Cite as: {_text(cite(about))}",
        "",
        "## Read it by URL",
        "",
        "```sql",
        query(about, columns, str(outcome or "")),
        "```",
        "",
        f"DuckDB reads of `{CELLS}` the columns and rows that a query names, over HTTP, and no more.",
        f"`swingby get {where} --data data` takes it in, and `swingby report {about.name} --data data` draws it.",
        "",
        "## Files",
        "",
        "| file | what it is |",
        "| --- | --- |",
        "| `supplement.html` | the report: one page that works offline |",
        f"| `{CELLS}` | a row for each run, in the order of points and seeds: axes, outcomes, scalars, parameters |",
        f"| `{CURVES}` | a row for each run, in the same order, with its curves; what `swingby get` takes in |",
        "| `figures/` | every figure as PNG, SVG and PDF, with its rows and its Vega-Lite |",
        "| `sweep.json` | the sweep as it was run |",
        "| `code/` | the code of the experiment, and the sweep file if it was at hand |",
        "| `croissant.json`, `ro-crate-metadata.json`, `CITATION.cff` | descriptions for programs |",
        "| `manifest.json` | size and SHA-256 of every file |",
        "",
        "## How it was made",
        "",
        *(f"- {line}" for line in _history(header, sources)),
        "",
        f"## Columns of `{CELLS}`",
        "",
        "| column | is | meaning |",
        "| --- | --- | --- |",
        *(f"| `{one.name}` | {one.role} | {_cell(one.about.text)} |" for one in columns.cells),
        "",
        f"## Columns of `{CURVES}`",
        "",
        "Those of the runs by the same names, outcomes as `DETECTOR.OUTCOME`, and the curves:",
        "",
        "| curve | meaning |",
        "| --- | --- |",
        *(f"| `{name}` | {_cell(of.text)} |" for name, of in columns.curves.items()),
        "",
        "## Known limits",
        "",
        *(f"- {line}" for line in _limits(header, report)),
        "",
    ]
    return "\n".join(lines)


def query(about: About, columns: Columns, outcome: str) -> str:
    """The line of DuckDB that counts the diagram's outcome at every point, by URL."""
    axes = [quoted(name) for name in columns.names("axis")] or ["point"]
    known = outcome if outcome in {one.name for one in columns.cells} else "status"
    address = f"{about.address or NOWHERE}/{CELLS}"
    return f"select {', '.join(axes)}, {quoted(known)}, count(*) as runs from '{address}' group by all order by all;"


def _history(header: Recording, sources: Sources) -> list[str]:
    versions = sources.provenance.get("versions") or {}
    commit = sources.provenance.get("git_commit")
    changed = ", with changes that no commit holds" if sources.provenance.get("git_dirty") else ""
    command = shlex.join(str(part) for part in sources.provenance.get("command") or [])
    places = dict.fromkeys(f"{entry['host']} ({entry['device']})" for entry in header.computed)
    first = min(str(entry["started"])[:10] for entry in header.computed)
    hours = sum(float(entry["seconds"]) for entry in header.computed) / 3600
    if header.resolved.get("imported"):
        return [f"Trained elsewhere, and imported on {header.when}: by which code and machine, nobody has said."]
    lines = [f"Computed from {first} to {header.when} on {_text(', '.join(places))}: {hours:.3g} hours in all batches."]
    if command:
        lines.append(f"Command: `{plain(command).replace('`', '')}`")
    if sources.package:
        lines.append(
            f"Experiment `{header.experiment}`, version {header.stream_version}, of the package `{sources.package}`; "
            f"its modules, as they were installed when this was published, lie in `code/` (digest `{sources.code}`)."
        )
    elif sources.code:
        lines.append(f"Experiment `{header.experiment}`, code `{sources.code}`, which lies in `code/` as it was run.")
    if commit:
        lines.append(f"Commit `{commit}`{changed}.")
    named = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    return [*lines, *([f"Versions: {named}."] if named else [])]


def _limits(header: Recording, report: Report) -> list[str]:
    exact = "Numbers are kept as they were computed."
    rounding = exact if header.digits > DOUBLE else f"Numbers have {header.digits} significant digits."
    recorded = header.resolved["recording"]
    left = ["Absolute paths in messages and texts are cut to their last part; names of machines are left out."]
    thinned = f"Curves have the recorded steps (`{recorded['steps']}`), at most {header.curve_points:,} a run."
    return [rounding, thinned, *left, *(_text(text) for text in (*report.warnings, *report.faults))]


def _text(text: str) -> str:
    """A text of anybody on one line of Markdown, in which nothing is markup."""
    line = plain(text, 2_000)
    for char in "\\`*_[]<>#|":
        line = line.replace(char, f"\\{char}")
    return line


def _cell(text: str) -> str:
    return _text(text) if text else "(nothing is declared)"
