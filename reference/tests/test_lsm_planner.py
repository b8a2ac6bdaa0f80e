"""Log planner: the newest row of a key."""

from __future__ import annotations

import uuid

import pyarrow as pa
import pylanceref
import pytest
from pylanceref.mem_wal import LsmPointLookupPlanner, ShardSnapshot

KEY = {"lance-schema:unenforced-primary-key": "true"}
SCHEMA = pa.schema([pa.field("id", pa.int64(), False, KEY), pa.field("name", pa.string())])
SHARD = str(uuid.UUID(int=5))


def _rows(ids, name):
    return pa.table({"id": ids, "name": [f"{name}_{one}" for one in ids]}, schema=SCHEMA)


@pytest.fixture
def planner(tmp_path):
    """A table of three rows, one of them newer in a generation that says nothing of deletions."""
    made = pylanceref.write_dataset(_rows([1, 2, 3], "base"), tmp_path / "t")
    made.initialize_mem_wal()
    pylanceref.write_dataset(_rows([2], "gen"), tmp_path / "t" / "_mem_wal" / SHARD / "gen_1")
    return LsmPointLookupPlanner(made, [ShardSnapshot(SHARD).with_sstable(1, "gen_1")])


def test_the_newest_row_of_a_key_is_found(planner):
    """Columns that are chosen come before those of the key; of another type the key is cast."""
    plan = planner.plan_lookup(pa.array([2]))

    assert {"id": [2], "name": ["gen_2"]} == plan.to_table().to_pydict()
    assert SCHEMA == plan.schema == plan.dataset_schema == plan.to_reader().schema
    assert [1] == [one.num_rows for one in plan.to_batches()]
    assert "LanceRead: num_generations=2" in plan.explain()
    other = planner.plan_lookup(pa.array([1], pa.int8()), columns=["name"])
    assert {"name": ["base_1"], "id": [1]} == other.to_table().to_pydict()
    assert ["name", "id"] == other.schema.names


@pytest.mark.parametrize("key", [9, None, 2.5])
def test_a_key_of_no_row_finds_none(planner, key):
    """Nor does null, nor what is between two numbers."""
    type_ = pa.float64() if key == 2.5 else pa.int64()
    assert 0 == planner.plan_lookup(pa.array([key], type_)).to_table().num_rows


def test_keys_may_be_others_and_several(planner):
    """Given as a struct."""
    other = LsmPointLookupPlanner(planner._dataset, planner._snapshots, ["name"])
    both = LsmPointLookupPlanner(planner._dataset, planner._snapshots, ["id", "name"])
    key = pa.array([{"id": 3, "name": "base_3"}])

    assert [1] == other.plan_lookup(pa.array(["base_1"])).to_table()["id"].to_pylist()
    assert [3] == both.plan_lookup(key).to_table()["id"].to_pylist()
    for wrong, words in (
        (pa.array([3]), "and 2 fields"),
        (pa.array([{"id": 3, "z": 1}]), "'name'"),
    ):
        with pytest.raises(ValueError, match=words):
            both.plan_lookup(wrong)


def test_what_is_no_key_is_refused(planner, tmp_path):
    """More or fewer than one, another type, a list; columns that there are not, no key at all."""
    for given, kind in (
        (pa.array([1, 2]), ValueError),
        (pa.array([], pa.int64()), ValueError),
        (pa.array(["x"]), OSError),
        ([2], TypeError),
    ):
        with pytest.raises(kind):
            planner.plan_lookup(given)
    with pytest.raises(OSError, match="'zz' not found"):
        planner.plan_lookup(pa.array([1]), columns=["zz"])
    with pytest.raises(OSError, match="Field 'zz' not found"):
        LsmPointLookupPlanner(planner._dataset, [], ["zz"])
    plain = pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path / "plain")
    with pytest.raises(ValueError, match="no primary key"):
        LsmPointLookupPlanner(plain, []).plan_lookup(pa.array([1]))
