"""Values of any chunks come back: encoded and decoded, packed bits and symbols one by one too."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from lanceref.codecs.choose import (
    Kind,
    encode_block,
    encode_mini,
    encode_zip,
)
from lanceref.codecs.compressive import decode_mini, decode_zipped
from lanceref.codecs.encoder_inputs import Params
from lanceref.codecs.values import Fixed, FixedSizeList, Rows
from lanceref.core.file_versions import V2_1, V2_2, V2_3

from .encodings import (
    fsst,
    inline,
)
from .encodings import variable as strings
from .runs import (
    CTX,
    PLACE,
    block_values,
    cells_of,
    decoded,
    fixed,
    parts_of,
    plain,
    run_of,
    variable,
)
from .slow_forms import (
    SYMBOLS,
    decode_codes,
    draw_codes,
    pack_inline,
    string_chunk,
    symbol_table,
)

VERSIONS = st.sampled_from([V2_1, V2_2, V2_3])
TEXTS = st.lists(st.binary(max_size=20), min_size=1, max_size=60)
NUMBERS = st.sampled_from([8, 16, 32, 64]).flatmap(
    lambda bits: st.tuples(
        st.just(bits),
        st.lists(
            st.tuples(
                st.integers(0, 2**bits - 1) | st.integers(0, 3), st.sampled_from([1, 1, 300])
            ),
            min_size=1,
            max_size=30,
        ),
    )
)
"""Width, and runs of values."""

KNOBS = st.sampled_from(
    [
        Params(),
        Params(compression="none"),
        Params(compression="lz4"),
        Params(compression="zstd", bss="on"),
        Params(compression="zstd", bss="off", rle_threshold=0.01),
        Params(compression="fsst", minichunk_size=64),
    ]
)


def _values(runs, bits):
    return fixed([value for value, count in runs for _ in range(count)], bits)


@given(NUMBERS, KNOBS, VERSIONS)
def test_numbers_come_back(numbers, params, version):
    """From chunks, from a single block and one by one, whichever codec is chosen."""
    bits, runs = numbers
    values = _values(runs, bits)
    wanted = plain(values)
    encoding, data = encode_block(values, params, version, Kind())
    zipped, cells = encode_zip(values, params, version, Kind())

    assert wanted == decoded(encode_mini(values, params, version, Kind()))
    assert wanted == block_values(encoding, data, len(wanted))
    rows = cells.data.reshape(len(wanted), -1)
    assert wanted == plain(decode_zipped(zipped, cells_of(rows), CTX, PLACE))


@given(TEXTS, KNOBS, VERSIONS, st.booleans(), st.sampled_from([1, 50]))
def test_strings_come_back(texts, params, version, wide, times):
    """With offsets of both widths, coded, compressed or plain."""
    values, kind = variable(texts * times), Kind(wide=wide, is_text=True)
    encoding, data = encode_block(values, params, version, kind)
    zipped, stored = encode_zip(values, params, version, kind)

    assert texts * times == decoded(encode_mini(values, params, version, kind))
    assert texts * times == block_values(encoding, data, values.count)
    assert texts * times == plain(decode_zipped(zipped, stored, CTX, PLACE))


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 400), st.data())
def test_lists_in_lists_come_back(outer, inner, count, draw):
    """Nulls at both levels, or none: in chunks, in dictionaries, and one by one."""
    random = np.random.default_rng(draw.draw(st.integers(0, 99)))
    flags = [random.random(outer * inner**i * count) < 0.8 for i in (0, 1)]
    has = draw.draw(st.tuples(st.booleans(), st.booleans()))
    items = fixed(random.integers(0, 2**16, outer * inner * count).tolist(), 16)
    inside = FixedSizeList(count * outer, inner, flags[1] if has[1] else None, items)
    values = FixedSizeList(count, outer, flags[0] if has[0] else None, inside)
    encoding, data = encode_block(values, Params(), V2_1, Kind())
    zipped, cells = encode_zip(values, Params(), V2_1, Kind())

    assert plain(values) == decoded(encode_mini(values, Params(), V2_1, Kind()))
    assert plain(values) == block_values(encoding, data, count)
    rows = cells.data.reshape(count, -1)
    assert plain(values) == plain(decode_zipped(zipped, cells_of(rows), CTX, PLACE))


@pytest.mark.parametrize("dimension", [3, 8])
def test_lists_of_bits_come_back(dimension):
    """The bits of a chunk begin at a byte; zipped, the bits of a value must fill bytes."""
    bits = np.random.default_rng(1).integers(0, 2, dimension * 6000, np.uint8)
    items = Fixed(1, len(bits), np.packbits(bits, bitorder="little"))
    values = FixedSizeList(6000, dimension, None, items)

    blocks = encode_mini(values, Params(), V2_1, Kind())
    assert len(blocks.counts) > 1
    assert plain(values) == decoded(blocks)
    if dimension == 8:
        encoding, cells = encode_zip(values, Params(), V2_1, Kind())
        rows = cells.data.reshape(6000, -1)
        assert plain(values) == plain(decode_zipped(encoding, cells_of(rows), CTX, PLACE))
    else:
        with pytest.raises(ValueError, match="whole bytes"):
            encode_zip(values, Params(), V2_1, Kind())


@given(st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=9)), min_size=1, max_size=40))
def test_rows_come_back(rows):
    """Fields of fixed width in chunks, and a string beside them one by one."""
    numbers = fixed([number for number, _ in rows], 8)
    wide = fixed([number + 1 for number, _ in rows], 64)
    texts, fields = variable([text for _, text in rows]), (Kind(), Kind(is_text=True))
    encoding, stored = encode_zip(
        Rows(len(rows), (numbers, texts)), Params(), V2_2, Kind(fields=fields)
    )

    assert rows == plain(decode_zipped(encoding, stored, CTX, PLACE))
    blocks = encode_mini(Rows(len(rows), (numbers, wide)), Params(), V2_2, Kind())
    assert [(number, number + 1) for number, _ in rows] == decoded(blocks)
    with pytest.raises(ValueError, match="whole bytes"):
        bit = Fixed(1, 1, np.ones(1, np.uint8))
        encode_mini(Rows(1, (bit,)), Params(), V2_2, Kind())


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_every_width_of_every_type_comes_back(bits):
    """Widths 0 to T, both ways: blocks of the slow packer are read, blocks written are its own."""
    random = np.random.default_rng(bits)
    for width in range(bits + 1):
        values = [int(v) & ((1 << width) - 1) for v in random.integers(0, 2**64, 1024, np.uint64)]
        values[-1] = (1 << width) - 1
        stored = pack_inline(values, bits, width)

        assert values == plain(decode_mini(inline(bits), run_of([stored], counts=[1024])))
        written = encode_mini(fixed(values, bits), Params(rle_threshold=0), V2_1, Kind())
        if written.encoding.HasField("inline_bitpacking"):
            assert [stored] == parts_of(written.buffers[0])
        else:
            assert width == bits


@given(st.data(), SYMBOLS)
@settings(max_examples=200)
def test_codes_of_any_table_decode_as_code_by_code(draw, symbols):
    """Random tables and codes, escapes at any place: in chunks, and one by one."""
    values = draw_codes(draw, symbols)
    encoding = fsst(symbol_table(symbols), strings(32))
    run = run_of([string_chunk(values, 32)], counts=[len(values)])
    wanted = [decode_codes(symbols, value) for value in values]

    assert wanted == plain(decode_mini(encoding, run))
    assert wanted == plain(decode_zipped(encoding, variable(values), CTX, PLACE))
