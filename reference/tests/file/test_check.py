"""Whole files, checked."""

from itertools import pairwise

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.spans import SpanRecorder, uncovered
from lanceref.data_file.check import check_file
from lanceref.proto.file_pb2 import FileDescriptor
from lanceref.storage import BytesSource

from .files import COLUMN, DESCRIPTOR, WORKED_FILE, closed


def _check(data: bytes):
    findings, recorder = [], SpanRecorder()
    ctx = Context("f", spans=recorder, findings=findings)
    opened = check_file(BytesSource(data, "f"), ctx)
    return opened, findings, recorder.finish(len(data))


def _assert_clean_and_owned(data: bytes) -> dict[tuple[int, int], str]:
    """No finding, no byte without an owner, no byte with two; return the kind of each leaf."""
    _, findings, root = _check(data)
    leaves = sorted(root.leaves(), key=lambda leaf: leaf.start)

    assert [] == findings
    assert [] == uncovered(root)
    assert all(a.end <= b.start for a, b in pairwise(leaves))
    return {(leaf.start, leaf.end): leaf.kind for leaf in leaves}


def test_the_worked_file_is_clean_and_owned():
    """Its two gaps between buffers are padding."""
    kinds = _assert_clean_and_owned(WORKED_FILE)

    assert [(1, 64), (76, 128)] == [at for at, kind in kinds.items() if kind == "padding"]


def test_the_pieces_of_the_worked_file_make_it_up():
    """Closing its buffers again gives the same 348 bytes."""
    assert WORKED_FILE == closed(WORKED_FILE[:128], [DESCRIPTOR], [COLUMN])


def test_padding_that_is_not_h_is_reported():
    """Zeros between the buffers break a writer clause."""
    _, findings, _ = _check(WORKED_FILE[:1] + bytes(63) + WORKED_FILE[64:])

    assert [("L.file.padding.value", 1, 63)] == [(f.clause, f.offset, f.size) for f in findings]


def test_bytes_that_nothing_refers_to_have_an_owner():
    """116 bytes between the last buffer and the descriptor are no padding."""
    before = WORKED_FILE[:128] + b"H" * 64
    data = closed(before, [DESCRIPTOR], [COLUMN])
    kinds = _assert_clean_and_owned(data)

    assert "unreferenced" == kinds[(76, 192)]


def test_buffers_of_users_are_owned():
    """Global buffer 1 belongs to the application, and its bytes may be anything."""
    data = closed(WORKED_FILE[:128], [DESCRIPTOR, b"a model"], [COLUMN])

    assert "user buffer" in _assert_clean_and_owned(data).values()


def test_buffers_that_overlap_are_reported():
    """Values at 0 share their first byte with the validity bitmap."""
    moved = WORKED_FILE.replace(bytes.fromhex("0a020040"), bytes.fromhex("0a020000"))
    _, findings, _ = _check(moved)

    assert ("L.file.buffers.overlap", 0, 12) in [(f.clause, f.offset, f.size) for f in findings]


def test_column_metadata_out_of_order_are_reported():
    """Two columns whose metadata stand the other way round are read, and linted."""
    two = FileDescriptor.FromString(DESCRIPTOR)
    two.schema.fields.add(name="b", id=1, parent_id=-1, logical_type="int32", nullable=True)
    data = bytearray(closed(WORKED_FILE[:128], [two.SerializeToString()], [COLUMN, COLUMN]))
    cmo = len(data) - 40 - 16 - 32
    data[cmo : cmo + 32] = data[cmo + 16 : cmo + 32] + data[cmo : cmo + 16]
    opened, findings, _ = _check(bytes(data))

    assert ["a", "b"] == [field.name for field in opened.descriptor.schema.fields]
    assert "L.file.columns.order" in {finding.clause for finding in findings}


def test_a_file_that_cannot_be_opened_has_one_finding():
    """Nothing after the footer can be trusted."""
    opened, findings, _ = _check(WORKED_FILE[:-1] + b"X")

    assert opened is None
    assert ["L.file.footer.magic"] == [finding.clause for finding in findings]


def test_a_broken_page_does_not_hide_the_padding():
    """Findings are all of them, not the first."""
    wrong = WORKED_FILE.replace(bytes.fromhex("1202010c"), bytes.fromhex("1202010b"))
    _, findings, _ = _check(wrong[:1] + bytes(63) + wrong[64:])

    assert {"L.array.flat.size", "L.file.padding.value"} <= {f.clause for f in findings}


@pytest.mark.oracle
def test_blob_payloads_are_buffers_too(tmp_path):
    """Payloads of a 2.0 file have owners; what lies between them is padding, and clean."""
    import lance.file

    rows = pa.array([b"x" * 100, None, b"", b"y" * 5000, b"z"], pa.large_binary())
    field = pa.field("b", rows.type, metadata={"lance-encoding:blob": "true"})
    table = pa.Table.from_arrays([rows], schema=pa.schema([field]))
    path = tmp_path / "f.lance"
    with lance.file.LanceFileWriter(str(path), table.schema, version="2.0") as writer:
        writer.write_batch(table)
    kinds = _assert_clean_and_owned(path.read_bytes())

    assert [100, 5000, 1] == [end - at for (at, end), kind in kinds.items() if kind == "blob"]
