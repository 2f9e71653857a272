"""Where a report's numbers come from: sweeps, seeds, conventions, plans, detectors and code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from swingby import __version__
from swingby.model import registry
from swingby.sweepfile.parameters import split
from swingby_analysis.page import Block, Code, Heading, Part, Table, Terms
from swingby_analysis.report import prose
from swingby_analysis.report.data import ReportData
from swingby_analysis.report.prose import shown

ALL = "all points"
TERMS = {"no axis": "Settings that are no axis", "note": "Notes"}
"""Terms of an import's account that a page calls otherwise."""
MOST = 4
"""Values of one parameter under one preset that are written out."""


def facts_of(data: ReportData, n: str) -> dict[str, str]:
    """The inputs of a figure: sweeps, seeds, n, conventions, code."""
    resolved, seeds = data.resolved, data.resolved["seeds"]
    consecutive = seeds == list(range(seeds[0], seeds[0] + len(seeds)))
    listed = f"{seeds[0]} to {seeds[-1]}" if consecutive else ", ".join(map(str, seeds))
    many = "" if data.refined is None else "of each point some of "
    origins = dict.fromkeys(f"{row['name']} {row['sweep_id']}" for row in data.origins)
    return {
        "Sweep": f"{data.sweep['name']} {data.sweep['sweep_id']}",
        "Cells computed by": "; ".join(origins),
        "Seeds": f"{many}{len(seeds)} ({listed}), {prose.SEED_MODES[resolved['seed_mode']]}",
        "n at each point": f"{n} finished runs; those that diverged count, those that failed with an error do not",
        "Preset": resolved["preset"] or ", ".join(sorted(set(resolved.get("presets", ())))) or "none",
        "Conventions": "; ".join(f"{name} {prose.shown(value)}" for name, value in resolved["common"].items()),
        "Code": "; ".join(dict.fromkeys(code_of(row) for row in data.origins)),
    }


def code_of(origin: Mapping[str, Any]) -> str:
    """The commit that a plan's cells were computed with."""
    if "imported" in json.loads(origin["provenance"] or "{}"):
        return "unknown (trained elsewhere)"
    changed = " with uncommitted changes" if origin["git_dirty"] else ""
    return f"commit {origin['git_commit'] or 'unknown (not in a checkout)'}{changed}"


def account(data: ReportData) -> list[Block]:
    """How imported results came: of each file what was taken for what, and what was left out and why."""
    blocks = list[Block]()
    for origin in data.imported.origins if data.imported is not None else ():
        terms = dict[str, list[str]]()
        for term, text in origin.account:
            terms.setdefault(TERMS.get(term, term.capitalize()), []).append(text)
        if terms:
            terms["File"].append(f"SHA-256 {origin.digest}, imported on {origin.day}")
            blocks += [Heading(f"How it came: {origin.file}"), Terms(terms)]
    return [*blocks, Heading("What it became")] if blocks else []


def made_by(data: ReportData) -> dict[str, list[str]]:
    """Grid, plans, detectors, recording and version; a list of lines for each term."""
    resolved, recording, plans = data.resolved, data.resolved["recording"], list[str]()
    grid = []
    for axis in resolved["axes"]:
        values = [shown(value[0] if len(value) == 1 else value) for value in axis["values"]]
        grid.append(f"{' + '.join(axis['names'])}: {', '.join(values)}")
    for row in data.origins:
        if data.imported is not None:
            plans.append(
                f"{row['plan_id']}: {row['cells']:,} cells, {row['hosts']} at {row['finished']:%Y-%m-%d %H:%M} UTC"
            )
            continue
        times = f"{row['started']:%Y-%m-%d %H:%M} to {row['finished']:%Y-%m-%d %H:%M} UTC"
        engines = f" ({row['engines']})" if row["engines"] else ""
        plans.append(f"{row['plan_id']}: {row['cells']:,} cells, {times}, on {row['hosts']}{engines}, {code_of(row)}")
    detectors = registry.detectors_for(resolved["experiment"])
    recorded = ", ".join([f"{recording['steps']} ({recording['points']} points)", *recording["also"]])
    written = [f"{name}: {text}" for name, text in (resolved.get("outcomes") or {}).items()]
    return {
        "Grid": [*grid, *([f"where {resolved['where']}"] if resolved["where"] else [])],
        "Plans": plans,
        "Detectors": [f"{item.name}, version {item.version}" for item in detectors] or ["none"],
        **({"Outcomes of the sweep file": written} if written else {}),
        **({} if data.imported is not None else {"Recorded": [recorded]}),
        "Written by": [f"swingby {__version__}"],
    }


def common(data: ReportData) -> Table:
    """The parameters that have one value at all points."""
    return Table(
        ["parameter", "value"],
        [[Code(name), shown(value)] for name, value in data.resolved["common"].items()],
        name="pairs",
    )


def differing(data: ReportData) -> Table | None:
    """The parameters that differ between points without being on an axis: they follow from preset and axes.

    A column for each preset, or one for all points where there is a single one.
    """
    axes = {split(name)[0] for axis in data.resolved["axes"] for name in axis["names"]}
    known = registry.experiment(data.sweep["experiment"]).Params.model_fields
    names = [name for name in known if name not in {*axes, *data.resolved["common"]} and name in data.cells.columns]
    presets = sorted(set(data.cells["preset"].drop_nulls().to_list())) or [ALL]
    rows: list[list[Part]] = []
    for name in names:
        row: list[Part] = [Code(name)]
        for preset in presets:
            cells = data.cells if preset == ALL else data.cells.filter(data.cells["preset"] == preset)
            texts = list(dict.fromkeys(shown(value) for value in cells.sort("point")[name].to_list()))
            row.append(" or ".join(texts[:MOST]) + (f" or {len(texts) - MOST} more" if len(texts) > MOST else ""))
        rows.append(row)
    return Table(["parameter", *presets], rows, name="pairs") if rows else None
