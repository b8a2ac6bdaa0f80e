"""List pages."""

import pyarrow as pa
import pytest
from lanceref.core.errors import BytesError
from lanceref.file_0_1.column import encode_list

from .building import metadata_of, patched, read, written

LISTS = pa.table({"l": pa.array([[7, 8], None, [], [9]], pa.list_(pa.int8()))})


def test_offsets_count_from_the_first_item():
    """Of a slice too; items below a null list stay."""
    offsets = pa.array([0, 1, 4, 5], pa.int32()).buffers()[1]
    items = pa.array(range(5), pa.int8())
    array = pa.Array.from_buffers(
        pa.list_(pa.int8()), 3, [pa.py_buffer(b"\x05"), offsets], children=[items]
    )
    found, kept = encode_list(array[1:])

    assert bytes.fromhex("00000000 03000000 04000000") == found
    assert [1, 2, 3, 4] == kept.to_pylist()


def test_a_page_of_lists_is_offsets_then_items():
    """Lengths: one more than the rows, and the items."""
    data = written(LISTS)
    assert bytes.fromhex("00000000 02000000 02000000 02000000 03000000 070809") == data[:23]
    position = metadata_of(data)[1].page_table_position
    assert bytes.fromhex("05" + "00" * 7 + "14" + "00" * 7 + "03") == data[position + 8 :][:17]


def test_a_null_list_reads_as_empty():
    """There is no validity."""
    assert {"l": [[7, 8], [], [], [9]]} == read(written(LISTS))


@pytest.mark.parametrize(
    ("offset", "new", "clause"),
    [
        (0, b"\x01", "first-offset"),
        (4, b"\x04", "ascending"),
        (16, b"\x02", "items"),
        (16, b"\x04", "items"),
    ],
)
def test_broken_offsets_are_refused(offset, new, clause):
    """Each fault under its clause."""
    with pytest.raises(BytesError) as refusal:
        read(patched(written(LISTS), offset, new))
    assert f"L.legacy.list.{clause}" == refusal.value.clause


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        (pa.list_(pa.list_(pa.string())), [[["a"], []], [], [["b", "c"]]]),
        (pa.large_list(pa.struct([("a", pa.int8()), ("b", pa.bool_())])), [[{"a": 1, "b": True}]]),
        (pa.list_(pa.null()), [[None, None], [], [None]]),
    ],
)
@pytest.mark.parametrize("rows", [1, 2, 9])
def test_what_is_written_reads_equal(type_, values, rows):
    """Nested lists in batches of any size."""
    table = pa.table({"l": pa.array(values, type_)})
    assert {"l": values} == read(written(table, rows))
