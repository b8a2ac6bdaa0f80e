"""Bitpacked integers."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.errors import CorruptPage
from lanceref.proto import encodings_v2_0_pb2 as pb

from .building import Column, Page, open_built, read_built, scanned, taken

FL_ORDER = (0, 4, 2, 6, 1, 5, 3, 7)


def bitpacked(width: int, full: int, *, signed: bool = False) -> pb.ArrayEncoding:
    """Values packed back to back."""
    return pb.ArrayEncoding(
        bitpacked={
            "compressed_bits_per_value": width,
            "uncompressed_bits_per_value": full,
            "buffer": {},
            "signed": signed,
        }
    )


def for_non_neg(width: int, full: int) -> pb.ArrayEncoding:
    """Values in FastLanes chunks."""
    return pb.ArrayEncoding(
        bitpacked_for_non_neg={
            "compressed_bits_per_value": width,
            "uncompressed_bits_per_value": full,
            "buffer": {},
        }
    )


def pack(values: list[int], width: int) -> bytes:
    """Pack values back to back, bit by bit."""
    bits = sum((value & ((1 << width) - 1)) << (i * width) for i, value in enumerate(values))
    return bits.to_bytes((len(values) * width + 7) // 8, "little")


def pack_lanes(values: list[int], width: int, full: int) -> bytes:
    """Pack chunks of 1024 values in the FastLanes order, bit by bit."""
    out = b""
    lanes = 1024 // full
    for at in range(0, len(values), 1024):
        chunk = values[at : at + 1024] + [0] * (1024 - len(values[at : at + 1024]))
        words = [0] * (lanes * width)
        for lane in range(lanes):
            stream = 0
            for row in range(full):
                number = FL_ORDER[row // 8] * 16 + (row % 8) * 128 + lane
                stream |= chunk[number] << (row * width)
            for word in range(width):
                words[word * lanes + lane] = (stream >> (word * full)) & ((1 << full) - 1)
        out += b"".join(word.to_bytes(full // 8, "little") for word in words)
    return out


def test_twelve_bits_a_value():
    """Four values of 12 bits take six bytes, least significant bit first."""
    data = bytes.fromhex("01 20 00 ff ff ff")

    unsigned = read_built(pa.int32(), bitpacked(12, 32), 4, data)
    signed = read_built(pa.int32(), bitpacked(12, 32, signed=True), 4, data)

    assert [1, 2, 4095, 4095] == unsigned.to_pylist()
    assert [1, 2, -1, -1] == signed.to_pylist()


@settings(deadline=None)
@given(
    st.sampled_from([8, 16, 32, 64]).flatmap(
        lambda full: st.tuples(st.just(full), st.integers(1, full))
    ),
    st.integers(0, 2**32),
    st.integers(1, 60),
)
def test_packed_values_come_back(widths, seed, count):
    """Any width of any type, whole and row by row."""
    full, width = widths
    values = [
        int(v) & ((1 << width) - 1)
        for v in np.random.default_rng(seed).integers(0, 2**63, count, dtype=np.int64)
    ]
    page = Page(bitpacked(width, full), count, [pack(values, width)])
    column = open_built(getattr(pa, f"uint{full}")(), [Column([page])])

    assert values == scanned(column).to_pylist()
    assert [values[count // 2], values[-1]] == taken(column, count // 2, count - 1)


@pytest.mark.parametrize("full", [8, 16, 32, 64])
@pytest.mark.parametrize("width", [1, 3, 7])
def test_fastlanes_chunks_come_back(full, width):
    """Two chunks, the second one filled up with zeros."""
    values = [(i * 37) % (1 << width) for i in range(1500)]
    page = Page(for_non_neg(width, full), 1500, [pack_lanes(values, width, full)])
    column = open_built(getattr(pa, f"uint{full}")(), [Column([page])])

    assert values == scanned(column).to_pylist()
    assert [values[5], values[1030]] == taken(column, 5, 1030)


@pytest.mark.parametrize(
    ("encoding", "size", "clause"),
    [
        (bitpacked(12, 32), 5, "L.array.bitpacked.size"),
        (bitpacked(33, 32), 17, "L.array.bitpacked.width"),
        (bitpacked(0, 32), 0, "L.array.bitpacked.width"),
        (bitpacked(12, 64), 6, "L.array.bitpacked.width"),
        (for_non_neg(3, 32), 383, "L.array.bitpacked-for-non-neg.size"),
        (for_non_neg(0, 32), 0, "L.array.bitpacked.width"),
    ],
)
def test_widths_and_sizes_that_do_not_fit_are_refused(encoding, size, clause):
    """The width is at most the type's, the buffer as large as the rows need."""
    with pytest.raises(CorruptPage) as told:
        read_built(pa.int32(), encoding, 4, bytes(size))

    assert clause == told.value.clause
