"""Field writers of 2.0, through files: both readers, and the oracle's bytes."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import DataRefused, NotStorable
from lanceref.core.file_versions import V2_0
from lanceref.data_file.data_file import open_file
from lanceref.storage import LocalSource
from lanceref_testing import random_sample
from pylanceref.lance_file import LanceFileReader, LanceFileWriter

PACKED = {"packed": "true"}
BLOB = {"lance-encoding:blob": "true"}
STRUCT = pa.struct(
    [pa.field("x", pa.int16(), False), pa.field("y", pa.list_(pa.float32(), 3), False)]
)

VECTORS = [[i, None] if i % 4 else None for i in range(90)]
KEYS = [f"v{i % 7}" if i % 5 else None for i in range(90)]

CASES = {
    "numbers": (pa.array([2**62 + i for i in range(3000)]), None),
    "nulls": (pa.array([None if i % 3 else i for i in range(3000)], pa.int32()), None),
    "booleans": (pa.array([i % 3 == 0 for i in range(500)]).slice(13, 300), None),
    "strings": (pa.array([f"value {i}" for i in range(300)]), None),
    "repeated": (pa.array([f"v{i % 7}" if i % 5 else None for i in range(300)]), None),
    "lz4": (pa.array([f"v{i}" for i in range(300)]), {"lance-encoding:compression": "lz4"}),
    "lists": (pa.array([None if i % 7 == 0 else list(range(i % 5)) for i in range(900)]), None),
    "empty lists": (pa.array([[]] * 9, pa.list_(pa.string())), None),
    "nested": (pa.array([[[{"a": i, "b": "x"}], []] if i % 4 else None for i in range(90)]), None),
    "structs": (pa.array([{"a": i, "b": None, "c": {}} for i in range(90)]), None),
    "vectors": (
        pa.array(VECTORS, pa.list_(pa.int64(), 2)),
        None,
    ),
    "dictionary": (
        pa.array(KEYS).dictionary_encode(),
        None,
    ),
    "null type": (pa.nulls(5), None),
    "packed": (pa.array([{"x": i, "y": [i, 1, 2]} for i in range(90)], STRUCT), PACKED),
    "blobs": (pa.array([b"abc", None, b"", b"x" * 100], pa.large_binary()), BLOB),
}


def _table(name):
    array, metadata = CASES[name]
    return pa.Table.from_arrays(
        [array], schema=pa.schema([pa.field("c", array.type, metadata=metadata)])
    )


def _write(writer_class, path, table, **options):
    with writer_class(str(path), table.schema, version="2.0", **options) as writer:
        writer.write_batch(table)


@pytest.mark.parametrize("name", CASES)
def test_what_is_written_is_read_equal(tmp_path, name):
    """Every encoding a writer of 2.0 chooses."""
    _write(LanceFileWriter, tmp_path / "f", _table(name))

    read = LanceFileReader(tmp_path / "f").read_all().to_table()

    assert read["c"].to_pylist() == CASES[name][0].to_pylist()


@pytest.mark.parametrize("seed", range(25))
def test_random_tables_have_their_rows(tmp_path, seed):
    """Caches of any size: pages of every column add up to the rows."""
    sample = random_sample(seed, V2_0)
    options = {} if sample.cache_bytes is None else {"data_cache_bytes": sample.cache_bytes}
    with LanceFileWriter(tmp_path / "f", sample.table.schema, version="2.0", **options) as writer:
        for batch in sample.table.to_batches(max_chunksize=sample.batch_rows):
            writer.write_batch(batch)

    read = LanceFileReader(tmp_path / "f").read_all(batch_size=1 << 20).to_table()

    assert read.num_rows == sample.table.num_rows
    for name in read.column_names:
        assert read[name].null_count == sample.table[name].null_count


def test_a_large_array_is_cut_into_equal_parts(tmp_path):
    """10,000 bytes with pages of 4,000 at most are three pages."""
    table = pa.table({"c": pa.array(range(1250), pa.int64())})
    _write(LanceFileWriter, tmp_path / "f", table, max_page_bytes=4000)

    reader = LanceFileReader(tmp_path / "f")

    assert len(reader.metadata().columns[0].pages) == 3
    assert reader.read_all().to_table().equals(table)


def test_items_are_flushed_with_their_offsets(tmp_path):
    """With a small cache there are several pages of offsets, and items for each."""
    rows = pa.array([[i, i] for i in range(600)], pa.list_(pa.int64()))
    schema = pa.schema([("c", rows.type)])
    with LanceFileWriter(tmp_path / "f", schema, version="2.0", data_cache_bytes=2000) as writer:
        for start in range(0, 600, 100):
            writer.write_batch(pa.record_batch([rows.slice(start, 100)], schema=schema))

    reader = LanceFileReader(tmp_path / "f")

    assert len(reader.metadata().columns[0].pages) > 1
    assert reader.read_all().to_table()["c"].to_pylist() == rows.to_pylist()


def test_items_stay_queued_when_some_were_just_written(tmp_path):
    """Wide items fill their cache with every batch; narrow ones beside them with every third."""
    items = pa.struct([("wide", pa.int64()), ("narrow", pa.int8())])
    rows = pa.array([[{"wide": i, "narrow": 1}] * 2 for i in range(1200)], pa.list_(items))
    schema = pa.schema([("c", rows.type)])
    with LanceFileWriter(tmp_path / "f", schema, version="2.0", data_cache_bytes=1000) as writer:
        for start in range(0, 1200, 200):
            part = rows.take(pa.array(range(start, start + 200)))
            writer.write_batch(pa.record_batch([part], schema=schema))

    reader = LanceFileReader(tmp_path / "f")
    file = open_file(LocalSource(tmp_path / "f"), Context("f"))
    pages = [[page.num_rows for page in column.pages] for column in file.columns]

    assert pages == [[400] * 3, [2400], [400] * 6, [1200] * 2]
    assert reader.read_all().to_table()["c"].to_pylist() == rows.to_pylist()


@pytest.mark.parametrize(
    ("array", "metadata", "error"),
    [
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8())), None, NotStorable),
        (pa.array([[{"a": 1}]], pa.list_(pa.struct([("a", pa.int8())]), 1)), None, NotStorable),
        (pa.array([{"a": 1}, None]), None, DataRefused),
        (pa.array([{"a": True}]), PACKED, DataRefused),
        (pa.array([{"a": None}], pa.struct([("a", pa.int8())])), PACKED, DataRefused),
        (pa.array(["a"]), BLOB, DataRefused),
    ],
)
def test_what_2_0_cannot_hold_is_refused(tmp_path, array, metadata, error):
    """And no file is left."""
    schema = pa.schema([pa.field("c", array.type, metadata=metadata)])

    with pytest.raises(error):
        _write(LanceFileWriter, tmp_path / "f", pa.Table.from_arrays([array], schema=schema))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "array",
    [
        pa.array([{"v": [1, None]}], pa.struct([("v", pa.list_(pa.int8(), 2))])),
        pa.array([{}], pa.struct([])),
    ],
    ids=["null item of a vector", "no child"],
)
def test_a_packed_struct_has_children_without_nulls_at_any_depth(tmp_path, array):
    """Rows of bytes have no place for a null inside a vector, nor for nothing."""
    schema = pa.schema([pa.field("c", array.type, metadata={"packed": "true"})])

    with pytest.raises(DataRefused), LanceFileWriter(tmp_path / "f", schema, version="2.0") as out:
        out.write_batch(pa.record_batch([array], schema=schema))


@pytest.mark.oracle
@pytest.mark.parametrize("name", CASES)
def test_the_file_is_the_oracles_byte_for_byte(tmp_path, name):
    """One page for each column."""
    from lance.file import LanceFileWriter as OracleWriter

    _write(LanceFileWriter, tmp_path / "ours", _table(name))
    _write(OracleWriter, tmp_path / "theirs", _table(name))

    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


READ_BACK = """
import sys, pyarrow as pa
from lance.file import LanceFileReader
for path in sys.argv[1:]:
    table = LanceFileReader(path).read_all().to_table()
    with pa.OSFile(path + ".arrow", "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
"""


@pytest.mark.oracle
def test_the_oracle_reads_what_we_write(tmp_path):
    """In a process of its own, as it may abort."""
    paths = {name: tmp_path / str(number) for number, name in enumerate(CASES)}
    for name, path in paths.items():
        _write(LanceFileWriter, path, _table(name))

    command = [sys.executable, "-c", READ_BACK, *map(str, paths.values())]
    subprocess.run(command, check=True, capture_output=True, env=os.environ)

    for name, path in paths.items():
        read = pa.ipc.open_file(Path(f"{path}.arrow")).read_all()["c"]
        assert read.to_pylist() == CASES[name][0].to_pylist(), name
