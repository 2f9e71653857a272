"""Where a figure comes from, as it is written beside it: sweeps, seeds, n, conventions, code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from swingby_analysis.report import prose
from swingby_analysis.report.data import ReportData


def facts_of(data: ReportData, n: str) -> dict[str, str]:
    """What was put into a figure: sweeps, seeds, n, conventions, code."""
    resolved, seeds = data.resolved, data.resolved["seeds"]
    consecutive = seeds == list(range(seeds[0], seeds[0] + len(seeds)))
    listed = f"{seeds[0]} to {seeds[-1]}" if consecutive else ", ".join(map(str, seeds))
    origins = dict.fromkeys(f"{row['name']} {row['sweep_id']}" for row in data.origins)
    return {
        "Sweep": f"{data.sweep['name']} {data.sweep['sweep_id']}",
        "Cells computed by": "; ".join(origins),
        "Seeds": f"{len(seeds)} ({listed}), {prose.SEED_MODES[resolved['seed_mode']]}",
        "n at each point": f"{n} finished runs; those that diverged count, those that failed with an error do not",
        "Preset": resolved["preset"] or ", ".join(sorted(set(resolved.get("presets", ())))) or "none",
        "Conventions": "; ".join(f"{name} {prose.shown(value)}" for name, value in resolved["common"].items()),
        "Code": "; ".join(dict.fromkeys(code_of(row) for row in data.origins)),
    }


def code_of(origin: Mapping[str, Any]) -> str:
    """The commit that a plan's cells were computed with."""
    changed = " with changes that no commit holds" if origin["git_dirty"] else ""
    return f"commit {origin['git_commit'] or 'unknown (not in a checkout)'}{changed}"
