"""Whole files, checked and explained."""

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.spans import SpanRecorder, uncovered
from lanceref.file_0_1.check import check_data_file, check_legacy
from lanceref.storage import BytesSource

from .building import WORKED, i64, metadata_of, patched, with_metadata, written
from .test_data_file import MIXED

TABLES = {
    "worked": WORKED,
    "mixed": MIXED,
    "nested": pa.table({"l": pa.array([[[], ["a"]], [], [[]]], pa.list_(pa.list_(pa.string())))}),
    "floats": pa.table({"f": [0.0, -1.5, None, float("nan")]}),
}


def _clauses(data: bytes) -> list[str]:
    findings = []
    check_legacy(BytesSource(data), Context("f", findings=findings))
    return sorted({finding.clause.removeprefix("L.legacy.") for finding in findings})


@pytest.mark.parametrize("rows", [1, 2, 1024])
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_what_is_written_is_clean_and_every_byte_has_one_owner(table, rows):
    """No finding, no gap."""
    data, spans, findings = written(table, rows), SpanRecorder(), []
    check_data_file(BytesSource(data), Context("f", spans=spans, findings=findings))

    root = spans.finish(len(data))
    assert [] == findings
    assert [] == uncovered(root)
    assert len(data) == sum(leaf.end - leaf.start for leaf in root.leaves())
    assert "unreferenced" not in {leaf.kind for leaf in root.leaves()}


def _drop_statistics(message) -> None:
    message.ClearField("statistics")


def _other_ids(message) -> None:
    message.statistics.fields[:] = [0, 1, 3]


TABLE_AT = metadata_of(written(WORKED))[1].page_table_position
FAULTS = {
    "null count": (patched(written(WORKED), 28, i64(4)), ["statistics.null-count"]),
    "least value": (patched(written(WORKED), 36, b"\x02"), ["statistics.bounds"]),
    "greatest value": (patched(written(WORKED), 40, b"\x01"), ["statistics.bounds"]),
    "statistics left out": (
        with_metadata(written(WORKED), _drop_statistics),
        ["layout.gaps", "statistics.covered"],
    ),
    "ids": (with_metadata(written(WORKED), _other_ids), ["statistics.fields"]),
    "position": (patched(written(WORKED), TABLE_AT, i64(-4)), ["page-table.range", "layout.gaps"]),
    "page moved": (
        patched(written(WORKED), TABLE_AT, i64(0, 3)),
        [],
    ),
}


@pytest.mark.parametrize(("data", "wanted"), FAULTS.values(), ids=FAULTS)
def test_faults_are_reported_under_their_clause(data, wanted):
    """Of 1, 0 and 3 only as many may be outside of the bounds as there are nulls: one."""
    assert sorted(wanted) == _clauses(data)


def test_two_owners_of_one_byte_are_reported():
    """The second column's page on that of the first."""
    data = written(pa.table({"a": pa.array([1], pa.uint8()), "b": pa.array([1], pa.uint8())}))
    position = metadata_of(data)[1].page_table_position
    assert ["layout.gaps", "layout.overlap"] == _clauses(patched(data, position + 16, i64(0)))


def test_pages_without_a_schema_are_nobodys_fault():
    """Only a table that has the file knows how long its pages are."""
    data = with_metadata(written(WORKED), lambda m: m.ClearField("manifest_position"))
    ctx = Context("f", findings=[], spans=SpanRecorder())
    check_legacy(BytesSource(data), ctx, range(WORKED.num_columns))
    assert [] == ctx.findings


def test_files_of_other_versions_go_to_their_own_check():
    """What is no 0.1 file is reported as a 2.x file."""
    findings = []
    check_data_file(BytesSource(bytes(50)), Context("f", findings=findings))
    assert ["L.file.footer.magic"] == [finding.clause for finding in findings]
