"""Distributed work on Spark: tables are indexed, compacted and computed by tasks."""

import lanceref
import pyarrow as pa
import pytest
from lanceref.distributed_index import build_index
from lanceref.distributed_table import add_columns, compact
from lanceref.spark.executor import Tasks

pytestmark = pytest.mark.spark


@pytest.fixture
def table(tmp_path):
    """160 rows in eight fragments."""
    rows = pa.table({"a": range(160), "s": [f"w{i % 11} x" for i in range(160)]})
    return lanceref.write_dataset(rows, str(tmp_path / "t"), max_rows_per_file=20)


@pytest.mark.parametrize(
    ("column", "kind", "filter"),
    [("a", "BTREE", "a BETWEEN 30 AND 99"), ("s", "BITMAP", "s = 'w3 x'")],
)
def test_tasks_build_and_merge_segments(spark, table, column, kind, filter):
    """Eight shards merged to three: one version, and the rows of a scan."""
    scanned = table.to_table(filter=filter)
    made = build_index(Tasks(spark), table.uri, column, kind, shards=8, merged=3)
    (index,) = made.describe_indices()
    assert (made.version, len(index.segments)) == (table.version + 1, 3)
    assert made.to_table(filter=filter) == scanned


def test_tasks_compact_and_compute(spark, table):
    """Columns are added and fragments written together, a version each and one to reserve ids."""
    made = add_columns(Tasks(spark), table.uri, {"b": "a + 1"})
    metrics = compact(Tasks(spark), table.uri, target_rows_per_fragment=80)
    after = lanceref.dataset(table.uri)
    assert metrics.fragments_removed == 8
    assert after.to_table() == made.to_table()
    assert after.to_table()["b"].to_pylist() == list(range(1, 161))
