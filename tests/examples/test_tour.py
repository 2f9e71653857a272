"""Laws of the tour: its cells run one after the other, and what they show needs no network."""

from __future__ import annotations

import ast
import json
import linecache
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import ROOT

CELLS = json.loads((ROOT / "examples" / "tour" / "tour.ipynb").read_text())["cells"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Any]]:
    """The value of each code cell that ends in an expression, of fewer seeds and points."""
    names: dict[str, Any] = {"__name__": "__main__"}
    values = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("tour"))
        patch.delenv("SWINGBY_DATA", raising=False)
        for place, cell in enumerate(cell for cell in CELLS if cell["cell_type"] == "code"):
            text, file = "".join(cell["source"]), f"<cell {place}>"
            text = text.replace("seeds=10", "seeds=2").replace('"points": 12', '"points": 4')
            linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file  # as IPython does
            tree = ast.parse(text)
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, file, "exec"), names)
            if isinstance(last, ast.Expr):
                values.append(eval(compile(ast.Expression(last.value), file, "eval"), names))
        yield values


def test_it_is_short_and_without_outputs() -> None:
    """Ten cells, none of which was run."""
    assert len(CELLS) == 10
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in CELLS)


def test_every_cell_runs(shown: list[Any]) -> None:
    """Results, three charts, a table, a frame, and the page of the report."""
    results, *charts, table, frame, page = shown
    assert results.missing == 0
    assert len(charts) == 3
    assert "row" in repr(table)
    assert frame.columns[-1] == "seed"
    assert Path(page).name == "report.html"


def test_charts_need_no_network(shown: list[Any]) -> None:
    """A chart is a picture that refers to nothing elsewhere, and Vega-Lite under a name that notebooks keep as one."""
    for chart in shown[1:4]:
        bundle = chart._repr_mimebundle_()
        assert "text/html" not in bundle
        assert not re.search(r"""(href|src)=["']http""", bundle["image/svg+xml"])
        assert [name for name, value in bundle.items() if not isinstance(value, str)] == [
            name for name in bundle if name.endswith("+json")
        ]
