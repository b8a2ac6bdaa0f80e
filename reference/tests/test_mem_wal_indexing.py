"""The log of a dataset."""

from __future__ import annotations

import uuid

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import BadProto, EditFailed, IndexMissing

WAYS: tuple[dict[str, object], ...] = (
    {},
    {"maintained_indexes": []},
    {"maintained_indexes": ["i_idx"]},
    {"unsharded": True},
    {"bucket_column": "i", "num_buckets": 4},
    {"identity_column": "s"},
    {"durable_write": False, "max_memtable_rows": 5},
    {"hnsw_params": {"x": {"num_edges": 8}, "y": {}}},
)


def make(path) -> pylanceref.LanceDataset:
    """Write a table with an index."""
    dataset = pylanceref.write_dataset(pa.table({"i": [1], "s": ["a"]}), path, mode="overwrite")
    dataset.create_scalar_index("i", "BTREE")
    return dataset


def test_a_log_is_begun_once(tmp_path):
    """It is an index of the system, over no field and no fragment."""
    dataset = make(tmp_path / "t")
    assert dataset.mem_wal_index_details() is None
    with pytest.raises(IndexMissing):
        dataset.index_statistics("__lance_mem_wal")
    dataset.initialize_mem_wal(unsharded=True)
    with pytest.raises(EditFailed, match="already initialized"):
        dataset.initialize_mem_wal()
    dataset = pylanceref.dataset(dataset.uri)
    shown = {one["name"]: (one["type"], one["fields"]) for one in dataset.list_indices()}
    assert shown["__lance_mem_wal"] == ("MemWal", [])
    assert dataset.index_statistics("__lance_mem_wal")["num_shard_specs"] == 1
    assert "__lance_mem_wal" in {one.name for one in dataset.describe_indices()}
    assert dataset.to_table(filter="i = 1").num_rows == 1
    dataset.drop_index("__lance_mem_wal")
    assert dataset.mem_wal_index_details() is None


def test_damaged_details_are_refused(tmp_path):
    """Bytes that are no message."""
    dataset = make(tmp_path / "t")
    dataset.initialize_mem_wal()
    for entry in dataset._snapshot.manifest.indices:
        entry.index_details.value = b"\xff"
    with pytest.raises(BadProto) as caught:
        dataset.mem_wal_index_details()
    assert caught.value.clause == "L.index.mem-wal.details"


@pytest.mark.oracle
@pytest.mark.parametrize("way", WAYS)
def test_the_oracle_says_the_same(tmp_path, way):
    """Whichever library began the log."""
    import lance

    found = []
    for library in (lance, pylanceref):
        make(tmp_path / "t")
        library.dataset(str(tmp_path / "t")).initialize_mem_wal(**way)
        for reader in (lance, pylanceref):
            dataset = reader.dataset(str(tmp_path / "t"))
            listed = sorted((one["name"], one["type"]) for one in dataset.list_indices())
            numbers = dataset.stats.index_stats("__lance_mem_wal")
            found.append((dataset.mem_wal_index_details(), listed, numbers))
    assert found == [found[0]] * 4


def test_options_that_no_writer_has_are_refused(tmp_path):
    """When the log begins, and when a shard is taken over."""
    dataset = pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path)
    with pytest.raises(TypeError, match="unexpected keyword argument 'durable_writ'"):
        dataset.initialize_mem_wal(durable_writ=True)
    with pytest.raises(TypeError, match="'max_rows'"):
        dataset.mem_wal_writer(f"{uuid.uuid4()}", max_rows=3)


@pytest.mark.parametrize(
    ("option", "value", "kind"),
    [
        ("max_memtable_rows", -1, OverflowError),
        ("max_memtable_rows", 1.5, TypeError),
        ("durable_write", 1, TypeError),
        ("hnsw_params", 3, TypeError),
        ("hnsw_params", {"x": 3}, TypeError),
        ("hnsw_params", {"x": {"m": 8}}, ValueError),
        ("hnsw_params", {"x": {"max_level": -1}}, OverflowError),
    ],
)
def test_values_that_an_option_cannot_have_are_refused(tmp_path, option, value, kind):
    """When the log begins, and when a shard is taken over."""
    dataset = pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path)
    with pytest.raises(kind):
        dataset.initialize_mem_wal(**{option: value})
    with pytest.raises(kind):
        dataset.mem_wal_writer(f"{uuid.uuid4()}", **{option: value})


@pytest.mark.parametrize("type_", [pa.date32(), pa.float64(), pa.binary(3), pa.timestamp("us")])
def test_a_key_of_a_type_that_is_not_hashed_is_refused(tmp_path, type_):
    """Before a log is begun."""
    key = {"lance-schema:unenforced-primary-key": "true"}
    schema = pa.schema([pa.field("k", type_, False, key)])
    dataset = pylanceref.write_dataset(schema.empty_table(), tmp_path)
    with pytest.raises(OSError, match="'k' has unsupported type"):
        dataset.initialize_mem_wal()
