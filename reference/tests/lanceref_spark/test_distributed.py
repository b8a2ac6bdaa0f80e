"""Distributed work: jobs, tables and indices have the results of a single process."""

import pickle
import random
from concurrent.futures import BrokenExecutor
from ctypes import string_at

import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given
from hypothesis import strategies as some
from lanceref.core.errors import CommitConflict, DataRefused, IndexRefused
from lanceref_spark.distributed_index import build_index
from lanceref_spark.distributed_table import add_columns, compact
from lanceref_spark.jobs import Loop, Processes, spread
from lanceref_spark.validation import validate_with

from tests.lanceref_spark.sample_jobs import times

EXECUTORS = [pytest.param(Loop(), id="loop"), pytest.param(Processes(2), id="processes")]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_results_come_in_the_order_of_the_jobs(executor):
    """Each job returns its product with the shared value; without jobs there are no results."""
    assert list(executor.map(times, [3, 1, 2], 10)) == [30, 10, 20]
    assert list(executor.map(times, [], 10)) == []


def test_a_process_that_dies_is_replaced():
    """The jobs at hand end with an error; later ones run in a new process."""
    executor = Processes(1)
    with pytest.raises(BrokenExecutor):
        list(executor.map(string_at, [1], 8))  # an address that may not be read
    assert list(executor.map(times, [3], 10)) == [30]


@given(some.lists(some.integers(0, 100), max_size=20), some.integers(1, 8))
def test_every_piece_is_in_one_group(sizes, groups):
    """No piece is lost or repeated, no group is empty, and sizes are balanced."""
    made = spread(enumerate(sizes), groups)
    assert sorted(n for group in made for n in group) == list(range(len(sizes)))
    assert len(made) == min(groups, len(sizes))
    assert all(made)
    loads = [sum(sizes[n] for n in group) for group in made]
    assert max(loads, default=0) <= sum(sizes) / groups + max(sizes, default=0)


class Overheard(Loop):
    """Records what a log may show: pickled jobs, and shared values as text."""

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
        one, uri, "v", "IVF_FLAT", shards=2, shared_model=True, num_partitions=2,
        storage_options=keys,
    ),
    "columns": lambda one, uri, keys: add_columns(one, uri, {"m": "n + 1"}, storage_options=keys),
    "compact": lambda one, uri, keys: compact(one, uri, storage_options=keys),
}  # fmt: skip


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_keys_are_in_no_job_and_are_not_shown(tmp_path, pipeline):
    """Storage options are in no pickled job, and in no text of the shared values."""
    vectors = pa.array([[float(i), 1.0] for i in range(20)], pa.list_(pa.float32(), 2))
    rows = pa.table({"n": range(20), "v": vectors})
    uri = pylanceref.write_dataset(rows, str(tmp_path / "t"), max_rows_per_file=10).uri
    executor = Overheard()
    PIPELINES[pipeline](executor, uri, {"aws_secret_access_key": "hush-hush"})
    assert executor.jobs
    assert "uri" in executor.shared or "path" in executor.shared
    assert b"hush-hush" not in executor.jobs
    assert "hush-hush" not in executor.shared


@pytest.fixture
def six_fragments(tmp_path):
    """60 rows in six fragments, with deletions."""
    rows = pa.table({"a": range(60), "s": [str(i) for i in range(60)]})
    made = pylanceref.write_dataset(rows, str(tmp_path / "t"), max_rows_per_file=10)
    made.delete("a % 10 = 4")
    return made


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_table_is_compacted(six_fragments, executor):
    """Two tasks make two fragments of the same rows, in one Rewrite."""
    before = six_fragments.to_table()
    metrics = compact(executor, six_fragments.uri, target_rows_per_fragment=27)
    after = pylanceref.dataset(six_fragments.uri)
    assert (metrics.fragments_removed, metrics.fragments_added) == (6, len(after.get_fragments()))
    assert after.to_table() == before
    assert after.count_rows() == 54


@pytest.mark.parametrize("executor", EXECUTORS)
def test_columns_are_computed(six_fragments, executor):
    """Each live row has its value, in one version with the same fragments."""
    made = add_columns(executor, six_fragments.uri, {"b": "a * 2", "t": "s || '!'"})
    assert made.version == six_fragments.version + 1
    for row in made.to_table().to_pylist():
        assert (row["b"], row["t"]) == (2 * row["a"], f"{row['a']}!")
    assert len(made.get_fragments()) == 6


def test_rows_that_come_between_are_a_conflict(six_fragments):
    """Fragments that were rewritten while columns were computed are not overwritten."""

    class Meanwhile(Loop):
        def map(self, run, jobs, shared):
            yield from super().map(run, jobs, shared)
            pylanceref.dataset(six_fragments.uri).optimize.compact_files()

    with pytest.raises(CommitConflict):
        add_columns(Meanwhile(), six_fragments.uri, {"b": "a"})
    assert "b" not in pylanceref.dataset(six_fragments.uri).schema.names


def test_a_table_without_fragments_is_refused(tmp_path):
    """There is no fragment from which the schema follows."""
    empty = pylanceref.write_dataset(pa.table({"a": pa.array([], pa.int8())}), str(tmp_path / "e"))
    with pytest.raises(DataRefused):
        add_columns(Loop(), empty.uri, {"b": "a"})


WORDS = ("ant", "bee", "cat", "dog", "eel", "fox")


@pytest.fixture
def table(tmp_path):
    """200 rows in eight fragments."""
    draw = random.Random(5)
    rows = pa.table(
        {
            "n": pa.array([draw.randrange(50) if i % 9 else None for i in range(200)], pa.int32()),
            "c": [draw.choice(WORDS) for _ in range(200)],
            "l": [draw.sample(WORDS, draw.randrange(4)) for _ in range(200)],
            "t": [" ".join(draw.choices(WORDS, k=5)) for _ in range(200)],
        }
    )
    return pylanceref.write_dataset(rows, str(tmp_path / "t"), max_rows_per_file=25)


TYPES = {
    "BTREE": ("n", ["n < 20", "n = 7", "n IS NULL", "n BETWEEN 3 AND 9"]),
    "BITMAP": ("c", ["c = 'cat'", "c IN ('ant', 'fox')", "c IS NULL"]),
    "LABEL_LIST": ("l", ["array_has_any(l, ['ant'])", "array_has_all(l, ['bee', 'cat'])"]),
    "NGRAM": ("t", ["contains(t, 'cat dog')", "contains(t, 'fox')"]),
    "ZONEMAP": ("n", ["n < 20", "n = 7", "n IS NULL"]),
    "BLOOMFILTER": ("n", ["n = 7", "n IN (1, 2)", "n IS NULL"]),
}
"""Column and filters of each type."""


def answers(dataset, filters):
    return [dataset.to_table(filter=one)["c"].to_pylist() for one in filters]


def segments(dataset, name):
    (found,) = [one for one in dataset.describe_indices() if one.name == name]
    return found.segments


@pytest.mark.parametrize("kind", TYPES)
def test_segments_and_merged_segments_find_the_same_rows(table, kind):
    """One segment, four, and four merged to two find the rows of a scan."""
    column, filters = TYPES[kind]
    scanned = answers(table, filters)
    for shards, merged, left in ((1, None, 1), (4, None, 4), (4, 2, 2), (8, 1, 1)):
        made = build_index(Loop(), table.uri, column, kind, shards=shards, merged=merged)
        assert answers(made, filters) == scanned
        parts = segments(made, f"{column}_idx")
        assert len(parts) == left
        assert sorted(n for one in parts for n in one.fragment_ids) == list(range(8))
        assert f"{column}_idx" in made.scanner(filter=filters[0]).explain_plan()


def test_processes_build_what_the_loop_builds(table):
    """The same shards, and the same rows."""
    filters = TYPES["BTREE"][1]
    made = build_index(Processes(2), table.uri, "n", "BTREE", shards=3, merged=2)
    assert answers(made, filters) == answers(table, filters)
    assert [len(one.fragment_ids) for one in segments(made, "n_idx")] == [5, 3]


def test_the_caller_chooses_groups(table):
    """Fragments by shard and shards by segment; a missing or repeated one is refused."""
    shards = [[0, 7], [1, 2, 3], [4], [5, 6]]
    made = build_index(Loop(), table.uri, "n", "BTREE", shards=shards, merged=[[0, 3], [1, 2]])
    covered = [sorted(one.fragment_ids) for one in segments(made, "n_idx")]
    assert covered == [[0, 5, 6, 7], [1, 2, 3, 4]]
    for wrong in ([[0, 1]], [[*range(8)], [3]]):
        with pytest.raises(IndexRefused, match="each must be in one shard"):
            build_index(Loop(), table.uri, "n", "BTREE", shards=wrong)
    for wrong in ({"shards": 0}, {"merged": 0}):
        with pytest.raises(IndexRefused, match="must be at least 1, got 0"):
            build_index(Loop(), table.uri, "n", "BTREE", **wrong)


class Meanwhile(Loop):
    """Compacts the table during a build, the first `times` times."""

    def __init__(self, uri, times):
        self.uri, self.times, self.rounds = uri, times, 0

    def map(self, run, jobs, shared):
        made = list(super().map(run, jobs, shared))
        self.rounds += 1
        if self.rounds <= self.times:
            table = pylanceref.dataset(self.uri)
            pylanceref.write_dataset(table.to_table().slice(0, 3), self.uri, mode="append")
            pylanceref.dataset(self.uri).optimize.compact_files()
        return iter(made)


def test_segments_are_built_again_after_a_compaction(table):
    """The index that is committed covers the compacted fragments, and has every row."""
    executor = Meanwhile(table.uri, 1)
    made = build_index(executor, table.uri, "n", "BTREE", shards=4)
    assert executor.rounds == 2
    live = {one.fragment_id for one in made.get_fragments()}
    assert {n for one in segments(made, "n_idx") for n in one.fragment_ids} == live
    assert made.count_rows("n < 20") == made.to_table().filter(pa.compute.field("n") < 20).num_rows


def test_repeated_compactions_are_a_conflict(table):
    """After three attempts the conflict is raised, and no index is committed."""
    with pytest.raises(CommitConflict):
        build_index(Meanwhile(table.uri, 9), table.uri, "n", "BTREE", shards=2)
    assert pylanceref.dataset(table.uri).list_indices() == []


@pytest.mark.oracle
@pytest.mark.parametrize("kind", TYPES)
def test_the_oracle_uses_the_segments(table, kind):
    """By four segments, and by two merged ones, the oracle finds the rows of a scan."""
    import lance

    column, filters = TYPES[kind]
    scanned = answers(table, filters)
    for merged in (None, 2):
        made = build_index(Loop(), table.uri, column, kind, shards=4, merged=merged)
        assert answers(lance.dataset(made.uri), filters) == scanned
