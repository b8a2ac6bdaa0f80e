"""Choice of codecs."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from lanceref.codecs.blocks import decode_block, decode_levels
from lanceref.codecs.choose import Kind, encode_block, encode_levels, encode_mini, encode_zip
from lanceref.codecs.encoder_inputs import Params
from lanceref.codecs.values import Rows
from lanceref.core.file_versions import V2_1, V2_2

from .encoded_runs import decoded, fixed, parts_of, texts_of, variable
from .runs import cursor_of, run_of

TEXT = Kind(is_text=True)
RANDOM = np.random.default_rng(3).integers(0, 2**64, 3000, np.uint64).tolist()


def _arm(values, kind=None, **knobs):
    blocks = encode_mini(values, Params(**knobs), V2_2, kind or Kind())
    arm = blocks.encoding.WhichOneof("compression")
    if arm == "general":
        inner = blocks.encoding.general.values.WhichOneof("compression")
        return f"general {inner}"
    return arm


@pytest.mark.parametrize(
    ("values", "bits", "knobs", "arm"),
    [
        (RANDOM, 64, {}, "flat"),
        ([i % 100 for i in range(3000)], 32, {}, "inline_bitpacking"),
        (np.repeat(range(50), 100), 32, {}, "rle"),
        (np.repeat(range(50), 100), 32, {"rle_threshold": 0.001}, "inline_bitpacking"),
        ([i % 100 for i in range(3000)], 32, {"compression": "none"}, "flat"),
        (RANDOM, 64, {"compression": "lz4"}, "flat"),
        (range(3000), 64, {"compression": "zstd", "bss": "on"}, "general byte_stream_split"),
        (range(3000), 64, {"compression": "zstd", "bss": "off"}, "general inline_bitpacking"),
    ],
)
def test_fixed_values_take_the_smallest_codec(values, bits, knobs, arm):
    """Runs, packed bits, plain; streams of bytes and general compression when asked for."""
    assert _arm(fixed(values, bits), **knobs) == arm


@pytest.mark.parametrize(
    ("count", "kind", "knobs", "arm"),
    [
        (2700, TEXT, {}, "variable"),
        (2800, TEXT, {}, "fsst"),
        (2800, Kind(), {}, "variable"),
        (2800, TEXT, {"compression": "none"}, "variable"),
        (10, TEXT, {"compression": "fsst"}, "fsst"),
        (2800, TEXT, {"compression": "zstd"}, "general variable"),
    ],
)
def test_text_is_coded_from_32_kib_on(count, kind, knobs, arm):
    """Strings of eight bytes with their offsets; binaries are not text."""
    values = variable([f"{i * 7919 % count:08d}".encode() for i in range(count)])

    assert _arm(values, kind, **knobs) == arm


def test_an_unknown_scheme_is_refused():
    """As pylance does."""
    with pytest.raises(ValueError, match="bogus"):
        encode_mini(fixed([1, 2]), Params(compression="bogus"), V2_2, Kind())


@given(st.lists(st.integers(0, 3), min_size=1, max_size=3000), st.sampled_from([V2_1, V2_2]))
def test_levels_of_any_chunks_come_back(levels, version):
    """One codec for the page, applied to the levels of each chunk."""
    numbers = np.array(levels, np.uint16)
    counts = np.minimum(1024, len(levels) - np.arange(0, len(levels), 1024))

    encoding, data, sizes = encode_levels(numbers, counts, version)

    run = run_of(parts_of((data, sizes)), counts=counts.tolist())
    assert decode_levels(encoding, run).astype(int).tolist() == levels


@pytest.mark.parametrize(
    ("values", "arm"),
    [
        (fixed([5], 32), "general"),
        (fixed([0], 32), "inline_bitpacking"),
        (fixed([7] * 200, 64), "rle"),
        (fixed(range(1000), 64), "inline_bitpacking"),
        (fixed(range(1500), 64), "out_of_line_bitpacking"),
        (variable([b"a"]), "general"),
    ],
)
def test_a_dictionary_is_packed_or_compressed(values, arm):
    """From 2.2 on what no integer codec shrinks is an LZ4 block; it comes back either way."""
    encoding, data = encode_block(values, Params(), V2_2, Kind())

    assert encoding.WhichOneof("compression") == arm
    back = decode_block(encoding, cursor_of(data), values.count)
    assert bytes(back.data) == bytes(values.data)


def test_2_1_does_not_compress_dictionaries():
    """Strings stay plain."""
    encoding, _ = encode_block(variable([b"a"]), Params(), V2_1, Kind())

    assert encoding.WhichOneof("compression") == "variable"


@pytest.mark.parametrize(
    ("knobs", "size", "arm"),
    [
        ({}, 500, "fsst"),
        ({"compression": "none"}, 500, "variable"),
        ({"compression": "lz4"}, 500, "general"),
        ({}, 40_000, "general"),
        ({}, 100, "variable"),
    ],
)
def test_long_values_are_compressed_one_by_one(knobs, size, arm):
    """When asked for, and above 32 KiB; text is coded; few bytes are left alone."""
    values = variable([bytes([97 + i % 26]) * size for i in range(100)])

    encoding, _ = encode_zip(values, Params(**knobs), V2_2, TEXT)

    assert encoding.WhichOneof("compression") == arm


def test_rows_with_a_variable_field_are_variable():
    """Each field is encoded by its own kind."""
    rows = Rows(2, (fixed([1, 2], 8), variable([b"ab", b""])))

    encoding, stored = encode_zip(rows, Params(), V2_2, Kind(fields=(Kind(), TEXT)))

    assert encoding.WhichOneof("compression") == "variable_packed_struct"
    assert texts_of(stored) == [b"\x01\x02\x00\x00\x00ab", b"\x02\x00\x00\x00\x00"]


def test_packed_rows_are_chunks_of_rows():
    """Rows of fixed fields are plain values of their whole width."""
    blocks = encode_mini(Rows(2, (fixed([1, 2], 8), fixed([3, 4], 16))), Params(), V2_2, Kind())

    assert decoded(blocks).fields[1].data.view("<u2").tolist() == [3, 4]


@pytest.mark.parametrize(("count", "says"), [(1024, True), (1023, False), (2048, True), (1, False)])
def test_a_full_last_chunk_of_plain_values_says_its_count(count, says):
    """1,024 values of 32 bits fill a chunk; the count of fewer follows from the page's."""
    blocks = encode_mini(fixed(range(count), 32), Params(compression="none"), V2_2, Kind())

    assert blocks.last_says_count is says
