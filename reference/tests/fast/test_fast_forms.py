"""Fast forms: each gives what the plain form gives that it takes the place of."""

import importlib
import inspect
import json
import pkgutil
from contextlib import contextmanager, suppress
from itertools import product

import hypothesis.strategies as st
import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as hnp
from lanceref.codecs import bitpack, choose, symbol_coder
from lanceref.codecs.buffers import flat_encoding
from lanceref.codecs.compressive import decode_mini
from lanceref.codecs.symbol_coder import make_coder
from lanceref.codecs.values import Fixed, join_pieces
from lanceref.codecs.variable import decode_codes, parse_symbol_table, symbol_table
from lanceref.core.context import Context, Specified, is_plain, plain_forms
from lanceref.core.cursor import Cursor
from lanceref.core.errors import BytesError
from lanceref.fast import run_codecs
from lanceref.fast.chunk_runs import pick
from lanceref.fast.codecs import KERNEL_USE
from lanceref.fast.files import Unusual, gather_rows
from lanceref.fast.run_codecs import ChunkRun
from lanceref.index.full_text.packed_integers import parse_varints
from lanceref.index.scalar.json import values_at
from lanceref.json import jsonb
from lanceref.pages import layers
from lanceref.tables import plainly
from lanceref_spark.jobs import Loop
from lanceref_spark.validation import validate_with

from ..codecs import encodings
from ..codecs.runs import CTX, PLACE, buffers_of, parts_of, plain, variable, words
from ..codecs.test_worked_bytes import BLOCKS, CHUNKS

BYTES = st.sampled_from([0, 1, 97, 98, 255])
"""Bytes of which values and symbols share many, and which are codes and escapes too."""

TEXTS = st.lists(
    st.binary(max_size=40) | st.lists(BYTES, max_size=30).map(bytes), min_size=1, max_size=30
)
SYMBOLS = st.lists(
    st.binary(min_size=1, max_size=8) | st.lists(BYTES, min_size=1, max_size=8).map(bytes),
    min_size=1,
    max_size=60,
    unique=True,
)
ROWS = st.sampled_from([*CHUNKS.values()]).filter(lambda row: run_codecs.has_run_form(row[0]))


def forms():
    """Return every specified function of the package, all fast forms loaded."""
    found = {}
    for module in pkgutil.walk_packages(lanceref.__path__, "lanceref."):
        if module.name == "lanceref.fast.compiled":  # kernels need numba
            continue
        loaded = importlib.import_module(module.name)
        found |= {id(one): one for one in vars(loaded).values() if isinstance(one, Specified)}
    return list(found.values())


def test_every_specified_function_has_a_fast_form_with_its_parameters():
    """A mark without a fast form is a mark too many."""
    assert len(forms()) >= 15
    for form in forms():
        assert form.fast is not form.plain, form.plain.__qualname__
        assert [*inspect.signature(form.plain).parameters] == [
            *inspect.signature(form.fast).parameters
        ]


def test_a_block_is_plain_and_what_it_yields_is_made_plainly():
    """Inside of the block only, also where it is left by an error."""
    before = is_plain()
    with pytest.raises(KeyError), plain_forms():
        assert is_plain()
        raise KeyError
    assert before == is_plain()
    assert [True] * 3 == list(plainly(is_plain() for _ in range(3)))
    assert before == is_plain()


@contextmanager
def without_kernels():
    """Leave compiled kernels out in a `with` block, where numba is installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KERNEL_USE, "is_there", False)
        yield


def outcomes(form, *arguments):
    """Return what a function gives, or its error: plain, fast, and fast without kernels."""

    def outcome(call):
        try:
            return call(*arguments)
        except BytesError as error:
            return str(error)

    found = [outcome(form.plain), outcome(form.fast)]
    with without_kernels():
        return [*found, outcome(form.fast)]


def strings_or_error(found):
    """Return byte strings and what is known of them, or the error in their place."""
    return found if isinstance(found, str) else (plain(found), found.is_ascii)


@given(st.data())
@settings(max_examples=150)
def test_blocks_are_unpacked_alike(draw):
    """Any width of any type, any number of blocks, also where they do not lie together."""
    bits = draw.draw(st.sampled_from(bitpack.WIDTHS))
    width, count = draw.draw(st.integers(0, bits)), draw.draw(st.integers(1, 70))
    step = draw.draw(st.sampled_from([1, 2]))
    random = np.random.default_rng(draw.draw(st.integers(0, 1000)))
    values = random.integers(0, 2**bits, (count, 1024), f"u{bits // 8}", endpoint=False)

    packed = bitpack.pack(values, width)[::step]
    outs = np.zeros((3, len(packed), 1024), values.dtype)
    bitpack.unpack.plain(packed, width, outs[0])
    bitpack.unpack.fast(packed, width, outs[1])
    with without_kernels():
        bitpack.unpack.fast(packed, width, outs[2])

    assert (outs == outs[0]).all()


def run_of(chunks, counts):
    """Return the buffers of chunks one after the other, each padded to eight bytes."""
    parts = [bytes(part) for chunk in chunks for part in chunk]
    sizes = np.array([*map(len, parts)], np.int64)
    room = -(-sizes // 8) * 8
    data = b"".join(part.ljust(size) for part, size in zip(parts, room.tolist(), strict=True))
    starts, sizes = (one.reshape(len(chunks), -1).T for one in (np.cumsum(room) - room, sizes))
    return ChunkRun(CTX, np.frombuffer(data, np.uint8), starts, sizes, np.array(counts))


def value_or_none(call, *arguments):
    """Return what a function gives, None where it refuses the bytes."""
    with suppress(BytesError, Unusual):
        return call(*arguments)


def each(encoding, chunks, counts):
    """Return the values of chunks that are decoded one by one, as plain Python."""
    pairs = zip(chunks, counts, strict=True)
    return [v for parts, n in pairs for v in plain(decode_mini(encoding, buffers_of(parts), n))]


def together(encoding, chunks, counts):
    """Return the values of chunks that are decoded as one run, as plain Python."""
    return plain(run_codecs.decode_values(encoding, run_of(chunks, counts)))


def damage(draw, chunks):
    """Change one byte of some buffer of the chunks, if they have bytes."""
    parts = [part for chunk in chunks for part in chunk if part]
    if parts:
        part = draw.draw(st.sampled_from(parts))
        part[draw.draw(st.integers(0, len(part) - 1))] = draw.draw(st.integers(0, 255))


@given(ROWS, st.integers(1, 3), st.booleans(), st.data())
@settings(max_examples=300)
def test_a_run_of_chunks_is_decoded_as_each_of_them(row, number, damaged, draw):
    """Sound chunks together as one by one; of damaged ones nothing that the plain form refuses."""
    encoding, buffers, values = row
    chunks = [[bytearray(part) for part in buffers] for _ in range(number)]
    if damaged:
        damage(draw, chunks)
    found = value_or_none(together, encoding, chunks, [len(values)] * number)
    assert damaged or values * number == found
    assert found in (None, value_or_none(each, encoding, chunks, [len(values)] * number))


@pytest.mark.parametrize("name", ["numbers", "packed bits", "a frame of runs"])
def test_levels_of_a_run_are_those_of_its_chunks(name):
    """Levels of each codec but for those that are packed out of line."""
    encoding, data, wanted = BLOCKS[name]
    run = run_of([[data]] * 2, [len(wanted)] * 2)

    assert wanted * 2 == run_codecs.decode_levels(encoding, run).tolist()


@pytest.mark.parametrize(
    ("bits", "width", "counts"),
    [*product((16, 32), (0, 1, 5), ([3000, 24], [1024, 1], [5, 2048, 9]))],
)
def test_integers_of_a_run_are_those_of_its_chunks(bits, width, counts):
    """Packed out of line: whole blocks, raw tails and padded ones side by side."""
    values = np.random.default_rng(width).integers(0, 1 << width, sum(counts), f"u{bits // 8}")
    stored = bitpack.encode_out_of_line(values, np.array(counts), width)
    chunks, encoding = [[part] for part in parts_of(stored)], encodings.out_of_line(bits, width)

    for form in [run_codecs.decode_integers, *[run_codecs.decode_levels] * (bits == 16)]:
        assert values.tolist() == form(encoding, run_of(chunks, counts)).tolist()
        with without_kernels():
            assert values.tolist() == form(encoding, run_of(chunks, counts)).tolist()


FLAGS = encodings.out_of_line(16, 1)
ODD = [
    (run_codecs.decode_integers, encodings.range_(2**31 - 2, 1), b"", 2),
    (run_codecs.decode_integers, encodings.delta(0, flat_encoding(64)), words([2**31], 64), 2),
    (run_codecs.decode_levels, FLAGS, bytes(128) + b"\2\0", 1025),
    (run_codecs.decode_levels, FLAGS, bytes(128) + b"\0\1", 1025),
]
"""What decodes a chunk, its description, bytes, number of values."""


@pytest.mark.parametrize(("form", "encoding", "data", "count"), ODD)
def test_numbers_that_are_odd_are_left_to_the_plain_form(form, encoding, data, count):
    """Offsets that need 32 bits, and flags that are neither 0 nor 1 after a block of such."""
    with pytest.raises(Unusual):
        form(encoding, run_of([[data]], [count]))
    with without_kernels(), pytest.raises(Unusual):
        form(encoding, run_of([[data]], [count]))


@given(st.sampled_from(bitpack.WIDTHS), st.lists(st.integers(0, 64), min_size=1, max_size=30))
def test_chunks_of_any_widths_are_unpacked_alike(bits, widths):
    """Any widths of any type, each in a chunk of its own that fits none of the others."""
    random = np.random.default_rng(len(widths))
    widths = np.minimum(np.array(widths, np.int64), bits)
    values = random.integers(0, 2**bits, (len(widths), 1024), f"u{bits // 8}", endpoint=False)
    values &= (2 ** widths.astype(object) - 1).astype(values.dtype)[:, None]
    blocks = bitpack.encode_inline(values.reshape(-1), widths)
    chunks = [[part] for part in parts_of(blocks.buffers[0])]

    assert values.reshape(-1).tolist() == together(blocks.encoding, chunks, [1024] * len(chunks))


@given(st.lists(st.tuples(st.integers(0, 90), st.integers(0, 9)), max_size=20), st.integers(0, 12))
def test_pieces_are_joined_alike(pieces, size):
    """Ranges anywhere, of any size; rows of one size, and at equal distances."""
    data, even = np.arange(102, dtype=np.uint8), 4 * np.arange(len(pieces))
    starts, counts = np.array(pieces, np.int64).reshape(-1, 2).T
    calls = [
        (join_pieces, data, even, even + np.minimum(size, 4 + counts[-1:])),
        (join_pieces, data, starts, starts + counts),
        (layers.count_before, data % 3 == 0, starts),
    ]
    for form, *arguments in calls:
        first, *others = outcomes(form, *arguments)
        for other in others:
            assert first.tolist() == other.tolist()
            assert first.dtype == other.dtype
    for places in (starts, even):
        rows = join_pieces.plain(data, places, places + size).reshape(len(places), size)
        assert np.array_equal(rows, gather_rows(data, places, size))


@given(TEXTS, SYMBOLS)
def test_values_are_coded_and_decoded_alike(texts, symbols):
    """Any bytes as values, any symbols; what was coded comes back; as codes they fail alike."""
    values, coder = variable(texts), make_coder(symbols)
    coded, *again = outcomes(symbol_coder.apply, symbols, values)
    codes = [
        [part.tolist() for part in found]
        for found in outcomes(symbol_coder.code_values, coder, values)
    ]
    table = parse_symbol_table(symbol_table(symbols, is_on=True), PLACE)
    decoded = outcomes(decode_codes, table, coded, PLACE)

    assert [plain(coded)] * 2 == [plain(found) for found in again]
    assert [codes[0]] * 3 == codes
    assert [texts] * 3 == [plain(found) for found in decoded]
    assert 1 == len({found.is_ascii for found in decoded})
    first, *others = map(strings_or_error, outcomes(decode_codes, table, values, PLACE))
    assert [first] * 2 == others


@given(st.lists(TEXTS, min_size=1, max_size=3), SYMBOLS, st.booleans(), st.data())
def test_chunks_of_any_codes_are_decoded_alike(values, symbols, damaged, draw):
    """Also codes that no table has, and chunks with a damaged byte, which are refused alike."""
    encoding = encodings.fsst(symbol_table(symbols, is_on=True), encodings.variable(32))
    values = [[b""], *values]  # a chunk without bytes ends no run
    chunks, counts = [], [len(texts) for texts in values]
    for texts in values:
        table = np.cumsum([4 * len(texts) + 4, *map(len, texts)]).astype("<u4")
        chunks.append([bytearray(table.tobytes() + b"".join(texts))])
    if damaged:
        damage(draw, chunks)
    expected = value_or_none(each, encoding, chunks, counts)

    assert expected == value_or_none(together, encoding, chunks, counts)
    with without_kernels():
        assert expected == value_or_none(together, encoding, chunks, counts)


@given(st.sampled_from([1, 8, 16, 32, 64]), st.data(), st.booleans())
def test_values_are_picked_as_they_are_decoded(bits, draw, packed):
    """Plain and packed values by their numbers, over several chunks."""
    counts = draw.draw(st.lists(st.integers(1, 40), min_size=1, max_size=4))
    total = sum(counts)
    slots = draw.draw(st.lists(st.integers(0, total - 1), unique=True, min_size=1))
    random = np.random.default_rng(total)
    if packed and bits > 1:
        encoding = bitpack.inline_encoding(bits)
        values = random.integers(0, 2**bits, total, f"u{bits // 8}", endpoint=False)
        parts = parts_of(bitpack.encode_inline_chunks(values, np.array(counts)))
    else:
        encoding = flat_encoding(bits)
        parts = [random.bytes(-(-count * bits // 8)) for count in counts]
    chunks, slots = [[part] for part in parts], np.array(sorted(slots))

    every, run = each(encoding, chunks, counts), run_of(chunks, counts)
    assert [every[at] for at in slots] == plain(pick(encoding, run, slots))


DOCUMENTS = [
    {"n": n, "f": n / 3, "s": "é" * n, "d": {"e": -n, "l": [n]}, "b": True} for n in range(40)
]
FOUND = {"n": pa.int64(), "f": pa.float64(), "s": pa.utf8(), "d.e": pa.int64(), "x": pa.int64()}
NUMBERS = bytes([0, 127, 255, 127, 255, 255, 127, 255, 255, 255, 127]) * 2


def sound():
    """Yield functions and what their fast forms do without the plain ones."""
    stored = [None, *(jsonb.document(json.dumps(one)) for one in DOCUMENTS)]
    for path, type_ in FOUND.items():
        for wanted in (type_, None) if path != "x" else (type_,):
            yield values_at, pa.array(stored, pa.large_binary()), path, wanted
    yield parse_varints, Cursor(memoryview(NUMBERS), 0, Context("x")), 8, "n"
    for bits, most in product((64, 128), (8, 17)):
        words = np.repeat(np.arange(most + 1, dtype=np.uint64), bits // 64)
        yield choose.index_distinct, Fixed(bits, most + 1, words.view(np.uint8)), most


def test_what_is_sound_is_not_handed_to_the_plain_form():
    """Numbers, documents, codes, and values of which too many are distinct."""
    for form, *arguments in sound():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(form, "plain", None)
            form.fast(*arguments)


def test_what_checks_and_explains_uses_no_fast_form(tmp_path, monkeypatch):
    """Files and tables are read plainly where asked, and always where bytes are judged."""
    rows = pa.table({"i": np.arange(3000, dtype="i4"), "s": [f"row {i}" for i in range(3000)]})
    path, uri = tmp_path / "rows.lance", str(tmp_path / "table")
    lanceref.write_file(path, rows)
    lanceref.write_table(uri, rows)
    assert rows == lanceref.open_file(path).read()  # the folder of fast forms is loaded

    def never(*_arguments, **_named):
        raise AssertionError("a fast form was used")

    for form in forms():
        monkeypatch.setattr(form, "fast", never)

    with plain_forms(False), pytest.raises(AssertionError):
        lanceref.open_file(path).read()
    with plain_forms(False):
        assert rows == lanceref.open_file(path).read(plain=True)
        assert rows == lanceref.open_table(uri, plain=True).to_table()
        for subject in (path, uri):
            assert [] == lanceref.validate(subject, deep=True)
        assert [] == validate_with(Loop(), uri, deep=True).findings
        assert [] == lanceref.explain(path).unowned
        pylanceref.dataset(uri).validate()


@given(st.data(), st.sampled_from([8, 64, 128]), st.integers(0, 200), st.integers(0, 60))
def test_distinct_values_are_indexed_alike(draw, bits, count, most):
    """The same indices and values, or none of both, whatever the halves of words have in common."""
    words = st.sampled_from([0, 1, 1 << 32, (1 << 32) + 1, 7, 1 << 63])
    shape = (count, max(1, bits // 64))
    numbers = draw.draw(hnp.arrays(np.uint64, shape, elements=words | st.integers(0, 2**64 - 1)))
    data = numbers.view(np.uint8).reshape(count, 8 * shape[1])[:, : bits // 8].flatten()
    form, values = choose.index_distinct, Fixed(bits, count, data)
    plain, fast = (call(values, most) for call in (form.plain, form.fast))

    assert (plain is None, plain) == (fast is None, fast)
