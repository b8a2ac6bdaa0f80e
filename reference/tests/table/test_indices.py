"""The index section, held against the table."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Finding
from lanceref.core.errors import FormatError, LimitExceeded
from lanceref.proto import table_pb2
from lanceref.validate import validate
from pyroaring import BitMap

from .manifests import footer, minimal, parse, section

ONE_AND_THREE = bytes.fromhex("3a30000001000000000001001000000001000300")
"""The set {1, 3} as a portable Roaring bitmap."""


def _entry(number: int = 1, **fields: object) -> table_pb2.IndexMetadata:
    given_fields = {"uuid": {"uuid": bytes([number]) * 16}, "fields": [0], "name": "a_idx"}
    return table_pb2.IndexMetadata(**{**given_fields, **fields})


def _bytes(entries: list[table_pb2.IndexMetadata], **fields: object) -> bytes:
    """A manifest file with an index section in front."""
    front = section(table_pb2.IndexSection(indices=entries).SerializeToString())
    message = minimal(index_section=0, **fields)
    return front + section(message.SerializeToString()) + footer(len(front))


def _findings(*entries: table_pb2.IndexMetadata, **fields: object) -> list[str]:
    findings: list[Finding] = []
    parse(_bytes(list(entries), **fields), findings)
    return [finding.clause for finding in findings]


def test_entries_that_fit_the_table_are_returned_as_they_stand():
    """Two indices of one field, one with its fragments, one of an unknown type."""
    entries = [
        _entry(1, fragment_bitmap=ONE_AND_THREE),
        _entry(2, index_details={"type_url": "/lance.table.NobodyKnowsIndexDetails"}),
    ]

    assert [] == _findings(*entries)
    assert entries == list(parse(_bytes(entries)).indices)


def test_a_uuid_of_another_size_is_refused():
    """15 bytes, under the extent of the index section."""
    with pytest.raises(FormatError) as caught:
        parse(_bytes([_entry(uuid={"uuid": bytes(15)})]))

    assert "L.table.index.uuid" == caught.value.clause
    assert (0, "a uuid of 15 bytes") == (caught.value.offset, caught.value.found)


@pytest.mark.parametrize("broken", [ONE_AND_THREE[:-1], ONE_AND_THREE + b"\0", b"\1" * 8, b"\0"])
def test_fragments_that_are_no_bitmap_are_refused(broken):
    """Cut, longer, of another cookie, too short for one."""
    with pytest.raises(FormatError) as caught:
        parse(_bytes([_entry(fragment_bitmap=broken)]))

    assert "L.table.index.fragment-bitmap" == caught.value.clause
    assert caught.value.found
    assert caught.value.wanted


def test_a_uuid_twice_is_reported():
    """Readers do not care."""
    entries = [_entry(1), _entry(1, name="other")]

    assert ["L.table.index.unique"] == _findings(*entries)
    assert 2 == len(parse(_bytes(entries)).indices)


def test_a_field_outside_the_schema_is_reported():
    """Field 7 was never there; a system index has no fields at all."""
    assert ["L.table.index.fields"] == _findings(_entry(fields=[0, 7]))
    assert [] == _findings(_entry(fields=[]))


@pytest.mark.parametrize(
    ("fields", "covering", "clauses"),
    [
        ([0, 1, 2], [1, 2], []),
        ([0, 1, 2], [2], []),
        ([0, 1, 2], [1], ["L.table.index.covering"]),
        ([0, 1, 2], [2, 1], ["L.table.index.covering"]),
        ([0, 1, 2], [0, 1, 2], ["L.table.index.covering"]),
        ([0], [5], ["L.table.index.covering"]),
    ],
)
def test_covering_fields_are_the_last_but_not_all(fields, covering, clauses):
    """A proper suffix."""
    columns = [
        {"name": f"c{number}", "id": number, "parent_id": -1, "logical_type": "int64"}
        for number in range(3)
    ]
    flags = {"reader_feature_flags": 128, "writer_feature_flags": 128}
    entry = _entry(fields=fields, covering_fields=covering)

    assert clauses == _findings(entry, **flags, fields=columns)


@pytest.mark.parametrize(("reader", "writer"), [(0, 0), (128, 0), (0, 128)])
def test_covering_fields_need_their_flag_in_both_words(reader, writer):
    """Flag 128."""
    columns = [
        {"name": f"c{number}", "id": number, "parent_id": -1, "logical_type": "int64"}
        for number in range(2)
    ]
    words = {"reader_feature_flags": reader, "writer_feature_flags": writer}
    entry = _entry(fields=[0, 1], covering_fields=[1])

    assert ["L.table.flags.content"] == _findings(entry, **words, fields=columns)


def test_a_base_nobody_listed_is_reported():
    """Base 4 beside base 3."""
    bases = [{"id": 3, "path": "elsewhere", "is_dataset_root": True}]
    flags = {"reader_feature_flags": 16, "writer_feature_flags": 16, "base_paths": bases}

    assert [] == _findings(_entry(base_id=3), **flags)
    assert ["L.table.base.resolves"] == _findings(_entry(base_id=4), **flags)


@given(st.binary(max_size=60))
def test_any_bytes_for_a_bitmap_are_read_or_refused(held):
    """Never another error."""
    try:
        parse(_bytes([_entry(fragment_bitmap=held)]))
    except FormatError as error:
        assert "L.table.index.fragment-bitmap" == error.clause


def test_very_many_fragments_in_few_bytes_are_refused():
    """Sixteen runs stand for a million fragments, and each would take memory."""
    held = BitMap(range(2**20), optimize=True).serialize()

    with pytest.raises(LimitExceeded, match="over 1048576 fragments"):
        parse(_bytes([_entry(fragment_bitmap=held)]))


@pytest.mark.oracle
def test_indices_of_the_oracle_fit_their_tables(tmp_path):
    """Scalar, system and nested-field indices, before and after compaction."""
    import lance

    table = pa.table({"a": range(90), "s": [{"x": n} for n in range(90)]})
    dataset = lance.write_dataset(table, str(tmp_path), max_rows_per_file=30)
    dataset.create_scalar_index("a", "BTREE")
    dataset.create_scalar_index("s.x", "BITMAP")
    assert [] == validate(tmp_path)

    dataset.optimize.compact_files(target_rows_per_fragment=100, defer_index_remap=True)
    names = {index.name for index in lance.dataset(str(tmp_path)).describe_indices()}

    assert {"a_idx"} < names
    assert [] == validate(tmp_path)
