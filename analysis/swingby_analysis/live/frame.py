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


def frame(sweeps: Sequence[Facts], width: int, height: int, colour: bool) -> Group:
    """The progress of sweeps, one below the other.

    Args:
        sweeps: the facts of each.
        width: columns of the terminal.
        height: lines that the frame should keep to; diagrams are made smaller for it, to four lines at least.
        colour: whether the terminal has colours.
    """
    heads = [[*_head(one, width), *_details(one)] for one in sweeps]
    texts = [line for head in heads for line in head]
    taken = 8 * len(sweeps) + sum(-(-max(1, line.cell_len) // max(1, width)) for line in texts)
    rows = max(4, (height - taken) // max(1, len(sweeps)))
    lines = [] if sweeps else [Text("no sweep yet")]
    for one, head in zip(sweeps, heads, strict=True):
        lines += [Text(), *head] if lines else head
        if one.snapshot.phase is not None:
            lines += [Text(), *draw_map(one.snapshot.phase, width, rows, colour)]
            if one.snapshot.sweep.refined is not None and one.snapshot.phase.over:
                lines.append(
                    Text("cells were chosen by their results: shares of tiles are not those of the whole grid")
                )
    for line in lines:  # without a character that could steer the terminal
        line.plain = "".join(char if char.isprintable() else MARK for char in line.plain)
    return Group(*lines)


def _head(one: Facts, width: int) -> Iterator[Text]:
    """The name of a sweep, its bar, its counts, who runs it, and how fast it goes."""
    sweep = one.snapshot.sweep
    yield Text.assemble((plain(sweep.name), "bold"), f"  {plain(sweep.experiment)}  ", (plain(sweep.sweep_id), "dim"))
    done, failed, cells = sweep.cells - one.counts["missing"], one.counts["failed"], sweep.cells
    label = f" {done:,} of {counted(cells, 'cell')}{f' {done / cells:.0%}' if cells else ''}"
    room = max(4, min(60, width - len(label)))
    full = room * done // cells if cells else room
    red = min(full, -(-room * failed // cells)) if cells else 0
    yield Text.assemble(("█" * (full - red), "green"), ("█" * red, "red"), ("░" * (room - full), "dim"), label)
    counts = []
    for status, count in one.counts.items():
        name = "FAILED" if status == "failed" and count else status
        counts.append(Text(f"{name} {count:,}", style=STYLES.get(status, "") if count else "dim"))
    yield Text("  ").join(counts)
    if sweep.refined is not None:
        for line in (sweep.refined.spent, *sweep.refined.lines()):
            yield Text(plain(line), no_wrap=True, overflow="ellipsis")
    if one.holder is not None:
        yield Text(f"run by {plain(one.holder)}", no_wrap=True, overflow="ellipsis")
    parts = []
    if one.holder is None:
        parts.append("finished" if one.finished else "not running; `swingby run` continues it")
    elif one.rate is not None:
        rate = one.rate.per_minute
        parts.append(f"{rate:{',.0f' if rate >= 10 else '.2g'}} cells a minute over {duration(one.rate.over)}")
    if one.left is not None:
        parts.append(f"about {duration(one.left)} left")
    if one.holder is not None and sweep.core_seconds is not None:
        batches = counted(sweep.batches, "batch", "batches")
        parts.append(f"planned as {batches}, {sweep.core_seconds / 3600:.3g} core-hours")
    if one.waiting:
        parts.append(f"{counted(one.waiting, 'shard')} not in the store yet: `swingby ingest`")
    parts.append(f"generation {one.snapshot.generation}, {_when(one, one.snapshot.published)}")
    yield Text(" · ".join(parts))


def _details(one: Facts) -> Iterator[Text]:
    """The machines that delivered, why cells failed, and the cells in progress, a line each."""
    for host in one.hosts[:HOSTS]:
        lately = f", {counted(host.workers, 'process', 'processes')} in the last minutes" if host.workers else ""
        text = f"{plain(host.host) or '?'}: {counted(host.cells, 'cell')}{lately}, the last {_when(one, host.last)}"
        yield Text.assemble(("node  ", "dim"), text, no_wrap=True, overflow="ellipsis")
    if len(one.hosts) > HOSTS:
        yield Text(f"      and {len(one.hosts) - HOSTS} nodes more", style="dim")
    for failure in one.snapshot.failures:
        yield Text.assemble(("FAILED ", "bold red"), f"{plain(failure)} ({_when(one, failure.last)})")
    cells = one.snapshot.in_progress
    for cell in cells[:IN_PROGRESS]:
        of = f" of {cell.total:,} steps ({cell.share:.0%})" if cell.total else " steps"
        yield Text.assemble(("in progress ", "dim"), f"{plain(cell.cell_id)[:12]}: {cell.steps:,}{of}")
    if len(cells) > IN_PROGRESS:
        yield Text(f"      and {counted(len(cells) - IN_PROGRESS, 'cell')} more", style="dim")


def _when(one: Facts, moment: float) -> str:
    """How long ago, of a sweep that runs; of any other the time, so that its frame stays the same."""
    if one.holder is None:
        return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M} UTC"
    return f"{duration(max(0.0, one.now - moment))} ago"  # clocks of two machines differ: it may lie ahead
