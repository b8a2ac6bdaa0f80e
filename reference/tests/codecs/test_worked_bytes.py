"""Worked bytes of every codec, read and written; the check sum CRC-32C."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.codecs import nested
from lanceref.codecs.choose import Kind, encode_block, encode_levels, encode_mini, encode_zip
from lanceref.codecs.compressive import decode_mini, decode_zipped, num_buffers
from lanceref.codecs.encoder_inputs import Params
from lanceref.codecs.general import compress as compress_general
from lanceref.codecs.values import Fixed, FixedSizeList, Rows
from lanceref.core.crc32c import LONG_BYTES, crc32c
from lanceref.core.file_versions import V2_1, V2_2, V2_3

from .encodings import (
    constant,
    delta,
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
)
from .encodings import variable as strings
from .runs import (
    BASE,
    CTX,
    PLACE,
    block_values,
    buffers_of,
    cells_of,
    decoded,
    fixed,
    leaves,
    parts_of,
    plain,
    recording,
    variable,
    words,
)
from .slow_forms import (
    compress,
    dictionary_frame,
    pack_inline,
    pack_out_of_line,
    run_frame,
    string_block,
    symbol_table,
)

TABLE = symbol_table([b"http", b"a"])
CATDOG = bytes.fromhex("20000000 14000000 00000000 03000000 06000000") + b"catdog"
"""The dictionary of the chapter: offsets of 32 bits, bytes from 20 on."""

CHUNKS = {
    "numbers": (flat(32), [words([5, 6], 32)], [5, 6]),
    "bits, the lowest first": (flat(1), [b"\x05"], [1, 0, 1]),
    "packed bits after their width": (inline(16), [pack_inline([5, 6], 16, 3)], [5, 6]),
    "bytes of equal rank together": (
        split(flat(32)),
        [bytes.fromhex("0414031302120111")],
        [0x01020304, 0x11121314],
    ),
    "zstd without a size": (
        general("zstd", flat(16)),
        [compress("zstd", words([5, 6], 16))[8:]],
        [5, 6],
    ),
    "runs": (rle(flat(16), flat(8)), [words([5, 6], 16), b"\2\1"], [5, 5, 6]),
    "runs whose lengths are blocks": (
        rle(general("lz4_raw", flat(32)), flat(16)),
        [compress("lz4_raw", words([7, 9], 32)), words([1, 3], 16)],
        [7, 9, 9, 9],
    ),
    "strings after their offsets": (
        strings(32),
        [words([16, 19, 19, 22], 32) + b"catdogHH"],
        [b"cat", b"", b"dog"],
    ),
    "strings of one length": (strings(range_(0, 2, 32)), [b"abcd"], [b"ab", b"cd"]),
    "strings by their lengths": (
        strings(delta(0, flat(32), 32)),
        [words([1, 2], 32), b"abc"],
        [b"a", b"bc"],
    ),
    "coded strings: symbols, escapes": (
        fsst(TABLE, strings(32)),
        [words([12, 16, 19], 32) + b"\0\1\xff\x78" + b"\xff\xff\1" + b"H"],
        [b"httpax", b"\xffa"],
    ),
    "a table that is off": (
        fsst(symbol_table([b"ab"], is_on=False), strings(range_(0, 2, 32))),
        [b"\0\xff"],
        [b"\0\xff"],
    ),
    "lists": (lists(2, flat(8)), [b"\1\2\3\4"], [[1, 2], [3, 4]]),
    "lists with nulls: the bitmap first": (
        lists(3, flat(16), True),
        [b"\x3d", words([1, 0, 3, 4, 5, 6], 16)],
        [[1, None, 3], [4, 5, 6]],
    ),
    "rows": (packed_struct([8, 16], flat(24)), [b"\1\2\0\3\4\0"], [(1, 2), (3, 4)]),
}
"""Description, buffers of one chunk, values."""


@pytest.mark.parametrize(("encoding", "buffers", "wanted"), CHUNKS.values(), ids=CHUNKS)
def test_chunks_decode_as_the_description_states(encoding, buffers, wanted):
    """Every byte of a buffer has one owner."""
    ctx = recording()
    chunk = buffers_of(buffers, ctx)

    assert len(buffers) == num_buffers(encoding)
    assert wanted == plain(decode_mini(encoding, chunk, len(wanted)))
    owned = [at for start, end, _, _ in leaves(ctx) for at in range(start, end)]
    stored = [at for one in chunk for at in range(one.offset - BASE, one.offset - BASE + one.size)]
    assert stored == sorted(owned)


@pytest.mark.parametrize(("bits", "kind"), [(1, "bitmap"), (16, "u16[]"), (24, "24-bit values")])
def test_plain_values_are_named_by_their_width(bits, kind):
    """A bitmap, words, and any other number of bits."""
    ctx = recording()
    decode_mini(flat(bits), buffers_of([bytes(bits)], ctx), 8)
    assert [(0, bits, "values", kind)] == leaves(ctx)


LEVELS = [(1, 255), (1, 255), (1, 90), *[(0, 255)] * 9, (0, 105)]
"""600 ones, then 2 400 zeros: a frame of 47 bytes."""

BLOCKS = {
    "numbers": (flat(16), words([1, 0], 16), [1, 0]),
    "packed bits": (inline(16), pack_inline([1, 0], 16, 1), [1, 0]),
    "packed bits, raw tail": (out_of_line(16, 1), pack_out_of_line([1, 0], 16, 1, True), [1, 0]),
    "packed bits, padded tail": (
        out_of_line(16, 2),
        pack_out_of_line([1, 0], 16, 2, False),
        [1, 0],
    ),
    "a frame of runs": (rle(flat(16), flat(8)), run_frame(LEVELS), [1] * 600 + [0] * 2400),
    "compressed": (general("zstd", flat(16)), compress("zstd", words([1, 0], 16)), [1, 0]),
    "strings": (strings(32), CATDOG, [b"cat", b"dog"]),
    "strings with a header of nine bytes": (
        strings(32),
        b"\x20" + words([2, 21, 0, 3, 6], 32) + b"catdog",
        [b"cat", b"dog"],
    ),
    "lists of lists, bitmaps outside in": (
        lists(3, lists(1, flat(16), True), True),
        (b"\x03\x05" + words([1, 2, 3], 16)) * 2,
        [[[1], [None], None]] * 2,
    ),
    "a dictionary": (
        dictionary(flat(32), flat(64), 3),
        dictionary_frame([2, 0, 2], [5, 6, 7]),
        [7, 5, 7],
    ),
    "a constant": (constant(7, 32), b"", [7, 7, 7]),
    "a range up to the last number": (range_(2**32 - 2, 1, 32), b"", [2**32 - 2, 2**32 - 1]),
    "deltas": (delta(10, range_(1, 1)), b"", [10, 11, 13]),
    "stored deltas": (delta(7, flat(64)), words([1, 0, 5], 64), [7, 8, 8, 13]),
    "runs of a range, lengths stored": (
        rle(range_(4, 1), flat(8)),
        words([0], 64) + b"\1\3",
        [4, 5, 5, 5],
    ),
    "runs of a range, lengths a range": (
        rle(range_(4, 1), range_(1, 1, 32)),
        b"",
        [4, 5, 5, 6, 6, 6],
    ),
    "runs of a range, lengths constant": (rle(range_(4, 1), constant(2, 32)), b"", [4, 4, 5, 5]),
    "an empty sequence": (constant(), b"", []),
    "nothing, compressed": (general("zstd", flat(16)), bytes(8), []),
}
"""Description, one buffer, values."""


@pytest.mark.parametrize(("encoding", "data", "wanted"), BLOCKS.values(), ids=BLOCKS)
def test_blocks_decode_as_the_description_states(encoding, data, wanted):
    """A single buffer."""
    assert wanted == block_values(encoding, data, len(wanted))


NONE, FLAGS = Params(compression="none"), np.array([1, 0, 1, 1, 1, 1], bool)
LIST = FixedSizeList(3, 2, FLAGS, fixed(range(1, 7), 16))
WORKED = [5, 0, 3] * 400
WRITTEN = {
    "the worked block: 5, 0, 3 at width 3": (
        fixed(WORKED[:1024]),
        Params(),
        V2_1,
        [[pack_inline(WORKED[:1024], 32, 3)]],
    ),
    "each block at its own width, a short one last": (
        fixed([0] * 1024 + [7] * 10, 16),
        Params(rle_threshold=0.001),
        V2_1,
        [[b"\0\0", pack_inline([7] * 10, 16, 3)]],
    ),
    "runs are cut at 255 and end with their chunk": (
        fixed([9] * 300 + [8] * 300, 64),
        Params(),
        V2_1,
        [[words([9, 9, 8, 8], 64)], [b"\xff\x2d\xff\x2d"]],
    ),
    "bits": (Fixed(1, 3, np.array([5], np.uint8)), NONE, V2_1, [[b"\x05"]]),
    "strings": (
        variable([b"ab", b"", b"c"]),
        NONE,
        V2_1,
        [[words([16, 18, 18, 19], 32) + b"abcH"]],
    ),
    "strings of one length from 2.3 on": (variable([b"ab"] * 50), Params(), V2_3, [[b"ab" * 50]]),
    "lists: bitmap, items": (LIST, Params(), V2_1, [[b"\x3d"], [words(range(1, 7), 16)]]),
    "rows": (
        Rows(2, (fixed([1, 2], 16), fixed([9, 8], 8))),
        Params(),
        V2_1,
        [[bytes([1, 0, 9, 2, 0, 8])]],
    ),
}
"""Values, parameters, version, buffers of every chunk."""


@pytest.mark.parametrize(("values", "params", "version", "buffers"), WRITTEN.values(), ids=WRITTEN)
def test_chunks_are_written_byte_for_byte(values, params, version, buffers):
    """The bytes are those of the chapter, and read as the values."""
    blocks = encode_mini(values, params, version, Kind())

    assert buffers == [parts_of(buffer) for buffer in blocks.buffers]
    assert plain(values) == decoded(blocks)


def test_chunks_of_any_count_begin_at_a_byte():
    """Two lists of two and one more: bitmaps 1101 and 11."""
    blocks = nested.encode_lists(LIST, np.array([2, 1]))

    assert [b"\x0d", b"\x03"] == parts_of(blocks.buffers[0])
    assert plain(LIST) == decoded(blocks)


VALUES = {
    "a list with a null: bitmap, items": (
        LIST,
        Kind(),
        [b"\x3d" + words([1, 2], 16), b"\x03" + words([3, 4], 16), b"\x03" + words([5, 6], 16)],
    ),
    "rows of fixed width": (
        Rows(2, (fixed([1, 2], 16), fixed([9, 8], 8))),
        Kind(),
        [b"\1\0\t", b"\2\0\b"],
    ),
    "rows with a string: its length before it": (
        Rows(2, (fixed([9, 8], 8), variable([b"ab", b""]))),
        Kind(fields=(Kind(), Kind())),
        [b"\t" + words([2], 32) + b"ab", b"\b" + words([0], 32)],
    ),
    "rows with a large string": (
        Rows(1, (variable([b"ab"]),)),
        Kind(fields=(Kind(wide=True),)),
        [words([2], 64) + b"ab"],
    ),
}
"""Values, facts of their types, bytes of each value.

A bitmap that begins a byte of the whole keeps the bits after it, as the oracle leaves them.
"""


@pytest.mark.parametrize(("values", "kind", "stored"), VALUES.values(), ids=VALUES)
def test_zipped_values_are_written_byte_for_byte(values, kind, stored):
    """Each value stands alone, and reads as it was."""
    encoding, found = encode_zip(values, NONE, V2_2, kind)

    if isinstance(found, Fixed):
        cells = found.data.reshape(values.count, -1)
        assert stored == [cell.tobytes() for cell in cells]
        assert plain(values) == plain(decode_zipped(encoding, cells_of(cells), CTX, PLACE))
    else:
        assert stored == plain(found)
        assert plain(values) == plain(decode_zipped(encoding, found, CTX, PLACE))


def test_the_dictionary_of_the_chapter_is_written():
    """'cat' and 'dog' in 2.1, where items of dictionaries are not compressed."""
    encoding, data = encode_block(variable([b"cat", b"dog"]), Params(), V2_1, Kind())

    assert (strings(32), CATDOG) == (encoding, data)
    assert string_block([b"cat", b"dog"], 32) == CATDOG


@pytest.mark.parametrize(("asked", "level"), [(None, 3), (0, 3), (9, 9)])
def test_zstd_has_level_3_unless_another_is_asked_for(asked, level):
    """The frame after the size is that of the library."""
    data = b" ".join(b"%d" % (number * 7919 % 1000) for number in range(3000))
    frame = pa.Codec("zstd", compression_level=level).compress(data, asbytes=True)

    assert len(data).to_bytes(8, "little") + frame == compress_general("zstd", asked, data)


def test_frames_of_runs_are_written_chunk_by_chunk():
    """Three chunks, one of them empty: a run ends with its chunk, a long one is cut at 255."""
    levels = np.array([5] * 3 + [6] + [6] * 3000, "<u2")
    encoding, data, sizes = encode_levels(levels, np.array([4, 0, 3000]), V2_2)
    cuts = np.cumsum(sizes)

    assert rle(flat(16), flat(8)) == encoding
    assert run_frame([(5, 3), (6, 1)]) == bytes(data[: cuts[0]])
    assert run_frame([]) == bytes(data[cuts[0] : cuts[1]])
    assert run_frame([(6, 255)] * 11 + [(6, 195)]) == bytes(data[cuts[1] :])


def test_worked_examples():
    """The check value of the polynomial's register, and what RFC 3720 gives for 32 zeros."""
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"") == 0


@pytest.mark.parametrize("size", [LONG_BYTES, LONG_BYTES + 1, 10_007])
def test_rows_side_by_side_are_one_remainder(size):
    """Of long data as octet by octet, which is done here bit by bit; of its views too."""
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()
    crc = 0xFFFFFFFF
    for octet in data:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)

    assert crc32c(data) == crc ^ 0xFFFFFFFF == crc32c(memoryview(data))
