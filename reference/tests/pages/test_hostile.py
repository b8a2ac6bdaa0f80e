"""Damaged files: whatever byte changes, the answer is rows or a LanceError that says where."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.errors import BytesError, LanceError

from .oracle_files import column, open_bytes, write
from .shapes import Shape

pytestmark = pytest.mark.oracle

SMALL = {
    "lists": pa.array([[1, 2], None, [], [3]], pa.list_(pa.int32())),
    "strings": pa.array(["a", None, "", "wörd"] * 3),
    "structs": pa.array(
        [{"a": 1, "b": ["x"]}, None, {"a": None, "b": []}, {"a": 4, "b": None}],
        pa.struct([("a", pa.int8()), ("b", pa.list_(pa.string()))]),
    ),
    "dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 1], pa.int8()), ["p", "q"]),
    "vectors": pa.array([[1.0, None], None, [3.0, 4.0]], pa.list_(pa.float32(), 2)),
    "constant": pa.array([["abc"], [], None, ["abc", "abc"]], pa.list_(pa.string())),
}
ZIPPED = {"lance-encoding:structural-encoding": "fullzip"}
FILES = [
    *((name, Shape(array), version) for name, array in SMALL.items() for version in ("2.1", "2.2")),
    ("zipped strings", Shape(SMALL["strings"], ZIPPED), "2.1"),
    ("zipped lists", Shape(SMALL["lists"], ZIPPED), "2.2"),
    ("planar lists", Shape(SMALL["lists"]), "2.3"),
]


def _read_all(data: bytes) -> None:
    """Open, scan and take; raise what the reference raises."""
    reader = column(open_bytes(data))
    for array in reader.scan(0, reader.num_rows):
        array.validate(full=True)
    rows = np.arange(0, reader.num_rows, 2, dtype=np.int64)
    reader.take(rows).validate(full=True)


@pytest.mark.parametrize(("name", "shape", "version"), FILES, ids=lambda v: str(v)[:20])
@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_no_flipped_byte_escapes(name, shape, version, mask, tmp_path):
    """Every byte of the file changed in turn: rows, or an error with clause, found and wanted."""
    data = write(shape, version, tmp_path / "c.lance")
    _read_all(data)
    refused = 0
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= mask
        try:
            _read_all(bytes(damaged))
        except LanceError as error:
            assert isinstance(error, BytesError)
            assert error.clause.startswith("L.")
            assert "" not in (str(error.found), str(error.wanted), error.file)
            refused += 1

    assert refused > len(data) // 4


@pytest.mark.parametrize(("name", "shape", "version"), FILES, ids=lambda v: str(v)[:20])
def test_no_damage_stops_a_validator(name, shape, version, tmp_path):
    """Checking a damaged file records findings; it never raises anything but a LanceError."""
    data = write(shape, version, tmp_path / "c.lance")
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 0x10
        findings = []
        try:
            file = open_bytes(bytes(damaged), None, findings)
            for field in file.descriptor.schema.fields:
                file.open_field(field).check()
        except LanceError:
            continue
