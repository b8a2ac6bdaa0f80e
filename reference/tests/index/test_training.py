"""Values and keys that an index is built from."""

from __future__ import annotations

import pyarrow as pa
from lanceref.index.training import Training, trained
from lanceref.operations.index_build import indexed_field

from .tables import write

TABLE = pa.table({"a": [{"b": 1, "c": 1}, None, {"b": None, "c": 2}, {"b": 4, "c": 3}]})


def training(dataset, by_address=True) -> Training:
    """Return the rows of `a.b`."""
    field, _ = indexed_field(dataset._snapshot.manifest.schema, "a.b")
    return Training(field, dataset._snapshot.fragments, False, by_address)


def test_a_part_of_a_struct_is_null_where_the_struct_is(tmp_path):
    """Values of `a.b` with their addresses."""
    dataset = write(TABLE, tmp_path, max_rows_per_file=3)
    values, keys = trained(training(dataset))
    assert values.to_pylist() == [1, None, None, 4]
    assert keys.tolist() == [0, 1, 2, 1 << 32]


def test_deleted_rows_are_left_out(tmp_path):
    """Offsets say where the others lie."""
    dataset = write(TABLE, tmp_path)
    dataset.delete("a.c = 2")
    (run,) = training(dataset).runs()
    assert run.values.to_pylist() == [1, None, 4]
    assert (run.fragment_id, run.offsets.tolist()) == (0, [0, 1, 3])


def test_keys_are_ids_where_the_index_can_use_them(tmp_path):
    """An updated row keeps its id in a fragment of its own."""
    dataset = write(TABLE, tmp_path, enable_stable_row_ids=True)
    dataset.update({"a": "a"}, where="a.c = 2")
    dataset = type(dataset).of(dataset.uri, dataset._snapshot, dataset._root)
    assert sorted(trained(training(dataset, by_address=False))[1].tolist()) == [0, 1, 2, 3]
    assert 1 << 32 in trained(training(dataset))[1].tolist()


def test_no_fragments_are_no_rows(tmp_path):
    """The type is still known."""
    dataset = write(TABLE, tmp_path)
    field, _ = indexed_field(dataset._snapshot.manifest.schema, "a.b")
    values, keys = trained(Training(field, ()))
    assert (values.type, len(values), len(keys)) == (pa.int64(), 0, 0)
