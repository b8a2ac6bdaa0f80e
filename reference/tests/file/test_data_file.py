"""Data files opened from their end."""

import pytest
from lanceref.core.context import Context
from lanceref.core.errors import BytesError, OutOfRange
from lanceref.core.file_versions import V2_0
from lanceref.data_file.data_file import TAIL_BYTES, open_file
from lanceref.storage import BytesSource

from .files import WORKED_FILE, u64


def _open(data: bytes, findings=None):
    return open_file(BytesSource(data, "f"), Context("f", findings=findings))


def test_the_worked_file_opens_with_one_read():
    """Its 348 bytes fit the tail."""
    source = BytesSource(WORKED_FILE, "f")
    opened = open_file(source, Context("f"))

    assert (3, V2_0, {0: 0}) == (opened.num_rows, opened.footer.version, opened.assigned)
    assert 1 == source.stats.read_iops


def test_metadata_beyond_the_tail_costs_a_second_read():
    """With 5 000 bytes between metadata and tables the tail is read again, from the metadata on."""
    gap = bytes(TAIL_BYTES + 1000)
    moved = WORKED_FILE[:276] + gap + WORKED_FILE[276:308]
    footer = u64(159, 276 + len(gap), 292 + len(gap)) + WORKED_FILE[332:]
    source = BytesSource(moved + footer, "f")
    opened = open_file(source, Context("f"))

    assert 3 == opened.num_rows
    assert 2 == source.stats.read_iops


@pytest.mark.parametrize(
    ("at", "value", "clause"),
    [
        (276, 0, "L.file.cmo.entry"),
        (284, 2**63, "L.file.cmo.entry"),
        (292, 2**63, "L.file.gbo.entry"),
        (300, 1000, "L.file.gbo.entry"),
    ],
)
def test_entries_outside_their_area_are_refused(at, value, clause):
    """Each word of the two tables, set to something it cannot be."""
    with pytest.raises(BytesError) as caught:
        _open(WORKED_FILE[:at] + u64(value) + WORKED_FILE[at + 8 :])

    assert clause == caught.value.clause


def test_the_row_count_is_held_against_the_pages():
    """A descriptor of four rows over three is refused, and a validator goes on."""
    wrong = WORKED_FILE[:158] + b"\x04" + WORKED_FILE[159:]
    findings = []
    with pytest.raises(OutOfRange) as caught:
        _open(wrong)
    _open(wrong, findings)

    assert "L.file.descriptor.length" == caught.value.clause
    assert ["L.file.descriptor.length"] == [finding.clause for finding in findings]


def test_a_column_the_file_does_not_have_is_refused():
    """A table may point at column 9."""
    opened = _open(WORKED_FILE)
    field = opened.descriptor.schema.fields[0]

    assert 3 == opened.open_field(field).num_rows
    with pytest.raises(OutOfRange):
        opened.open_field(field, {0: 9})
