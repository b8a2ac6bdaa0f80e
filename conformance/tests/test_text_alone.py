"""The text alone: a reader of int32 columns of 2.1, written from `spec/` and nothing else.

Chapter 10 says how a file is opened, chapter 30 what a page is, chapter 31 what `flat` means. The
names below are those of the text; what they know of protobuf is its wire format.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance import cases

FIXTURES = Path(__file__).parents[2] / "fixtures"

READ = (
    "constant/all-null",
    "container/field-ids",
    "container/footer-2-1",
    "container/no-rows",
    "container/schema-metadata",
    "container/user-global-buffers",
    "miniblock/int32",
    "miniblock/plain",
)
"""Cases of 2.1 whose columns are int32, in mini-block pages of flat values or constant pages."""

Message = dict[int, list[int | bytes]]


def parse(data: bytes) -> Message:
    """Return the fields of a message by number, each with its values in order."""
    fields: Message = {}
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            assert 2 == tag & 7
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a varint and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def packed(fields: Message, number: int) -> list[int]:
    """Return the numbers of a packed field."""
    (data,) = fields.get(number, [b""])
    found, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


def inner(fields: Message, *numbers: int) -> Message:
    """Return the message below some fields, each of which is there once."""
    for number in numbers:
        (data,) = fields[number]
        fields = parse(data)
    return fields


def read(data: bytes) -> dict[str, list[int | None]]:
    """Return the columns of a file by name."""
    *starts, num_buffers, num_columns, major, minor, magic = struct.unpack("<3Q2I2H4s", data[-40:])
    _, cmo_start, gbo_start = starts
    assert (2, 1, b"LANC") == (major, minor, magic)
    position, size = struct.unpack_from("<2Q", data, gbo_start)
    descriptor = parse(data[position : position + size])
    names = [parse(field)[2][0].decode() for field in inner(descriptor, 1)[1]]
    columns = {}
    for number, name in enumerate(names):
        position, size = struct.unpack_from("<2Q", data, cmo_start + 16 * number)
        pages = parse(data[position : position + size]).get(2, [])
        columns[name] = [value for page in pages for value in rows(data, parse(page))]
    assert num_buffers and len(names) == num_columns
    return columns


def rows(data: bytes, page: Message) -> Iterator[int | None]:
    """Yield the rows of a page."""
    spans = zip(packed(page, 1), packed(page, 2), strict=True)
    buffers = [data[offset : offset + size] for offset, size in spans]
    any_message = inner(page, 4, 2, 1)
    assert b"lance.encodings21.PageLayout" == any_message[1][0].rpartition(b"/")[2]
    layout = inner(any_message, 2)
    if 2 in layout:
        assert [3] == packed(inner(layout, 2), 5)
        yield from [None] * page[3][0]
    else:
        yield from miniblock(inner(layout, 1), *buffers)


def miniblock(layout: Message, table: bytes, chunks: bytes) -> Iterator[int | None]:
    """Yield the values of the chunks of a mini-block page, None where the level is not 0."""
    assert 32 == inner(layout, 3, 1)[1][0]
    left, at = layout[9][0], 0
    for (word,) in struct.iter_unpack("<H", table):
        count = 1 << (word & 15) if word & 15 else left
        chunk = chunks[at : at + 8 * ((word >> 4) + 1)]
        left, at = left - count, at + len(chunk)
        words = struct.unpack_from(f"<{2 + (2 in layout)}H", chunk)
        begin = padded(2 * len(words))
        levels = [0] * count
        if 2 in layout:
            assert 16 == inner(layout, 2, 1)[1][0]
            levels = list(struct.unpack_from(f"<{count}H", chunk, begin))
            begin += padded(words[1])
        values = struct.unpack_from(f"<{count}i", chunk, begin)
        yield from (None if level else value for level, value in zip(levels, values, strict=True))


def padded(size: int) -> int:
    """Return a size up to a multiple of 8."""
    return -(-size // 8) * 8


@pytest.mark.parametrize("name", READ)
def test_the_text_is_enough_to_read_int32(name: str) -> None:
    """What the chapters say gives the rows that the case expects."""
    case = cases.load_case(FIXTURES / "file/2.1" / name / "case.json", FIXTURES)
    with pa.memory_map(str(case.folder / "expect.arrow")) as source:
        expected = pa.ipc.open_file(source).read_all()

    assert {pa.int32()} == set(expected.schema.types)
    assert expected.to_pydict() == read(case.input_root.read_bytes())
