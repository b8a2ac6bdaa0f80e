"""Manifest file."""

from datetime import datetime

import pytest
from lanceref.core.errors import (
    BadMagic,
    BadProto,
    FormatError,
    LanceError,
    OutOfRange,
    Truncated,
    UnknownVersion,
)
from lanceref.proto import table_pb2, transaction_pb2

from .manifests import NAME, WORKED, data_file, footer, fragment, minimal, parse, section, to_bytes


def test_the_worked_manifest_reads_as_written():
    """Every fact of the 213 bytes: sections at 0 and 72, one column, no fragment."""
    manifest = parse(WORKED)

    assert 72 + 4 == manifest.place.offset + 4
    assert (1, "2.2", ()) == (manifest.version, manifest.storage_version, manifest.fragments)
    assert ["a"] == manifest.schema.arrow.names
    assert manifest.transaction is not None
    assert "f90e17ac-85c0-4857-b697-74211a7e0b3c" == manifest.transaction.uuid
    assert f"0-{manifest.transaction.uuid}.txn" == manifest.message.transaction_file
    assert 0 == manifest.message.transaction_section


def test_the_time_is_local_and_cut_to_microseconds():
    """1795230434 seconds and 798100479 nanoseconds of the worked manifest."""
    manifest = parse(WORKED)

    stamp = manifest.message.timestamp
    assert datetime.fromtimestamp(stamp.seconds).replace(microsecond=798100) == manifest.timestamp
    assert 798100479 == stamp.nanos


@pytest.mark.parametrize("stamp", [(2**62, 0), (-(2**62), 0), (0, 10**9), (0, -1)])
def test_a_time_no_calendar_has_is_refused(stamp):
    """Years beyond 9999 and nanoseconds beyond a second are a finding, not an OverflowError."""
    with pytest.raises(OutOfRange) as caught:
        parse(minimal(timestamp={"seconds": stamp[0], "nanos": stamp[1]}))

    assert "L.table.manifest.timestamp" == caught.value.clause


@pytest.mark.parametrize("size", [0, 1, 8, 15])
def test_a_file_shorter_than_a_footer_is_truncated(size):
    """Sixteen bytes are the least."""
    with pytest.raises(Truncated) as caught:
        parse(WORKED[:size])

    assert "L.table.manifest.size" == caught.value.clause


def test_another_magic_is_refused():
    """The oracle does not look; the reference does."""
    with pytest.raises(BadMagic) as caught:
        parse(WORKED[:-4] + b"LANX")

    assert ("L.table.manifest.magic", len(WORKED) - 4) == (
        caught.value.clause,
        caught.value.offset,
    )


def test_another_footer_version_only_binds_writers():
    """A reader goes on, a validator says it."""
    findings = []
    manifest = parse(WORKED[:-16] + footer(72, 9, 9), findings)

    assert 1 == manifest.version
    assert ["L.table.manifest.footer-version"] == [finding.clause for finding in findings]


@pytest.mark.parametrize("position", [len(WORKED) - 16, len(WORKED), 2**40, 2**64 - 1, 73])
def test_a_section_that_does_not_end_before_the_footer_is_refused(position):
    """Wherever the footer points, the length is held against what is there."""
    with pytest.raises((OutOfRange, BadProto)) as caught:
        parse(WORKED[:-16] + footer(position))

    assert caught.value.clause in ("L.table.manifest.section", "L.table.manifest.message")


def test_a_length_that_is_too_short_cuts_the_message():
    """One byte short is no message any more."""
    with pytest.raises(BadProto) as caught:
        parse(WORKED[:72] + (0x78).to_bytes(4, "little") + WORKED[76:])

    assert "L.table.manifest.message" == caught.value.clause


def test_a_manifest_without_a_length_is_no_empty_table():
    """Zero in place of the length would be a message without fields: no rows, silently."""
    with pytest.raises(OutOfRange) as caught:
        parse(WORKED[:72] + bytes(4) + WORKED[76:])

    assert "L.table.manifest.end" == caught.value.clause
    assert (72, 76) == caught.value.span


def test_the_older_place_of_the_transaction_is_read():
    """Field 21 counts where field 23 is missing."""
    transaction = transaction_pb2.Transaction(uuid="x").SerializeToString()
    message = minimal(transaction_section_deprecated=0).SerializeToString()
    head = section(transaction)
    manifest = parse(head + section(message) + footer(len(head)))

    assert manifest.transaction is not None
    assert "x" == manifest.transaction.uuid


def test_a_transaction_nobody_understands_does_not_stop_a_reader():
    """A reader needs no transaction; a validator reports it."""
    findings = []
    head = section(b"\xff\xff\xff")
    message = minimal(transaction_section=0).SerializeToString()
    data = head + section(message) + footer(len(head))

    assert parse(data).transaction is None
    parse(data, findings)
    assert ["L.txn.inline.message"] == [finding.clause for finding in findings]


def test_the_index_section_is_read():
    """Entries come as they are stored."""
    index = table_pb2.IndexSection(indices=[{"uuid": {"uuid": bytes(16)}, "name": "i"}])
    head = section(index.SerializeToString())
    manifest = parse(
        head + section(minimal(index_section=0).SerializeToString()) + footer(len(head))
    )

    assert ["i"] == [entry.name for entry in manifest.indices]


def test_a_uuid_has_sixteen_bytes():
    """Fifteen are refused."""
    index = table_pb2.IndexSection(indices=[{"uuid": {"uuid": bytes(15)}}])
    head = section(index.SerializeToString())
    with pytest.raises(FormatError) as caught:
        parse(head + section(minimal(index_section=0).SerializeToString()) + footer(len(head)))

    assert "L.table.index.uuid" == caught.value.clause


def test_sections_in_one_place_are_reported():
    """A transaction section that says it lies inside the manifest, where four zeros are."""
    findings = []
    message = minimal(transaction_section=1, schema_metadata={"key": bytes(4)})
    message.transaction_section = section(message.SerializeToString()).index(bytes(4))
    parse(section(message.SerializeToString()) + footer(0), findings)

    assert "L.table.manifest.overlap" in [finding.clause for finding in findings]


@pytest.mark.parametrize(
    ("given", "clause", "error"),
    [
        ({"file_format": "parquet", "version": "2.2"}, "L.table.format.file-format", FormatError),
        ({"file_format": "lance", "version": "2.9"}, "L.table.format.version", UnknownVersion),
    ],
)
def test_another_storage_format_is_refused(given, clause, error):
    """Neither another format nor an unknown version is guessed at."""
    with pytest.raises(error) as caught:
        parse(minimal(data_format=given))

    assert clause == caught.value.clause


def test_old_manifests_do_not_name_the_storage_format():
    """The files say which version they are."""
    message = minimal(fragments=[fragment()], max_fragment_id=0)
    message.ClearField("data_format")

    assert "" == parse(message).storage_version


def test_the_summary_counts_what_the_manifest_lists():
    """Rows with and without the deleted ones, files and bytes, as text."""
    deletion = {"num_deleted_rows": 4, "id": 1}
    files = [data_file(file_size_bytes=100), data_file(path="g", fields=[1], file_size_bytes=7)]
    message = minimal(
        fragments=[fragment(0, *files, deletion_file=deletion), fragment(1)],
        reader_feature_flags=1,
        writer_feature_flags=1,
    )

    assert {
        "total_data_file_rows": "20",
        "total_data_files": "3",
        "total_deletion_file_rows": "4",
        "total_deletion_files": "1",
        "total_files_size": "107",
        "total_fragments": "2",
        "total_rows": "16",
    } == parse(message).summary()


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_damage_is_refused_with_all_five_facts(mask):
    """Every byte of the worked manifest flipped: a manifest or a full LanceError."""
    for at in range(len(WORKED)):
        data = bytearray(WORKED)
        data[at] ^= mask
        try:
            manifest = parse(bytes(data))
            manifest.summary()
            assert isinstance(manifest.timestamp, datetime)
        except LanceError as error:
            assert error.clause.startswith("L.") and error.file == NAME
            assert 0 <= error.offset <= len(WORKED)
            assert str(error.found) and str(error.wanted)


def test_a_manifest_made_by_hand_reads_back():
    """What the tests build is what they mean."""
    assert minimal() == parse(to_bytes(minimal())).message
