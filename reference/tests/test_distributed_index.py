"""Distributed index build: one index, in one piece, in several or merged, answers alike."""

import random

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import CommitConflict, IndexRefused
from lanceref.index.full_text.inverted import INVERTED
from lanceref_spark.distributed_index import Build, build_index, built_segments
from lanceref_spark.jobs import Loop, Processes

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
def test_segments_and_merged_segments_answer_alike(table, kind):
    """One segment, four, and four merged to two give the rows that a scan gives."""
    column, filters = TYPES[kind]
    scanned = answers(table, filters)
    for shards, merged, left in ((1, None, 1), (4, None, 4), (4, 2, 2), (8, 1, 1)):
        made = build_index(Loop(), table.uri, column, kind, shards=shards, merged=merged)
        assert answers(made, filters) == scanned
        parts = segments(made, f"{column}_idx")
        assert len(parts) == left
        assert sorted(n for one in parts for n in one.fragment_ids) == list(range(8))
        assert f"{column}_idx" in made.scanner(filter=filters[0]).explain_plan()


def test_the_commit_is_left_nothing_to_write(table):
    """Segments come finished from whoever built them: none has files that are only staged."""
    build = Build(table.uri, table.version, "t", "INVERTED", "words", {}, None)
    for segment in built_segments(Loop(), build, [(0, 1, 2), (3, 4), (5, 6, 7)]):
        assert INVERTED.staging is not None
        paths = [file.path for file in segment.files]
        assert "metadata.lance" in paths
        assert not INVERTED.staging.is_staged(paths)


def test_words_are_found_in_every_segment(table):
    """Full-text search over four segments finds the rows that one segment finds."""
    found = []
    for shards, merged in ((1, None), (4, None), (4, 1)):
        made = build_index(Loop(), table.uri, "t", "INVERTED", shards=shards, merged=merged)
        rows = made.to_table(full_text_query="cat", columns=["t"], with_row_id=True)
        found.append(sorted(rows["_rowid"].to_pylist()))
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == sum("cat" in text for text in table.to_table()["t"].to_pylist())


def test_processes_build_what_the_loop_builds(table):
    """The same shards, and the same answers."""
    filters = TYPES["BTREE"][1]
    made = build_index(Processes(2), table.uri, "n", "BTREE", shards=3, merged=2)
    assert answers(made, filters) == answers(table, filters)
    assert [len(one.fragment_ids) for one in segments(made, "n_idx")] == [5, 3]


def test_the_caller_chooses_groups(table):
    """Fragments by shard and shards by segment; one left out, or named twice, is refused."""
    shards = [[0, 7], [1, 2, 3], [4], [5, 6]]
    made = build_index(Loop(), table.uri, "n", "BTREE", shards=shards, merged=[[0, 3], [1, 2]])
    covered = [sorted(one.fragment_ids) for one in segments(made, "n_idx")]
    assert covered == [[0, 5, 6, 7], [1, 2, 3, 4]]
    for wrong in ([[0, 1]], [[*range(8)], [3]]):
        with pytest.raises(IndexRefused, match="each must be in one shard"):
            build_index(Loop(), table.uri, "n", "BTREE", shards=wrong)


class Meanwhile(Loop):
    """Compacts the table during a build that does not know of it, the first `times` times."""

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


def test_a_table_that_is_always_compacted_wins(table):
    """After three rounds the conflict is the caller's, and no index was committed."""
    with pytest.raises(CommitConflict):
        build_index(Meanwhile(table.uri, 9), table.uri, "n", "BTREE", shards=2)
    assert pylanceref.dataset(table.uri).list_indices() == []


@pytest.mark.oracle
@pytest.mark.parametrize("kind", TYPES)
def test_the_oracle_answers_from_the_segments(table, kind):
    """From four segments, and from two that were merged, the oracle gives the rows of a scan."""
    import lance

    column, filters = TYPES[kind]
    scanned = answers(table, filters)
    for merged in (None, 2):
        made = build_index(Loop(), table.uri, column, kind, shards=4, merged=merged)
        assert answers(lance.dataset(made.uri), filters) == scanned


@pytest.mark.oracle
def test_the_oracle_finds_words_in_every_segment(table):
    """Over eight segments and over two that were merged, the oracle finds every row of a word."""
    import lance

    wanted = [i for i, text in enumerate(table.to_table()["t"].to_pylist()) if "cat" in text]
    for merged in (None, 2):
        made = build_index(Loop(), table.uri, "t", "INVERTED", shards=8, merged=merged)
        theirs = lance.dataset(made.uri)
        rows = theirs.to_table(full_text_query="cat", columns=["t"], with_row_id=True)
        numbers = [25 * (id_ >> 32) + id_ % 2**32 for id_ in rows["_rowid"].to_pylist()]
        assert sorted(numbers) == wanted
