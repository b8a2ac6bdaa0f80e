"""Token dictionaries, read."""

from __future__ import annotations

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import FormatError, LanceError
from lanceref.index.full_text.fst import build_fst, checksum, parse_fst

from .test_bit_packer import cursor

WORDS = [(word.encode(), number) for number, word in enumerate(["ant", "bee", "beetle", "été"])]


def sealed(data: bytes) -> bytes:
    """Return a dictionary with the checksum of what it is now."""
    return data[:-4] + struct.pack("<I", checksum(data[:-4]))


def test_worked_checksum():
    """The CRC-32C of "123456789" is e3069283: turned right by 15 bits and shifted it is this."""
    crc = 0xE3069283
    wanted = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert wanted == checksum(b"123456789")


def test_tokens_are_found():
    """Those that are there, and no beginnings of them."""
    fst = parse_fst(cursor(build_fst(WORDS)))
    assert WORDS == list(fst.items())
    assert [0, 1, 2, 3, None, None] == [
        fst.get(word.encode()) for word in ("ant", "bee", "beetle", "été", "beet", "")
    ]


def test_an_empty_dictionary():
    """It has one node that leads nowhere."""
    data = bytes.fromhex("0300000000000000 0000000000000000 000000") + struct.pack("<QQ", 0, 18)
    assert data == build_fst([])[:-4]
    assert [] == list(parse_fst(cursor(build_fst([]))).items())


@pytest.mark.parametrize(
    ("at", "value", "clause"),
    [
        (0, 4, "version"),
        (-4, 1, "checksum"),
        (-20, 3, "count"),
        (-20, 5, "count"),
        (-12, 9999, "target"),
    ],
)
def test_damage_is_refused(at, value, clause):
    """Each part of the frame is held against what it must be."""
    data = bytearray(build_fst(WORDS))
    at %= len(data)
    data[at : at + 4] = struct.pack("<I", value)
    data = bytes(data) if clause in ("version", "checksum") else sealed(bytes(data))
    with pytest.raises(FormatError, match=rf"L\.index\.fts\.fst\.{clause}"):
        list(parse_fst(cursor(data)).items())


@given(st.data())
def test_any_bytes_are_tokens_or_an_error(data):
    """Whatever the nodes, the walk ends, and nothing but a LanceError escapes."""
    found = bytearray(build_fst(WORDS))
    for _ in range(data.draw(st.integers(1, 4))):
        found[data.draw(st.integers(16, len(found) - 5))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(LanceError):
        assert len(list(parse_fst(cursor(sealed(bytes(found)))).items())) < 1 << 16
