"""FSST, compiled, against the NumPy functions."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from lanceref.codecs import fsst
from lanceref.codecs.compressive import decode_mini
from lanceref.codecs.values import Variable
from lanceref.core.errors import CorruptPage
from lanceref.core.file_versions import FileVersion
from lanceref.fast.compiled import KERNEL_USE
from lanceref.proto import encodings_v2_1_pb2 as pb

from ..codecs.runs import PLACE, run_of

pytest.importorskip("numba")

V2_1 = FileVersion(2, 1)
SYMBOLS = st.lists(st.binary(min_size=1, max_size=8), min_size=1, max_size=255)


def table_bytes(symbols):
    """Write a symbol table."""
    header = bytes([len(symbols), 0, 0, 1]) + b"TSSF"
    cells = b"".join(symbol.ljust(8, b"\0") for symbol in symbols)
    return (header + cells + bytes(map(len, symbols))).ljust(2312, b"\0")


@st.composite
def code_strings(draw, symbols):
    """Draw the codes of some values, mostly sound ones."""
    code = st.integers(0, len(symbols) - 1).map(lambda c: bytes([c]))
    escape = st.binary(min_size=1, max_size=1).map(lambda c: b"\xff" + c)
    sound = st.lists(code | escape, max_size=30).map(b"".join)
    return draw(
        st.lists(sound, max_size=10) | st.lists(sound | st.binary(max_size=12), max_size=10)
    )


def by_numpy(call):
    """Return what a call gives without kernels: a value, or the clause it breaks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KERNEL_USE, "is_there", False)
        return outcome(call)


def outcome(call):
    """Return offsets, bytes and what is known of them, or the error."""
    try:
        values = call()
    except CorruptPage as error:
        return str(error)
    size = int(values.offsets[-1])
    return values.offsets.tolist(), values.data[:size].tobytes(), values.is_ascii


def strings(values):
    """Return byte strings as values."""
    offsets = np.cumsum([0, *map(len, values)]).astype(np.int64)
    return Variable(offsets, np.frombuffer(b"".join(values), np.uint8))


def chunk(values):
    """Lay out byte strings after their u32 offsets."""
    first = 4 * (len(values) + 1)
    table = np.cumsum([first, *map(len, values)]).astype("<u4")
    return table.tobytes() + b"".join(values)


def both(call):
    """Hold what a call gives with kernels against what it gives without."""
    assert by_numpy(call) == outcome(call)


@given(st.data(), SYMBOLS)
@settings(max_examples=300)
def test_values_decode_as_without_the_kernel(draw, symbols):
    """Sound codes and others give the same bytes or the same error."""
    values = strings(draw.draw(code_strings(symbols)))
    table = fsst.parse_table(table_bytes(symbols), PLACE)

    both(lambda: fsst.decode(table, values, PLACE))


@given(st.data(), SYMBOLS)
@settings(max_examples=300)
def test_chunks_decode_as_without_the_kernel(draw, symbols):
    """Chunks of codes, damaged in one byte or not, give the same bytes or the same error."""
    values = draw.draw(st.lists(code_strings(symbols), min_size=1, max_size=4))
    chunks = [chunk(value) for value in values]
    if draw.draw(st.booleans()):
        at = draw.draw(st.integers(0, len(chunks) - 1))
        damaged = bytearray(chunks[at])
        damaged[draw.draw(st.integers(0, len(damaged) - 1))] = draw.draw(st.integers(0, 255))
        chunks[at] = bytes(damaged)
    encoding = pb.CompressiveEncoding()
    encoding.fsst.symbol_table = table_bytes(symbols)
    encoding.fsst.values.variable.offsets.flat.bits_per_value = 32
    run = run_of(chunks, counts=[len(value) for value in values])

    both(lambda: decode_mini(encoding, run))


def test_many_long_symbols_get_room_for_all_their_bytes():
    """A thousand codes of eight bytes each need more room than is there at first."""
    table = fsst.parse_table(table_bytes([b"12345678"]), PLACE)

    both(lambda: fsst.decode(table, strings([bytes(500), bytes(500)]), PLACE))
    assert b"12345678" * 4 == fsst.decode(table, strings([bytes(4)]), PLACE).data.tobytes()
