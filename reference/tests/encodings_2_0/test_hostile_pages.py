"""Hostile 2.0 pages: what is refused and where, what is only reported, and any flipped byte."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import BytesError, LimitExceeded
from lanceref.core.limits import Limits
from lanceref.core.spans import SpanRecorder
from lanceref.file_0_1.check import check_file
from lanceref.proto import encodings_v2_0_pb2 as pb
from lanceref.storage import BytesSource
from pylanceref.file import LanceFileReader

from ..file.in_memory import scanned, taken
from .building import (
    BLOB,
    Column,
    Page,
    all_nulls,
    binary,
    built_file,
    dictionary,
    flat,
    list_page,
    no_nulls,
    open_built,
    packed,
    some_nulls,
    words,
)
from .test_pages import BLOB_FIELD, PAGES, ZSTD

LIST = pa.list_(pa.int8())


def _one(encoding, rows, *buffers, column=None):
    return [Column([Page(encoding, rows, list(buffers))], *([column] if column else []))]


def test_a_check_owns_every_byte_of_every_buffer_once():
    """Bitmap, ends and bytes are leaves of their own; descriptors are read twice, owned once."""
    spans, blobs = SpanRecorder(), SpanRecorder()
    page = Page(some_nulls(binary(4, first=1)), 2, [b"\3", words(1, 3), b"abc"])
    open_built(pa.string(), [Column([page])], spans=spans).check()
    stored = words(128, 3, 1, 0)
    source = BytesSource(stored.ljust(128, b"H") + b"pay")
    descriptors = Page(packed(no_nulls(flat(64)), no_nulls(flat(64))), 2, [stored])
    open_built(BLOB_FIELD, [Column([descriptors], BLOB)], source=source, spans=blobs).check()

    owned = [(leaf.start, leaf.end, leaf.kind) for leaf in spans.root.leaves()]
    assert [(0, 1, "bitmap"), (64, 80, "offsets u64[]"), (128, 131, "bytes")] == owned
    leaves = sorted((leaf.start, leaf.end) for leaf in blobs.finish(131).leaves())
    assert [(0, 32), (128, 131)] == leaves


def test_columns_buffers_and_descriptors_that_are_not_there_are_named():
    """A field without its column, a buffer of the file, one descriptor too few."""
    with pytest.raises(BytesError) as caught:
        open_built(LIST, [Column([Page(list_page(0), 0, [b""])])])
    assert "L.file.schema.num-columns" == caught.value.clause
    encoding = pb.ArrayEncoding(flat={"bits_per_value": 8, "buffer": {"buffer_type": 2}})
    with pytest.raises(BytesError) as caught:
        scanned(open_built(pa.int8(), _one(encoding, 1, b"\1")))
    assert "L.array.buffer.type" == caught.value.clause
    findings = []
    short = Page(packed(no_nulls(flat(64)), no_nulls(flat(64))), 3, [words(0, 0, 1, 0)])
    open_built(BLOB_FIELD, [Column([short], BLOB)], findings=findings).check()
    assert 1 == len(findings)


def test_memory_is_bounded_before_it_is_taken():
    """Blocks that claim a gigabyte, and a null of a huge list."""
    block = Page(flat(8, scheme="zstd"), 2**30, [words(2**30) + ZSTD])
    limits = Limits(expansion_bytes=2**20)
    with pytest.raises(LimitExceeded):
        taken(open_built(pa.uint8(), [Column([block])], limits=limits), [0])
    huge = pa.list_(pa.int64(), 2**31 - 1)
    with pytest.raises(LimitExceeded, match=r"L\.array\.nullable\.all-nulls"):
        taken(open_built(huge, [Column([Page(all_nulls(), 1, [])])]), [0])
    short = pa.Codec("lz4_raw").compress(bytes(399), asbytes=True)
    stored = (400).to_bytes(4, "little") + short
    with pytest.raises(BytesError, match="a block that ends early"):
        scanned(open_built(pa.uint8(), _one(flat(8, scheme="lz4"), 400, stored)))


def test_dictionaries_too_large_for_their_keys_are_refused():
    """Two pages of 100 items do not fit keys of one signed byte."""
    keys, numbers = bytes(range(100)), b"".join(words(one)[:4] for one in range(200))
    items = numbers[:400], numbers[400:]
    pages = [Page(dictionary(8, flat(32, 1), 100), 100, [keys, one]) for one in items]
    column = open_built(pa.dictionary(pa.int8(), pa.int32()), [Column(pages)])
    with pytest.raises(LimitExceeded, match=r"L\.array\.dictionary\.key-range"):
        taken(column, list(range(200)))


def test_what_lies_below_is_checked_too():
    """A key just beyond the items, read or taken; text inside of lists that is no UTF-8."""
    keys = dictionary(8, binary(4, first=1), 2)
    strings = open_built(pa.string(), _one(keys, 2, b"\2\3", words(1, 3), b"abb"))
    for read in (scanned, lambda column: taken(column, [1])):
        with pytest.raises(BytesError, match=r"L\.array\.dictionary\.key-range"):
            read(strings)
    findings = []
    lists = [*_one(list_page(1), 1, words(1)), *_one(binary(2), 1, words(1), b"\xff")]
    open_built(pa.list_(pa.string()), lists, findings=findings).check()
    assert ["L.array.binary.utf8"] == [finding.clause for finding in findings]


@pytest.mark.parametrize("name", [name for name, (_, columns, rows) in PAGES.items() if rows])
@given(data=st.data())
@settings(max_examples=40)
def test_damaged_files_give_rows_or_a_lance_error(name, data):
    """Reading, taking and checking raise nothing but errors that fill clause, found and wanted."""
    type_, columns, rows = PAGES[name]
    field = type_ if isinstance(type_, pa.Field) else pa.field("c", type_)
    damaged = bytearray(built_file(field, columns, len(rows)))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at] ^= data.draw(st.integers(1, 255))
    source = BytesSource(bytes(damaged), "f.lance")
    try:
        reader = LanceFileReader("f.lance", source=source)
        reader.read_all().to_table().validate(full=True)
        reader.take_rows([0, reader.num_rows() - 1]).to_table().validate(full=True)
    except (BytesError, OverflowError) as error:
        if isinstance(error, BytesError):
            assert error.clause.startswith("L.") and "f.lance" == error.file
            assert str(error.found) and str(error.wanted)
    check_file(source, Context("f.lance", findings=[]))
