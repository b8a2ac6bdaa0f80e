"""Jobs: what executors have in common, and how work is spread."""

import os
import pickle

import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given
from hypothesis import strategies as some
from lanceref.core.errors import BadMagic, Place
from lanceref_spark.distributed_index import build_index
from lanceref_spark.distributed_table import add_columns, compact
from lanceref_spark.jobs import Loop, Processes, spread
from lanceref_spark.validation import validate_with

from tests.lanceref_spark.sample_jobs import refuse, times, whereabouts

EXECUTORS = [Loop(), Processes(2)]


@pytest.mark.parametrize("executor", EXECUTORS, ids=lambda one: type(one).__name__)
def test_results_come_in_the_order_of_the_jobs(executor):
    """Each job gives its product with what all share; no job gives nothing."""
    assert list(executor.map(times, [3, 1, 2], 10)) == [30, 10, 20]
    assert list(executor.map(times, [], 10)) == []


@pytest.mark.parametrize("executor", EXECUTORS, ids=lambda one: type(one).__name__)
def test_a_refusal_comes_back_whole(executor):
    """The error of a job has its clause and place, from another process too."""
    with pytest.raises(BadMagic) as caught:
        list(executor.map(refuse, ["f.lance"], None))
    assert caught.value.place == Place("f.lance", 12, 4)


def test_processes_are_others_than_this_one():
    """The loop stays here, the processes do not."""
    assert list(Loop().map(whereabouts, [1], None)) == [os.getpid()]
    assert os.getpid() not in Processes(2).map(whereabouts, [1, 2], None)


def test_pieces_are_spread_by_size():
    """Of 7, 5, 4 and 3 in two groups each has about half: 7 + 3 and 5 + 4."""
    assert spread([(0, 5), (1, 7), (2, 3), (3, 4)], 2) == [[0, 3], [1, 2]]


@given(some.lists(some.integers(0, 100), max_size=20), some.integers(1, 8))
def test_every_piece_is_in_one_group(sizes, groups):
    """No piece is lost or doubled, no group is empty, and none is much larger than it must be."""
    made = spread(enumerate(sizes), groups)
    assert sorted(n for group in made for n in group) == list(range(len(sizes)))
    assert len(made) == min(groups, len(sizes))
    assert all(made)
    loads = [sum(sizes[n] for n in group) for group in made]
    assert max(loads, default=0) <= sum(sizes) / groups + max(sizes, default=0)


class Overheard(Loop):
    """Keeps what a log may show: the jobs as bytes, all shared things as text."""

    def __init__(self):
        self.jobs, self.shared = b"", ""

    def map(self, run, jobs, shared):
        self.jobs += pickle.dumps((run, list(jobs)))
        self.shared += repr(shared)
        return super().map(run, jobs, shared)


PIPELINES = {
    "validate": lambda one, uri, keys: validate_with(one, uri, deep=True, storage_options=keys),
    "index": lambda one, uri, keys: build_index(
        one, uri, "n", "BTREE", shards=2, merged=1, storage_options=keys
    ),
    "vector index": lambda one, uri, keys: build_index(
        one,
        uri,
        "v",
        "IVF_FLAT",
        shards=2,
        shared_model=True,
        num_partitions=2,
        storage_options=keys,
    ),
    "columns": lambda one, uri, keys: add_columns(one, uri, {"m": "n + 1"}, storage_options=keys),
    "compact": lambda one, uri, keys: compact(one, uri, storage_options=keys),
}


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_keys_are_in_no_job_and_are_not_shown(tmp_path, pipeline):
    """Storage options are in no pickled job, and in no text of what the jobs share."""
    vectors = pa.array([[float(i), 1.0] for i in range(20)], pa.list_(pa.float32(), 2))
    rows = pa.table({"n": range(20), "v": vectors})
    uri = pylanceref.write_dataset(rows, str(tmp_path / "t"), max_rows_per_file=10).uri
    executor = Overheard()
    PIPELINES[pipeline](executor, uri, {"aws_secret_access_key": "hush-hush"})
    assert executor.jobs
    assert "uri" in executor.shared or "path" in executor.shared
    assert b"hush-hush" not in executor.jobs
    assert "hush-hush" not in executor.shared
