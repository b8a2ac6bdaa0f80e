"""Odd columns of 2.0: where pages are cut, what null lists own, where blobs lie."""

from itertools import pairwise

import pyarrow as pa
from lanceref.core.file_versions import V2_0
from lanceref.data_file.lance_file import LanceFileReader
from lanceref.validate import validate
from lanceref_testing.odd_columns import random_cuts
from lanceref_testing.odd_files import odd_file
from lanceref_testing.oddities import Chance


def test_cuts_begin_and_end_with_the_rows():
    """Pages follow each other; without oddities there is one."""
    assert random_cuts(Chance(0, ()), 9) == [0, 9]
    empty = 0
    for seed in range(40):
        cuts = random_cuts(Chance(seed), 9)
        assert (cuts[0], cuts[-1]) == (0, 9)
        assert all(a <= b for a, b in pairwise(cuts))
        empty += any(a == b for a, b in pairwise(cuts))
    assert empty


def test_null_lists_may_own_items(tmp_path):
    """Readers pass them over."""
    rows = [[1], None, [2, 3], None, []]
    sizes = set()
    for seed in range(10):
        table = pa.table({"c": pa.array(rows, pa.list_(pa.int64()))})
        odd_file(tmp_path / "f", table, V2_0, Chance(seed, {"items of null lists"}))
        reader = LanceFileReader(tmp_path / "f")
        sizes.add(reader.metadata().columns[1].pages[0].buffers[0].size // 8)

        assert reader.read_all().to_table()["c"].to_pylist() == rows
    assert min(sizes) == 3 < max(sizes)


def test_blobs_lie_between_the_pages(tmp_path):
    """Bytes, nulls and empty values."""
    values = [b"abc", None, b"", b"z" * 70, b"abc"]
    field = pa.field("c", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    table = pa.table([pa.array(values, pa.large_binary())], schema=pa.schema([field]))
    for seed in range(20):
        odd_file(tmp_path / "f", table, V2_0, Chance(seed, {"pages cut anywhere"}))

        read = LanceFileReader(tmp_path / "f").read_all().to_table()
        assert read["c"].to_pylist() == values
        assert validate(tmp_path / "f") == []
