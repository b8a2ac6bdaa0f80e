"""FSST pages of 2.0."""

import pyarrow as pa
import pytest
from lanceref.core.errors import CorruptPage, UnknownEncoding
from lanceref.proto import encodings_v2_0_pb2 as pb

from .building import Column, Page, binary, flat, open_built, read_built, scanned, taken, words


def table(*symbols: bytes, on: bool = True) -> bytes:
    """A symbol table of 2312 bytes."""
    head = 0x46535354 << 32 | on << 24 | len(symbols)
    cells = b"".join(symbol.ljust(8, b"\0") for symbol in symbols)
    return (words(head) + cells + bytes(len(s) for s in symbols)).ljust(2312, b"\0")


def fsst(adjustment: int, symbol_table: bytes) -> pb.ArrayEncoding:
    """Compressed strings in page buffers 0 and 1."""
    return pb.ArrayEncoding(fsst={"binary": binary(adjustment), "symbol_table": symbol_table})


def test_codes_become_symbols_and_escapes_become_bytes():
    """Code 1 is the second symbol, 255 takes the next byte as it is; nulls stay."""
    page = Page(fsst(6, table(b"foo", b"barbaz")), 3, [words(2, 2 + 6, 5), b"\x00\x01\xff!\x00"])
    column = open_built(pa.string(), [Column([page])])

    assert ["foobarbaz", None, "!foo"] == scanned(column).to_pylist()
    assert ["!foo"] == taken(column, 2)


def test_a_table_switched_off_leaves_strings_as_they_are():
    """Bit 24 of the header says whether anything was compressed."""
    page = fsst(4, table(b"x", on=False))

    assert ["abc"] == read_built(pa.string(), page, 1, words(3), b"abc").to_pylist()


def test_only_binary_can_be_inside():
    """FSST wraps binary."""
    encoding = pb.ArrayEncoding(fsst={"binary": flat(8), "symbol_table": table(b"x")})

    with pytest.raises(UnknownEncoding, match=r"L\.array\.fsst\.inner"):
        read_built(pa.string(), encoding, 1, b"a")


def test_a_short_table_is_refused():
    """The table has one size."""
    with pytest.raises(CorruptPage, match=r"L\.codec\.fsst\.table"):
        read_built(pa.string(), fsst(2, table(b"x")[:-1]), 1, words(1), b"\x00")
