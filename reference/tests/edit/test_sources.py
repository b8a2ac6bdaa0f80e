"""Where new columns come from."""

import pyarrow as pa
import pytest
from lanceref.edit.sources import brought, computed, joined, mapped
from lanceref.errors import EvolutionRefused
from lanceref.udf import BatchUDF

from tests.edit.tables import table


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

    assert wanted == _values(computed(snapshot, {"n": "a + 1"}), snapshot)
    assert wanted == _values(mapped(snapshot, function, ["a"], 2), snapshot)
    assert pa.schema({"n": pa.int64()}) == mapped(snapshot, function, ["a"], None).schema


def test_rows_that_are_brought_are_those_that_live(snapshot):
    """A deleted row has no value; too few or too many are refused."""
    source = brought(pa.table({"n": range(9)}), snapshot.fragments)

    assert [[0, None, 1, 2, 3], [4, 5, 6, 7, 8]] == _values(source, snapshot)
    with pytest.raises(EvolutionRefused, match="ended before"):
        brought(pa.table({"n": range(8)}), snapshot.fragments)
    with pytest.raises(EvolutionRefused, match="more values"):
        brought(pa.table({"n": range(10)}), snapshot.fragments)


def test_rows_are_joined_by_a_key(snapshot):
    """Null where none has it; a key that is not there is refused on either side."""
    right = pa.table({"k": [4, 5], "v": ["x", "y"]})

    assert [[None] * 4 + ["x"], ["y"] + [None] * 4] == _values(
        joined(snapshot, right, "a", "k"), snapshot
    )
    for left_on, right_on in (("zz", "k"), ("a", "zz")):
        with pytest.raises(EvolutionRefused, match="zz"):
            joined(snapshot, right, left_on, right_on)
