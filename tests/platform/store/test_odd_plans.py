"""The law that no plan of others takes the answers about all the others with it."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swingby.data.records import Records
from swingby.store import Store, ingest, rebuild
from swingby.store.status import set_aside, statuses
from tests.support.store import Segment, write_plan, write_shard

ODD: Any = (
    st.sampled_from([math.inf, -math.inf, math.nan, 10**30, -1, 2**62, 1.5, "x", None, True, [], {}, [None], [1e400]])
    | st.text(max_size=3)
    | st.recursive(
        st.none() | st.floats() | st.integers(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    )
)
HEADERS = st.dictionaries(st.sampled_from(["points", "seeds", "preset", "presets", "more"]), ODD, min_size=1)


def put_odd(records: Records, resolved: dict[str, Any], name: str = "b") -> None:
    """Another plan, of another sweep, whose header says this."""
    plan = write_plan(records, ["z"], "b")
    for path in (records.data / "plans").glob("b-*"):
        path.unlink()
    of = {"name": name, "sweep_id": name.encode().hex().ljust(16, "0")}
    records.write_plan(dataclasses.replace(plan, **of, resolved={**plan.resolved, **resolved}))


@settings(max_examples=4)
@given(st.lists(HEADERS, min_size=10, max_size=10))
def test_no_plan_takes_the_answers_of_others_with_it(headers: list[dict[str, Any]]) -> None:
    """Each is set aside with its reason, or read; `sweeps`, `conventions` and the rest answer all the same."""
    with TemporaryDirectory() as folder:
        records = Records.open(Path(folder) / "data")
        write_plan(records, ["x", "y"])
        write_shard(records, [Segment("x")])
        odd = {f"b{place}": header for place, header in enumerate(headers)}
        for name, header in odd.items():
            put_odd(records, header, name)
        for make in (ingest, rebuild):
            make(records)
            with Store.open(records.data) as store:
                for view in ("sweeps", "conventions", "plans", "members", "shards"):
                    store.sql(f"select count(*) from (from {view})").rows()
                    store.sql(f"from {view} limit 10").rows()
                named = {row.name for row in store.sql("select name from sweeps").rows()}
                aside = [name for name, _ in set_aside(store)]
                assert "a" in named
                for name in odd:
                    assert (name in named) != any(one.startswith(f"plans/{name}-") for one in aside)
                assert store.sql("select score from toy where cell_id = 'x'").rows()


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_infinity_in_a_plan_is_set_aside_with_its_reason(tmp_path: Path, value: float) -> None:
    records = Records.open(tmp_path / "data")
    write_plan(records, ["x"])
    put_odd(records, {"base": {"lr": value}})
    ingest(records)
    with Store.open(records.data) as store:
        ((name, why),) = set_aside(store)
        assert [one.name for one in statuses(store)] == ["a"]
    assert name.startswith("plans/b-")
    assert "JSON" in why
