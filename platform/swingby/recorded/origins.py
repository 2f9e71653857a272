"""Where recorded results come from: by which code they were computed, when, and on what kind of machine."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from swingby.run.derive import WHOLE
from swingby.store import Store

_ARGUMENT = re.compile(r"(?<![\w./~-])/(?:[^/]*/)*(?=[^/])")
_PATH = re.compile(r"""(?<![\w./~-])/(?:[^\s/'"]+/)*(?=[^\s/'"])""")
_MACHINE = re.compile(r"x86_64|amd64|aarch64|arm64|ppc64le|s390x|riscv64|i[3-6]86", re.IGNORECASE)
ELSEWHERE = "another machine of that run"


def kind_of(provenance: Mapping[str, Any]) -> str:
    """What kind of machine a plan was made on, such as "Linux x86_64 with 8 CPUs"; its name says who owns it."""
    system = portable_system(str(provenance.get("system") or "")) or "a machine"
    cpus = provenance.get("cpus")
    return system if not cpus else f"{system} with {cpus} CPU{'s' if cpus != 1 else ''}"


def portable_system(system: str) -> str:
    """Of what `platform.platform()` says only the system and the processor: kernels have names of their own."""
    machine = _MACHINE.search(system)
    return " ".join(part for part in (re.split(r"[-\s]", system)[0], machine[0] if machine else "") if part)


def portable_text(text: str) -> str:
    """A text in which only the last part is left of every absolute path."""
    return _PATH.sub("", text)


def portable(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of a run to those who have another machine: no name of this one, no path to anything on it."""
    found = dict(provenance)
    if "command" in found:
        found["command"] = [_argument(part) for part in found["command"]]
    if "host" in found:
        found["host"] = kind_of(provenance)
    if "system" in found:
        found["system"] = portable_system(str(found["system"]))
    return found


def _argument(text: str) -> str:
    return PurePosixPath(text).name if text.startswith("/") else _ARGUMENT.sub("", text)


ENTRIES = """
with used as (
  select e.shard, count(*) as cells from members m join "{experiment}" e using (cell_id)
  where m.sweep_id = $sweep and e.status in ('ok', 'diverged') group by e.shard)
select s.plan_id, case when s.shape = $whole then s.batch end as part, s.host, s.device,
       any_value(s.versions) as versions, any_value(p.git_commit) as git_commit, bool_or(p.git_dirty) as git_dirty,
       any_value(p.provenance) as provenance, coalesce(sum(used.cells), 0)::bigint as cells,
       sum(case when s.sweep_id = $sweep then s.seconds else s.seconds * used.cells / s.rows end) as seconds,
       strftime(min(s.started), '%Y-%m-%dT%H:%M:%SZ') as started,
       strftime(max(s.finished), '%Y-%m-%dT%H:%M:%SZ') as finished,
       list(s.shard) as shards
from shards s left join used using (shard) left join plans p on p.plan_id = s.plan_id
where used.cells is not null or (s.sweep_id = $sweep and s.experiment = $experiment and len(s.recorded) > 0)
group by all order by all"""
"""What computed the cells of a sweep, a row a plan, host and device: all shards of its own, since attempts that were
killed took their time too, and of others those whose rows stand for its cells. Of recorded results an entry a part."""


def computed(store: Store, experiment: str, sweep_id: str) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Where and when the cells of a sweep were computed, and of each shard which of these entries it belongs to.

    Results that are recorded ones bring the entries with them that they had.
    """
    names = {"sweep": sweep_id, "whole": WHOLE, "experiment": experiment}
    rows = store.sql(ENTRIES.format(experiment=experiment), names).arrow().to_pylist()
    found: list[tuple[dict[str, Any], list[str]]] = []
    plans: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        shards, provenance = row.pop("shards"), json.loads(row.pop("provenance") or "{}")
        part = row.pop("part")
        if part is None:
            found.append((_entry(row, provenance), shards))
        else:
            plans[row["plan_id"]] = provenance["recorded"]["computed"]
            found.append((_share(plans[row["plan_id"]][part], row["cells"]), shards))
    found += [(entry, []) for entries in plans.values() for entry in entries if not entry["cells"]]
    found.sort(key=lambda item: [item[0][name] for name in ("plan_id", "host", "device", "started", "finished")])
    of_shard = {shard: index for index, (_, shards) in enumerate(found) for shard in shards}
    return [entry for entry, _ in found], of_shard


def _entry(row: dict[str, Any], provenance: Mapping[str, Any]) -> dict[str, Any]:
    """One that was computed here: what kind of machine its driver ran on is known, of other workers it is not."""
    host = kind_of(provenance) if row["host"] == provenance.get("host") else ELSEWHERE
    return {**row, "host": host, "versions": json.loads(row["versions"])}


def _share(entry: dict[str, Any], cells: int) -> dict[str, Any]:
    """Of a recorded entry as much as so many of its cells are."""
    if cells == entry["cells"]:
        return entry
    return {**entry, "cells": cells, "seconds": entry["seconds"] * cells / entry["cells"]}
