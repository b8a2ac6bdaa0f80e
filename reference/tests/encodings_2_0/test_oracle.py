"""2.0 files against the oracle: what it wrote we read, what we built it reads."""

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.spans import SpanRecorder, uncovered
from lanceref.data_file.check import check_file
from lanceref.storage import LocalSource
from pylanceref.file import LanceFileReader

from .building import Column, Page, binary, built_file, flat, no_nulls, some_nulls, words
from .oracle_files import INVENTORY, write
from .test_bitpacked import bitpacked, for_non_neg, pack, pack_lanes
from .test_fixed_size_binary import fixed

pytestmark = pytest.mark.oracle

OPTIONS = {"one page": {}, "many pages": {"data_cache_bytes": 1000}}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("make", INVENTORY.values(), ids=INVENTORY)
def test_what_the_oracle_wrote_reads_equal(make, options, tmp_path):
    """Types and values, as a scan, as a range and as rows."""
    table = make()
    write(table, tmp_path / "f.lance", **options)
    reader = LanceFileReader(tmp_path / "f.lance")
    start, end = len(table) // 3, len(table) // 2
    rows = list(range(start, end, 7))

    assert table.schema == reader.schema
    assert table.to_pylist() == reader.read_all().to_table().to_pylist()
    assert table.to_pylist()[start:end] == _rows(reader.read_range(start, end - start))
    assert [table.to_pylist()[row] for row in rows] == _rows(reader.take_rows(rows))


def _rows(results):
    return results.to_table().to_pylist()


@pytest.mark.parametrize("name", [name for name in INVENTORY if name != "blob"])
def test_files_of_the_oracle_are_clean_and_every_byte_is_owned(name, tmp_path):
    """No finding, and no byte without an owner."""
    write(INVENTORY[name](), tmp_path / "f.lance", data_cache_bytes=1000)
    spans, findings = SpanRecorder(), []
    source = LocalSource(str(tmp_path / "f.lance"))

    check_file(source, Context("f.lance", spans=spans, findings=findings))

    assert [] == findings
    assert [] == uncovered(spans.finish(source.size))


VALUES = [(i * 37) % 500 for i in range(1500)]
BUILT = {
    "bitpacked": (
        pa.int32(),
        no_nulls(bitpacked(12, 32)),
        [pack(VALUES, 12)],
        VALUES,
    ),
    "bitpacked signed": (
        pa.int32(),
        no_nulls(bitpacked(12, 32, signed=True)),
        [pack([v - 250 for v in VALUES], 12)],
        [v - 250 for v in VALUES],
    ),
    **{
        f"bitpacked for non-negative, {full} bits": (
            getattr(pa, f"uint{full}")(),
            no_nulls(for_non_neg(7, full)),
            [pack_lanes([v % 100 for v in VALUES], 7, full)],
            [v % 100 for v in VALUES],
        )
        for full in (8, 16, 32, 64)
    },
    "byte strings of one width": (pa.binary(), no_nulls(fixed(3)), [b"abcdef"], [b"abc", b"def"]),
    "strings of one width": (pa.string(), no_nulls(fixed(3, 24)), [b"abcdef"], ["abc", "def"]),
    "bare flat": (pa.int16(), flat(16), [b"\x01\x00\x02\x00"], [1, 2]),
    "some nulls around strings": (
        pa.string(),
        some_nulls(binary(7, first=1)),
        [b"\x05", words(3, 3, 6), b"foobar"],
        ["foo", None, "bar"],
    ),
    "compressed numbers": (
        pa.int64(),
        no_nulls(flat(64, scheme="zstd")),
        [words(16) + pa.Codec("zstd").compress(words(1, 2), asbytes=True)],
        [1, 2],
    ),
    "bare zstd frame": (
        pa.int64(),
        no_nulls(flat(64, scheme="zstd")),
        [pa.Codec("zstd").compress(words(1, 2), asbytes=True)],
        [1, 2],
    ),
}


@pytest.mark.parametrize(("type_", "encoding", "buffers", "values"), BUILT.values(), ids=BUILT)
def test_what_no_writer_makes_is_read_alike(type_, encoding, buffers, values, tmp_path):
    """Hand-built pages: the oracle and we read the same values."""
    from lance.file import LanceFileReader as Oracle

    path = tmp_path / "f.lance"
    column = Column([Page(encoding, len(values), buffers)])
    path.write_bytes(built_file(pa.field("c", type_), [column], len(values)))

    assert values == LanceFileReader(path).read_all().to_table()["c"].to_pylist()
    assert values == Oracle(str(path)).read_all().to_table()["c"].to_pylist()
