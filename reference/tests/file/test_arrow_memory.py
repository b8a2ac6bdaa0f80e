"""Arrow memory, held against the pages that the oracle begins."""

import pyarrow as pa
import pytest
from lanceref.file.column_io import memory_bytes
from pylanceref.lance_file import LanceFileReader

FSL = pa.list_(pa.int32(), 2)
CODED = pa.DictionaryArray.from_arrays(pa.array([0] * 2431, pa.int32()), pa.array(["ab"]))
MAKERS = {
    "int64": lambda n: pa.array(range(n), pa.int64()),
    "nulls": lambda n: pa.array([None if i % 7 == 3 else i % 100 for i in range(n)], pa.int8()),
    "bool": lambda n: pa.array([i % 3 == 0 for i in range(n)]),
    "string": lambda n: pa.array(["abc"] * n),
    "large_string": lambda n: pa.array(["abc"] * n, pa.large_string()),
    "vector": lambda n: pa.array([[1, 2]] * n, FSL),
    "vector with nulls": lambda n: pa.array([[1, None]] * n, FSL),
    "slice": lambda n: pa.array(range(n + 500), pa.int64()).slice(500),
    "head": lambda n: pa.array(range(n + 500), pa.int64()).slice(0, n),
    "fixed_size_binary": lambda n: pa.array([b"abc"] * n, pa.binary(3)),
    "dictionary": lambda n: pa.DictionaryArray.from_arrays(
        pa.array([0] * n, pa.int32()), pa.array(["ab"])
    ),
    "decimal": lambda n: pa.array([1] * n, pa.decimal128(5, 1)),
}


@pytest.mark.parametrize(
    ("array", "size"),
    [
        (pa.array([1, 2], pa.int64()), 96 + 16),
        (pa.array(["abc", ""]), 120 + 12 + 3),
        (pa.array([[1, None]], FSL), 104 + 96 + 8 + 1),
        (pa.array([1, 2, 3], pa.int8()).slice(1), 96 + 3),
        (CODED, 48 + 96 + 2431 * 4 + 120 + 8 + 2),
    ],
)
def test_worked_sizes(array, size):
    """Buffers from the first value on, and the size of each array object."""
    assert memory_bytes(array) == size


def _pages(writer_class, path, array, cache_bytes):
    schema = pa.schema([("c", array.type)])
    with writer_class(path, schema, version="2.1", data_cache_bytes=cache_bytes) as writer:
        for part in (array, array.slice(0, 1)):
            writer.write_batch(pa.record_batch([part], schema=schema))
    return len(LanceFileReader(path).metadata().columns[0].pages)


@pytest.mark.oracle
@pytest.mark.parametrize("name", MAKERS)
def test_the_oracle_begins_a_page_one_byte_above(tmp_path, name):
    """A cache of exactly the bytes of an array keeps it; one byte less writes it as a page."""
    from lance.file import LanceFileWriter

    array = MAKERS[name](1000)
    size = memory_bytes(array, with_validity=False)

    assert _pages(LanceFileWriter, str(tmp_path / "kept"), array, size) == 1
    assert _pages(LanceFileWriter, str(tmp_path / "full"), array, size - 1) == 2
