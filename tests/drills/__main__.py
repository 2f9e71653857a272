"""Holds drills at random until the time is over, and prints a log and a table; exit code 1 if a promise was broken."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from tests.drills.faults import FAULTS, MANY
from tests.drills.field import Field, Found

HEADINGS = "drill", "held", "cells", "lost", "doubled", "failed", "wrongly", "again", "most", "left"


def hold(name: str, folder: Path, rng: Random) -> Found:
    """One drill, finished by the same command."""
    harm, options = FAULTS[name]
    field = Field(folder, rng, MANY, **options)
    try:
        harm(field)
        field.finish()
        return field.found()
    finally:
        field.kit.close()


def table(found: dict[str, list[Found]]) -> str:
    """A line a drill, with the sums of what was found (of `most`, the largest)."""
    rows: list[tuple[str, ...]] = [HEADINGS]
    names = "cells", "lost", "doubled", "failed", "wrong", "again"
    for name, every in found.items():
        sums = [str(sum(getattr(one, key) for one in every)) for key in names]
        left = str(sum(one.left for one in every))
        rows.append((name, str(len(every)), *sums, str(max(one.most for one in every)), left))
    widths = [max(len(row[k]) for row in rows) for k in range(len(HEADINGS))]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in rows)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.drills", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=15.0, help="no drill begins later; each is held once first")
    parser.add_argument("--only", action="append", choices=list(FAULTS), help="repeatable")
    parser.add_argument("--keep", type=Path, help="a folder in which the fields stay; without it they are removed")
    given = parser.parse_args()
    rng, began = Random(given.seed), time.monotonic()
    names = given.only or list(FAULTS)
    home = given.keep or Path(tempfile.mkdtemp(prefix="drills-", dir="."))
    found: dict[str, list[Found]] = {}
    broken, turn = 0, 0
    try:
        while time.monotonic() - began < 60 * given.minutes and (turn < len(names) or not given.only):
            name = names[turn] if turn < len(names) else rng.choice(names)
            turn += 1
            start, where = time.monotonic(), (home / f"{turn:03d}").absolute()
            try:
                one = hold(name, where, rng)
            except Exception as error:
                broken += 1
                print(f"{name}: BROKEN: {type(error).__name__}: {error}", flush=True)
                continue
            found.setdefault(name, []).append(one)
            broken += not one.good
            said = "kept" if one.good else "BROKEN"
            print(f"{name}: {said} in {time.monotonic() - start:.0f} s: {one}", flush=True)
            shutil.rmtree(where, ignore_errors=True) if given.keep is None and one.good else None
    finally:
        if given.keep is None and not broken:
            shutil.rmtree(home, ignore_errors=True)
    print(f"\nseed {given.seed}, {turn} drills, {broken} broken")
    if found:
        print(table(found))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
