"""Origins of recorded results: the code that computed them, when, and on what kind of machine."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from swingby.data.records.headers import WHOLE
from swingby.function.travel import FOLDER
from swingby.store import Store
from swingby.store.sql import quoted

_ARGUMENT = re.compile(r"(?<![\w./~-])/(?:[^/]*/)*(?=[^/])")
_PATH = re.compile(r"""(?<![\w./~-])/(?:[^\s/'"]+/)*(?=[^\s/'"])""")
_MACHINE = re.compile(r"x86_64|amd64|aarch64|arm64|ppc64le|s390x|riscv64|i[3-6]86", re.IGNORECASE)
ELSEWHERE = "another machine of that run"


def kind_of(provenance: Mapping[str, Any]) -> str:
    """The kind of machine that a plan was made on, such as "Linux x86_64 with 8 CPUs"; names say too much."""
    system = portable_system(str(provenance.get("system") or "")) or "a machine"
    cpus = provenance.get("cpus")
    return system if not cpus else f"{system} with {cpus} CPU{'s' if cpus != 1 else ''}"


def portable_system(system: str) -> str:
    """The system and the processor in the text of `platform.platform()`, without the name of the kernel."""
    machine = _MACHINE.search(system)
    return " ".join(part for part in (re.split(r"[-\s]", system)[0], machine[0] if machine else "") if part)


def portable_text(text: str) -> str:
    """A text in which only the last part is left of every absolute path."""
    return _PATH.sub("", text)


def portable(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """A run's provenance without names of its machine and without paths on it, to be read on other machines."""
    rest = {name: value for name, value in provenance.items() if name != FOLDER}
    if "command" in rest:
        rest["command"] = [
            PurePosixPath(part).name if part.startswith("/") else _ARGUMENT.sub("", part) for part in rest["command"]
        ]
    if "host" in rest:
        rest["host"] = kind_of(provenance)
    if "system" in rest:
        rest["system"] = portable_system(str(rest["system"]))
    return rest


SHARDS = """
with results as (
  select e.shard, count(*) as cells from members m join {experiment} e using (cell_id)
  where m.sweep_id = $sweep and e.status in ('ok', 'diverged') group by e.shard)
select s.shard, s.plan_id, s.batch, s.shape, s.host, s.device, s.versions, s."rows", s.seconds,
       strftime(s.started, '%Y-%m-%dT%H:%M:%SZ') as started, strftime(s.finished, '%Y-%m-%dT%H:%M:%SZ') as finished,
       p.git_commit, p.git_dirty, p.provenance, coalesce(results.cells, 0) as cells
from shards s left join results using (shard) left join plans p on p.plan_id = s.plan_id
where list_contains($shards, s.shard) and (results.cells is not null or len(s.recorded) > 0)
order by s.shard"""
"""Every shard with rows of a sweep's cells, with the number of cells whose result it holds; a recorded one only if it
holds any."""


def computed(store: Store, experiment: str, sweep_id: str) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Entries on where and when the cells of a sweep were computed, and for each shard the index of its entry.

    There is an entry for each plan, host and device; its seconds are those of all rows of the cells, also of attempts
    that were killed. Recorded results keep the entries that they were recorded with.
    """
    traces = store.traces(experiment, sweep_id)
    names = {"sweep": sweep_id, "shards": list(traces)}
    rows = store.sql(SHARDS.format(experiment=quoted(experiment)), names).arrow().to_pylist()
    entry_of, recorded = dict[tuple[Any, ...], dict[str, Any]](), dict[str, list[dict[str, Any]]]()
    of_shard: dict[str, tuple[Any, ...]] = {}
    for row in rows:
        provenance = json.loads(row["provenance"] or "{}")
        if row["shape"] == WHOLE:
            key = (row["plan_id"], row["batch"])
            entries = recorded[row["plan_id"]] = provenance["recorded"]["computed"]
            entry, cells = entries[row["batch"]], row["cells"]
            if cells != entry["cells"]:  # the entry's share of these cells
                entry = {**entry, "cells": cells, "seconds": entry["seconds"] * cells / entry["cells"]}
            entry_of[key] = entry
        else:
            key = (row["plan_id"], row["host"], row["device"])
            entry_of[key] = _with_shard(entry_of.get(key), row, traces[row["shard"]], provenance)
        of_shard[row["shard"]] = key
    for plan_id, entries in recorded.items():
        entry_of |= {(plan_id, None, place): entry for place, entry in enumerate(entries) if not entry["cells"]}
    order = sorted(entry_of, key=lambda key: [entry_of[key][name] for name in _ORDER])
    return [entry_of[key] for key in order], {shard: order.index(key) for shard, key in of_shard.items()}


_ORDER = ("plan_id", "host", "device", "started", "finished")


def _with_shard(entry: dict[str, Any] | None, row: Mapping[str, Any], rows: int, provenance: Mapping[str, Any]) -> Any:
    """An entry with one more shard added; None: a new entry of that shard.

    Only the kind of the machine that made the plan is known.
    """
    seconds = row["seconds"] * rows / row["rows"]
    if entry is not None:
        first, last = min(entry["started"], row["started"]), max(entry["finished"], row["finished"])
        sums = {"cells": entry["cells"] + row["cells"], "seconds": entry["seconds"] + seconds}
        return {**entry, **sums, "started": first, "finished": last}
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
