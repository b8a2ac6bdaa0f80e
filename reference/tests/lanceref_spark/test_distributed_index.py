"""Distributed work on Spark: tables are indexed, compacted and computed by tasks."""

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref_spark.distributed_index import build_index
from lanceref_spark.distributed_table import add_columns, compact
from lanceref_spark.executor import Tasks

pytestmark = pytest.mark.spark


def vectors():
    values = np.random.default_rng(3).normal(size=160 * 8).astype("f4")
    return pa.FixedSizeListArray.from_arrays(values, 8)


@pytest.fixture
def table(tmp_path):
    """160 rows in eight fragments."""
    texts, lists = [f"w{i % 11} x" for i in range(160)], [[i, i + 1] for i in range(160)]
    rows = pa.table({"a": range(160), "s": texts, "l": lists, "v": vectors()})
    return pylanceref.write_dataset(rows, str(tmp_path / "t"), max_rows_per_file=20)


@pytest.mark.parametrize(
    ("column", "kind", "filter"),
    [
        ("a", "BTREE", "a BETWEEN 30 AND 99"),
        ("a", "ZONEMAP", "a BETWEEN 30 AND 99"),
        ("a", "BLOOMFILTER", "a = 77"),
        ("s", "BITMAP", "s = 'w3 x'"),
        ("s", "NGRAM", "contains(s, 'w10')"),
        ("s", "INVERTED", "contains_tokens(s, 'w3')"),
        ("l", "LABEL_LIST", "array_has_any(l, [3, 150])"),
    ],
)
def test_tasks_build_and_merge_segments(spark, table, column, kind, filter):
    """Eight shards merged to three: one version, and the rows of a scan."""
    scanned = table.to_table(filter=filter)
    made = build_index(Tasks(spark), table.uri, column, kind, shards=8, merged=3)
    (index,) = made.describe_indices()
    assert (made.version, len(index.segments)) == (table.version + 1, 3)
    assert scanned.num_rows
    assert made.to_table(filter=filter) == scanned


@pytest.mark.parametrize("kind", ["IVF_PQ", "IVF_RQ", "IVF_SQ", "IVF_HNSW_SQ"])
def test_tasks_train_a_shared_model(spark, table, kind):
    """Eight shards and two merged ones find, searched whole, as many of the nearest rows."""
    parameters = {"num_sub_vectors": 4, "num_bits": 4} if kind == "IVF_PQ" else {}
    queries = vectors().flatten().to_numpy().reshape(-1, 8)[::16]
    found = []
    for merged, left in ((None, 8), (2, 2)):
        made = build_index(
            Tasks(spark), table.uri, "v", kind, shards=8, merged=merged, shared_model=True,
            num_partitions=2, sample_rate=64, max_iters=3, **parameters,
        )  # fmt: skip
        assert [len(one.segments) for one in made.describe_indices()] == [left]
        asked = ({"column": "v", "k": 10, "nprobes": 2, "q": query} for query in queries)
        found.append([set(made.to_table(nearest=one)["a"].to_pylist()) for one in asked])
    same = [len(one & other) for one, other in zip(*found, strict=True)]
    assert np.mean(same) >= 9


def test_tasks_compact_and_compute(spark, table):
    """Columns are added and fragments written together, a version each and one to reserve ids."""
    made = add_columns(Tasks(spark), table.uri, {"b": "a + 1"})
    metrics = compact(Tasks(spark), table.uri, target_rows_per_fragment=80)
    after = pylanceref.dataset(table.uri)
    assert metrics.fragments_removed == 8
    assert after.to_table() == made.to_table()
    assert after.to_table()["b"].to_pylist() == list(range(1, 161))
