"""Where new columns come from."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import EvolutionRefused
from lanceref.operations.columns import joined_source, mapped_source, ordered_source
from pylanceref.sql.columns import computed_columns
from pylanceref.udf import BatchUDF

from tests.operations.tables import table


@pytest.fixture
def snapshot(tmp_path):
    """Two fragments of five rows, the second row of the first deleted."""
    return table(tmp_path)._snapshot


def _values(source, snapshot):
    return [
        [row for batch in source.rows_of(rows) for row in batch.column(0).to_pylist()]
        for rows in snapshot.fragments
    ]


def test_computed_and_mapped_columns_have_deleted_rows_too(snapshot):
    """Five values for each fragment."""
    wanted = [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]
    plus = lambda batch: pa.record_batch({"n": [1 + n for n in batch["a"].to_pylist()]})  # noqa: E731
    function = BatchUDF(plus)

    assert wanted == _values(computed_columns(snapshot, {"n": "a + 1"}), snapshot)
    assert wanted == _values(mapped_source(snapshot, function, ["a"], 2), snapshot)
    assert pa.schema({"n": pa.int64()}) == mapped_source(snapshot, function, ["a"], None).schema


def test_rows_that_are_brought_are_those_that_live(snapshot):
    """A deleted row has the first value; too few or too many are refused."""
    source = ordered_source(snapshot, pa.table({"n": range(9)}), snapshot.fragments)

    assert [[0, 0, 1, 2, 3], [4, 5, 6, 7, 8]] == _values(source, snapshot)
    with pytest.raises(EvolutionRefused, match="ended before"):
        ordered_source(snapshot, pa.table({"n": range(8)}), snapshot.fragments)
    with pytest.raises(EvolutionRefused, match="more values"):
        ordered_source(snapshot, pa.table({"n": range(10)}), snapshot.fragments)


def test_rows_are_joined_by_a_key(snapshot):
    """Null where none has it; a key that is not there is refused on either side."""
    right = pa.table({"k": [4, 5], "v": ["x", "y"]})

    assert [[None] * 4 + ["x"], ["y"] + [None] * 4] == _values(
        joined_source(snapshot, right, "a", "k", "dataset"), snapshot
    )
    for left_on, right_on in (("zz", "k"), ("a", "zz")):
        with pytest.raises(EvolutionRefused, match="zz"):
            joined_source(snapshot, right, left_on, right_on, "dataset")
    with pytest.raises(EvolutionRefused, match="No data"):
        joined_source(snapshot, right.slice(0, 0), "a", "k", "dataset")


@pytest.mark.parametrize("legacy", [False, True])
def test_nulls_that_a_file_cannot_hold_are_refused(tmp_path, legacy):
    """0.1 has nulls of text, and none of numbers; a deleted row counts not."""
    version = "0.1" if legacy else "2.1"
    made = pylanceref.write_dataset(pa.table({"a": [1, 2]}), tmp_path, data_storage_version=version)
    text = pa.table({"a": [1], "v": ["x"]})
    assert [["x", None]] == _values(
        joined_source(made._snapshot, text, "a", "a", "dataset"), made._snapshot
    )

    numbers = joined_source(made._snapshot, pa.table({"a": [1], "v": [7]}), "a", "a", "dataset")
    brought_ones = ordered_source(
        made._snapshot, pa.table({"v": [7, None]}), made._snapshot.fragments
    )
    if legacy:
        for source in (numbers, brought_ones):
            with pytest.raises(EvolutionRefused, match="storing nulls"):
                _values(source, made._snapshot)
        made.delete("a = 2")
        again = joined_source(made._snapshot, pa.table({"a": [1], "v": [7]}), "a", "a", "dataset")
        assert [[7, 7]] == _values(again, made._snapshot)
    else:
        assert (
            [[7, None]] == _values(numbers, made._snapshot) == _values(brought_ones, made._snapshot)
        )
