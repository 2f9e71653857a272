"""Where recorded results come from: by which code they were computed, when, and on what kind of machine."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from swingby.run.outcomes import WHOLE
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


SHARDS = """
with stands as (
  select e.shard, count(*) as cells from members m join "{experiment}" e using (cell_id)
  where m.sweep_id = $sweep and e.status in ('ok', 'diverged') group by e.shard)
select s.shard, s.plan_id, s.batch, s.shape, s.host, s.device, s.versions, s."rows", s.seconds,
       strftime(s.started, '%Y-%m-%dT%H:%M:%SZ') as started, strftime(s.finished, '%Y-%m-%dT%H:%M:%SZ') as finished,
       p.git_commit, p.git_dirty, p.provenance, coalesce(stands.cells, 0) as cells
from shards s left join stands using (shard) left join plans p on p.plan_id = s.plan_id
where list_contains($shards, s.shard) and (stands.cells is not null or len(s.recorded) > 0)
order by s.shard"""
"""Every shard with rows of the sweep's cells, and for how many of them its rows stand; recorded ones only if any do."""


def computed(store: Store, experiment: str, sweep_id: str) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Where and when the cells of a sweep were computed, and of each shard which of these entries it belongs to.

    An entry is a plan, host and device: its seconds are those of all rows of the cells, since attempts that were killed
    took their time too. Results that are recorded ones bring the entries with them that they had.
    """
    traces = store.traces(experiment, sweep_id)
    names = {"sweep": sweep_id, "shards": list(traces)}
    rows = store.sql(SHARDS.format(experiment=experiment), names).arrow().to_pylist()
    found, recorded = dict[tuple[Any, ...], dict[str, Any]](), dict[str, list[dict[str, Any]]]()
    of_shard: dict[str, tuple[Any, ...]] = {}
    for row in rows:
        provenance = json.loads(row["provenance"] or "{}")
        if row["shape"] == WHOLE:
            key = (row["plan_id"], row["batch"])
            recorded[row["plan_id"]] = provenance["recorded"]["computed"]
            found[key] = _share(recorded[row["plan_id"]][row["batch"]], row["cells"])
        else:
            key = (row["plan_id"], row["host"], row["device"])
            found[key] = _with(found.get(key), row, traces[row["shard"]], provenance)
        of_shard[row["shard"]] = key
    for plan_id, entries in recorded.items():
        found |= {(plan_id, None, place): entry for place, entry in enumerate(entries) if not entry["cells"]}
    order = sorted(found, key=lambda key: [found[key][name] for name in _ORDER])
    return [found[key] for key in order], {shard: order.index(key) for shard, key in of_shard.items()}


_ORDER = ("plan_id", "host", "device", "started", "finished")


def _with(entry: dict[str, Any] | None, row: Mapping[str, Any], rows: int, provenance: Mapping[str, Any]) -> Any:
    """An entry with one more shard; None: it begins with it.

    What kind of machine a plan's driver ran on is known; of other workers it is not.
    """
    seconds = row["seconds"] * rows / row["rows"]
    if entry is not None:
        begun, ended = min(entry["started"], row["started"]), max(entry["finished"], row["finished"])
        sums = {"cells": entry["cells"] + row["cells"], "seconds": entry["seconds"] + seconds}
        return {**entry, **sums, "started": begun, "finished": ended}
    return {
        "plan_id": row["plan_id"],
        "host": kind_of(provenance) if row["host"] == provenance.get("host") else ELSEWHERE,
        "device": row["device"],
        "versions": json.loads(row["versions"]),
        "git_commit": row["git_commit"],
        "git_dirty": row["git_dirty"],
        "cells": row["cells"],
        "seconds": seconds,
        "started": row["started"],
        "finished": row["finished"],
    }


def _share(entry: dict[str, Any], cells: int) -> dict[str, Any]:
    """Of a recorded entry as much as so many of its cells are."""
    if cells == entry["cells"]:
        return entry
    return {**entry, "cells": cells, "seconds": entry["seconds"] * cells / entry["cells"]}
