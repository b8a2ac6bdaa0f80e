"""Deletion files."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pyroaring
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import (
    BadMagic,
    CorruptPage,
    FormatError,
    LanceError,
    LimitExceeded,
    OutOfRange,
)
from lanceref.core.limits import DEFAULT_LIMITS, Limits
from lanceref.core.spans import SpanRecorder, uncovered
from lanceref.proto import table_pb2
from lanceref.storage import BytesSource
from lanceref.table.deletions import check_deletion_file, deletion_path, read_deletions

NAME = "0-1-8659902538907322467"


def _arrow(
    values: list[int | None], name: str = "row_id", type_: pa.DataType | None = None, **options: str
) -> bytes:
    """An Arrow file as the oracle writes one, or nearly."""
    schema = pa.schema([pa.field(name, type_ or pa.uint32(), None in values)])
    batch = pa.record_batch([pa.array(values, schema.field(0).type)], schema=schema)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def _without_batch(data: bytes) -> bytes:
    """The length of the second message, the batch, set to zero: the library says EOFError."""
    second = data.index(b"\xff\xff\xff\xff", data.index(b"\xff\xff\xff\xff") + 4)
    return data[: second + 4] + bytes(4) + data[second + 8 :]


def _bitmap(values: list[int]) -> bytes:
    return pyroaring.BitMap(values, optimize=False).serialize()


def _read(data: bytes, suffix: str, *bounds: int):
    return read_deletions(
        BytesSource(data, NAME + suffix), Context(NAME + suffix), *bounds
    ).tolist()


def test_the_worked_name_is_made_of_the_entry():
    """Fragment, read version, id; 18e390cc e8a1ef89 9778 of the chapter is the id."""
    entry = table_pb2.DeletionFile.FromString(bytes.fromhex("100118e390cce8a1ef8997782002"))

    assert 2 == entry.num_deleted_rows
    assert f"_deletions/{NAME}.arrow" == deletion_path(0, entry, Context("m").at(0))
    entry.file_type = table_pb2.DeletionFile.BITMAP
    assert f"_deletions/{NAME}.bin" == deletion_path(0, entry, Context("m").at(0))


def test_an_unknown_type_is_refused():
    """Type 7 has no name."""
    entry = table_pb2.DeletionFile()
    entry.MergeFromString(b"\x08\x07")
    with pytest.raises(FormatError) as caught:
        deletion_path(0, entry, Context("m").at(0, 5))

    assert "L.table.deletions.type" == caught.value.clause


@pytest.mark.parametrize(
    ("data", "suffix"),
    [
        (_arrow([3, 5]), ".arrow"),
        (_arrow([5, 3]), ".arrow"),
        (_arrow([3, 5], compression="zstd"), ".arrow"),
        (_arrow([3, 5], compression="lz4"), ".arrow"),
        (bytes.fromhex("3a30000001000000000001001000000003000500"), ".bin"),
    ],
    ids=["arrow", "any order", "zstd", "lz4", "bitmap"],
)
def test_both_kinds_list_the_same_rows(data, suffix):
    """Rows 3 and 5, ascending."""
    assert [3, 5] == _read(data, suffix, 2, 10)


@pytest.mark.parametrize(
    ("data", "suffix", "clause", "error"),
    [
        (_arrow([3, 3]), ".arrow", "L.table.deletions.arrow-distinct", CorruptPage),
        (_arrow([3, None]), ".arrow", "L.table.deletions.arrow", CorruptPage),
        (_arrow([3, 5], "id"), ".arrow", "L.table.deletions.arrow", CorruptPage),
        (_arrow([3, 5], type_=pa.int32()), ".arrow", "L.table.deletions.arrow", CorruptPage),
        (_arrow([3, 5])[:-1], ".arrow", "L.table.deletions.arrow", CorruptPage),
        (_without_batch(_arrow([3, 5])), ".arrow", "L.table.deletions.arrow", CorruptPage),
        (b"", ".arrow", "L.table.deletions.arrow-magic", BadMagic),
        (b"ARROWX" + _arrow([3, 5])[6:], ".arrow", "L.table.deletions.arrow-magic", BadMagic),
        (_bitmap([3, 5])[:-1], ".bin", "L.table.roaring.containers", LanceError),
        (_arrow([3, 5, 7]), ".arrow", "L.table.deletions.count", FormatError),
        (_bitmap([3]), ".bin", "L.table.deletions.count", FormatError),
        (_arrow([3, 10]), ".arrow", "L.table.deletions.range", OutOfRange),
        (_bitmap([3, 2**32 - 1]), ".bin", "L.table.deletions.range", OutOfRange),
    ],
)
def test_a_broken_file_is_refused(data, suffix, clause, error):
    """Each rule has its clause."""
    with pytest.raises(error) as caught:
        _read(data, suffix, 2, 10)

    assert (clause, NAME + suffix) == (caught.value.clause, caught.value.file)


def test_more_rows_than_the_manifest_says_take_no_memory():
    """150 runs of all the values of a container, 6 bytes each."""
    held = pyroaring.BitMap(range(150 * 2**16))
    held.run_optimize()
    data = held.serialize()
    tracemalloc.start()
    with pytest.raises(FormatError, match=r"L\.table\.deletions\.count"):
        _read(data, ".bin", 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 2**22


def test_a_batch_that_claims_too_much_is_refused():
    """Plain sizes count before anything is decompressed, against the caller's limits."""
    data = _arrow([*range(1000)], compression="zstd")
    at = data.index((4000).to_bytes(8, "little") + b"\x28\xb5\x2f\xfd")
    claimed = data[:at] + (2**40).to_bytes(8, "little") + data[at + 8 :]
    limits = Limits(expansion_bytes=3999, expansion_factor=0)
    for bytes_, allowed in ((claimed, DEFAULT_LIMITS), (data, limits)):
        with pytest.raises(LimitExceeded) as caught:
            read_deletions(BytesSource(bytes_, "0-1-2.arrow"), Context("d", limits=allowed))
        assert "L.table.limits.deletions" == caught.value.clause


FILES = {
    "plain": (_arrow([3, 5, 9]), ".arrow"),
    "zstd": (_arrow([*range(0, 400, 3)], compression="zstd"), ".arrow"),
    "array": (_bitmap([3, 5, 2**20]), ".bin"),
    "runs": (pyroaring.BitMap(range(70_000)).serialize(), ".bin"),
}


@pytest.mark.parametrize("kind", FILES)
def test_every_byte_has_an_owner(kind):
    """Headers, validity, values, padding, footer."""
    data, suffix = FILES[kind]
    spans, findings = SpanRecorder(), []
    ctx = Context(NAME + suffix, spans=spans, findings=findings)
    check_deletion_file(BytesSource(data, NAME + suffix), ctx)

    assert ([], []) == (findings, uncovered(spans.finish(len(data))))


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
@pytest.mark.parametrize("kind", FILES)
def test_damage_never_escapes(kind, mask):
    """Every byte flipped: rows or a LanceError with all its facts, read and explained."""
    whole, suffix = FILES[kind]
    for at in range(len(whole)):
        data = bytearray(whole)
        data[at] ^= mask
        source = BytesSource(bytes(data), NAME + suffix)
        try:
            rows = read_deletions(source, Context(NAME + suffix), None, 2**20 + 1)
            assert np.all(rows[1:] > rows[:-1])
        except LanceError as error:
            assert error.clause.startswith("L.table.") and error.file == NAME + suffix
            assert 0 <= error.offset <= len(data)
            assert str(error.found) and str(error.wanted)
        check_deletion_file(source, Context(NAME + suffix, spans=SpanRecorder(), findings=[]))
