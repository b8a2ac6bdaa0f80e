"""Layouts of pages: worked bytes, written and read, and errors of pages that are read together."""

import pyarrow as pa
import pytest
from lanceref.core.errors import CorruptPage

from ..file.in_memory import assert_written, column, opened, taken, written
from ..file.in_memory import scanned as column_values

NUMBERS, LISTS = pa.int32(), pa.list_(pa.int32())
ROWS = [[1, 2], None, [], [3]]
LEVELS = "0100 0000 0100 0100 0100 fefefefefefe 0000 0000 0100 0200 0000 fefefefefefe"
THREE = "01000000 02000000 03000000 fefefefe"
ZIP = {"lance-encoding:structural-encoding": "fullzip", "lance-encoding:compression": "none"}
SPARSE = {"lance-encoding:structural-encoding": "sparse"}
WRITTEN = {
    "chunks of lists, 2.1": (
        pa.array(ROWS, LISTS), "2.1", None, "mini_block_layout",
        ["6000", f"0500 0a00 0a00 0c00 {LEVELS} {THREE}", "04" + "00" * 15],
    ),
    "chunks of lists, 2.2": (
        pa.array(ROWS, LISTS), "2.2", None, "mini_block_layout",
        ["70000000", f"0500 0a00 0a00 0c000000 fefefefefefe {LEVELS} {THREE}", "04" + "00" * 15],
    ),
    "chunks of lists, 2.3": (
        pa.array(ROWS, LISTS), "2.3", None, "structure.dense",
        ["70000000", f"0500 0a00 0a00 0c000000 fefefefefefe {LEVELS} {THREE}", "04" + "00" * 15],
    ),
    "a chunk without levels": (
        pa.array([1, 2, 3], NUMBERS), "2.1", None, "mini_block_layout",
        ["2000", f"0000 0c00 fefefefe {THREE}"],
    ),
    "sparse lists": (
        pa.array(ROWS, LISTS), "2.3", SPARSE, "structure.sparse",
        ["20000000", f"00000c00 0000fefe {THREE}", "0200000000000000 0100000000000000"],
    ),
    "zipped strings: a null is a control word alone": (
        pa.array([None, "ab", ""]), "2.1", ZIP, "full_zip_layout",
        ["01 00 02000000 6162 00 00000000", "00 01 08 0d"],
    ),
    "zipped large strings": (
        pa.array(["a"], pa.large_string()), "2.1", ZIP, "full_zip_layout",
        ["0100000000000000 61", "00 09"],
    ),
    "zipped numbers: a null keeps its bytes": (
        pa.array([5, None], pa.int16()), "2.1", ZIP, "full_zip_layout", ["00 0500 01 0000"],
    ),
    "zipped lists: rows begin at 0, 3 and 4": (
        pa.array([[5], None, [6, 7]], pa.list_(pa.int16())), "2.1", ZIP, "full_zip_layout",
        ["02 0500 03 02 0600 00 0700", "00 03 04 0a"],
    ),
    "nulls need no buffer": (pa.nulls(2, NUMBERS), "2.1", None, "constant_layout", []),
    "levels of nulls are raw in 2.1": (
        pa.array([[None], [], None], LISTS), "2.1", None, "constant_layout",
        ["0100 0100 0100", "0100 0300 0200"],
    ),
    "one value in the description": (
        pa.array([7, 7, 7], NUMBERS), "2.2", None, "constant_layout", [],
    ),
    "one value and raw levels": (
        pa.array([[7], [], None], LISTS), "2.2", None, "constant_layout",
        ["0100 0100 0100", "0000 0200 0100"],
    ),
    "one string in a buffer": (
        pa.array(["abc"] * 3), "2.2", None, "constant_layout",
        ["02000000 08000000 03000000 00000000 03000000 616263"],
    ),
    "one long binary in a buffer": (
        pa.array([b"a" * 33] * 3, pa.binary(33)), "2.2", None, "constant_layout",
        ["01000000 21000000" + "61" * 33],
    ),
    "empty structs": (pa.array([{}, {}], pa.struct([])), "2.2", None, "constant_layout", []),
}  # fmt: skip
"""Array, version, metadata, arms of the layout, buffers."""


@pytest.mark.parametrize(
    ("array", "version", "metadata", "arms", "buffers"), WRITTEN.values(), ids=WRITTEN
)
def test_pages_are_written_byte_for_byte_and_read_back(array, version, metadata, arms, buffers):
    """The worked pages of the chapters."""
    assert_written(array, version, metadata, arms, [*map(bytes.fromhex, buffers)])


def _three_pages():
    """Return a file of three pages of one chunk each, and where the chunks lie."""
    tables = [pa.table({"c": pa.array(rows, NUMBERS)}) for rows in ([1, 2], [3], [4, 5])]
    data = written(tables, "2.1", cache_bytes=1)
    return data, [page.extents[1].offset for page in opened(data).columns[0].pages]


@pytest.mark.parametrize("page", [0, 1, 2])
@pytest.mark.parametrize(("at", "value", "clause"), [(0, 1, "num-levels"), (2, 255, "chunk-fill")])
def test_an_error_names_the_chunk_of_its_own_page(page, at, value, clause):
    """Though pages are read together: levels where there are none, values beyond the chunk."""
    data, chunks = _three_pages()
    damaged = bytearray(data)
    damaged[chunks[page] + at] = value
    reader = column(bytes(damaged))
    for read in (lambda: column_values(reader), lambda: taken(reader, [0, 2, 3])):
        with pytest.raises(CorruptPage) as caught:
            read()
        assert (f"L.page.miniblock.{clause}", chunks[page]) == (
            caught.value.clause,
            caught.value.offset,
        )
