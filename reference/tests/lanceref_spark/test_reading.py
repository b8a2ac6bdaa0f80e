"""Reading: what a partition is, and that a worker opens a version once."""

import pickle

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import NotFound
from lanceref_spark.options import parse
from lanceref_spark.partition import Rows
from lanceref_spark.reading import TableReader, described, rows_of

pytestmark = pytest.mark.spark


@pytest.fixture
def table(tmp_path):
    """50 rows in three fragments, of which five are deleted from the second."""
    rows = pa.table({"a": pa.array(range(50), pa.uint8())})
    made = pylanceref.write_dataset(rows, str(tmp_path / "t"), max_rows_per_file=20)
    made.delete("a >= 20 and a < 25")
    return made


def parts(table, **options):
    reader = TableReader(parse({"path": table.uri, **options}), ["a"])
    return [(one.fragment, one.start, one.count) for one in reader.partitions()]


def test_fragments_are_partitions_and_large_ones_several(table):
    """Live rows are counted; with a filter a fragment stays whole."""
    assert parts(table) == [(0, 0, None), (1, 0, None), (2, 0, None)]
    assert parts(table, split_rows="12") == [
        (0, 0, 12),
        (0, 12, 8),
        (1, 0, 12),
        (1, 12, 3),
        (2, 0, None),
    ]
    assert parts(table, split_rows="12", filter="a > 3") == parts(table)


def test_a_partition_is_small(table):
    """What travels is a version and a few numbers, less than 200 bytes of pickle."""
    reader = TableReader(parse({"path": table.uri}), ["a"])
    assert all(len(pickle.dumps(one)) < 200 for one in reader.partitions())
    assert {one.version for one in reader.partitions()} == {2}


def test_rows_of_a_partition_are_its_live_rows(table):
    """Rows 12 on of the second fragment, deleted ones not counted, in Spark's type."""
    schema = pa.schema([("a", pa.int16())])
    batches = rows_of(parse({"path": table.uri}), Rows(2, 1, 12, 3), ["a"], schema)
    found = pa.Table.from_batches(batches, schema)
    assert found["a"].to_pylist() == [37, 38, 39]
    with pytest.raises(NotFound, match="fragment 9"):
        list(rows_of(parse({"path": table.uri}), Rows(2, 9), ["a"], schema))


def test_the_schema_has_the_chosen_columns_in_order(table):
    """System columns come after those that were chosen."""
    options = parse({"path": table.uri, "columns": "a", "with_row_id": "true"})
    assert described(options).schema.names == ["a", "_rowid"]
    assert described(options, ["_rowid", "a"]).schema.names == ["_rowid", "a"]
