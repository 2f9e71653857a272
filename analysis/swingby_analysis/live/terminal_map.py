"""A phase diagram in characters: a tile a point, by colour on a terminal, by height of a block anywhere else."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from swingby_analysis.live.phase import Outcome, Phase, Pool

LEVELS = "▁▂▃▄▅▆▇█"
VIRIDIS = ("#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725")
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999")
"""Okabe and Ito's colours, which most eyes can tell apart; the commonest category has the first."""
EMPTY, UNTOLD, OPEN = "·", "-", "?"
"""A point without a result yet; one with results of which no detector has told; a share whose interval has one half."""
WIDEST = 6
LABEL = 12
LISTED = 24
"""So many values of a single axis are listed, a line each."""


@dataclass(frozen=True)
class Style:
    """How tiles are drawn: with colours or without; the range of numbers; each category's letter and colour."""

    colour: bool
    low: float
    high: float
    letters: Mapping[str, tuple[str, str]]


def draw_map(found: Phase, width: int, rows: int, colour: bool) -> list[Text]:
    """The diagram with its title, axes and legend.

    Args:
        found: what is shown.
        width: columns of the terminal.
        rows: lines that the tiles may take; neighbours are pooled where there are more.
        colour: whether the terminal has colours.
    """
    if not found.pools:
        return [Text("no point of the sweep lies there")]
    look = _style(found, colour)
    lines = [_title(found)]
    listed = found.y is None and len(found.pools) <= min(LISTED, max(rows, 1))
    if listed:
        lines += _list(found, look, width)
    else:
        lines += _map(found, look, max(width, 8), max(rows, 1))
    return [*lines, *_legend(found, look, listed)]


def _title(found: Phase) -> Text:
    held = [f"at {name} = {value}" for name, value in found.at]
    over = [f"over all {', '.join(found.over)}"] if found.over else []
    what = "results (no detector has told of them yet)" if found.asked is None else str(found.asked)
    return Text(", ".join([what, *held, *over]), style="bold")


def _style(found: Phase, colour: bool) -> Style:
    middles = [one.median for one in found.pools.values()]
    finite = [middle for middle in middles if middle is not None and math.isfinite(middle)]
    total = Pool()
    if found.asked is not None and found.asked.kind == "category":
        for pool in found.pools.values():
            total.counts.update(pool.counts)
    names = sorted(total.counts, key=lambda name: (-total.counts[name], name))
    letters: dict[str, tuple[str, str]] = {}
    for place, name in enumerate(names):
        taken = {letter for letter, _ in letters.values()}
        own = [char.upper() for char in name if char.isascii() and char.isalpha()]
        spare = [char for char in (*own, *"ABCDEFGHIJKLMNOPQRSTUVWXYZ") if char not in taken]
        letters[name] = (spare[0] if spare else "*", PALETTE[min(place, len(PALETTE) - 1)])
    return Style(colour, min(finite, default=0.0), max(finite, default=1.0), letters)


def _map(found: Phase, look: Style, width: int, rows: int) -> Iterator[Text]:
    x, y = found.x, found.y
    columns, lines = (len(axis.values) if axis is not None else 1 for axis in (x, y))
    names = [""] * lines if y is None else list(y.labels)
    margin = min(LABEL, max(map(cell_len, names)), width // 3) + 1
    room = width - margin
    across, down = -(-columns // room), -(-lines // rows)
    size = max(1, min(WIDEST, room // -(-columns // across)))
    pooled: dict[tuple[int, int], Pool] = {}
    for (column, line), pool in found.pools.items():
        pooled.setdefault((column // across, line // down), Pool()).add(pool)
    if y is not None:
        yield Text(f"{y.name} ↑{_by(down)}", style="dim")
    for line in reversed(range(-(-lines // down))):
        label = names[line * down]
        drawn = Text(set_cell_size(label.rjust(margin - 1) if cell_len(label) < margin else label, margin - 1) + " ")
        for column in range(-(-columns // across)):
            drawn.append_text(_tile(found, look, pooled.get((column, line)), size))
        if not look.colour:
            drawn.rstrip()
        yield drawn
    if x is not None:
        labels = list(x.labels[::across])
        yield Text(" " * margin + _below(labels, size, room), style="dim")
        yield Text(f"{' ' * margin}{x.name} →{_by(across)}", style="dim", no_wrap=True, overflow="ellipsis")


def _by(count: int) -> str:
    return f" ({count} values a tile)" if count > 1 else ""


def _below(labels: Sequence[str], size: int, room: int) -> str:
    """The labels of the columns, as many as there is room for, each beginning under its column."""
    line = ""
    for place, label in enumerate(labels):
        start = place * size
        if (not line or start > cell_len(line)) and start + cell_len(label) <= room:
            line = set_cell_size(line, start) + label
    return line


def _tile(found: Phase, look: Style, pool: Pool | None, size: int) -> Text:
    """One tile; blank where the sweep has no point."""
    if pool is None:
        return Text(" " * size)
    if not pool.results:
        return Text(_marked(EMPTY, size), style="dim")
    shown = _shown(found, look, pool)
    if shown is None:
        return Text(_marked(UNTOLD, size), style="dim")
    level, mark, colour = shown
    if look.colour:
        return Text(_marked(mark, size), style=f"bold {_ink(colour)} on {colour}")
    if mark.isalpha():
        return Text(_marked(mark, size))
    block = LEVELS[min(len(LEVELS) - 1, int(level * len(LEVELS)))]
    return Text(block if size == 1 else block * (size - 1) + mark)


def _shown(found: Phase, look: Style, pool: Pool) -> tuple[float, str, str] | None:
    """Level from 0 to 1, mark, and colour; None where nothing was told."""
    if not pool.told or found.asked is None:
        return None
    if found.asked.kind == "median":
        level = _level(pool.median or 0.0, look)
        return level, " ", _viridis(level)
    name = found.asked.value or pool.most or ""
    share, sure = pool.share(name), pool.sure(name)
    if found.asked.kind == "share":
        return share, " " if sure else OPEN, _viridis(share)
    letter, colour = look.letters[name]
    return share, letter if sure and share > 0.5 else letter.lower(), colour


def _level(value: float, look: Style) -> float:
    if look.high <= look.low:
        return 0.5
    return min(1.0, max(0.0, (value - look.low) / (look.high - look.low)))


def _marked(mark: str, size: int) -> str:
    return f"{' ' * ((size - 1) // 2)}{mark}{' ' * (size // 2)}"


def _viridis(level: float) -> str:
    return VIRIDIS[min(len(VIRIDIS) - 1, int(level * len(VIRIDIS)))]


def _ink(colour: str) -> str:
    """Black or white, whichever can be read on a colour."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#000000" if 299 * red + 587 * green + 114 * blue > 128_000 else "#ffffff"


def _list(found: Phase, look: Style, width: int) -> Iterator[Text]:
    """One axis: a line a value, with a bar and the numbers."""
    labels = ("all",) if found.x is None else found.x.labels
    margin = min(LABEL, max(cell_len(labels[column]) for column, _ in found.pools))
    if found.x is not None:
        yield Text(f"{found.x.name} ↓", style="dim")
    bar = max(4, min(30, width - margin - 40))
    for (column, _), pool in sorted(found.pools.items()):
        drawn = Text(set_cell_size(labels[column].rjust(margin), margin) + " ", no_wrap=True, overflow="ellipsis")
        shown = _shown(found, look, pool)
        if shown is None:
            mark = UNTOLD if pool.results else EMPTY
            drawn.append(f"{mark * bar} {pool.results:,} of {pool.planned:,} results", style="dim")
        else:
            full = round(shown[0] * bar)
            drawn.append("█" * full, style=shown[2] if look.colour else "")
            drawn.append("░" * (bar - full), style="dim")
            drawn.append(f" {_numbers(found, pool)}")
        yield drawn


def _numbers(found: Phase, pool: Pool) -> str:
    asked = found.asked
    if asked is None or asked.kind == "median":
        return f"{pool.median:.4g} (of {pool.told:,})"
    name = asked.value or pool.most or ""
    low, high = pool.interval(name)
    told = f"{pool.share(name):.2f} ({pool.counts[name]:,} of {pool.told:,}, {low:.2f} to {high:.2f})"
    return told if asked.value else f"{name} {told}"


def _legend(found: Phase, look: Style, listed: bool) -> Iterator[Text]:
    """What colours and marks mean; a list says shares and intervals in numbers."""
    asked = found.asked
    if not listed and asked is not None and any(pool.told for pool in found.pools.values()):
        if asked.kind == "category":
            yield _categories(look)
        else:
            yield _scale(look, asked.kind == "share")
    marks = []
    if not listed and asked is not None and any(_open(asked, pool) for pool in found.pools.values()):
        marks.append(f"{OPEN if asked.kind == 'share' else 'small letter'} 95 % interval has one half")
    if any(not pool.results for pool in found.pools.values()):
        marks.append(f"{EMPTY} no result yet")
    if any(pool.results and not pool.told for pool in found.pools.values()):
        marks.append(f"{UNTOLD} results, no outcome")
    if marks:
        yield Text("   ".join(marks), style="dim")


def _open(asked: Outcome, pool: Pool) -> bool:
    """Whether a share is shown that could as well be on the other side of one half."""
    name = asked.value or pool.most
    return bool(pool.counts) and name is not None and not pool.sure(name)


def _scale(look: Style, share: bool) -> Text:
    low, high = ("0", "1") if share else (f"{look.low:.4g}", f"{look.high:.4g}")
    if low == high:
        return Text(f"all are {low}")
    drawn = Text(f"{low} ")
    if look.colour:
        for colour in VIRIDIS:
            drawn.append("  ", style=f"on {colour}")
    else:
        drawn.append(LEVELS)
    return drawn.append(f" {high}")


def _categories(look: Style) -> Text:
    drawn = Text()
    for name, (letter, colour) in look.letters.items():
        drawn.append(f" {letter} ", style=f"bold {_ink(colour)} on {colour}" if look.colour else "")
        drawn.append(f" {name}   ")
    return drawn
