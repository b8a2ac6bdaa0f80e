"""The container of 2.x files: footer, tables, descriptor, column metadata, and whole checks."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import BadSchema, BytesError, OutOfRange
from lanceref.core.file_versions import FOOTER_WORDS, FROM_WORDS, V0_1, V2_0, V2_1, V2_3
from lanceref.data_file.data_file import open_file
from lanceref.file.container import TAIL_BYTES
from lanceref.file_0_1.check import check_data_file
from lanceref.proto.file2_pb2 import ColumnMetadata
from lanceref.proto.file_pb2 import FileDescriptor
from lanceref.storage import BytesSource

from .files import COLUMN, DESCRIPTOR, WORKED_FILE, closed, u64
from .in_memory import assert_clean_and_owned, column, findings_of, opened, scanned, written

ROWS = pa.array([1, None, 3], pa.int32())


def _patched(at: int, new: bytes) -> bytes:
    """The worked file with bytes replaced."""
    return WORKED_FILE[:at] + new + WORKED_FILE[at + len(new) :]


def _word(version: tuple[int, int]) -> bytes:
    return b"".join(part.to_bytes(2, "little") for part in version)


def _columns(edit) -> bytes:
    """The worked file with other column metadata."""
    message = ColumnMetadata.FromString(COLUMN)
    edit(message)
    return closed(WORKED_FILE[:128], [DESCRIPTOR], [message.SerializeToString()])


def _described(edit, columns=1) -> bytes:
    """The worked file with another descriptor, and its column so many times."""
    message = FileDescriptor.FromString(DESCRIPTOR)
    edit(message)
    return closed(WORKED_FILE[:128], [message.SerializeToString()], [COLUMN] * columns)


def test_the_worked_file_reads_as_its_rows():
    """348 bytes, one read; its pieces make it up again; the gaps between buffers are padding."""
    source = BytesSource(WORKED_FILE)
    file = open_file(source, Context("f"))
    kinds = assert_clean_and_owned(WORKED_FILE)

    assert (3, V2_0, {0: 0}) == (file.num_rows, file.footer.version, file.assigned)
    assert (159, 276, 292) == (
        file.footer.column_metadata_start, file.footer.cmo_start, file.footer.gbo_start,
    )  # fmt: skip
    assert 1 == source.stats.read_iops
    assert ROWS.to_pylist() == scanned(column(WORKED_FILE)).to_pylist()
    assert WORKED_FILE == closed(WORKED_FILE[:128], [DESCRIPTOR], [COLUMN])
    assert [(1, 64), (76, 128)] == [at for at, kind in kinds.items() if kind == "padding"]


def test_versions_are_ordered_and_read_back_from_their_words():
    """2.0 has two spellings, (0, 3) and (2, 0), and is written as the first."""
    assert [V0_1, V2_0, V2_1, V2_3] == sorted([V2_3, V2_1, V0_1, V2_0])
    assert all(version == FROM_WORDS[words] for version, words in FOOTER_WORDS.items())
    assert (0, 3) == FOOTER_WORDS[V2_0]
    assert V2_0 == opened(_patched(340, _word((2, 0)))).footer.version
    assert ["L.file.footer.version-2-0"] == [
        finding.clause for finding in findings_of(_patched(340, _word((2, 0))))
    ]


def test_metadata_beyond_the_tail_costs_a_second_read():
    """With 5 000 bytes between metadata and tables the tail is read again, from the metadata on."""
    gap = bytes(TAIL_BYTES + 1000)
    moved = WORKED_FILE[:276] + gap + WORKED_FILE[276:308]
    footer = u64(159, 276 + len(gap), 292 + len(gap)) + WORKED_FILE[332:]
    source = BytesSource(moved + footer, "f")

    assert 3 == open_file(source, Context("f")).num_rows
    assert 2 == source.stats.read_iops


def _set(name, value):
    return lambda message: setattr(message.pages[0], name, value)


FAULTS = {
    "no file": (b"", "footer.size"),
    "a byte after it": (WORKED_FILE + b"\0", "footer.magic"),
    "many global buffers": (_patched(332, b"\1\0\0\x80"), "footer.num-global-buffers"),
    "many columns": (_patched(336, b"\xff" * 4), "footer.num-columns"),
    "far global table": (_patched(324, u64(2**62)), "footer.gbo-start"),
    "far metadata": (_patched(308, b"\xff" * 8), "footer.column-metadata-start"),
    "huge column": (_patched(284, u64(2**63)), "cmo.entry"),
    "far descriptor": (_patched(292, u64(2**63)), "gbo.entry"),
    "descriptor beyond the metadata": (_patched(300, u64(1000)), "gbo.entry"),
    "rows": (_described(lambda m: setattr(m, "length", 4)), "descriptor.length"),
    "columns without a field": (_described(lambda m: None, 2), "schema.num-columns"),
    "far buffer": (
        _columns(lambda m: m.pages[0].buffer_offsets.__setitem__(0, 2**40)), "pages.extent",
    ),
    "rows of a page": (_columns(_set("length", 2**40)), "pages.length"),
}  # fmt: skip
"""Bytes, clause."""


@pytest.mark.parametrize(("data", "clause"), FAULTS.values(), ids=FAULTS)
def test_a_faulty_container_is_refused_when_it_is_opened(data, clause):
    """Counts and places are held against the file before anything is sized by them."""
    with pytest.raises(BytesError) as caught:
        opened(data)

    error = caught.value
    assert (f"L.file.{clause}", "f.lance") == (error.clause, error.file)
    assert str(error.found) and str(error.wanted)
    assert f"L.file.{clause}" in {finding.clause for finding in findings_of(data)}


@given(st.integers(128, len(WORKED_FILE) - 1), st.integers(1, 255))
def test_any_changed_byte_of_the_metadata_is_read_or_refused(at, mask):
    """A file, or an error with all its facts; a check never stops with anything else."""
    data = _patched(at, bytes([WORKED_FILE[at] ^ mask]))
    try:
        scanned(column(data))
    except BytesError as error:
        assert error.clause.startswith("L.")
        assert str(error.found) and str(error.wanted)
    findings_of(data)


def test_a_file_that_cannot_be_opened_has_one_finding():
    """Nothing after the footer can be trusted; files of no version are judged as 2.x."""
    findings = []
    for data in (WORKED_FILE[:-1] + b"X", bytes(50)):
        findings.clear()
        assert check_data_file(BytesSource(data), Context("f", findings=findings)) is None
        assert ["L.file.footer.magic"] == [finding.clause for finding in findings]


NESTED = pa.schema(
    [
        ("s", pa.struct([("x", pa.int32()), ("l", pa.list_(pa.string()))])),
        ("v", pa.list_(pa.float32(), 4)),
    ]
)


@pytest.mark.parametrize(
    ("version", "metadata", "owners"),
    [
        ("2.0", None, {0: 0, 1: 1, 2: 2, 3: 3, 4: 4}),
        ("2.1", None, {1: 0, 3: 1, 4: 2}),
        ("2.1", {"packed": "true"}, {0: 0, 1: 1}),
    ],
)
def test_columns_belong_to_fields_in_order(version, metadata, owners):
    """Structs and lists own a column in 2.0, leaves alone after it; a packed struct is one."""
    schema = NESTED
    row = {"s": {"x": 1, "l": ["a"]}, "v": [1.0] * 4}
    if metadata:
        packed = pa.field("s", pa.struct([("x", pa.int32())]), metadata=metadata)
        schema, row = pa.schema([packed, NESTED.field("v")]), {"s": {"x": 1}, "v": [1.0] * 4}
    file = opened(written(pa.Table.from_pylist([row], schema), version))

    found = {field: at for field, at in file.assigned.items() if not metadata or at < 2}
    assert len(owners) == len(file.columns) == len(found)
    assert sorted(owners.values()) == sorted(found.values())
    if not metadata:
        assert owners == found


def test_a_column_the_file_does_not_have_is_refused():
    """A table may point at column 9, or ask for a field that the file does not hold."""
    file = opened(WORKED_FILE)
    field = file.descriptor.schema.fields[0]

    assert 3 == file.open_field(field).num_rows
    with pytest.raises(OutOfRange):
        file.open_field(field, {0: 9})
    with pytest.raises(BadSchema):
        file.open_field(field, {})
