"""Flushed generations."""

from __future__ import annotations

import uuid
from pathlib import Path

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.data_file.reader import LanceFileReader
from pylanceref.sstable import write_sstable

KEY = {"lance-schema:unenforced-primary-key": "true"}
VECTOR = pa.list_(pa.float32(), 2)
SHARD = uuid.UUID(int=5)


def _schema(*types):
    keys = [pa.field(f"k{number}", type_, False, KEY) for number, type_ in enumerate(types)]
    return pa.schema([*keys, ("vec", VECTOR)])


def _rows(*columns):
    schema = _schema(*(column.type for column in columns))
    count = len(columns[0])
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(2 * count, dtype=np.float32)), 2)
    return pa.table([*columns, vectors], schema=schema)


def _marked(rows, deleted):
    return rows.append_column(pa.field("_tombstone", pa.bool_(), False), pa.array(deleted))


def _files(root):
    return {one.relative_to(root).parts[0] for one in root.rglob("*") if one.is_file()}


def test_the_last_row_of_each_key_is_written(tmp_path):
    """With the indices that writers keep, a filter and an index of the keys."""
    base = pylanceref.write_dataset(_rows(pa.array([1, 2, 3])), tmp_path / "t")
    base.create_scalar_index("k0", "BTREE", name="keys")
    base = pylanceref.dataset(base.uri)
    base = base.create_index("vec", "IVF_FLAT", metric="cosine", num_partitions=1, name="near")
    base.initialize_mem_wal(maintained_indexes=["near"])

    rows = _marked(_rows(pa.array([4, 2, 4])), [False, True, False])
    made = write_sstable(base, SHARD, 6, rows)

    root = Path(base.uri) / "_mem_wal" / str(SHARD) / made.path
    assert made.path.endswith("_gen_6")
    assert (6, 2, 16) == (made.generation, made.physical_rows, made.primary_key_bytes)
    found = pylanceref.dataset(root)
    assert [(2, True), (4, False)] == [
        (row["k0"], row["_tombstone"]) for row in found.to_table().to_pylist()
    ]
    assert [[2, 3], [4, 5]] == found.to_table()["vec"].to_pylist()
    (index,) = found.describe_indices()
    assert ("near", "IVF_HNSW_SQ") == (index.name, index.index_type)
    assert "cosine" == found.stats.index_stats("near")["indices"][0]["metric_type"]
    assert {"_pk_index", "bloom_filter.bin", "_indices", "data"} <= _files(root)


def test_every_index_that_can_be_is_kept_unless_some_are_named(tmp_path):
    """None over vectors where there are none; without a key there is no index of keys."""
    rows = _rows(pa.array([1, 2]))
    base = pylanceref.write_dataset(rows.replace_schema_metadata({"a": "b"}), tmp_path / "t")
    base.create_scalar_index("k0", "BTREE", name="keys")
    base = pylanceref.dataset(base.uri)
    base = base.create_index("vec", "IVF_FLAT", num_partitions=1, name="near")
    base.initialize_mem_wal()
    gone = pa.table([[1], pa.nulls(1, VECTOR)], schema=rows.schema)

    made = write_sstable(base, SHARD, 1, _marked(gone, [True]))

    found = pylanceref.dataset(f"{base.uri}/_mem_wal/{SHARD}/{made.path}")
    assert ["keys"] == [one.name for one in found.describe_indices()]
    assert {b"a": b"b"} == found.schema.metadata
    plain = pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path / "plain")
    made = write_sstable(plain, SHARD, 1, _marked(pa.table({"a": [1, 1]}), [False, False]))
    root = tmp_path / "plain" / "_mem_wal" / str(SHARD) / made.path
    assert (2, 0) == (made.physical_rows, made.primary_key_bytes)
    assert "_pk_index" not in _files(root)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "columns",
    [
        (pa.array([5, -7, 2**40]),),
        (pa.array([5, -7], pa.int32()),),
        (pa.array(["b", "", "é"]),),
        (pa.array([b"b", b"\0a"]),),
        (pa.array([1, 1, 0]), pa.array(["b\0", "b", "c"])),
        (pa.array([True, False]), pa.array([3, 2], pa.uint16()), pa.array([-1, 2], pa.int8())),
    ],
)
def test_the_oracle_writes_the_same_of_the_keys(tmp_path, columns):
    """The index of the keys; the filter too, where keys are of types whose hash is known."""
    import lance

    rows, found = _rows(*columns), []
    for library in (lance, pylanceref):
        base = library.write_dataset(rows.slice(0, 0), tmp_path / library.__name__)
        base.initialize_mem_wal()
        with base.mem_wal_writer(str(SHARD)) as writer:
            writer.put(rows)
        (root,) = Path(base.uri).glob("_mem_wal/*/*_gen_1")
        names = ("page_data.lance", "page_lookup.lance")
        read = [LanceFileReader(str(root / "_pk_index" / name)) for name in names]
        pages = [(one.read_all().to_table(), one.metadata().schema.metadata) for one in read]
        found.append((pages, (root / "bloom_filter.bin").read_bytes()))
    (theirs, their_filter), (ours, our_filter) = found
    assert theirs == ours
    known = not any(pa.types.is_boolean(column.type) for column in columns)
    assert known == (their_filter == our_filter)
    assert all(own & other == other for own, other in zip(our_filter, their_filter, strict=True))
