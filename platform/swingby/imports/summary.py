"""The outcome of an import in words: what became of the rows and columns of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swingby.imports.cells import Cells
from swingby.imports.layout import Layout
from swingby.imports.reading import RunsFile
from swingby.imports.sweep import SweepOfCells, hashable, ordered_values
from swingby.units import counted

MOST_SHOWN = 3
"""Cells with other values that are shown."""


@dataclass(frozen=True)
class Imported:
    """The outcome of `import_runs`, or what it would be.

    Attributes:
        file, layout, cells: what was read.
        sweep: the cells that the sweep has now.
        ids: the id of each cell of the file, in the order of its table.
        added, changed: places in the table of the cells that are new, and of those that were there with other values.
        differences: of the changed ones, each with what differs, in words.
        earlier: how many cells were imported before and are not in the file.
    """

    file: RunsFile
    layout: Layout
    cells: Cells
    sweep: SweepOfCells
    ids: Sequence[str]
    added: Sequence[int]
    changed: Sequence[int]
    differences: Sequence[str]
    earlier: int

    def __str__(self) -> str:
        parts = [f"{counted(len(self.added), 'cell')} imported from {self.file.path.name}"]
        equal = self.cells.table.num_rows - len(self.added) - len(self.changed)
        if equal:
            parts.append(f"{equal:,} there already")
        if self.changed:
            parts.append(f"{len(self.changed):,} replaced")
        if self.earlier:
            parts.append(f"{counted(self.earlier, 'cell')} of earlier imports not in this file, and kept")
        return f"{self.sweep.name} ({self.sweep.sweep_id}): {', '.join(parts)}"

    def lines(self) -> list[str]:
        """The account as a terminal shows it."""
        (_, head), *rest = self.account()
        return [head, *(f"  {'note:' if term == 'note' else f'{term:<10} '} {text}" for term, text in rest)]

    def account(self) -> list[tuple[str, str]]:
        """What the rows and columns of the file are taken for: a term and what is said of it, the file first.

        A term may come several times.
        """
        layout, table = self.layout, self.cells.table
        form = "a row a step" if layout.long else "a row a run"
        head = [f"{self.file.path.name}: {counted(self.file.rows, 'row')}", form, *filter(None, [layout.tool])]
        account = [("file", ", ".join(head))]
        params, constant = list[str](), list[str]()
        for name, kind in layout.params.items():
            values = ordered_values(set(map(hashable, table[name].to_pylist())))
            low, high = (f"{v:.6g}" if isinstance(v, float) else str(v) for v in (values[0], values[-1]))
            ends = low if len(values) == 1 else f"{len(values):,} values, {low} to {high}"
            (params if len(values) > 1 else constant).append(f"{self._named(name)} ({kind}, {ends})")
        account.append(("parameters", ", ".join(params) or "none that differs"))
        if constant:
            account.append(("constant", ", ".join(constant)))
        seeds = set(table["seed"].to_pylist())
        if layout.seed:
            name = layout.renamed.get(layout.seed, layout.seed)
            account.append(("seeds", f"the column {name!r} ({counted(len(seeds), 'value')})"))
        for noun, names in (("curves", self.cells.curves), ("scalars", self.cells.scalars)):
            entry = {"vector": "float", "matrix": "vector"} if noun == "curves" and not layout.long else {}
            kinds = {name: entry.get(layout.results[name], layout.results[name]) for name in names}
            listed = [f"{self._named(name)} ({kinds[name]})" for name in names]
            account.append((noun, ", ".join(listed) or "none"))
        for noun, names in (("no axis", layout.settings), ("left out", layout.left_out)):
            by_why = dict[str, list[str]]()
            for name, why in names.items():
                by_why.setdefault(why, []).append(name)
            account += [(noun, f"{', '.join(of)} ({why})") for why, of in by_why.items()]
        statuses = table["status"].to_pylist()
        ends = ", ".join(f"{statuses.count(end):,} {end}" for end in ("ok", "diverged", "failed") if end in statuses)
        points = len(set(zip(*(map(hashable, table[name].to_pylist()) for name in layout.params), strict=True)))
        account.append(("cells", f"{table.num_rows:,} at {counted(points, 'point')}: {ends}"))
        return [*account, *(("note", note) for note in self.cells.notes)]

    def plans(self) -> list[str]:
        """What an import would do with the cells, and which of them it would refuse."""
        equal = self.cells.table.num_rows - len(self.added) - len(self.changed)
        counts = [(len(self.added), "to import"), (equal, "there already"), (len(self.changed), "with other values")]
        lines = [f"{self.sweep.name}: {', '.join(f'{count:,} {what}' for count, what in counts if count)}"]
        return [*lines, *(f"  other values: {one}" for one in self.differences[:MOST_SHOWN])]

    def _named(self, name: str) -> str:
        before = self.layout.renamed.get(name)
        return name if before is None else f"{name} from {before!r}"
