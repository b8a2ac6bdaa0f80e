"""Arguments of scans that are refused, by hand."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest

from .sql.written import write


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """A few rows."""
    return write(pa.table({"i": range(3), "s": list("abc")}), tmp_path_factory.mktemp("arguments"))


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"columns": "i"}, TypeError),
        ({"columns": ("i",)}, TypeError),
        ({"limit": "2"}, TypeError),
        ({"limit": -1}, ValueError),
        ({"offset": -1}, ValueError),
        ({"batch_size": 0}, ValueError),
        ({"batch_size": 1 << 32}, ValueError),
        ({"batch_readahead": 0}, ValueError),
        ({"fragment_readahead": -1}, ValueError),
        ({"strict_batch_size": True, "batch_size_bytes": 9}, ValueError),
        ({"blob_handling": "x"}, ValueError),
        ({"order_by": [1]}, TypeError),
        ({"order_by": ["x"]}, ValueError),
        ({"late_materialization": ["x"]}, RuntimeError),
        ({"filter": 5}, TypeError),
        ({"filtr": "i = 1"}, TypeError),
    ],
)
def test_wrong_arguments_are_refused(given, kind, dataset):
    """When the scan is described, as the classes of pylance."""
    with pytest.raises(kind):
        dataset.scanner(**given)


def test_batches_have_the_size_asked_for(dataset):
    """At most, or exactly."""
    sizes = [batch.num_rows for batch in dataset.to_batches(batch_size=2, strict_batch_size=True)]

    assert [2, 1] == sizes
    assert [1, 1, 1] == [batch.num_rows for batch in dataset.to_batches(batch_size_bytes=9)]


@pytest.mark.parametrize(
    ("size", "kind"), [(1.5, TypeError), ("8", TypeError), (0, ValueError), (-1, OverflowError)]
)
def test_a_wrong_batch_size_is_refused_at_once(tmp_path, size, kind):
    """When the scanner is made, by each way to make one, with the error of pylance."""
    made = pylanceref.write_dataset(pa.table({"a": [1]}), tmp_path / "t")

    for make in (
        made.scanner,
        made.to_table,
        made.to_batches,
        made.get_fragments()[0].scanner,
    ):
        with pytest.raises(kind):
            make(batch_size=size)
    assert 1 == made.scanner(batch_size=True).to_table().num_rows
