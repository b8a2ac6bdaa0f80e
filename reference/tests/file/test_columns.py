"""Column metadata."""

import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import BytesError, LanceError
from lanceref.core.file_versions import V2_0, V2_1
from lanceref.file.container import parse_column
from lanceref.proto.file2_pb2 import ColumnMetadata

from .files import COLUMN


def _parse(data: bytes, version=V2_0, findings=None, data_end=128):
    ctx = Context("f", findings=findings)
    return parse_column(Cursor(memoryview(data), 159, ctx), 0, version, data_end)


def _changed(edit) -> bytes:
    message = ColumnMetadata.FromString(COLUMN)
    edit(message)
    return message.SerializeToString()


def _retype(message) -> None:
    direct = message.pages[0].encoding.direct
    packed = AnyMessage.FromString(direct.encoding)
    packed.type_url = "/lance.encodings21.PageLayout"
    direct.encoding = packed.SerializeToString()


def test_the_worked_column_reads_as_written():
    """One page of three rows, validity at 0 and values at 64."""
    column = _parse(COLUMN)

    assert (Extent(0, 1), Extent(64, 12)) == column.pages[0].extents
    assert 3 == column.num_rows
    assert 32 == column.pages[0].encoding.nullable.some_nulls.values.flat.bits_per_value


@pytest.mark.parametrize(
    ("edit", "clause"),
    [
        (lambda m: m.pages[0].buffer_sizes.append(1), "L.file.pages.extents-pair"),
        (lambda m: m.pages[0].buffer_offsets.__setitem__(0, 2**40), "L.file.pages.extent"),
        (lambda m: m.pages[0].buffer_sizes.__setitem__(1, 65), "L.file.pages.extent"),
        (lambda m: setattr(m.pages[0], "length", 2**40), "L.file.pages.length"),
        (lambda m: m.pages[0].ClearField("encoding"), "L.file.pages.encoding"),
        (lambda m: m.pages[0].encoding.none.SetInParent(), "L.file.pages.encoding"),
        (lambda m: m.encoding.none.SetInParent(), "L.file.columns.encoding"),
        (_retype, "L.file.pages.type-url"),
    ],
)
def test_each_fault_names_its_clause(edit, clause):
    """One change of the worked column."""
    with pytest.raises(BytesError) as caught:
        _parse(_changed(edit))

    assert clause == caught.value.clause


def test_alignment_binds_readers_from_2_1_on():
    """A buffer at 8 is reported in 2.0; its page type is what 2.1 would refuse first."""
    findings = []
    _parse(_changed(lambda m: m.pages[0].buffer_offsets.__setitem__(1, 8)), V2_0, findings)

    assert ["L.file.alignment.buffers"] == [finding.clause for finding in findings]
    with pytest.raises(BytesError) as caught:
        _parse(_changed(lambda m: m.pages[0].buffer_offsets.__setitem__(1, 8)), V2_1)
    assert caught.value.clause in ("L.file.alignment.buffers", "L.file.pages.type-url")


def test_a_first_row_in_2_0_is_reported():
    """The priority of a 2.0 page is 0."""
    findings = []
    _parse(_changed(lambda m: setattr(m.pages[0], "priority", 3)), V2_0, findings)

    assert ["L.file.pages.priority"] == [finding.clause for finding in findings]


def test_every_flipped_byte_is_read_or_refused():
    """Each of the 117 bytes with three masks: a column, or an error with all its facts."""
    refused = 0
    for at in range(len(COLUMN)):
        for mask in (0x01, 0x80, 0xFF):
            data = COLUMN[:at] + bytes([COLUMN[at] ^ mask]) + COLUMN[at + 1 :]
            try:
                _parse(data)
            except LanceError as error:
                refused += 1
                assert isinstance(error, BytesError)
                assert "f" == error.file
                assert error.clause.startswith("L.")
    assert refused > 100
