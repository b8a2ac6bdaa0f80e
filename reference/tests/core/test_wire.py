"""Protobuf messages: library and walk see the same, and their memory is estimated."""

import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor, parse_message
from lanceref.core.errors import BadProto, LimitExceeded
from lanceref.core.limits import DEFAULT_LIMITS, estimate
from lanceref.core.message_costs import MESSAGE_BYTES, TYPE_BYTES, UNKNOWN
from lanceref.core.spans import SpanRecorder, uncovered
from lanceref.proto import file_pb2, table_pb2


def _parse(data: bytes, cls, findings=None, base=0):
    recorder = SpanRecorder()
    ctx = Context("f", spans=recorder, findings=findings)
    message = parse_message(Cursor(memoryview(data), base, ctx), cls, "message", "L.wire.message")
    return message, recorder.finish(base + len(data))


@pytest.mark.parametrize(
    ("data", "cls", "found"),
    [
        ("1a01ff", file_pb2.Field, "lance.file.Field.id with wire type 2"),
        ("1007", file_pb2.Field, "lance.file.Field.name with wire type 0"),
        ("520a 0a016b 5203616263 1005", file_pb2.Field, "lance.file.Field.metadata with more than"),
        ("5005", file_pb2.Field, "lance.file.Field.metadata with wire type 0"),
        ("0a04 0a02 1007", file_pb2.FileDescriptor, "lance.file.Field.name with wire type 0"),
    ],
    ids=["bytes for a number", "a number for text", "entry", "no entry", "two messages deep"],
)
def test_a_known_field_of_another_wire_type_is_refused(data, cls, found):
    """The library would keep it as an unknown one, and the field would be lost silently."""
    with pytest.raises(BadProto) as caught:
        _parse(bytes.fromhex(data), cls)

    assert caught.value.found.startswith(found)


def test_unknown_fields_are_noted():
    """A field number the descriptor lacks is a finding of level note, and owns its bytes."""
    findings = []
    _, root = _parse(bytes.fromhex("120161 9a0603abcdef"), file_pb2.Field, findings)

    assert [("L.wire.unknown-field", "note")] == [(f.clause, f.severity) for f in findings]
    assert [] == uncovered(root)


def test_unknown_groups_are_walked_over():
    """A group of an unknown field (wire types 3 and 4) is owned to its end."""
    _, root = _parse(bytes.fromhex("a306 0801 a406 1807"), file_pb2.Field)

    assert [] == uncovered(root)
    assert 7 == next(leaf.value for leaf in root.leaves() if leaf.name == "id")


@pytest.mark.parametrize("data", ["12ff61", "08", "0a0161", "1202c328", "80"])
def test_bytes_that_do_not_parse_are_bad_proto(data):
    """Truncated varints, lengths past the end, bad UTF-8: one error class, with the place."""
    with pytest.raises(BadProto) as caught:
        _parse(bytes.fromhex(data), file_pb2.Schema if data.startswith("0a") else file_pb2.Field)

    assert ("L.wire.message", "f", 0) == (
        caught.value.clause, caught.value.file, caught.value.offset,
    )  # fmt: skip


@given(st.binary(max_size=60))
def test_what_the_library_parses_the_walk_owns(data):
    """Any bytes: BadProto, or a message whose bytes all have an owner."""
    try:
        _, root = _parse(data, file_pb2.FileDescriptor, findings=[])
    except BadProto:
        return
    assert [] == uncovered(root)


def _nested(depth: int) -> bytes:
    """Return an index entry whose details are an `Any` inside an `Any`, and so on."""
    packed = b""
    for _ in range(depth):
        packed = AnyMessage(type_url="/google.protobuf.Any", value=packed).SerializeToString()
    entry = table_pb2.IndexMetadata()
    entry.index_details.type_url = "/google.protobuf.Any"
    entry.index_details.value = packed
    return entry.SerializeToString()


@pytest.mark.parametrize("depth", [150, 600, 3000])
def test_any_inside_any_is_bounded(depth):
    """The library sees bytes, so its own limit of nesting does not hold here."""
    with pytest.raises(LimitExceeded, match="nested deeper"):
        _parse(_nested(depth), table_pb2.IndexMetadata)


@pytest.mark.parametrize("depth", [200, 100_000])
def test_groups_inside_groups_are_bounded(depth):
    """An unknown group of wire type 3 may begin with another: by whom it is refused is no matter.

    The tag of field 1000 that opens a group is c3 3e, and the one that closes it c4 3e.
    """
    with pytest.raises((LimitExceeded, BadProto)):
        _parse(b"\xc3\x3e" * depth + b"\xc4\x3e" * depth, file_pb2.Field)


def test_a_message_of_many_empty_messages_is_refused_before_it_is_parsed():
    """200,000 empty fields of a schema are 400 kB, and half a gigabyte once they are parsed."""
    with pytest.raises(LimitExceeded, match="more memory"):
        _parse(b"\x0a\x00" * 200_000, file_pb2.Schema)


MANIFEST, FILE = "lance.table.Manifest", "lance.table.DataFile"


def test_every_message_inside_counts():
    """A fragment with one data file is two messages: 12 02 12 00."""
    wanted = TYPE_BYTES["lance.table.DataFragment"] + TYPE_BYTES[FILE]

    assert wanted == estimate(bytes.fromhex("1202 1200"), MANIFEST, 10**6)


@pytest.mark.parametrize(
    ("tag", "value"),
    [
        ("807d", b"\x80\x01"),
        ("817d", b"\xff" * 8),
        ("827d", b"\x80\x01" + b"\xff" * 128),
        ("827d", b"\x00"),
        ("857d", b"\xff" * 4),
    ],
)
def test_what_follows_an_unknown_field_counts_as_alone(tag, value):
    """A number, words and texts of field 2000: numbers whose first seven bits are 0."""
    fragment = bytes.fromhex("1202 1200")
    whole = bytes.fromhex(tag) + value + fragment

    assert UNKNOWN.size + estimate(fragment, MANIFEST, 10**6) == estimate(whole, MANIFEST, 10**6)


def test_the_estimate_stops_above_the_most_that_is_allowed():
    """A million of empty messages are not walked when a few are too many already."""
    found = estimate(b"\x0a\x00" * 10**6, MANIFEST, 10 * MESSAGE_BYTES)

    assert 10 * MESSAGE_BYTES < found < 10 * MESSAGE_BYTES + 10_000


@given(st.binary(max_size=200))
def test_any_bytes_have_an_estimate(data):
    """Bytes that do not parse count as far as they do."""
    assert 0 <= estimate(data, MANIFEST, 10**9)


@pytest.mark.parametrize(("columns", "fragments"), [(1, 20_000), (10, 20_000), (1000, 1000)])
def test_the_manifests_of_large_tables_are_within_the_limits(columns, fragments):
    """Files of the same columns share what is made of their fields."""
    manifest = table_pb2.Manifest()
    for number in range(fragments):
        fragment = manifest.fragments.add(id=number, physical_rows=1_000_000)
        fragment.files.add(
            path=f"{number:048x}.lance",
            fields=range(columns),
            column_indices=range(columns),
            file_major_version=2,
            file_minor_version=1,
            file_size_bytes=10_000_000,
        )
    data = manifest.SerializeToString()

    assert estimate(data, "lance.table.Manifest", 1 << 40) < DEFAULT_LIMITS.expanded(len(data))
