"""Field writers of 2.1 to 2.3, through files: both readers, and the oracle's bytes."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from lanceref.core.errors import NotStorable
from lanceref.core.file_versions import V2_1, V2_2, V2_3
from lanceref_testing import random_sample
from pylanceref.lance_file import LanceFileReader, LanceFileWriter

VERSIONS = {"2.1": V2_1, "2.2": V2_2, "2.3": V2_3}
BLOB = {"lance-encoding:blob": "true"}


def _write(path, sample):
    schema, version = sample.table.schema, str(sample.version)
    with LanceFileWriter(path, schema, version=version, data_cache_bytes=sample.cache_bytes) as out:
        for batch in sample.table.to_batches(max_chunksize=sample.batch_rows):
            out.write_batch(pa.concat_tables([pa.table(batch)]).combine_chunks())


def _text(table):
    return [repr(batch.to_pylist()) for batch in table.combine_chunks().to_batches()]


def _is_plain(sample):
    """Whether Python has a value for every value, and each is equal to itself."""
    names = ("duration", "timestamp", "time", "date", "float", "double", "dictionary")
    return not any(name in str(sample.table.schema) for name in names)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("seed", range(25))
def test_random_tables_come_back(tmp_path, version, seed):
    """What is written in any version is read equal, row counts and values."""
    sample = random_sample(seed, VERSIONS[version])
    _write(tmp_path / "f", sample)

    back = LanceFileReader(tmp_path / "f").read_all(batch_size=1 << 20).to_table()

    assert back.num_rows == sample.table.num_rows
    if _is_plain(sample):
        assert _text(back) == _text(sample.table)


def test_a_page_is_written_when_the_cache_is_full(tmp_path):
    """Batches of 100 rows of eight bytes with a cache of 1,000: a page every two batches."""
    schema = pa.schema([("c", pa.int64())])
    with LanceFileWriter(tmp_path / "f", schema, version="2.1", data_cache_bytes=1000) as writer:
        for start in range(0, 500, 100):
            writer.write_batch(
                pa.record_batch([pa.array(range(start, start + 100))], schema=schema)
            )

    pages = LanceFileReader(tmp_path / "f").metadata().columns[0].pages

    assert len(pages) == 3
    assert LanceFileReader(tmp_path / "f").read_all().to_table()["c"].to_pylist() == list(
        range(500)
    )


@pytest.mark.parametrize(
    ("type_", "version", "metadata"),
    [
        (pa.map_(pa.string(), pa.int8()), "2.1", None),
        (pa.list_(pa.struct([("a", pa.int8())]), 2), "2.1", None),
        (pa.large_binary(), "2.3", BLOB),
    ],
)
def test_a_type_the_version_does_not_have_is_refused(tmp_path, type_, version, metadata):
    """Maps and lists of structs come with 2.2, blobs of the first kind go with 2.3."""
    schema = pa.schema([pa.field("c", type_, metadata=metadata)])

    with pytest.raises(NotStorable):
        LanceFileWriter(tmp_path / "f", schema, version=version)

    assert list(tmp_path.iterdir()) == []


CASES = {
    "numbers": pa.array([2**62 + i * i for i in range(3000)], pa.int64()),
    "nulls": pa.array([None if i % 3 else i for i in range(3000)], pa.int32()),
    "runs": pa.array([i // 100 for i in range(5000)], pa.int16()),
    "booleans": pa.array([i % 3 == 0 for i in range(5000)]),
    "strings": pa.array([f"value {i * 37 % 1000}" for i in range(1000)]),
    "repeated": pa.array([f"v{i % 7}" for i in range(1000)], pa.large_string()),
    "long": pa.array(["x" * 300, None, "", "y" * 400]),
    "lists": pa.array([None if i % 7 == 0 else list(range(i % 5)) for i in range(3000)]),
    "nested": pa.array([[[{"a": i, "b": "x"}], []] if i % 4 else None for i in range(900)]),
    "structs": pa.array([None if i % 9 == 0 else {"a": i, "b": None} for i in range(900)]),
    "vectors": pa.array([[i, None] for i in range(900)], pa.list_(pa.int64(), 2)),
    "constant": pa.array([7, None] * 400),
    "all null": pa.array([[None], [], None] * 500, pa.list_(pa.int8())),
    "dictionary": pa.array([f"v{i % 7}" for i in range(900)]).dictionary_encode(),
}


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.1", "2.2"])
@pytest.mark.parametrize("name", CASES)
def test_the_file_is_the_oracles_byte_for_byte(tmp_path, name, version):
    """Every layout and codec but FSST, whose tables the oracle trains at random."""
    from lance.file import LanceFileWriter as OracleWriter

    table = pa.table({"c": CASES[name]})
    for path, writer_class in (("ours", LanceFileWriter), ("theirs", OracleWriter)):
        with writer_class(str(tmp_path / path), table.schema, version=version) as writer:
            writer.write_batch(table)

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
@pytest.mark.parametrize("version", ["2.1", "2.2", "2.3"])
def test_the_oracle_reads_what_we_write(tmp_path, version):
    """In a process of its own, as it may abort."""
    paths = []
    for number, (name, array) in enumerate(CASES.items()):
        path = tmp_path / str(number)
        with LanceFileWriter(path, pa.schema([("c", array.type)]), version=version) as writer:
            writer.write_batch(pa.table({"c": array}))
        paths.append((name, path))

    command = [sys.executable, "-c", READ_BACK, *(str(path) for _, path in paths)]
    subprocess.run(command, check=True, capture_output=True, env=os.environ)

    for name, path in paths:
        read = pa.ipc.open_file(Path(f"{path}.arrow")).read_all()["c"]
        assert read.to_pylist() == CASES[name].to_pylist(), name


@pytest.mark.parametrize("version", VERSIONS)
def test_repeated_rows_of_nested_vectors_are_themselves(tmp_path, version):
    """A row taken twice from a slice of fixed-size lists inside each other is that row."""
    rows = [[[4 * i, 4 * i + 1], [4 * i + 2, 4 * i + 3]] for i in range(50)]
    array = pa.array(rows, pa.list_(pa.list_(pa.uint16(), 2), 2))
    with LanceFileWriter(tmp_path / "f", pa.schema([("c", array.type)]), version=version) as out:
        out.write_batch(pa.table({"c": array}))

    taken = LanceFileReader(tmp_path / "f").take_rows([2, 2, 3, 3, 40]).to_table()["c"]

    assert taken.to_pylist() == [rows[2], rows[2], rows[3], rows[3], rows[40]]


ITEMS = pa.list_(pa.int32())
CUT = {
    "null items": ([[None], []] * 35_000, ITEMS),
    "nulls after": ([[1], []] * 35_000 + [None, [None]], ITEMS),
    "nulls between": ([[1]] * 100 + [None] * 140_000 + [[2]] * 100, ITEMS),
    "deep": ([[[None], []], [], None, [[1]]] * 10_000 + [[None]], pa.list_(ITEMS)),
    "siblings": (
        [[], [{"x": 1, "y": None}, None]] * 20_000 + [None],
        pa.list_(pa.struct([("x", pa.int32()), ("y", pa.bool_())])),
    ),
}
"""Rows whose levels are too many for one page."""


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.1", "2.2"])
@pytest.mark.parametrize("name", CUT)
def test_pages_cut_for_their_levels_are_those_of_the_oracle(tmp_path, version, name):
    """The same cuts, layers and levels: the files are equal byte for byte."""
    from lance.file import LanceFileWriter as Theirs

    rows, type_ = CUT[name]
    table = pa.table({"c": pa.array(rows, type_)})
    paths = tmp_path / "theirs", tmp_path / "ours"
    for path, maker in zip(paths, (Theirs, LanceFileWriter), strict=True):
        with maker(str(path), table.schema, version=version) as writer:
            writer.write_batch(table)

    theirs, ours = paths
    assert len(LanceFileReader(theirs).metadata().columns[0].pages) > 1
    assert theirs.read_bytes() == ours.read_bytes()
