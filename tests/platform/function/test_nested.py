"""Parameters as people have them: nested, enums, paths, lists; and those that not every point reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

import swingby
from swingby.api import Sweep
from swingby.data.records import Plan
from swingby.data.records.headers import plan_cells, plan_table
from swingby.errors import InputFaults, SwingbyError
from swingby.function.experiment import FunctionExperiment, experiment
from swingby.function.signature import params_of
from swingby.model import registry
from swingby.model.cell import Point, SeedMode
from swingby.model.experiment import Recording
from swingby.run.progress import Progress
from tests.support.places import ROOT


class Kind(Enum):
    """Two optimisers, whose values are no names."""

    SGD = 1
    ADAM = "adam"


@dataclass(frozen=True)
class Optim:
    """A group of a dataclass."""

    lr: Annotated[float, Field(gt=0)] = 0.1
    kind: Kind = Kind.SGD
    momentum: float = 0.5
    nesterov: bool = False


class Model(BaseModel):
    """A group with a group in it."""

    depth: int = Field(default=2, ge=1, description="how many layers")
    widths: list[int] = [16]
    names: tuple[str, ...] = ()
    inner: Optim = Optim(lr=0.2)


READS = {"optim.momentum": "optim.kind == 'SGD'", "optim.nesterov": "optim.momentum > 0"}


def train(
    cell: Any,
    optim: Optim = Optim(),
    model: Model = Model(),  # noqa: B008
    data: dict = {"path": Path("a/b"), "size": 3},  # noqa: B006
    act: Literal["relu", "tanh", None] = None,
    kind: Kind | None = None,
    folder: Path | None = None,
    pair: tuple[int, float] | tuple[float, float] = (1.0, 2.0),
    flag: bool = True,
    scale: float = 1,
) -> dict[str, Any]:
    """All forms at once."""
    return {"n": len(model.widths)}


del train.__annotations__["pair"]  # a tuple of numbers by its default
OF: FunctionExperiment = experiment(train, name="all_forms")  # type: ignore[assignment]
FEW: FunctionExperiment = experiment(train, name="few_reads", reads=READS)  # type: ignore[assignment]

floats = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs", "Cc"]), max_size=5)
optims = st.builds(Optim, st.floats(1e-300, 1e300), st.sampled_from(Kind), floats, st.booleans())
arguments = st.fixed_dictionaries(
    {
        "optim": optims,
        "model": st.builds(
            Model,
            depth=st.integers(1, 2**62),
            widths=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3),
            names=st.lists(texts, max_size=3).map(tuple),
            inner=optims,
        ),
        "data": st.builds(lambda path, size: {"path": path, "size": size}, texts.map(Path), st.integers(-9, 9)),
        "act": st.sampled_from(["relu", "tanh", None]),
        "kind": st.sampled_from([*Kind, None]),
        "folder": texts.map(Path) | st.none(),
        "pair": st.tuples(floats, floats),
        "flag": st.booleans(),
        "scale": floats,
    }
)


def sweep_of(of: FunctionExperiment, *rows: Mapping[str, Any]) -> Sweep:
    """The sweep whose points have these arguments, all of them on axes that advance together."""
    columns = {name: [_at(row, name) for row in rows] for name in of.Params.model_fields}
    return Sweep.of(of, axes={"zip": [columns]})


def _at(row: Any, name: str) -> Any:
    for part in name.split("."):
        row = row[part] if isinstance(row, dict) else getattr(row, part)
    return row


@settings(max_examples=25, deadline=None)
@given(arguments, st.sampled_from(["common", "independent"]), st.integers(0, 9))
def test_what_a_sweep_sets_is_what_the_function_gets(row: dict[str, Any], seeds: SeedMode, seed: int) -> None:
    """Through the text of a sweep file, the table of a plan, and back; readers without the code have the same ids."""
    (point,) = sweep_of(OF, row).points
    point = Point(point.experiment, point.stream_version, point.params, seeds)
    table = plan_table([point], [0], [seed], [0])
    plan = Plan("0" * 16, "a", OF.name, 1, 1, {}, Recording(), {}, ())
    (cell,) = plan_cells(plan, table)
    got = OF.arguments(cell.params)
    assert got == row
    for name, value in row.items():  # the types as well: True is not 1
        assert repr(got[name]).replace("-0.0", "0.0") == repr(value).replace("-0.0", "0.0")
    reader = FunctionExperiment.of_declaration(OF.declaration())
    values = {name: table[name][0].as_py() for name in reader.Params.model_fields}
    assert Point(OF.name, 1, reader.Params(**values), seeds).cell(seed).cell_id == cell.cell_id


FEW_OPTIMS = st.builds(Optim, st.sampled_from([0.1, 0.2]), st.sampled_from(Kind), st.sampled_from([0.0, 0.5, 0.9]))
SOME = st.tuples(FEW_OPTIMS, st.booleans()).map(lambda both: Optim(both[0].lr, both[0].kind, both[0].momentum, both[1]))


def values_of(one: Optim) -> dict[str, Any]:
    """A group as the flat model has it."""
    return {f"optim.{name}": value for name, value in {**vars(one), "kind": one.kind.name}.items()}


def read(one: Optim) -> tuple[Any, ...]:
    """What a point reads, by the words of READS."""
    momentum = one.momentum if one.kind is Kind.SGD else None
    return one.lr, one.kind, momentum, one.nesterov if momentum else None


@settings(max_examples=40, deadline=None)
@given(SOME, SOME)
def test_cells_are_one_exactly_where_what_is_read_is_equal(one: Optim, other: Optim) -> None:
    """Also by a reader without code; the function gets the default of what is not read, and the streams go together."""
    params = [FEW.Params(**values_of(one)), FEW.Params(**values_of(other))]
    points = [Point(FEW.name, 1, of, "independent") for of in params]
    same = read(one) == read(other)
    assert (points[0].point_id == points[1].point_id) == same
    assert (params[0] == params[1]) == same
    assert (points[0].cell(3).key("init") == points[1].cell(3).key("init")) == same
    for of, optim in zip(params, (one, other), strict=True):
        momentum = optim.momentum if optim.kind is Kind.SGD else 0.5
        nesterov = optim.nesterov if read(optim)[3] is not None else False
        assert FEW.arguments(of)["optim"] == Optim(optim.lr, optim.kind, momentum, nesterov)
    reader = FunctionExperiment.of_declaration(FEW.declaration()).Params
    assert reader(**params[0].model_dump()).canonical() == params[0].canonical()
    whole = params_of(train, "few_reads")  # the function before there was a `reads`
    fields = whole.model_fields
    filled = {name: fields[name].default if value is None else value for name, value in dict(params[0]).items()}
    assert whole(**filled).canonical() == params[0].canonical()


def test_points_that_read_the_same_are_one() -> None:
    """The sweep has each cell once, counts the rest, and every id is that of its point."""
    sweep = Sweep.of(
        FEW, axes={"optim.kind": ["ADAM", "SGD"], "optim.momentum": [0.0, 0.5, 0.9], "optim.nesterov": [False, True]}
    )
    assert len(sweep.points) == len(set(sweep.points.ids.to_pylist())) == 1 + 1 + 4
    assert sweep.shared == 12 - 6
    assert [point.point_id for point in sweep.points] == sweep.points.ids.to_pylist()
    assert "6 more points" in sweep.sharing[0]
    with pytest.raises(InputFaults, match="has no effect"):
        Sweep.of(FEW, base={"optim": {"kind": "ADAM"}}, axes={"optim.momentum": [0.0, 0.5]})
    with pytest.raises(InputFaults, match="is read where"):
        Sweep.of(FEW, base={"optim.momentum": None})


def test_present_forms_keep_their_cells() -> None:
    """The ids of cells from before parameters could be nested."""

    def forms(
        cell: Any,
        a: int,
        b: float = 1,
        c: Annotated[float, Field(gt=0)] = 2.0,
        d: str = "x",
        e: bool = True,
        f: Literal["u", "v"] = "u",
        g: swingby.Vector = (1.0, 2.0),
        h: swingby.Matrix = ((1.0,),),
        i: float | None = None,
        j=3,
        k=0.5,
        l: swingby.Vector | None = None,  # noqa: E741
        late: float = 0.5,
        m: int | None = 4,
        n: swingby.Vector = [1],  # type: ignore[assignment]  # noqa: B006
        steps: int = 5,
        o: Literal[1, 2] = 2,
    ) -> None:
        pass

    model = params_of(forms, "forms", {"late": 0.5})
    other = {"a": 2, "b": -0.0, "g": [3, 4.5], "h": [[1, 2], [3, 4]], "i": 0.25, "l": [], "late": 1.5, "m": None}
    other |= {"n": [0.0], "f": "v", "e": False}
    ids = [Point("forms", 1, model(**of), mode).cell(7).cell_id for of in ({"a": 1}, other) for mode in MODES]
    assert ids == [
        "ad985107d18259e6da330389ff5ffd13",
        "e2cb1670ca95192b03311fce54de8ec8",
        "aaed14b01890bdcea7b83d82de367707",
        "7204f4fb906670f2923ae84d47b80f35",
    ]


def test_tuples_keep_their_cells() -> None:
    """Those of any length, whose defaults count as they are written; the ids are from before there were lists."""

    def open_tuples(
        cell: Any,
        p: tuple[int, ...] = (1, 2),
        q: tuple[float, ...] = (1, 2),
        r: tuple[str, ...] | None = ("a",),
        s: Annotated[tuple[float, ...], Field(min_length=1)] = (3,),
        t: tuple[tuple[float, ...], ...] = ((1,),),
    ) -> None:
        pass

    model = params_of(open_tuples, "open_tuples")
    other: dict[str, Any] = {"p": (3,), "q": (1.0, 2.0), "r": None}
    cells = [Point("open_tuples", 1, of).cell(7) for of in (model(), model(**other))]
    assert [cell.cell_id for cell in cells] == ["88ff2f4323202d5d25b188c987ede471", "af3c1b31e7a78c08f71dba835968dcc6"]


MODES: tuple[SeedMode, SeedMode] = ("common", "independent")


def points(text: str, *overrides: str) -> list[dict[str, Any]]:
    """The parameters of every point of a sweep over all forms."""
    registry.adopt(OF)
    sweep = Sweep.parse(f"name: a\nexperiment: all_forms\n{text}", "a.yaml", overrides)
    return [dict(point.params) for point in sweep.points]


def test_parts_are_set_like_any_parameter() -> None:
    """Spelt by dots or as mappings, under base, axes and zip, in `where` and options, entry by entry."""
    (one,) = points("base: {optim: {lr: 0.3, kind: ADAM}, model: {inner: {lr: 0.4}, widths: [1, 2]}}\n")
    assert (one["optim.lr"], one["optim.kind"], one["model.inner.lr"]) == (0.3, "ADAM", 0.4)
    sizes = "data.size: {range: {from: 1, to: 3, step: 1}}"
    text = f"base: {{model.widths: [1, 2]}}\naxes: {{optim: {{lr: [0.1, 0.2]}}, model.widths.1: [5, 6], {sizes}}}\n"
    every = points(text + "where: optim.lr < 0.15 and model.widths.1 > data.size + 2\n")
    assert [(one["model.widths"], one["data.size"]) for one in every] == [
        ((1, 5), 1), ((1, 5), 2), ((1, 6), 1), ((1, 6), 2), ((1, 6), 3)
    ]  # fmt: skip
    zipped = points("axes: {zip: [{optim: {lr: [0.1, 0.2], momentum: [1, 2]}}]}\n")
    assert [(one["optim.lr"], one["optim.momentum"]) for one in zipped] == [(0.1, 1.0), (0.2, 2.0)]
    for text in ("base: {optim: {lr: 0.3}}\n", "base: {optim.lr: 0.3}\n", "axes: {optim: {lr: [1, 2]}}\n"):
        assert [one["optim.lr"] for one in points(text, "base.optim.lr=0.7")] == [0.7]
        assert [one["optim.lr"] for one in points(text, "axes.optim.lr=[0.6, 0.7]")] == [0.6, 0.7]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("base:\n  optim:\n    lr: -1\n", r"line 5: optim.lr must be greater than 0"),
        ("base: {model: {depth: 0}}", "model.depth must be"),
        ("base: {optim: 3}", "'optim' has parts.*\n.*optim.lr, optim.kind, optim.momentum"),
        ("base: {optim.lrr: 3}", "unknown parameter 'optim.lrr'\n.*'optim.lr'"),
        ("base: {optim: {lr: 1}, optim.lr: 2}", "'optim.lr' is given twice"),
        ("axes: {optim: {kind: [SGD, adam]}}", "must be ADAM, the name of what has this value"),
        ("axes: {kind: [2]}", "must be 'SGD' or 'ADAM'"),
        ("axes: {flag: [1]}", "must be a valid boolean"),
        ("axes: {data.size: [true]}", "must be a valid integer"),
        ("axes: {model.widths: [[1.5]]}", "must be a valid integer"),
        ("axes: {pair: [[1, 2], [1.0, 2.0]]}", "is given twice"),
        ("axes: {scale: [0.0, -0.0]}", "is given twice"),
        ("where: optim.lrr > 1", "optim.lrr"),
        ("where: model > 1", "has parts"),
    ],
)
def test_faults_of_parts_are_told_at_their_line(text: str, said: str) -> None:
    """As those of any parameter."""
    with pytest.raises(InputFaults) as caught:
        points(text)
    assert re.search(said, str(caught.value)), str(caught.value)


class Twins(Enum):
    """An enum for the faults below."""

    A = 1


def _optional(cell: Any, optim: Optim | None = None) -> None: ...
def _open(cell: Any, lr: float = 0.1, optim: dict = {}, **more: Any) -> dict[str, Any]:  # noqa: B006
    """Entries that the function does not say."""
    return {"entries": len(optim) + len(more)}


def _mixed(cell: Any, items=(1, "a")) -> None: ...
def _bare(cell: Any, items: list = []) -> None: ...  # noqa: B006
def _key(cell: Any, optim: dict = {"weight decay": 1}) -> None: ...  # noqa: B006
def _wrong(cell: Any, kind: Kind = "sgd") -> None: ...  # type: ignore[assignment]
def _set(cell: Any, items: set[int] = set()) -> None: ...  # noqa: B006
def _momentum(cell: Any, momentum: float = 0.0, nesterov: bool = False, lr: float | None = 0.1) -> None: ...
def _needed(cell: Any, momentum: float) -> None: ...


@pytest.mark.parametrize(
    ("function", "reads", "said"),
    [
        (_optional, None, "optim has parts, and may be None"),
        (_mixed, None, "entries of several types"),
        (_bare, None, r"list\[int\]"),
        (_key, None, "'weight decay', which is no name"),
        (_wrong, None, "default 'sgd'"),
        (_set, None, "no typed column"),
        (_momentum, {"momentu": "nesterov"}, "reads names momentu, which is no parameter"),
        (_momentum, {"momentum": "nesterov and other"}, "other is no parameter"),
        (_momentum, {"momentum": "nesterov", "nesterov": "momentum > 0"}, "are read where the others are"),
        (_momentum, {"momentum": "import os"}, "cannot be read"),
        (_momentum, {"lr": "nesterov"}, "null in SQL is what is not read"),
        (_needed, {"momentum": "momentum > 0"}, "has no default"),
    ],
)
def test_what_columns_cannot_hold_is_refused(function: Any, reads: Any, said: str) -> None:
    """Where the function is defined, with its name and what is allowed."""
    with pytest.raises(SwingbyError, match=said):
        params_of(function, "f", None, reads)


def test_what_the_function_does_not_say_is_no_parameter(tmp_path: Path) -> None:
    """An empty dict and `**more` arrive empty; a sweep that names an entry reads what to write in the function."""
    open_ended: FunctionExperiment = experiment(_open, name="open_ended")  # type: ignore[assignment]
    assert list(open_ended.Params.model_fields) == ["lr"]
    assert open_ended.arguments(open_ended.Params()) == {"lr": 0.1, "optim": {}}
    texts = {
        "optim.decay": 'optim: dict = {"decay": 1.0}',
        "momentum": "momentum: float = 1.0",
        "optm.decay": "optm.decay",
    }
    for name, text in texts.items():
        with pytest.raises(InputFaults) as caught:
            Sweep.of(open_ended, axes={name: [1.0, 2.0]})
        assert text in str(caught.value)
    with pytest.raises(InputFaults, match=r'"decay": 1\.0'):
        Sweep.of(open_ended, base={"optim": {"decay": 1.0}})


def test_the_page_on_functions_is_swept(tmp_path: Path) -> None:
    """The nested example of docs/functions.md and its query; pages, frames and charts show the parts by their names."""
    text = (ROOT / "docs" / "functions.md").read_text().partition("is a group, and its parts")[2]
    code, file = (re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)[0] for kind in ("python", "yaml"))
    (tmp_path / "nested.py").write_text(code)
    (tmp_path / "nested.yaml").write_text(file)
    option, query = re.search(r"--set (\S+)", text), re.search(r"swingby sql '(.*)'", text)
    assert option is not None
    assert query is not None
    sweep = Sweep.load(tmp_path / "nested.yaml", [option[1]])
    results = sweep.run(tmp_path / "data", local=True, pilot=False, progress=Progress())
    assert results.ok == 8 * 3
    rows = [tuple(row) for row in results.sql(query[1]).rows()]
    assert [row[:2] for row in rows] == [("momentum", 0.5), ("momentum", 0.7), ("momentum", 0.9), ("plain", None)]
    assert {"optim.lr", "optim.kind"} <= set(results.polars().columns)
    assert "optim.momentum" in str(results.chart("loss", x="optim.momentum").to_dict())
    page = Path(results.report()).read_text()
    assert "optim.momentum" in page
    with pytest.raises(SwingbyError, match=r'double quotes: "optim\.'):
        results.sql("select optim.lr from nested")
