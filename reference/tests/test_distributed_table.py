"""Distributed table work: what one process makes is what many make."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import CommitConflict, DataRefused
from lanceref_spark.distributed_table import add_columns, compact
from lanceref_spark.jobs import Loop, Processes

EXECUTORS = [pytest.param(Loop(), id="loop"), pytest.param(Processes(2), id="processes")]


@pytest.fixture
def table(tmp_path):
    """60 rows in six fragments, with deletions."""
    rows = pa.table({"a": range(60), "s": [str(i) for i in range(60)]})
    made = pylanceref.write_dataset(rows, str(tmp_path / "t"), max_rows_per_file=10)
    made.delete("a % 10 = 4")
    return made


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_table_is_compacted(table, executor):
    """Two tasks make two fragments of the same rows, in one Rewrite."""
    before = table.to_table()
    metrics = compact(executor, table.uri, target_rows_per_fragment=27)
    after = pylanceref.dataset(table.uri)
    assert (metrics.fragments_removed, metrics.fragments_added) == (6, len(after.get_fragments()))
    assert after.to_table() == before
    assert after.count_rows() == 54


@pytest.mark.parametrize("executor", EXECUTORS)
def test_columns_are_computed(table, executor):
    """Each live row has its value; one version, of the same fragments."""
    made = add_columns(executor, table.uri, {"b": "a * 2", "t": "s || '!'"})
    assert made.version == table.version + 1
    for row in made.to_table().to_pylist():
        assert (row["b"], row["t"]) == (2 * row["a"], f"{row['a']}!")
    assert len(made.get_fragments()) == 6


def test_rows_that_come_between_are_a_conflict(table):
    """Fragments that were rewritten while columns were computed are not overwritten."""

    class Meanwhile(Loop):
        def map(self, run, jobs, shared):
            yield from super().map(run, jobs, shared)
            pylanceref.dataset(table.uri).optimize.compact_files()

    with pytest.raises(CommitConflict):
        add_columns(Meanwhile(), table.uri, {"b": "a"})
    assert "b" not in pylanceref.dataset(table.uri).schema.names


def test_a_table_without_fragments_is_refused(tmp_path):
    """There is no schema to be had of nothing."""
    empty = pylanceref.write_dataset(pa.table({"a": pa.array([], pa.int8())}), str(tmp_path / "e"))
    with pytest.raises(DataRefused):
        add_columns(Loop(), empty.uri, {"b": "a"})
