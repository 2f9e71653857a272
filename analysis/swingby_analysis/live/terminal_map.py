"""A phase diagram in characters: a tile for each point, by colour on a terminal, by height of a block elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from swingby_analysis.live.phase import Phase, Pool, short

LEVELS = "▁▂▃▄▅▆▇█"
VIRIDIS = ("#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725")
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999")
"""Okabe and Ito's colours, which most eyes can tell apart; the commonest category has the first."""
EMPTY, WITHOUT, OPEN = "·", "-", "?"
"""Marks of a point without a result yet, of results without an outcome, of a share whose interval has one half."""
WIDEST = 6
"""Columns of a tile, at most."""
LABEL = 12
"""Columns of an axis's label, at most."""
LISTED = 24
"""At most so many values of a single axis are listed, a line each; more are drawn as tiles."""


@dataclass(frozen=True)
class Style:
    """How tiles are drawn: with colours or without; the range of numbers; each category's letter and colour."""

    colour: bool
    low: float
    high: float
    letters: Mapping[str, tuple[str, str]]

    @classmethod
    def of(cls, phase: Phase, colour: bool) -> Style:
        """The range of the medians; for categories a letter of each one's name, and colours by how common they are."""
        middles = [pool.median for pool in phase.pools.values()]
        finite = [middle for middle in middles if middle is not None and math.isfinite(middle)]
        total = Pool()
        if phase.outcome is not None and phase.outcome.kind == "category":
            for pool in phase.pools.values():
                total.counts.update(pool.counts)
        letters: dict[str, tuple[str, str]] = {}
        for place, name in enumerate(sorted(total.counts, key=lambda name: (-total.counts[name], name))):
            taken = {letter for letter, _ in letters.values()}
            initials = [char.upper() for char in name if char.isascii() and char.isalpha()]
            spare = [char for char in (*initials, *"ABCDEFGHIJKLMNOPQRSTUVWXYZ") if char not in taken]
            letters[name] = (spare[0] if spare else "*", PALETTE[min(place, len(PALETTE) - 1)])
        return cls(colour, min(finite, default=0.0), max(finite, default=1.0), letters)


def draw_map(phase: Phase, width: int, rows: int, colour: bool) -> list[Text]:
    """The diagram with its title, axes and legend.

    Args:
        phase: what is shown.
        width: columns of the terminal.
        rows: lines that the tiles may take; neighbours are pooled where there are more.
        colour: whether the terminal has colours.
    """
    if not phase.pools:
        return [Text("no point of the sweep lies there")]
    what = "results (no detector has written an outcome yet)" if phase.outcome is None else str(phase.outcome)
    held = [f"at {name} = {value}" for name, value in phase.at]
    over = [f"over all {', '.join(phase.over)}"] if phase.over else []
    lines, style = [Text(", ".join([what, *held, *over]), style="bold")], Style.of(phase, colour)
    listed = phase.y is None and len(phase.pools) <= min(LISTED, max(rows, 1))
    if listed:
        lines += _list(phase, style, width)
    else:
        lines += _tiles(phase, style, max(width, 8), max(rows, 1))
    return [*lines, *_legend(phase, style, listed)]


def _tiles(phase: Phase, style: Style, width: int, rows: int) -> Iterator[Text]:
    """Two axes (or a long one): a tile for each point, or for several neighbours where there is too little room."""
    labels = [[short(value) for value in axis.values] if axis is not None else [""] for axis in (phase.x, phase.y)]
    columns, lines = map(len, labels)
    margin = min(LABEL, max(map(cell_len, labels[1])), width // 3) + 1
    room = width - margin
    across, up = -(-columns // room), -(-lines // rows)
    size = max(1, min(WIDEST, room // -(-columns // across)))
    pooled: dict[tuple[int, int], Pool] = {}
    for (column, line), pool in phase.pools.items():
        pooled.setdefault((column // across, line // up), Pool()).add(pool)
    if phase.y is not None:
        yield Text(f"{phase.y.name} ↑{f' ({up} values a tile)' if up > 1 else ''}", style="dim")
    for line in reversed(range(-(-lines // up))):
        label = labels[1][line * up]
        drawn = Text(set_cell_size(label.rjust(margin - 1) if cell_len(label) < margin else label, margin - 1) + " ")
        for column in range(-(-columns // across)):
            drawn.append_text(_tile(phase, style, pooled.get((column, line)), size))
        if not style.colour:
            drawn.rstrip()
        yield drawn
    if phase.x is not None:
        below = ""  # as many labels as there is room for, each beginning under its column
        for place, label in enumerate(labels[0][::across]):
            start = place * size
            if (not below or start > cell_len(below)) and start + cell_len(label) <= room:
                below = set_cell_size(below, start) + label
        yield Text(" " * margin + below, style="dim")
        name = f"{phase.x.name} →{f' ({across} values a tile)' if across > 1 else ''}"
        yield Text(" " * margin + name, style="dim", no_wrap=True, overflow="ellipsis")


def _tile(phase: Phase, style: Style, pool: Pool | None, size: int) -> Text:
    """One tile; blank where the sweep has no point."""
    if pool is None:
        return Text(" " * size)
    shown = _shown(phase, style, pool)
    level, mark, colour = (0.0, WITHOUT if pool.results else EMPTY, "") if shown is None else shown
    centred = f"{' ' * ((size - 1) // 2)}{mark}{' ' * (size // 2)}"
    if shown is None:
        return Text(centred, style="dim")
    if style.colour:
        return Text(centred, style=f"bold {_ink(colour)} on {colour}")
    if mark.isalpha():
        return Text(centred)
    block = LEVELS[min(len(LEVELS) - 1, int(level * len(LEVELS)))]
    return Text(block if size == 1 else block * (size - 1) + mark)


def _shown(phase: Phase, style: Style, pool: Pool) -> tuple[float, str, str] | None:
    """Level from 0 to 1, mark, and colour; None without an outcome."""
    if not pool.results or not pool.with_outcome or phase.outcome is None:
        return None
    if phase.outcome.kind == "median":
        level, span = 0.5, style.high - style.low
        if span > 0:
            level = min(1.0, max(0.0, ((pool.median or 0.0) - style.low) / span))
        return level, " ", _viridis(level)
    name = phase.outcome.value or pool.commonest or ""
    share, decided = pool.share(name), pool.decided(name)
    if phase.outcome.kind == "share":
        return share, " " if decided else OPEN, _viridis(share)
    letter, colour = style.letters[name]
    return share, letter if decided and share > 0.5 else letter.lower(), colour


def _viridis(level: float) -> str:
    return VIRIDIS[min(len(VIRIDIS) - 1, int(level * len(VIRIDIS)))]


def _ink(colour: str) -> str:
    """Black or white, whichever can be read on a colour."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#000000" if 299 * red + 587 * green + 114 * blue > 128_000 else "#ffffff"


def _list(phase: Phase, style: Style, width: int) -> Iterator[Text]:
    """One axis: a line for each value, with a bar and the numbers."""
    labels = ["all"] if phase.x is None else [short(value) for value in phase.x.values]
    margin = min(LABEL, max(cell_len(labels[column]) for column, _ in phase.pools))
    if phase.x is not None:
        yield Text(f"{phase.x.name} ↓", style="dim")
    bar = max(4, min(30, width - margin - 40))
    for (column, _), pool in sorted(phase.pools.items()):
        drawn = Text(set_cell_size(labels[column].rjust(margin), margin) + " ", no_wrap=True, overflow="ellipsis")
        shown, outcome = _shown(phase, style, pool), phase.outcome
        if shown is None or outcome is None:
            mark = WITHOUT if pool.results else EMPTY
            numbers = f"{mark * bar} {pool.results:,} of {pool.planned:,} results"
        else:
            full = round(shown[0] * bar)
            drawn.append("█" * full, style=shown[2] if style.colour else "")
            drawn.append("░" * (bar - full), style="dim")
            name = outcome.value or pool.commonest
            if outcome.kind == "median" or name is None:
                numbers = f" {pool.median:.4g} (of {pool.with_outcome:,})"
            else:
                low, high = pool.interval(name)
                counts = f"{pool.counts[name]:,} of {pool.with_outcome:,}, {low:.2f} to {high:.2f}"
                numbers = f" {'' if outcome.value else f'{name} '}{pool.share(name):.2f} ({counts})"
        yield drawn.append(numbers, style="dim" if shown is None else "")


def _legend(phase: Phase, style: Style, listed: bool) -> Iterator[Text]:
    """What colours and marks mean; a list has shares and intervals as numbers."""
    outcome, pools = phase.outcome, phase.pools.values()
    marks = []
    if not listed and outcome is not None:
        if any(pool.with_outcome for pool in pools):
            if outcome.kind == "category":
                scale = Text()
                for name, (letter, colour) in style.letters.items():
                    scale.append(f" {letter} ", style=f"bold {_ink(colour)} on {colour}" if style.colour else "")
                    scale.append(f" {name}   ")
                yield scale
            else:
                low, high = ("0", "1") if outcome.kind == "share" else (f"{style.low:.4g}", f"{style.high:.4g}")
                blocks = [("  ", f"on {colour}") for colour in VIRIDIS] if style.colour else [(LEVELS, "")]
                yield Text(f"all are {low}") if low == high else Text.assemble(f"{low} ", *blocks, f" {high}")
        # A share is open if it could as well be on the other side of one half.
        named = [(pool, outcome.value or pool.commonest) for pool in pools if pool.counts]
        if any(name is not None and not pool.decided(name) for pool, name in named):
            marks.append(f"{OPEN if outcome.kind == 'share' else 'small letter'} 95 % interval includes one half")
    if any(not pool.results for pool in pools):
        marks.append(f"{EMPTY} no result yet")
    if any(pool.results and not pool.with_outcome for pool in pools):
        marks.append(f"{WITHOUT} results without an outcome")
    if marks:
        yield Text("   ".join(marks), style="dim")
