"""High-water marks of fragment and field ids."""

from __future__ import annotations

import pytest
from lanceref.core.context import Finding

from .manifests import data_file, fragment, minimal, parse


def _findings(**fields: object) -> list[tuple[str, str]]:
    findings: list[Finding] = []
    parse(minimal(**{"writer_version": {"library": "lance"}, **fields}), findings)
    return [(finding.clause, finding.found) for finding in findings]


@pytest.mark.parametrize(
    ("number", "mark", "found"),
    [
        (0, {}, []),
        (4, {"max_fragment_id": 4}, []),
        (4, {"max_fragment_id": 9}, []),
        (4, {}, [("L.table.fragments.max-id-present", "fragment 4 and no max_fragment_id")]),
        (4, {"max_fragment_id": 3}, [("L.table.fragments.max-id", "fragment 4")]),
    ],
)
def test_the_highest_fragment_is_on_record(number, mark, found):
    """Absent stands for 0, as it did when the field had no presence."""
    assert found == _findings(fragments=[fragment(number)], **mark)


def test_the_first_writers_had_no_mark():
    """A manifest that names no writer may lack it."""
    assert [] == _findings(fragments=[fragment(4)], writer_version=None)


@pytest.mark.parametrize(
    ("mark", "found"),
    [
        (6, []),
        (7, []),
        (5, [("L.table.schema.max-id", "field 6")]),
        (0, [("L.table.schema.max-id", "field 6")]),
    ],
)
def test_the_highest_field_counts_dropped_ones_in_files(mark, found):
    """Field 6 left the schema, a file still holds it; tombstones and hidden columns are no ids."""
    file = data_file(fields=[0, 6, -2], column_indices=[0, 1, 2])
    fields = {"writer_feature_flags": 32768, "max_allocated_field_id": mark, "max_fragment_id": 0}

    assert found == _findings(fragments=[fragment(0, file)], **fields)


def test_readers_do_not_look_at_marks():
    """A mark of 3 over fragment 3 and field 0, both too low or absent."""
    fields = {"writer_feature_flags": 32768, "max_allocated_field_id": 0}
    manifest = parse(minimal(fragments=[fragment(3, data_file(fields=[9]))], **fields))

    assert [3] == [one.id for one in manifest.fragments]
