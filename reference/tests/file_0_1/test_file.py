"""The 0.1 file: its bytes by hand, its writer, whole checks, and what memory it may take."""

import lanceref
import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import BytesError, LimitExceeded, Truncated
from lanceref.core.limits import Limits
from lanceref.file.arrow_schema import schema_of
from lanceref.file_0_1.data_file import open_legacy
from lanceref.file_0_1.writer import LegacyWriter
from lanceref.proto import table_pb2
from lanceref.storage import BytesSource

from ..file.in_memory import BytesSink, assert_clean_and_owned, column, opened, scanned, written
from .building import WORKED, metadata_of, read, with_metadata

DATA = written(WORKED, "0.1")
POSITION, _ = metadata_of(DATA)
MIXED = pa.table(
    {
        "a": pa.array([1, None, 3, 4], pa.int32()),
        "s": pa.array(["x", "", None, "yz"]),
        "l": pa.array([[{"b": True}], None, [], [{"b": False}]]),
        "d": pa.array(["p", "q", "p", None]).dictionary_encode(),
        "v": pa.array([[1.0, 2.0]] * 4, pa.list_(pa.float32(), 2)),
        "f": [0.0, -1.5, None, float("nan")],
    }
)
DAMAGED = written(MIXED, "0.1", group_rows=3)


def test_the_worked_example_is_311_bytes():
    """Page, statistics, manifest, metadata, footer; one read opens it."""
    file = open_legacy(BytesSource(DATA), Context("f"))
    manifest = table_pb2.Manifest.FromString(DATA[112:172])

    assert 311 == len(DATA)
    assert bytes.fromhex("ac00000000000000 0000 0200 4c414e43") == DATA[-16:]
    assert bytes.fromhex("3c000000") == DATA[108:112]
    assert (3, 1, 172, 295) == (
        file.num_rows, file.metadata.num_batches, POSITION, len(DATA) - 16,
    )  # fmt: skip
    assert 1 == file.bytes.source.stats.read_iops
    assert (1, "lance", "0.1") == (
        manifest.version, manifest.data_format.file_format, manifest.data_format.version,
    )  # fmt: skip
    assert WORKED.schema == file.manifest.schema.arrow
    assert {"a": [1, 0, 3]} == read(DATA)
    field = file.manifest.schema.fields[0]
    assert file.open_field(field) is file.open_field(field)


def test_a_file_names_its_writer_and_keeps_metadata():
    """Not the oracle, unless asked to."""
    sink = BytesSink()
    writer = LegacyWriter(sink, schema_of(WORKED.schema))
    writer.write_batch(WORKED.to_batches()[0])
    assert 3 == writer.finish()
    assert b"lanceref" in sink.data
    field = pa.field("a", pa.int8(), metadata={"k": "v"})
    schema = pa.schema([field], metadata={"key": "value"})
    data = written(pa.table({"a": pa.array([1], pa.int8())}, schema=schema), "0.1")
    assert opened(data).manifest.schema.arrow.equals(schema, check_metadata=True)


@pytest.mark.parametrize("rows", [1, 2, 1024])
@pytest.mark.parametrize(
    "table", [WORKED, MIXED, MIXED.select(["l"])], ids=["worked", "mixed", "lists"]
)
def test_what_is_written_is_clean_and_every_byte_has_one_owner(table, rows):
    """No finding, no gap, nothing unreferenced."""
    kinds = assert_clean_and_owned(written(table, "0.1", group_rows=rows))

    assert "unreferenced" not in kinds.values()


def test_a_file_is_opened_by_its_name(tmp_path):
    """The manifest inside gives names and types; without one nothing describes the pages."""
    path, bare = tmp_path / "f.lance", tmp_path / "bare.lance"
    path.write_bytes(DAMAGED)
    bare.write_bytes(with_metadata(DATA, lambda message: message.ClearField("manifest_position")))
    file = lanceref.open_file(path)
    some = lanceref.open_file(path, ["l", "a"]).read(plain=True)

    assert (MIXED.schema, 4) == (file.schema, file.num_rows())
    assert str(read(DAMAGED)) == str(file.read().to_pydict())  # one value is NaN
    assert file.read().select(["l", "a"]) == some
    with pytest.raises(BytesError) as refusal:
        lanceref.open_file(bare)
    assert "L.legacy.manifest.position" == refusal.value.clause
    with pytest.raises(LimitExceeded):
        lanceref.open_file(path, limits=Limits(expansion_bytes=20, expansion_factor=0)).read()


def test_memory_is_bounded_and_a_shrunken_file_is_refused():
    """One page named for every batch costs memory without costing bytes of the file."""
    table = pa.table({"a": pa.array(range(10_000), pa.int64())})
    data = written(table, "0.1")
    limits = Limits(expansion_bytes=50, expansion_factor=0)
    with pytest.raises(LimitExceeded):
        scanned(column(data, limits=limits))

    class Shrunk(BytesSource):
        """Gives fewer bytes than its size promises once it is opened."""

        def read(self, offset: int, size: int) -> memoryview:
            """Read half of what is asked for."""
            return super().read(offset, size // 2 if size > 5000 else size)

    with pytest.raises(Truncated):
        scanned(column(open_legacy(Shrunk(data), Context("f"))))
