"""`make simulate`: tells histories and counts broken promises, or plants faults and says which were found."""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

CHUNK = 50
"""Histories that a process tells before it says how they went."""


class Chunk(NamedTuple):
    """Which histories to tell: until when (seconds since the epoch), with which planted fault ("": none)."""

    numbers: range
    seed: int
    until: float = float("inf")
    fault: str = ""


def tell_all(chunk: Chunk) -> tuple[Counter[str], list[tuple[int, str]]]:
    """Tells histories one after the other; with a planted fault up to the first that is broken.

    Returns:
        The counts, and (number, what is broken) of each broken one.
    """
    from tests.simulate.faults import AIMED, FAULTS
    from tests.simulate.history import tell

    gc.freeze()  # what is imported outlives every history, and need not be looked at again and again
    gc.set_threshold(50_000, 20, 100)
    counts, broken = Counter[str](), list[tuple[int, str]]()
    for number in chunk.numbers:
        if time.time() > chunk.until:
            break
        told = tell(number, chunk.seed, FAULTS[chunk.fault] if chunk.fault else None, AIMED.get(chunk.fault, ""))
        counts += told.counts
        if told.broken:
            broken.append((number, told.broken[0]))
            if chunk.fault:
                break
    return counts, broken


def chunks(first: int, histories: int, seed: int, until: float) -> Iterator[Chunk]:
    """Parts of all histories, until the time is over."""
    for start in count(first, CHUNK):
        if start >= first + histories or time.time() > until:
            return
        yield Chunk(range(start, min(start + CHUNK, first + histories)), seed, until)


def tell_histories(asked: Any, pool: Any) -> int:
    """Tells histories, prints their counts and whatever is broken."""
    begun = time.time()
    counts, broken = Counter[str](), list[tuple[int, str]]()
    for more, faults in pool.imap_unordered(
        tell_all, chunks(asked.first, asked.histories, asked.seed, begun + asked.minutes * 60)
    ):
        counts += more
        for number, said in faults:
            print(f"BROKEN: history {number}: {said[:400]}")
            print(f"        its log: make simulate SEED={asked.seed} HISTORY={number}", flush=True)
        broken += faults
    seconds = time.time() - begun
    print(
        f"{counts['histories']:,} histories in {seconds:.0f} s on {asked.processes} processes: "
        f"{counts['seams']:,} seams, {counts['kills']:,} processes killed, {counts['cuts']:,} power cuts, "
        f"{counts['freezes']:,} processes frozen; "
        f"{counts['shards']:,} result files held at last, {counts['acknowledged']:,} records acknowledged"
    )
    print(f"{counts['real']:,} of them with real Parquet and the real store beside the model")
    print(f"{len(broken):,} histories with a broken promise (a record lost, a result doubled, a rebuild that differs)")
    return 1 if broken or not counts["histories"] else 0


def plant_faults(asked: Any, pool: Any) -> int:
    """Plants each fault in turn, prints which history found it, and how many were found."""
    from tests.simulate.faults import FAULTS

    names = [name for name in FAULTS if asked.faults in name]
    given = [Chunk(range(asked.first, asked.first + asked.histories), asked.seed, fault=name) for name in names]
    found = 0
    for name, seconds, broken in pool.imap_unordered(_plant, [(one, asked.minutes * 60) for one in given]):
        found += bool(broken)
        said = f"history {broken[0][0]}: {broken[0][1][:160]}" if broken else "not found"
        print(f"{seconds:6.1f} s  {name}\n          {said}", flush=True)
    print(f"{found} of {len(names)} planted faults found, each within {asked.minutes:g} minutes of one process")
    return 0 if found == len(names) and names else 1


def _plant(given: tuple[Chunk, float]) -> tuple[str, float, list[tuple[int, str]]]:
    chunk, limit = given
    begun = time.time()
    _, broken = tell_all(chunk._replace(until=begun + limit))
    return chunk.fault, time.time() - begun, broken


def show(asked: Any) -> int:
    """Prints the log of one history."""
    from tests.simulate.faults import AIMED, FAULTS
    from tests.simulate.history import tell

    fault = asked.faults or ""
    told = tell(asked.history, asked.seed, FAULTS[fault] if fault else None, AIMED.get(fault, ""))
    print(*told.log, sep="\n")
    print(f"history {told.number} ({told.kind}): {told.broken or 'every promise is kept'}")
    return 1 if told.broken else 0


def main() -> int:
    """Reads the arguments and does what they ask."""
    parser = argparse.ArgumentParser("python -m tests.simulate", description=__doc__)
    parser.add_argument("--histories", type=int, default=100_000, help="how many at most (default: 100,000)")
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="how long at most; a planted fault: each (default: 10)"
    )
    parser.add_argument("--seed", type=int, default=0, help="another seed, other histories (default: 0)")
    parser.add_argument("--first", type=int, default=0, help="number of the first history (default: 0)")
    parser.add_argument("--history", type=int, help="print the log of this one")
    parser.add_argument("--faults", nargs="?", const="", help="plant faults; with a text, those whose name has it")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    if asked.history is not None:
        return show(asked)
    with multiprocessing.get_context("fork").Pool(asked.processes) as pool:
        return tell_histories(asked, pool) if asked.faults is None else plant_faults(asked, pool)


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":
        # The order of a set is part of a history, so that its number alone repeats it.
        again = [sys.executable, "-m", "tests.simulate", *sys.argv[1:]]
        os.execve(sys.executable, again, {**os.environ, "PYTHONHASHSEED": "0"})
    sys.exit(main())
