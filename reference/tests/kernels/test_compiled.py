"""Compiled kernels: when they are used, and that they give what plain functions give."""

from __future__ import annotations

from types import SimpleNamespace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from lanceref.codecs import bitpack, variable
from lanceref.codecs.compressive import decode_mini
from lanceref.codecs.fsst import apply, make_coder
from lanceref.codecs.values import Variable
from lanceref.core.errors import CorruptPage
from lanceref.fast.codecs import KERNEL_USE, KernelUse, apply_compiled
from lanceref.proto import encodings_v2_1_pb2 as pb

from ..codecs.runs import PLACE, run_of

compiled_kernels = pytest.importorskip(
    "lanceref.fast.compiled", reason="numba is not installed", exc_type=ImportError
)


def test_kernels_wait_until_enough_was_decoded_without_them():
    """The first hundred bytes are decoded without, then calls of ten bytes and more with."""
    patience = KernelUse(is_there=True, enough=100, smallest=10)

    assert [False, False, True, False] == [patience.use(size) for size in (60, 40, 10, 9)]


def test_a_kernel_is_compiled_where_its_code_cannot_be_kept(monkeypatch):
    """Without a folder to write to, the function is compiled anew in every process."""

    def njit(function=None, *, cache=False, fastmath=False):
        def refuse(_):
            raise RuntimeError("no locator available")

        return refuse if cache else ("compiled", function)

    monkeypatch.setattr("lanceref.fast.compiled.numba", SimpleNamespace(njit=njit))

    assert ("compiled", len) == compiled_kernels.compiled(len)


pytest.importorskip("numba")


@pytest.fixture(scope="module", autouse=True)
def always_compiled():
    """Use kernels from the first byte on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KERNEL_USE, "enough", -1)
        patch.setattr(KERNEL_USE, "smallest", 1)
        yield


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_blocks_of_one_width_are_unpacked_alike(draw):
    """Any bytes at any width of any type, also where blocks do not lie together."""
    bits = draw.draw(st.sampled_from(bitpack.WIDTHS))
    width, count = draw.draw(st.integers(0, bits)), draw.draw(st.integers(1, 9))
    step = draw.draw(st.sampled_from([1, 2]))
    random = np.random.default_rng(draw.draw(st.integers(0, 1000)))
    shape = count * step, width * 1024 // bits
    packed = random.integers(0, 2**bits, shape, f"u{bits // 8}", endpoint=False)[::step]
    out = np.empty((2, count, 1024), packed.dtype)

    bitpack.unpack.plain(packed, width, out[0])
    bitpack.unpack.fast(packed, width, out[1])

    assert np.array_equal(out[0], out[1])


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_chunks_of_many_widths_are_unpacked_alike(draw):
    """Any bytes after a width of their own."""
    bits = draw.draw(st.sampled_from(bitpack.WIDTHS))
    widths = np.array(draw.draw(st.lists(st.integers(0, bits), min_size=1, max_size=9)))
    random = np.random.default_rng(draw.draw(st.integers(0, 1000)))
    heads = [int(width).to_bytes(bits // 8, "little") for width in widths]
    blocks = [head + random.bytes(128 * int(width)) for head, width in zip(heads, widths)]
    run = run_of(blocks, counts=[1024] * len(blocks))
    out = np.empty((2, len(blocks), 1024), f"u{bits // 8}")

    bitpack.unpack_chunks.plain(run, widths, out[0])
    bitpack.unpack_chunks.fast(run, widths, out[1])

    assert np.array_equal(out[0], out[1])
    assert np.array_equal(bitpack.inline_widths(run, bits), widths)


pytest.importorskip("numba")


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
@settings(max_examples=100)
def test_values_decode_as_without_the_kernel(draw, symbols):
    """Sound codes and others give the same bytes or the same error."""
    values = strings(draw.draw(code_strings(symbols)))
    table = variable.parse_symbol_table(table_bytes(symbols), PLACE)

    both(lambda: variable.decode_codes(table, values, PLACE))


@given(st.data(), SYMBOLS)
@settings(max_examples=100)
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


pytest.importorskip("numba")


BYTE = st.sampled_from([0, 1, 97, 98, 255])


TEXT = st.lists(BYTE, max_size=30).map(bytes)


SYMBOL = st.lists(BYTE, min_size=1, max_size=8).map(bytes)


@given(st.lists(TEXT, min_size=1, max_size=12), st.lists(SYMBOL, unique=True, max_size=60))
@settings(max_examples=100)
def test_values_are_coded_as_without_the_kernel(texts, symbols):
    """Any symbols and any bytes give the same codes."""
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    values = Variable(offsets, np.frombuffer(b"".join(texts), np.uint8))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KERNEL_USE, "is_there", False)
        wanted = apply(symbols, values)

    coded = apply_compiled(make_coder(symbols), values)

    assert wanted.offsets.tolist() == coded.offsets.tolist()
    assert wanted.data.tobytes() == coded.data.tobytes()
