"""Choice of codecs by the writer: by values, versions, and the metadata of fields."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.codecs import bitpack, sequence
from lanceref.codecs.choose import Kind, choose_dictionary, encode_block, encode_mini, encode_zip
from lanceref.codecs.encoder_inputs import Params, packed_bytes, params_of, run_bytes, starts_of
from lanceref.codecs.values import Fixed, FixedSizeList
from lanceref.core.file_versions import V2_1, V2_2, V2_3

from .runs import decoded, fixed, plain, variable

TEXT = Kind(is_text=True)
RANDOM = np.random.default_rng(3).integers(0, 2**64, 3000, np.uint64).tolist()
SMALL = [i % 100 for i in range(3000)]
LONG_RUNS = np.repeat(range(50), 100).tolist()


def _arms(encoding):
    """Name the codecs of a description from the outside in, without what is inside of strings."""
    arm = encoding.WhichOneof("compression")
    return f"general {_arms(encoding.general.values)}" if arm == "general" else arm


def _eights(count):
    return variable([f"{i * 7919 % count:08d}".encode() for i in range(count)])


RISING = fixed(range(3000), 64)

CHUNKS = [
    (fixed(RANDOM, 64), Kind(), {}, "flat"),
    (fixed(SMALL), Kind(), {}, "inline_bitpacking"),
    (fixed(SMALL), Kind(), {"compression": "none"}, "flat"),
    (fixed(LONG_RUNS), Kind(), {}, "rle"),
    (fixed(LONG_RUNS), Kind(), {"rle_threshold": 0.001}, "inline_bitpacking"),
    (fixed(RANDOM, 64), Kind(), {"compression": "lz4"}, "flat"),
    (RISING, Kind(), {"compression": "zstd", "bss": "on"}, "general byte_stream_split"),
    (RISING, Kind(), {"compression": "zstd", "bss": "off"}, "general inline_bitpacking"),
    (RISING, Kind(), {"compression": "zstd"}, "general byte_stream_split"),
    (fixed(range(511), 64), Kind(), {"compression": "lz4", "bss": "on"}, "byte_stream_split"),
    (_eights(2700), TEXT, {}, "variable"),
    (_eights(2800), TEXT, {}, "fsst"),
    (_eights(2800), Kind(), {}, "variable"),
    (_eights(2800), TEXT, {"compression": "none"}, "variable"),
    (_eights(10), TEXT, {"compression": "fsst"}, "fsst"),
    (_eights(2800), TEXT, {"compression": "zstd"}, "general variable"),
    (variable([b"abcd"] * 9000), TEXT, {}, "variable"),
]
"""Values, facts of the type, metadata, codecs."""


@given(st.sampled_from([16, 32, 64]), st.data())
def test_sizes_that_are_compared_are_those_that_follow(bits, draw):
    """Of packed bits, with a tail or not, of blocks of any widths, and of runs, cut ones too."""
    values = st.integers(0, 2**bits - 1) | st.integers(0, 9)
    runs = st.lists(st.tuples(values, st.integers(1, 9) | st.integers(250, 700)), min_size=1)
    some, lengths = zip(*draw.draw(runs), strict=True)
    numbers = np.repeat(np.array(some, f"<u{bits // 8}"), lengths)
    counts, widths = np.array([len(numbers)]), bitpack.block_widths(numbers)
    parts = [numbers[at : at + bitpack.BLOCK] for at in range(0, len(numbers), bitpack.BLOCK)]
    blocks = bitpack.encode_inline_chunks(numbers, np.array([*map(len, parts)]))
    width = int(widths.max())
    packed = bitpack.encode_out_of_line(numbers, counts, width)

    assert [bitpack.out_of_line_bytes(len(numbers), bits, width)] == packed[1].tolist()
    assert packed_bytes(numbers, widths) == sum(blocks[1])
    size_bytes = sequence.encode_run_blocks(numbers, counts)[1][0] - sequence.RUNS_HEADER_BYTES
    assert (len(starts_of(numbers)), size_bytes) == run_bytes(numbers, 1 << 40)


@pytest.mark.parametrize(("values", "kind", "knobs", "arms"), CHUNKS)
def test_chunks_take_the_smallest_codec_or_the_one_asked_for(values, kind, knobs, arms):
    """Runs, packed bits, plain; FSST for text from 32 KiB on; compression where it is asked for."""
    assert arms == _arms(encode_mini(values, Params(**knobs), V2_2, kind).encoding)


BLOCKS = [
    (fixed([5], 32), V2_2, {}, "general flat"),
    (fixed([0], 32), V2_2, {}, "inline_bitpacking"),
    (fixed([7] * 200, 64), V2_2, {}, "rle"),
    (fixed([7] * 200, 64), V2_1, {}, "inline_bitpacking"),
    (fixed(range(1000), 64), V2_2, {}, "inline_bitpacking"),
    (fixed(range(1500), 64), V2_2, {}, "out_of_line_bitpacking"),
    (variable([b"a"]), V2_2, {}, "general variable"),
    (variable([b"a"]), V2_2, {"dict_values_compression": "none"}, "variable"),
    (variable([b"a"]), V2_1, {}, "variable"),
    (Fixed(128, 1, np.ones(16, np.uint8)), V2_1, {}, "flat"),
]
"""Items of a dictionary, version, metadata, codecs."""


@pytest.mark.parametrize(("values", "version", "knobs", "arms"), BLOCKS)
def test_a_dictionary_is_packed_or_compressed(values, version, knobs, arms):
    """From 2.2 on an LZ4 block, unless an integer codec has shrunk the items already."""
    assert arms == _arms(encode_block(values, Params(**knobs), version, Kind())[0])


ZIPPED = [
    ({}, 500, "fsst"),
    ({"compression": "none"}, 500, "variable"),
    ({"compression": "lz4"}, 500, "general variable"),
    ({}, 40_000, "general variable"),
    ({"compression": "none"}, 40_000, "variable"),
    ({}, 100, "variable"),
    ({"compression": "fsst"}, 100, "fsst"),
]
"""Metadata, bytes of each of 100 values, codecs."""


@pytest.mark.parametrize(("knobs", "size", "arms"), ZIPPED)
def test_long_values_are_compressed_one_by_one(knobs, size, arms):
    """When asked for, and above 32 KiB a value; text is coded; few bytes are left alone."""
    values = variable([bytes([97 + i % 26]) * size for i in range(100)])

    assert arms == _arms(encode_zip(values, Params(**knobs), V2_2, TEXT)[0])


def test_an_unknown_scheme_is_refused():
    """The name is in the message, as pylance has it."""
    with pytest.raises(ValueError, match="bogus"):
        encode_mini(fixed(RANDOM, 64), Params(compression="bogus"), V2_2, Kind())


SHORT_OFFSETS = [
    *((one, "constant") for one in ([0], [0] * 9)),
    *((one, "range") for one in ([5], [7] * 300)),
    *((one, "delta") for one in ([5, 6, 7], [83, 163], [1, 2] * 200)),
    *((one, "flat") for one in ([5, 6], [200, 3, 250], [1, 2] * 8)),
]
"""Lengths of strings, codec of the offsets."""


@pytest.mark.parametrize(("lengths", "kind"), SHORT_OFFSETS)
def test_offsets_of_2_3_take_the_codec_of_their_lengths(lengths, kind):
    """Empty, equal, evenly rising, or short lengths; plain where nothing is gained."""
    texts = [bytes([65 + at % 26]) * length for at, length in enumerate(lengths)]
    blocks = encode_mini(variable(texts), Params(), V2_3, Kind())

    assert kind == blocks.encoding.variable.offsets.WhichOneof("compression")
    assert texts == decoded(blocks)


SIZES = [
    (fixed(RANDOM[:1500], 64), "none", [512, 512, 476]),
    (fixed(range(1500)), "none", [1024, 476]),
    (fixed(range(5000), 16), "none", [2048, 2048, 904]),
    (fixed([i % 256 for i in range(5000)], 8), "none", [4096, 904]),
    (Fixed(96, 600, np.zeros(7200, np.uint8)), "none", [512, 88]),
    (Fixed(1, 9001, np.zeros(1126, np.uint8)), "none", [4096, 4096, 809]),
    (fixed(LONG_RUNS), None, [4096, 904]),
    (fixed(range(3000)), None, [1024, 1024, 952]),
    (fixed([7] * 10_000), None, [4096, 4096, 1808]),
    (fixed([i // 2 for i in range(9000)], 64), None, [1024] * 8 + [808]),
    (variable([b"x" * 100] * 5), None, [5]),
    (variable([b"x" * 100] * 80), None, [32, 32, 16]),
    (variable([b"x" * 3000] * 4), None, [2, 2]),
    (variable([b"x" * 3000] * 3), None, [2, 1]),
    (variable([b""] * 1500), None, [512, 988]),
    (FixedSizeList(900, 3, None, fixed([1] * 2700)), None, [512, 388]),
]
"""Values, compression, values of each chunk."""


@pytest.mark.parametrize(("values", "compression", "counts"), SIZES)
def test_chunks_hold_the_power_of_two_that_fits(values, compression, counts):
    """Below 8 186 bytes and 4 096 values; strings aim at 4 096 bytes, the rest is one chunk."""
    blocks = encode_mini(values, Params(compression=compression), V2_2, Kind())

    assert counts == blocks.counts.tolist()
    assert plain(values) == decoded(blocks)


def test_a_chunk_has_4_096_values_at_most():
    """Whatever room the bytes of bits and of empty strings leave."""
    bits = Fixed(1, 10_000, np.zeros(1250, np.uint8))
    assert [4096, 4096, 1808] == encode_mini(bits, Params(), V2_2, Kind()).counts.tolist()
    strings = encode_mini(variable([b""] * 5000), Params(minichunk_size=1 << 20), V2_2, Kind())
    assert [4096, 904] == strings.counts.tolist()


def _items(distinct, count=1000):
    return variable([f"{i % distinct:04d}".encode() for i in range(count)])


PAIRS = FixedSizeList(100, 2, None, fixed([1, 2, 3, 4] * 50, 64))
DICTIONARIES = [
    (_items(5, 99), V2_2, Kind(), {}, False),
    (_items(5, 100), V2_2, Kind(), {}, True),
    (_items(299), V2_2, Kind(), {}, True),
    (_items(300), V2_2, Kind(), {}, False),
    (_items(466), V2_2, Kind(wide=True), {}, True),
    (_items(467), V2_2, Kind(wide=True), {}, False),
    (fixed([7, 8] * 100, 64), V2_1, Kind(), {}, False),
    (fixed([7, 8] * 100, 64), V2_2, Kind(), {}, True),
    (fixed([7, 8] * 100, 32), V2_2, Kind(), {}, False),
    (Fixed(128, 100, np.zeros(1600, np.uint8)), V2_1, Kind(), {}, True),
    (PAIRS, V2_2, Kind(), {}, False),
    (PAIRS, V2_3, Kind(), {}, True),
    (_items(250), V2_2, Kind(), {"dict_divisor": 4, "dict_size_ratio": 1.0}, True),
    (_items(251), V2_2, Kind(), {"dict_divisor": 4, "dict_size_ratio": 1.0}, False),
    (_items(250), V2_2, Kind(), {"dict_max_cardinality": 249, "dict_size_ratio": 1.0}, False),
    (fixed(RANDOM, 64), V2_2, Kind(), {"dict_size_ratio": 9.0}, False),
]
"""Values, version, facts of the type, metadata, whether they become a dictionary."""


@pytest.mark.parametrize(("values", "version", "kind", "knobs", "taken"), DICTIONARIES)
def test_a_dictionary_is_made_when_it_is_small_enough(values, version, kind, knobs, taken):
    """From 100 values on, where items and indices take four fifths at most; by type and version."""
    assert taken == (choose_dictionary(values, Params(**knobs), version, kind) is not None)


def test_lists_come_back_from_their_items():
    """The items of lists are lists."""
    indices, items = choose_dictionary(PAIRS, Params(), V2_3, Kind())

    assert [[1, 2], [3, 4]] == plain(items)
    assert [0, 1] * 50 == indices.tolist()


@pytest.mark.parametrize("prefix", ["", "a prefix longer than sixteen bytes "])
def test_distinct_values_are_counted_wherever_they_differ(prefix):
    """As many items as the divisor allows, and no more; bytes after a value are no part of it."""
    params = Params(dict_divisor=4, dict_size_ratio=1e9)
    for distinct in (1, 29, 30, 31, 60):
        values = variable([f"{prefix}{i % distinct}".encode() for i in range(120)])
        assert (distinct <= 30) == (choose_dictionary(values, params, V2_2, Kind()) is not None)
    short = variable([b"x", *(f"{i % 20}".encode() for i in range(199))])
    assert choose_dictionary(short, Params(dict_size_ratio=1e9), V2_2, Kind()) is not None


def test_every_key_of_the_metadata_is_read():
    """Keys start with `lance-encoding:`."""
    given = {
        "compression": "zstd",
        "compression-level": "9",
        "rle-threshold": "0.25",
        "bss": "on",
        "minichunk-size": "65536",
        "dict-divisor": "4",
        "dict-size-ratio": "0.5",
        "dict-values-compression": "none",
        "dict-values-compression-level": "3",
        "structural-encoding": "fullzip",
    }
    assert Params() == params_of({})
    assert Params("zstd", 9, 0.25, "on", 65536, 4, 0.5, 100, 100_000, "none", 3, "fullzip") == (
        params_of({f"lance-encoding:{key}": value for key, value in given.items()})
    )


def test_metadata_that_is_no_number_counts_as_absent_and_ratios_have_a_range():
    """A level of 'high' is ignored; a ratio lies in (0, 1]."""
    assert params_of({"lance-encoding:compression-level": "high"}).compression_level is None
    for ratio in ("1.5", "-1"):
        with pytest.raises(ValueError, match="dict-size-ratio"):
            params_of({"lance-encoding:dict-size-ratio": ratio})
