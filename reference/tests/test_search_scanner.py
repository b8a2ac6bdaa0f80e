"""Search scanner."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import QueryRefused


@pytest.fixture
def dataset(tmp_path):
    """Points of a line."""
    vectors = pa.array([[2], [0], [1], [3]], pa.list_(pa.float32(), 1))
    table = pa.table({"i": range(4), "v": vectors})
    return pylanceref.write_dataset(table, tmp_path / "t", max_rows_per_file=3)


def scanner(dataset, **scan):
    """Return a search for the points nearest to 0."""
    return dataset.scanner(nearest={"column": "v", "q": [0]}, **scan)


def rows(dataset, **scan) -> list[int]:
    """Return the rows in their order."""
    return scanner(dataset, **scan).to_table()["i"].to_pylist()


def test_order_limit_and_offset(dataset):
    """The limit is the last thing that counts."""
    assert [1, 2, 0, 3] == rows(dataset)
    assert [2] == rows(dataset, limit=2, offset=1)  # without k no more than the limit are found
    assert [1, 2] == rows(dataset, limit=2)
    assert [0, 1, 2, 3] == rows(dataset, order_by=["i"])


def test_what_is_returned(dataset):
    """What the search knows of a row can be filtered by and computed with."""
    table = scanner(dataset, filter="_distance > 1", columns={"d": "_distance + 1"}).to_table()
    assert [5, 10] == table["d"].to_pylist()
    assert ["d", "_distance"] == table.schema.names
    assert ["i"] == scanner(
        dataset, columns=["i"], disable_scoring_autoprojection=True
    ).to_table().schema.names
    assert scanner(dataset).projected_schema == scanner(dataset).to_table().schema


def test_batches_and_counts(dataset):
    """Batches have the size asked for; the first rows are those of the whole answer."""
    assert [3, 1] == [one.num_rows for one in scanner(dataset, batch_size=3).to_batches()]
    assert 4 == scanner(dataset).count_rows()
    assert [1, 2] == scanner(dataset).head(2)["i"].to_pylist()
    with pytest.raises(QueryRefused):
        scanner(dataset, limit=1).count_rows()
