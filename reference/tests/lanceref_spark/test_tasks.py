"""Tasks of Spark: workers, jobs, validation and distributed builds, with results of a loop."""

import os
import sys

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import BadMagic, Place
from lanceref_spark import validation
from lanceref_spark.distributed_index import build_index
from lanceref_spark.distributed_table import add_columns, compact
from lanceref_spark.executor import Tasks
from lanceref_spark.jobs import Loop
from lanceref_spark.validation import validate_with

from tests.index.vector.indexed import fixed, points

pytestmark = pytest.mark.spark


def test_workers_are_copies_of_a_process_with_the_imports(spark):
    """A task runs in a fork of the daemon, which imported the data source."""
    from tests.lanceref_spark.sample_jobs import ancestor

    (found,) = spark.sparkContext.parallelize([0], 1).map(ancestor).collect()
    assert found == ("lanceref_spark.daemon", True)


def test_a_session_is_set_up_for_python_tasks(spark):
    """Domain sockets, UTC, the loopback interface and no web page are set."""
    conf = spark.sparkContext.getConf()
    assert conf.get("spark.python.unix.domain.socket.enabled") == "true"
    assert conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.sparkContext.uiWebUrl is None


def test_workers_use_this_python_and_one_thread(spark):
    """A task has the interpreter of the driver and one thread."""
    from tests.lanceref_spark.sample_jobs import surroundings

    (found,) = spark.sparkContext.parallelize([0], 1).map(surroundings).collect()
    assert found == (sys.version, "1")


def test_tasks_give_the_results_of_a_loop(spark):
    """Results come in the order of the jobs, as from a loop."""
    from tests.lanceref_spark.sample_jobs import times

    jobs = list(range(7))
    assert list(Tasks(spark).map(times, jobs, 3)) == list(Loop().map(times, jobs, 3))
    assert list(Tasks(spark).map(times, [], 3)) == []


def test_the_error_of_a_job_is_raised(spark):
    """With its clause and place."""
    from tests.lanceref_spark.sample_jobs import refuse

    with pytest.raises(BadMagic) as caught:
        list(Tasks(spark).map(refuse, ["f.lance"], None))
    assert caught.value.clause == "L.file.footer.magic"
    assert caught.value.place == Place("f.lance", 12, 4)


@pytest.fixture
def damaged(tmp_path, monkeypatch):
    """A table of eight fragments, of which one is damaged and one has lost its file."""
    monkeypatch.setattr(validation, "GROUP_FRAGMENTS", 1)
    rows = pa.table({"a": range(80)})
    made = pylanceref.write_dataset(rows, str(tmp_path / "t"), max_rows_per_file=10)
    made.create_scalar_index("a", "BTREE")
    files = [tmp_path / "t" / "data" / one.data_files()[0].path for one in made.get_fragments()]
    files[2].unlink()
    files[5].write_bytes(files[5].read_bytes()[:-1] + b"X")
    return made


def test_tasks_find_what_the_loop_finds(spark, damaged):
    """Findings and units are equal and in the same order."""
    ours = validate_with(Loop(), damaged.uri, deep=True)
    assert {one.clause for one in ours.findings} >= {"L.table.files.exist", "L.file.footer.magic"}
    assert validate_with(Tasks(spark), damaged.uri, deep=True) == ours


def test_each_unit_is_a_task_in_a_worker(spark, damaged):
    """Each unit is one task in a worker."""
    from lanceref.core.limits import DEFAULT_LIMITS
    from lanceref.storage import store_options

    from tests.lanceref_spark.sample_jobs import checked_where

    subject, units = validation.plan(damaged.uri, True, None, DEFAULT_LIMITS, store_options(None))
    done = list(Tasks(spark).map(checked_where, units, subject))
    assert [checked.unit for checked, _, _ in done] == units
    assert [partition for _, partition, _ in done] == list(range(len(units)))
    assert os.getpid() not in {pid for _, _, pid in done}


@pytest.fixture
def table(tmp_path):
    """160 rows in eight fragments."""
    texts, lists = [f"w{i % 11} x" for i in range(160)], [[i, i + 1] for i in range(160)]
    rows = pa.table({"a": range(160), "s": texts, "l": lists, "v": fixed(points(160))})
    return pylanceref.write_dataset(rows, str(tmp_path / "t"), max_rows_per_file=20)


@pytest.mark.parametrize(
    ("column", "kind", "filter"),
    [
        ("a", "BTREE", "a BETWEEN 30 AND 99"),
        ("s", "INVERTED", "contains_tokens(s, 'w3')"),
        ("l", "LABEL_LIST", "array_has_any(l, [3, 150])"),
    ],
)
def test_tasks_build_and_merge_segments(spark, table, column, kind, filter):
    """Eight shards merged to three are one version; `test_distributed` has the other types."""
    scanned = table.to_table(filter=filter)
    made = build_index(Tasks(spark), table.uri, column, kind, shards=8, merged=3)
    (index,) = made.describe_indices()
    assert (made.version, len(index.segments)) == (table.version + 1, 3)
    assert scanned.num_rows
    assert made.to_table(filter=filter) == scanned


@pytest.mark.parametrize("kind", ["IVF_PQ", "IVF_RQ"])
def test_tasks_train_a_shared_model(spark, table, kind):
    """Shards share a codebook or a rotation; merged ones find the same nearest rows."""
    parameters = {"num_sub_vectors": 4, "num_bits": 4} if kind == "IVF_PQ" else {}
    queries = points(160)[::16]
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
    """Columns are added and fragments compacted by tasks in one version each."""
    made = add_columns(Tasks(spark), table.uri, {"b": "a + 1"})
    metrics = compact(Tasks(spark), table.uri, target_rows_per_fragment=80)
    after = pylanceref.dataset(table.uri)
    assert metrics.fragments_removed == 8
    assert after.to_table() == made.to_table()
    assert after.to_table()["b"].to_pylist() == list(range(1, 161))
