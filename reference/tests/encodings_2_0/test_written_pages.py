"""Pages of 2.0, written: encodings and buffers of arrays, cuts, and what has no place."""

import pyarrow as pa
import pytest
from lanceref.core.errors import DataRefused, LimitExceeded

from ..file.files import u64
from ..file.in_memory import (
    assert_clean_and_owned,
    assert_written,
    column,
    opened,
    pages_of,
    scanned,
    taken,
    written,
)

WORKED = [u64(7, 3, 6, 13, 13, 13), b"foofoo"]
"""[null, 'foo', 'foo', null, null, null]: each null adds the adjustment of 7 to its end."""

ROW = pa.struct(
    [
        pa.field("x", pa.int16(), False),
        pa.field("v", pa.list_(pa.uint8(), 3), False),
        pa.field("u", pa.uint8(), False),
    ]
)
NULLABLE = pa.array([1, None, 3], pa.int32())
PAIRS = pa.array([[1, None], None], pa.list_(pa.int8(), 2))


def _coded(keys, items):
    return pa.DictionaryArray.from_arrays(pa.array(keys, pa.int8()), pa.array(items))


WRITTEN = {
    "no nulls": (pa.array([1, 2], pa.int16()), None, "nullable.no_nulls", [u64(0x20001)[:4]]),
    "some nulls": (
        NULLABLE, None, "nullable.some_nulls", [b"\5", bytes.fromhex("01000000 00000000 03000000")],
    ),
    "all nulls": (pa.nulls(2, pa.int16()), None, "nullable.all_nulls", []),
    "bits of a slice": (
        pa.array([i % 3 == 0 for i in range(32)]).slice(13, 7), None, "nullable.no_nulls",
        [b"\x24"],
    ),
    "lists before their items": (PAIRS, None, "nullable.some_nulls", [b"\1", b"\1", b"\1\0\0\0"]),
    "strings": (pa.array([None, "foo", "foo", None, None, None]), None, "binary", WORKED),
    "nothing but nulls": (pa.nulls(2, pa.large_binary()), None, "binary", [u64(1, 1), b""]),
    "rows": (
        pa.array([{"x": 1, "v": [1, 2, 3], "u": 4}], ROW), {"packed": "true"}, "packed_struct",
        [b"\1\0\1\2\3\4"],
    ),
    "own dictionary: item k - 1 has key k": (
        pa.array([None, "b", "a", "b"] * 30), None, "dictionary",
        [b"\0\1\2\1" * 30, u64(1, 2), b"ba"],
    ),
    "own dictionary of nulls": (
        pa.nulls(100, pa.string()), None, "dictionary", [bytes(100), u64(1), b""],
    ),
    "keys in their own width": (
        _coded([1, 0, 1], ["a", "b"]), None, "dictionary", [b"\1\0\1", u64(1, 2), b"ab"],
    ),
    "a null item is added": (
        _coded([0, None], ["a"]), None, "dictionary", [b"\0\1", u64(1, 3), b"a"],
    ),
    "or the one there is": (
        _coded([0, None, 2], [None, "a", "b"]), None, "dictionary",
        [b"\0\0\2", u64(3, 1, 2), b"ab"],
    ),
    "nulls keep no other item": (
        _coded([None, None], ["a", "b"]), None, "dictionary", [b"\0\0", u64(1), b""],
    ),
    "items of numbers": (_coded([0, 0], [7]), None, "dictionary", [b"\0\0", u64(7)]),
    "short text is not coded": (
        pa.array(["abc"]), {"lance-encoding:compression": "fsst"}, "fsst", [u64(3), b"abc"],
    ),
    "FSST has offsets of 32 bits": (
        pa.array(["abc"], "large_string"), {"lance-encoding:compression": "fsst"}, "binary",
        [u64(3), b"abc"],
    ),
    "unknown compression is passed over": (
        pa.array(["abc"]), {"lance-encoding:compression": "bogus"}, "binary", [u64(3), b"abc"],
    ),
}  # fmt: skip
"""Array, metadata, arms of the encoding, buffers."""


@pytest.mark.parametrize(("array", "metadata", "arms", "buffers"), WRITTEN.values(), ids=WRITTEN)
def test_pages_are_written_byte_for_byte(array, metadata, arms, buffers):
    """And they read as the array."""
    assert_written(array, "2.0", metadata, arms, buffers)


MERGED = {
    "one after another": ([_coded([0, 1, 0], ["a", "b"]), _coded([0], ["a"])], [b"\0\1\0\2"], 3),
    "as large as their rows": ([_coded([1, 1], ["a", "b"]), _coded([0], ["b"])], [b"\0\0\0"], 1),
    "more items than keys tell": (
        [_coded([4, 0, None, 2] * 50, list("abcde"))] * 30, [bytes([2, 0, 3, 1] * 1500)], 4,
    ),
}  # fmt: skip
"""Arrays, keys, number of items."""


@pytest.mark.parametrize(("arrays", "keys", "count"), MERGED.values(), ids=MERGED)
def test_dictionaries_of_several_arrays_share_a_page(arrays, keys, count):
    """Their items lie one after another, or merged where that would be too many."""
    tables = [pa.table({"c": array}) for array in arrays]
    data = written(tables, "2.0")
    ((encoding, buffers),) = pages_of(data)

    assert (keys, count) == (buffers[:1], encoding.dictionary.num_dictionary_items)
    assert [v for a in arrays for v in a.to_pylist()] == scanned(column(data)).to_pylist()


@pytest.mark.oracle
@pytest.mark.parametrize(("items", "arrays"), [(6, 22), (4, 32), (4, 31)])
def test_merged_dictionaries_are_the_bytes_of_the_oracle(tmp_path, items, arrays):
    """Above, at and below what int8 keys can tell; no value comes twice (it may keep both)."""
    from lance.file import LanceFileWriter

    columns = [_coded([0, 1, 2] * 50, [f"{i} {j}" for i in range(items)]) for j in range(arrays)]
    tables = [pa.table({"c": one}) for one in columns]
    with LanceFileWriter(str(tmp_path / "f"), tables[0].schema, version="2.0") as writer:
        for table in tables:
            writer.write_batch(table)

    assert (tmp_path / "f").read_bytes() == written(tables, "2.0")


@pytest.mark.parametrize(
    ("rows", "distinct", "arm"),
    [(99, 5, "binary"), (100, 5, "dictionary"), (200, 99, "dictionary"), (200, 100, "binary")],
)
def test_few_distinct_strings_become_a_dictionary(rows, distinct, arm):
    """From 100 rows on, below 100 distinct values."""
    array = pa.array([f"{i % distinct}" for i in range(rows)])
    ((encoding, _),) = pages_of(written(pa.table({"c": array}), "2.0"))

    assert arm == encoding.WhichOneof("array_encoding")


@pytest.mark.parametrize("scheme", ["zstd", "lz4", "none"])
def test_bytes_of_strings_are_compressed_when_asked(scheme):
    """The scheme is named; `none` too, and it changes nothing."""
    metadata = {"lance-encoding:compression": scheme}
    schema = pa.schema([pa.field("c", pa.string(), metadata=metadata)])
    text = "".join(f"value {i}" for i in range(50)).encode()
    rows = pa.table([[f"value {i}" for i in range(50)]], schema=schema)
    ((encoding, (_, data)),) = pages_of(written(rows, "2.0"))

    assert scheme == encoding.binary.bytes.flat.compression.scheme
    assert (scheme == "none") == (data == text)


def test_pages_are_cut_by_size_and_cache():
    """10 000 bytes in pages of 4 000; items go with their offsets, or wait for their own cache."""
    numbers = written(
        pa.table({"c": pa.array(range(1250), pa.int64())}), "2.0", max_page_bytes=4000
    )
    pairs = pa.array([[i, i] for i in range(600)], pa.list_(pa.int64()))
    pair_tables = [pa.table({"c": pairs.slice(at, 100)}) for at in range(0, 600, 100)]
    items = pa.struct([("wide", pa.int64()), ("narrow", pa.int8())])
    rows = pa.array([[{"wide": i, "narrow": 1}] * 2 for i in range(1200)], pa.list_(items))
    tables = [
        pa.table({"c": rows.take(pa.array(range(at, at + 200)))}) for at in range(0, 1200, 200)
    ]
    mixed = written(tables, "2.0", cache_bytes=1000)

    assert 3 == len(pages_of(numbers))
    assert 1 < len(pages_of(written(pair_tables, "2.0", cache_bytes=1500)))
    cuts = [[page.num_rows for page in one.pages] for one in opened(mixed).columns]
    assert [[400] * 3, [2400], [400] * 6, [1200] * 2] == cuts
    assert rows.to_pylist() == scanned(column(mixed)).to_pylist()
    assert_clean_and_owned(mixed)


REFUSED = {
    "maps": (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8())), None),
    "lists of structs": (pa.array([[{"a": 1}]], pa.list_(pa.struct([("a", pa.int8())]), 1)), None),
    "strings in a fixed-size list": (pa.array([["a"]], pa.list_(pa.string(), 1)), None),
    "a null struct": (pa.array([{"a": 1}, None]), None),
    "bits in rows": (pa.array([{"a": True}]), {"packed": "true"}),
    "nulls in rows": (pa.array([{"a": None}], pa.struct([("a", pa.int8())])), {"packed": "true"}),
    "nulls of vectors in rows": (
        pa.array([{"v": [1, None]}], pa.struct([("v", pa.list_(pa.int8(), 2))])),
        {"packed": "true"},
    ),
    "rows of nothing": (pa.array([{}], pa.struct([])), {"packed": "true"}),
    "blobs of text": (pa.array(["a"]), {"lance-encoding:blob": "true"}),
    "keys that run out": (_coded([0, None], list(range(128))), None),
}  # fmt: skip


@pytest.mark.parametrize(("array", "metadata"), REFUSED.values(), ids=REFUSED)
def test_what_2_0_cannot_hold_is_refused(array, metadata):
    """As data or as a type of another version."""
    schema = pa.schema([pa.field("c", array.type, metadata=metadata)])
    with pytest.raises((DataRefused, NotImplementedError)):
        written(pa.Table.from_arrays([array], schema=schema), "2.0")


def test_dictionaries_too_large_for_their_keys_are_refused():
    """Two pages of 100 items each do not fit keys of one signed byte."""
    items = [[f"{page} {number}" for number in range(100)] for page in range(2)]
    tables = [pa.table({"c": _coded(range(100), one)}) for one in items]
    reader = column(written(tables, "2.0", cache_bytes=1))

    assert items[1] == scanned(reader, 100).cast(pa.string()).to_pylist()
    with pytest.raises(LimitExceeded, match=r"L\.array\.dictionary\.key-range"):
        taken(reader, range(200))
