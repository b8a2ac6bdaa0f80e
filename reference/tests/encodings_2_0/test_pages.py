"""Pages of 2.0 by hand: what every encoding reads as, for us and for the oracle."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.proto import encodings_v2_0_pb2 as pb
from lanceref.storage import BytesSource

from ..codecs.slow_forms import bitmap, pack_out_of_line, symbol_table
from ..file.in_memory import scanned, taken
from .building import (
    BLOB,
    STRUCT,
    Column,
    Page,
    all_nulls,
    binary,
    bitpacked,
    built_file,
    dictionary,
    flat,
    fsst,
    in_blocks,
    list_page,
    lists,
    no_nulls,
    open_built,
    packed,
    some_nulls,
    strings_of,
    words,
)

WORKED = [words(7, 3, 6, 13, 13, 13), b"foofoo"]
"""[null, 'foo', 'foo', null, null, null]: each null adds the adjustment of 7 to its end."""

PLAIN = bytes(range(200)) * 2
ZSTD = pa.Codec("zstd").compress(PLAIN, asbytes=True)
LZ4 = pa.Codec("lz4_raw").compress(PLAIN, asbytes=True)
NULLED = pa.dictionary(pa.int8(), pa.int32())
KEYED = dictionary(8, some_nulls(flat(32, 2), 1), 3)
SMALL_KEYS = [
    Page(dictionary(8, binary(2, 1), 1), 1, [b"\0", words(1), text]) for text in (b"a", b"b")
]
ROWS_OF = packed(no_nulls(flat(16)), no_nulls(lists(3, no_nulls(flat(8)))), no_nulls(flat(8)))
COMPRESSED = Page(binary(401, scheme="zstd"), 3, [words(3, 200, 801), ZSTD])
CUT_LISTS = [Page(list_page(2), 3, [words(1, 4, 2)]), Page(list_page(3), 2, [words(0, 3)])]
ITEMS = Column([Page(flat(8), 3, [b"\1\2\3"]), Page(flat(8), 2, [b"\4\5"])])
ROW = pa.struct(
    [
        pa.field("x", pa.int16(), False),
        pa.field("v", pa.list_(pa.uint8(), 3), False),
        pa.field("u", pa.uint8(), False),
    ]
)
BLOB_FIELD = pa.field("c", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
VALUES = [(i * 37) % 100 for i in range(1500)]


def _one(encoding, rows, *buffers):
    return [Column([Page(encoding, rows, list(buffers))])]


TREE = pa.struct([("l", pa.list_(pa.int8())), ("s", pa.string()), ("e", pa.struct([]))])
TREE_COLUMNS = [
    Column([Page(STRUCT, 2, [])]),
    Column([Page(list_page(5), 2, [words(1, 5)])]),
    ITEMS,
    Column([Page(binary(3), 2, [words(1, 2), b"ab"])]),
    Column([Page(STRUCT, 2, [])]),
]

PAGES = {
    "flat": (pa.int32(), _one(flat(32), 2, bytes.fromhex("01000000 ffffffff")), [1, -1]),
    "flat bits": (
        pa.bool_(), _one(no_nulls(flat(1)), 10, bytes([0b10000101, 0b10])),
        [bool(i) for i in (1, 0, 1, 0, 0, 0, 0, 1, 0, 1)],
    ),
    "flat of three bytes": (pa.binary(3), _one(flat(24), 2, b"abcdef"), [b"abc", b"def"]),
    "wrappers in wrappers": (pa.int8(), _one(no_nulls(no_nulls(flat(8))), 1, b"\5"), [5]),
    "some nulls, spare bits of any value": (
        pa.int32(),
        _one(some_nulls(flat(32, 1)), 3, b"\xfd", bytes.fromhex("01000000 00000000 03000000")),
        [1, None, 3],
    ),
    "all nulls": (pa.list_(pa.int8(), 3), _one(all_nulls(), 2), [None, None]),
    "strings": (pa.string(), _one(binary(7), 6, *WORKED), [None, "foo", "foo", None, None, None]),
    "large strings": (
        pa.large_string(), _one(binary(7), 2, words(3, 6), b"foobar"), ["foo", "bar"],
    ),
    "a null that owns bytes": (
        pa.binary(), _one(binary(6), 3, words(1, 9, 5), b"axxbc"), [b"a", None, b"bc"],
    ),
    "bytes that are no text below a null": (
        pa.string(), _one(binary(2), 1, words(3), b"\xff"), [None],
    ),
    "no rows": (pa.string(), _one(binary(0), 0, b"", b""), []),
    "validity around strings": (
        pa.string(), _one(some_nulls(binary(7, first=1)), 3, b"\5", words(3, 3, 6), b"foobar"),
        ["foo", None, "bar"],
    ),
    "codes of symbols": (
        pa.string(),
        _one(fsst(6, symbol_table([b"foo", b"barbaz"])), 3, words(2, 8, 5), b"\0\1\xff!\0"),
        ["foobarbaz", None, "!foo"],
    ),
    "a table that is off": (
        pa.string(), _one(fsst(4, symbol_table([b"x"], is_on=False)), 1, words(3), b"abc"), ["abc"],
    ),
    "strings of one width": (
        pa.large_string(), _one(strings_of(3, 24), 2, b"abcdef"), ["abc", "def"],
    ),
    "keys of strings count from one": (
        pa.string(),
        _one(dictionary(8, binary(4, first=1), 2), 4, b"\2\0\1\1", words(1, 3), b"abb"),
        ["bb", None, "a", "a"],
    ),
    "a null item alone": (
        pa.string(), _one(dictionary(8, binary(1, first=1), 1), 2, b"\0\0", words(1), b""),
        [None] * 2,
    ),
    "keys of a dictionary type count from zero": (
        pa.dictionary(pa.int16(), pa.string()),
        _one(dictionary(16, binary(4, 1), 3), 3, words(0x20001)[:6], words(1, 3, 7), b"abb"),
        ["bb", None, "a"],
    ),
    "a null item moves the keys after it": (
        NULLED, _one(KEYED, 4, b"\2\1\0\2", b"\5", words(7, 9)[:12]), [9, None, 7, 9],
    ),
    "pages with dictionaries of their own": (
        pa.dictionary(pa.int8(), pa.string()), [Column(SMALL_KEYS)], ["a", "b"],
    ),
    "nulls of lists outside, of items inside": (
        pa.list_(pa.int8(), 2),
        _one(some_nulls(lists(2, some_nulls(flat(8, 2), 1))), 2, b"\2", b"\x0d", b"\1\2\3\4"),
        [None, [3, 4]],
    ),
    "lists of bits": (
        pa.list_(pa.bool_(), 3),
        _one(no_nulls(lists(3, no_nulls(flat(1)))), 3, bytes([0b11_011_001, 0])),
        [[True, False, False], [True, True, False], [True, True, False]],
    ),
    "lists of lists": (
        pa.list_(pa.list_(pa.int8(), 2), 2), _one(lists(2, lists(2, flat(8))), 1, bytes(range(4))),
        [[[0, 1], [2, 3]]],
    ),
    "rows of a packed struct": (
        pa.field("c", ROW, metadata={"packed": "true"}),
        _one(ROWS_OF, 2, bytes.fromhex("0100 0a0b0c 07 ffff 0d0e0f 08")),
        [{"x": 1, "v": [10, 11, 12], "u": 7}, {"x": -1, "v": [13, 14, 15], "u": 8}],
    ),
    "twelve bits a value": (
        pa.int32(), _one(bitpacked(12, 32), 4, bytes.fromhex("01 20 00 ff ff ff")),
        [1, 2, 4095, 4095],
    ),
    "twelve bits and a sign": (
        pa.int32(), _one(bitpacked(12, 32, signed=True), 4, bytes.fromhex("01 20 00 ff ff ff")),
        [1, 2, -1, -1],
    ),
    **{
        f"blocks of {full} bits": (
            getattr(pa, f"uint{full}")(),
            _one(no_nulls(in_blocks(7, full)), 1500, pack_out_of_line(VALUES, full, 7, False)),
            VALUES,
        )
        for full in (8, 16, 32, 64)
    },
    "zstd after its size": (
        pa.uint8(), _one(flat(8, scheme="zstd"), 400, words(400) + ZSTD), list(PLAIN),
    ),
    "a bare zstd frame": (pa.uint8(), _one(flat(8, scheme="zstd"), 400, ZSTD), list(PLAIN)),
    "lz4": (
        pa.uint8(), _one(flat(8, scheme="lz4"), 400, (400).to_bytes(4, "little") + LZ4),
        list(PLAIN),
    ),
    "compression named none": (pa.uint8(), _one(flat(8, scheme="none"), 400, PLAIN), list(PLAIN)),
    "compressed strings in two pages": (
        pa.binary(), [Column([COMPRESSED, COMPRESSED])], [PLAIN[:3], PLAIN[3:200], None] * 2,
    ),
    "ends count in their own page": (
        pa.list_(pa.int8()), [Column(CUT_LISTS), ITEMS], [[1], None, [2], [], [3, 4, 5]],
    ),
    "a null list that owns items": (
        pa.large_list(pa.int8()), [Column([Page(list_page(5), 3, [words(1, 10, 5)])]), ITEMS],
        [[1], None, [5]],
    ),
    "empty lists": (
        pa.list_(pa.int8()),
        [Column([Page(list_page(0), 2, [words(0, 0)])]), Column([Page(all_nulls(), 0, [])])],
        [[], []],
    ),
    "columns of a tree, depth first": (
        TREE, TREE_COLUMNS, [{"l": [1], "s": "a", "e": {}}, {"l": [2, 3, 4, 5], "s": "b", "e": {}}],
    ),
    "a struct without rows or pages": (pa.struct([("a", pa.int8())]), [Column([]), Column([])], []),
}  # fmt: skip
"""Type or field, columns, rows."""


@pytest.mark.parametrize(("type_", "columns", "rows"), PAGES.values(), ids=PAGES)
def test_every_encoding_reads_as_by_hand(type_, columns, rows):
    """Whole, from any of the first rows and from the last on, and row by row, one of them twice."""
    found = open_built(type_, columns)
    count = len(rows)

    assert rows == scanned(found).to_pylist()
    for start in {*range(min(count, 5)), max(0, count - 1)}:
        assert rows[start:] == scanned(found, start, count).to_pylist()
    some = [at for at in (0, 1, 1, count // 2, count - 1) if 0 <= at < count]
    assert [rows[at] for at in sorted(some)] == taken(found, sorted(some)).to_pylist()


def _file(type_, columns, rows):
    field = type_ if isinstance(type_, pa.Field) else pa.field("c", type_)
    return built_file(field, columns, len(rows))


@pytest.mark.oracle
@pytest.mark.parametrize("name", PAGES)
def test_the_oracle_reads_the_pages_alike(name, tmp_path):
    """Those that no writer makes, too."""
    from lance.file import LanceFileReader

    type_, columns, rows = PAGES[name]
    if not rows or name == "bytes that are no text below a null":
        pytest.skip("the oracle refuses these")
    (tmp_path / "f").write_bytes(_file(type_, columns, rows))

    assert rows == LanceFileReader(str(tmp_path / "f")).read_all().to_table()["c"].to_pylist()


def test_blob_descriptors_lead_to_payloads():
    """Size 0 is an empty value at position 0 and a null at position 1; each byte has one owner."""
    descriptors = words(128, 3, 0, 0, 1, 0, 131, 4)
    source = BytesSource(descriptors.ljust(128, b"H") + b"payload")
    page = Page(packed(no_nulls(flat(64)), no_nulls(flat(64))), 4, [descriptors])
    blobs = open_built(BLOB_FIELD, [Column([page], BLOB)], source=source)

    assert [b"pay", b"", None, b"load"] == scanned(blobs).to_pylist()
    assert [None, b"load", b"load"] == taken(blobs, [2, 3, 3]).to_pylist()


PIECES = st.lists(
    st.lists(st.none() | st.binary(max_size=5), min_size=1, max_size=12), min_size=1, max_size=4
)


def _ends(rows):
    total, at, found = sum(len(row or b"") for row in rows), 0, []
    for row in rows:
        at += len(row or b"")
        found.append(at + (total + 1 if row is None else 0))
    return total, words(*found)


@given(PIECES, st.integers(1, 5), st.sets(st.integers(0, 30), min_size=1))
@settings(deadline=None)
def test_strings_and_lists_of_any_pages_come_back(pages, cut, some):
    """However pages of ends and of items are cut."""
    rows = [row for page in pages for row in page]
    items = b"".join(row or b"" for row in rows)
    strings, offsets = [], []
    for page in pages:
        total, found = _ends(page)
        strings.append(
            Page(binary(total + 1), len(page), [found, b"".join(r or b"" for r in page)])
        )
        offsets.append(Page(list_page(total), len(page), [found]))
    parts = [items[at : at + cut] for at in range(0, len(items), cut)]
    inner = Column([Page(flat(8), len(part), [part]) for part in parts])
    wanted = sorted(at for at in some if at < len(rows))
    lists_of = [None if row is None else list(row) for row in rows]

    for type_, columns, values in (
        (pa.binary(), [Column(strings)], rows),
        (pa.list_(pa.uint8()), [Column(offsets), inner], lists_of),
    ):
        found = open_built(type_, columns)
        assert values == scanned(found).to_pylist()
        assert [values[at] for at in wanted] == taken(found, wanted).to_pylist()


@given(
    st.sampled_from([8, 16, 32, 64]).flatmap(lambda f: st.tuples(st.just(f), st.integers(1, f))),
    st.integers(0, 99),
    st.integers(1, 60),
)
def test_values_packed_back_to_back_come_back(widths, seed, count):
    """Any width of any type; and bits of pages that begin anywhere."""
    (full, width), random = widths, np.random.default_rng(seed)
    values = [int(v) & ((1 << width) - 1) for v in random.integers(0, 2**63, count)]
    stream = sum(value << (i * width) for i, value in enumerate(values))
    data = stream.to_bytes((count * width + 7) // 8, "little")
    found = open_built(getattr(pa, f"uint{full}")(), _one(bitpacked(width, full), count, data))
    bits = [bool(value & 1) for value in values]
    flags = Column([Page(flat(1), count, [bitmap(bits)])] * 3)

    assert values == scanned(found).to_pylist()
    assert [values[count // 2], values[-1]] == taken(found, [count // 2, count - 1]).to_pylist()
    assert (bits * 3)[1:] == scanned(open_built(pa.bool_(), [flags]), 1).to_pylist()


def test_many_pages_and_rows_are_read_in_few_steps():
    """A take reads the bytes of its rows; a scan comes in runs of about 4 MiB."""
    source = BytesSource(bytes(9_600_000))
    found = open_built(pa.int64(), _one(flat(64), 1_200_000, bytes(9_600_000)), source=source)
    taken(found, [3, 9_000])
    assert (2, 16) == (source.stats.read_iops, source.stats.read_bytes)

    sizes = [len(part) for part in found.scan(5, 1_200_000)]
    assert (3, 1_199_995) == (len(sizes), sum(sizes))


def test_early_strings_are_lists_of_bytes():
    """The first writers stored text as a list column; a null stays a null."""
    ends = Column([Page(list_page(8), 4, [words(3, 3 + 9, 3, 8)])])
    text = Column([Page(flat(8), 8, [b"abcdefgh"])])
    found = open_built(pa.string(), [ends, text])

    assert ["abc", None, "", "defgh"] == scanned(found).to_pylist()
    assert [None, "defgh"] == taken(found, [1, 3]).to_pylist()
    assert pb.ArrayEncoding().WhichOneof("array_encoding") is None
