"""Identity of files."""

import pyarrow as pa
from lance_conformance.random_files.identity import IDENTICAL, TRAINED, verdict
from pylanceref.file import LanceFileWriter


def _file(path, values, version="2.1", metadata=None, **options):
    array = pa.array(values)
    schema = pa.schema([pa.field("c", array.type)], metadata=metadata)
    with LanceFileWriter(path, schema, version=version, **options) as writer:
        writer.write_batch(pa.record_batch([array], schema=schema))
    return path


def test_the_same_bytes_are_identical(tmp_path):
    """Two files of the same rows."""
    assert verdict(_file(tmp_path / "a", [1, 2]), _file(tmp_path / "b", [1, 2])) == IDENTICAL


def test_what_differs_first_is_named(tmp_path):
    """Another value: a buffer; another layout: the encoding; other metadata: the container."""
    one = _file(tmp_path / "a", [2**62, 2**61 + 5])

    assert verdict(_file(tmp_path / "b", [2**62, 2**61 + 7]), one) == "column 0 page 0: buffer 1"
    told = verdict(_file(tmp_path / "c", [None, 2**61]), one)
    assert told == "column 0 page 0: encoding, mini_block_layout.def_compression"
    assert verdict(_file(tmp_path / "d", [2**62]), one) == "column 0 page 0: 1 rows for 2"
    assert (
        verdict(_file(tmp_path / "e", [2**62, 2**61 + 5], metadata={"k": "v"}), one) == "container"
    )


def test_trained_tables_are_set_apart(tmp_path):
    """Files with FSST pages are not compared."""
    one = _file(tmp_path / "a", [f"value {i:08d}" for i in range(4000)])
    other = _file(tmp_path / "b", [f"other {i:08d}" for i in range(4000)])

    assert verdict(one, other) == TRAINED
