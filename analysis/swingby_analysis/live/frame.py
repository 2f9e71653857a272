"""The facts of sweeps as one frame of a terminal; other people's text is text there, never markup and never control."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from rich.console import Group
from rich.text import Text

from swingby.text import MARK, plain
from swingby.units import counted, duration
from swingby_analysis.live.facts import Facts
from swingby_analysis.live.terminal_map import draw_map

STYLES = {"ok": "green", "diverged": "yellow", "failed": "bold red", "missing": ""}
HOSTS = 4
IN_PROGRESS = 3


def frame(found: Sequence[Facts], width: int, height: int, colour: bool) -> Group:
    """How sweeps stand, one below the other.

    Args:
        found: the sweeps.
        width: columns of the terminal.
        height: lines that the frame should keep to; diagrams are made smaller for it, to four lines at least.
        colour: whether the terminal has colours.
    """
    heads = [list(_head(one, width)) for one in found]
    taken = sum(_lines(head, width) + 8 for head in heads)
    rows = max(4, (height - taken) // max(1, len(found)))
    lines = [] if found else [Text("no sweep yet")]
    for one, head in zip(found, heads, strict=True):
        lines += [Text(), *head] if lines else head
        if one.seen.phase is not None:
            lines += [Text(), *draw_map(one.seen.phase, width, rows, colour)]
    return Group(*(clean(line) for line in lines))


def clean(line: Text) -> Text:
    """The line without a character that could steer the terminal."""
    line.plain = "".join(char if char.isprintable() else MARK for char in line.plain)
    return line


def _lines(head: Sequence[Text], width: int) -> int:
    return sum(-(-max(1, line.cell_len) // max(1, width)) for line in head)


def _head(one: Facts, width: int) -> Iterator[Text]:
    known = one.seen.known
    yield Text.assemble((plain(known.name), "bold"), f"  {plain(known.experiment)}  ", (plain(known.sweep_id), "dim"))
    done = known.cells - one.counts["missing"]
    yield _bar(done, one.counts["failed"], known.cells, width)
    yield Text("  ").join([_count(what, count) for what, count in one.counts.items()])
    if one.holder is not None:
        yield Text(f"run by {plain(one.holder)}", no_wrap=True, overflow="ellipsis")
    yield Text(" · ".join(_pace(one)))
    yield from _hosts(one)
    yield from _failures(one)
    yield from _in_progress(one)


def _count(what: str, count: int) -> Text:
    if not count:
        return Text(f"{what} 0", style="dim")
    return Text(f"{'FAILED' if what == 'failed' else what} {count:,}", style=STYLES.get(what, ""))


def _bar(done: int, failed: int, cells: int, width: int) -> Text:
    told = f" {done:,} of {counted(cells, 'cell')}{f' {done / cells:.0%}' if cells else ''}"
    room = max(4, min(60, width - len(told)))
    full = room * done // cells if cells else room
    red = min(full, -(-room * failed // cells)) if cells else 0
    parts = [("█" * (full - red), "green"), ("█" * red, "red"), ("░" * (room - full), "dim")]
    return Text.assemble(*parts, told)


def _pace(one: Facts) -> Iterator[str]:
    known = one.seen.known
    if one.holder is not None:
        if one.rate is not None:
            yield f"{_rate(one.rate.per_minute)} over {duration(one.rate.over)}"
        if one.left is not None:
            yield f"about {duration(one.left)} left"
        if known.core_seconds is not None:
            yield f"planned as {counted(known.batches, 'batch', 'batches')}, {known.core_seconds / 3600:.3g} core-hours"
    else:
        yield "finished" if one.finished else "nobody runs it; `swingby run` goes on where it stopped"
    if one.waiting:
        yield f"{counted(one.waiting, 'shard')} not in the store yet: `swingby ingest`"
    yield f"generation {one.seen.generation}, {_when(one, one.seen.published)}"


def _when(one: Facts, moment: float) -> str:
    """How long ago, of a sweep that runs; of any other the time, so that its frame stays the same."""
    return (
        ago(one.now - moment) if one.holder is not None else f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M} UTC"
    )


def ago(seconds: float) -> str:
    """How long ago something was; clocks of two machines differ, so that it may lie ahead."""
    return f"{duration(max(0.0, seconds))} ago"


def _rate(rate: float) -> str:
    return f"{rate:,.0f} cells a minute" if rate >= 10 else f"{rate:.2g} cells a minute"


def _hosts(one: Facts) -> Iterator[Text]:
    for host in one.hosts[:HOSTS]:
        lately = f", {counted(host.workers, 'process', 'processes')} in the last minutes" if host.workers else ""
        told = f"{plain(host.host) or '?'}: {counted(host.cells, 'cell')}{lately}, the last {_when(one, host.last)}"
        yield Text.assemble(("node  ", "dim"), told, no_wrap=True, overflow="ellipsis")
    if len(one.hosts) > HOSTS:
        yield Text(f"      and {len(one.hosts) - HOSTS} nodes more", style="dim")


def _failures(one: Facts) -> Iterator[Text]:
    for failure in one.seen.failures:
        # What was raised stands first, where it was raised on the lines below.
        first = plain(failure.message.strip().partition("\n")[0])
        told = f"{first or '(no message)'} ({_when(one, failure.last)})"
        yield Text.assemble(("FAILED ", "bold red"), f"{failure.cells:,} x ", told)


def _in_progress(one: Facts) -> Iterator[Text]:
    for cell in one.seen.in_progress[:IN_PROGRESS]:
        of = f" of {cell.total:,} steps ({cell.share:.0%})" if cell.total else " steps"
        yield Text.assemble(("in progress ", "dim"), f"{plain(cell.cell_id)[:12]}: {cell.steps:,}{of}")
    if len(one.seen.in_progress) > IN_PROGRESS:
        yield Text(f"      and {counted(len(one.seen.in_progress) - IN_PROGRESS, 'cell')} more", style="dim")
