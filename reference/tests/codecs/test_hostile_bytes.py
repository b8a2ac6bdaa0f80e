"""Hostile bytes: what each codec refuses, where it says so, and what it never allocates."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from lanceref.codecs.compressive import (
    decode_block,
    decode_blocks,
    decode_levels,
    decode_mini,
    decode_rle,
    integers,
)
from lanceref.codecs.nested import decode_zip_fixed, decode_zip_variable
from lanceref.core.context import Context
from lanceref.core.errors import BytesError, CorruptPage, LimitExceeded, UnknownEncoding
from lanceref.core.limits import Limits

from .encodings import (
    constant,
    dictionary,
    flat,
    fsst,
    general,
    inline,
    lists,
    out_of_line,
    packed_struct,
    range_,
    rle,
    split,
    variable_rows,
)
from .encodings import variable as strings
from .runs import (
    CTX,
    PLACE,
    check,
    cursor_of,
    damaged,
    gives_values_or_refuses,
    plain,
    run_of,
    variable,
    words,
)
from .slow_forms import (
    SYMBOLS,
    compress,
    decode_codes,
    dictionary_frame,
    pack_block,
    pack_inline,
    pack_out_of_line,
    run_frame,
    run_parts,
    string_block,
    string_chunk,
    symbol_table,
)

TABLE = symbol_table([b"a", b"b"])
RUNS, FRAME = rle(flat(16), flat(8)), dictionary(flat(32), flat(64), 3)
TRIPLES = lists(3, flat(16), True)


ROWS = variable_rows((flat(16), "bits_per_value", 16), (strings(32), "bits_per_length", 32))


def test_encodings_out_of_place_are_refused():
    """An encoding that cannot lie where it lies is named, not misread."""
    run, rows = run_of([bytes(8)], counts=[1]), np.zeros((1, 4), np.uint8)
    block = run_of([string_block([b"a"], 32)] * 2, counts=[1, 1])
    calls = [
        lambda: decode_mini(out_of_line(16, 3), run),
        lambda: decode_levels(strings(32), block),
        lambda: decode_levels(flat(64), run),
        lambda: decode_block(packed_struct([8], flat(8)), cursor_of(b"\1"), 1),
        lambda: decode_blocks(strings(32), block),
        lambda: decode_blocks(fsst(TABLE, strings(32)), block),
        lambda: integers(strings(32), run_of([string_block([b"a"], 32)], counts=[1])),
        lambda: integers(flat(24), run_of([bytes(3)], counts=[1])),
        lambda: decode_rle(rle(inline(32), inline(32)).rle, run_of([b""], [b""], counts=[1])),
        lambda: decode_zip_variable(flat(8), variable([b"a"]), CTX, PLACE),
        lambda: decode_zip_fixed(inline(32), rows, PLACE),
    ]
    for call in calls:
        with pytest.raises(UnknownEncoding, match=r"L\.codec\.encoding\.context"):
            call()
    with pytest.raises(CorruptPage, match=r"L\.codec\.fixed-size-list\.all-null"):
        decode_mini(lists(4, constant(), True), run_of([b"\0"], [b""], counts=[2]))


@pytest.mark.parametrize("name", ["lz4_raw", "zstd"])
@pytest.mark.parametrize("data", [bytes(range(100)) * 3, bytes(300), b"ab", b""])
@pytest.mark.parametrize("off", [-1, 1, 1000, 2**32 - 1])
def test_a_size_that_is_not_the_real_one_is_refused(name, data, off):
    """One byte less or more, and 4 GB over a few bytes, which are never allocated."""
    size = (len(data) + off) % 2**32
    with pytest.raises((CorruptPage, LimitExceeded), match=r"L\.codec\.general\.size"):
        decode_mini(
            general(name, flat(8)), run_of([compress(name, data, size)], counts=[len(data)])
        )


def test_an_lz4_block_that_falls_short_is_refused_whatever_the_room_held_before():
    """The end of the block lies where the last one, just freed, left the same bytes."""
    good, encoding = np.random.default_rng(1).bytes(400), general("lz4_raw", flat(8))

    def stored(data):
        """A literal of 270 to 524 bytes after the size 400."""
        return words([400], 32) + b"\xf0\xff" + bytes([len(data) - 270]) + data

    for _ in range(5):
        found = decode_mini(encoding, run_of([stored(good)], counts=[400]))
        assert good == found.data.tobytes()
        with pytest.raises(CorruptPage, match="a block that ends early"):
            decode_mini(encoding, run_of([stored(good[8:])], counts=[400]))


def test_the_chunks_of_a_run_share_the_budget():
    """Many chunks that each stay below the limit are refused when together they do not."""
    limits = Limits(expansion_bytes=1000, expansion_factor=0)
    run = run_of([compress("zstd", bytes(400))] * 3, counts=[400] * 3)
    with pytest.raises(LimitExceeded) as caught:
        decode_mini(
            general("zstd", flat(8)), replace(run, ctx=Context("test.lance", limits=limits))
        )

    assert run.place(0, 2).offset == caught.value.offset


def test_a_bare_frame_is_read_up_to_the_limit():
    """A zstd frame that does not state its size stops at the budget."""
    frame = pa.Codec("zstd").compress(bytes(5_000_000), asbytes=True)
    limits = Limits(expansion_bytes=1_000_000, expansion_factor=0)
    run = run_of([frame], counts=[5_000_000], ctx=Context("test.lance", limits=limits))
    with pytest.raises(LimitExceeded):
        decode_mini(general("zstd", flat(8)), run)


EXPANDING = [
    (constant(5), b""),
    (range_(0, 1), b""),
    (rle(flat(64), flat(32)), words([8, 0], 64) + words([10**6], 32)),
    (out_of_line(64, 0), b""),
]


@pytest.mark.parametrize(("encoding", "data"), EXPANDING)
def test_a_few_bytes_expand_only_as_far_as_the_limits_allow(encoding, data):
    """A million values from almost no bytes are refused where the caller allows 1 000 bytes."""
    ctx = Context("test.lance", limits=Limits(expansion_bytes=1000, expansion_factor=1))
    with pytest.raises(LimitExceeded, match=r"L\.codec\.limits\.expansion"):
        decode_block(encoding, cursor_of(data, ctx), 10**6)


def _run(*chunks, counts):
    return run_of(*zip(*chunks), counts=counts)


DAMAGED = {
    "bits": (flat(1), _run([bytes(40)], [bytes(8)], counts=[320, 64])),
    "numbers": (flat(24), _run([bytes(39)], [bytes(6)], counts=[13, 2])),
    "streams": (split(flat(32)), _run([bytes(12)], [bytes(4)], counts=[3, 1])),
    "packed": (
        inline(32),
        _run([pack_inline([1] * 9, 32, 2)], [pack_inline([3], 32, 3)], counts=[9, 1]),
    ),
    "runs": (
        RUNS,
        _run(run_parts([(1, 2), (2, 255)])[:2], run_parts([(3, 1)])[:2], counts=[257, 1]),
    ),
    "lz4": (
        general("lz4_raw", flat(8)),
        _run([compress("lz4_raw", b"ab" * 40)], [compress("lz4_raw", b"c")], counts=[80, 1]),
    ),
    "zstd": (
        general("zstd", flat(8)),
        _run([compress("zstd", b"ab" * 40)], [compress("zstd", b"c")], counts=[80, 1]),
    ),
    "strings": (
        strings(32),
        _run([string_chunk([b"ab", b"", b"cde"], 32)], [string_chunk([b"f"], 32)], counts=[3, 1]),
    ),
    "wide strings": (
        strings(64),
        _run([string_chunk([b"ab", b"", b"cde"], 64)], [string_chunk([b"f"], 64)], counts=[3, 1]),
    ),
    "lists": (TRIPLES, _run([b"\x07", bytes(6)], [b"\x3f", bytes(12)], counts=[1, 2])),
    "blocks of packed": (
        out_of_line(16, 2),
        _run(
            [pack_out_of_line([1] * 1030, 16, 2, True)],
            [pack_block([1] * 1024, 16, 2)],
            counts=[1030, 100],
        ),
    ),
    "frames of runs": (
        RUNS,
        _run([run_frame([(1, 2), (2, 255)])], [run_frame([(3, 1)])], counts=[257, 1]),
    ),
    "dictionaries": (
        FRAME,
        _run(
            [dictionary_frame([2, 0, 2], [5, 6, 7])],
            [dictionary_frame([1], [8, 9, 1])],
            counts=[3, 1],
        ),
    ),
    "block of strings": (strings(64), _run([string_block([b"ab", b"", b"cde"], 64)], counts=[3])),
}
"""Description, and sound chunks; the last ones are blocks."""


@pytest.mark.parametrize("name", DAMAGED)
@given(draw=st.data())
@settings(max_examples=60)
def test_damaged_chunks_are_refused_or_read(name, draw):
    """Any bytes, sizes and counts give values or a LanceError with clause, place and words."""
    encoding, run = DAMAGED[name]
    decode = decode_blocks if list(DAMAGED).index(name) >= 10 else decode_mini

    gives_values_or_refuses(lambda part: decode(encoding, part), damaged(draw, run))


@given(st.lists(st.binary(max_size=14), max_size=6), SYMBOLS)
def test_any_zipped_bytes_are_refused_or_read(values, symbols):
    """Codes of a table decode as code by code; rows have sound values; nothing else escapes."""
    for encoding in (fsst(symbol_table(symbols), strings(32)), ROWS, general("zstd", strings(32))):
        try:
            found = decode_zip_variable(encoding, variable(values), CTX, PLACE)
        except BytesError as error:
            assert error.clause.startswith("L.codec.")
            assert str(error.found) and str(error.wanted)
        else:
            check(found)
            if encoding.HasField("fsst"):
                assert [decode_codes(symbols, value) for value in values] == plain(found)
