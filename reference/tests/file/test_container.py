"""The container of 2.x files, and damaged files: rows, or an error that names what is wrong."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import BytesError
from lanceref.core.file_versions import FOOTER_WORDS, FROM_WORDS, V0_1, V2_0, V2_1, V2_3
from lanceref.data_file.check import check_data_file
from lanceref.data_file.data_file import open_file
from lanceref.file.container import TAIL_BYTES
from lanceref.storage import BytesSource

from .files import COLUMN, DESCRIPTOR, WORKED_FILE, closed, u64
from .in_memory import assert_clean_and_owned, column, findings_of, opened, scanned, taken, written
from .stored_columns import CASES, COLUMNS

ROWS = pa.array([1, None, 3], pa.int32())


def _patched(at: int, new: bytes) -> bytes:
    """The worked file with bytes replaced."""
    return WORKED_FILE[:at] + new + WORKED_FILE[at + len(new) :]


def _word(version: tuple[int, int]) -> bytes:
    return b"".join(part.to_bytes(2, "little") for part in version)


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


def test_a_file_that_cannot_be_opened_has_one_finding():
    """Nothing after the footer can be trusted; files of no version are judged as 2.x."""
    for data in (WORKED_FILE[:-1] + b"X", bytes(50)):
        findings = []
        assert check_data_file(BytesSource(data), Context("f", findings=findings)) is None
        assert ["L.file.footer.magic"] == [finding.clause for finding in findings]


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


VERSIONS = ("0.1", "2.0", "2.1", "2.2", "2.3")


def _stored_in(version: str) -> list[str]:
    """Name the columns of a version; of 0.1 one for each kind of page."""
    if version == "0.1":
        return ["no nulls", "booleans of a slice", "strings with nulls", "lists", "vectors"]
    return [name for name, of in CASES if of == version]


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
@settings(max_examples=150)
def test_changed_bytes_are_rows_or_an_error(version, data):
    """Reading, taking and checking a file with other bytes anywhere, or without its end."""
    stored = COLUMNS[data.draw(st.sampled_from(_stored_in(version)))]
    table = stored.parts()[0].slice(0, data.draw(st.sampled_from([4, 120])))
    damaged = bytearray(written(table, version))
    for _ in range(data.draw(st.integers(0, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= data.draw(st.integers(1, 255))
    bad = bytes(damaged[: data.draw(st.sampled_from([None, len(damaged) - 1, 0]))])
    try:
        reader = column(bad)
        assert reader.num_rows == len(scanned(reader))
        taken(reader, [0] * bool(reader.num_rows))
    except BytesError as error:
        assert error.clause.startswith("L.") and str(error.found) and str(error.wanted)
        assert error.offset >= 0
    findings = findings_of(bad)
    assert all(one.clause.startswith("L.") for one in findings)
    assert findings or len(bad) == len(damaged)


def test_a_null_column_that_may_not_be_null_is_refused_where_it_is_read():
    """Its flag is the byte after its type; Arrow has no such field, and the file still opens."""
    data = written(pa.table({"c": pa.nulls(3)}), "2.1")
    with pytest.raises(BytesError, match=r"L\.page\.required\.null"):
        scanned(column(data.replace(b"null0\1", b"null0\0")))
