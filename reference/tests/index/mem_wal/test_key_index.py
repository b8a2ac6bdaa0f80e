"""Indices of the keys of flushed generations."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.file_versions import V2_0
from lanceref.data_file.reader import LanceFileReader
from lanceref.index.mem_wal.key_index import KeyIndexWriter, ordered_keys, write_key_index
from lanceref.storage import LocalStore


def _column(values, type_=None):
    return pa.chunked_array([pa.array(values, type_)])


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (_column([-2], pa.int8()), "017ffffffffffffffe"),
        (_column([5], pa.uint16()), "010000000000000005"),
        (_column([True]), "0101"),
        (_column(["a\0b"]), "016100ff620000"),
        (_column([b"\xff"]), "01ff0000"),
    ],
)
def test_keys_of_several_columns_are_bytes(column, expected):
    """Column by column."""
    seven = "018000000000000007"
    (found,) = ordered_keys([column, _column([7])]).to_pylist()

    assert expected + seven == found.hex()


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.binary()), min_size=2, max_size=5))
def test_bytes_stand_in_the_order_of_the_keys(keys):
    """Whatever they are."""
    numbers, texts = zip(*keys, strict=True)
    found = ordered_keys([_column(numbers, pa.int64()), _column(texts)]).to_pylist()

    assert [found[keys.index(key)] for key in sorted(keys)] == sorted(found)


def test_the_files_are_those_of_an_index(tmp_path):
    """Keys ascending, each with the row it is in."""
    with KeyIndexWriter(LocalStore(tmp_path), V2_0) as writer:
        write_key_index([_column([7, 3, 9])], writer)
    pages, lookup = (
        LanceFileReader(str(tmp_path / "_pk_index" / name)).read_all().to_table().to_pydict()
        for name in ("page_data.lance", "page_lookup.lance")
    )

    assert {"values": [3, 7, 9], "ids": [1, 0, 2]} == pages
    assert {"min": [3], "max": [9], "null_count": [0], "page_idx": [0]} == lookup
