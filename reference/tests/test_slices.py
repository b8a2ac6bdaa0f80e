"""Slices of nested fixed-size lists."""

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.nesting import nests_fixed_size_lists, whole, whole_rows
from pylanceref.file import LanceFileReader
from pylanceref.sampler import ShardedBatchSampler

NESTED = pa.list_(pa.list_(pa.int8(), 2), 2)

VERSIONS = ["2.0", "2.1", "2.2", "2.3"]


def _squares(count):
    """Lists of two lists of two numbers, 0 to 3, 4 to 7 and so on."""
    return pa.array([[[4 * i, 4 * i + 1], [4 * i + 2, 4 * i + 3]] for i in range(count)], NESTED)


@pytest.mark.parametrize(
    ("type_", "nests"),
    [
        (NESTED, True),
        (pa.struct([("a", NESTED)]), True),
        (pa.list_(pa.int8(), 2), False),
        (pa.list_(pa.list_(pa.int8())), False),
        (pa.int8(), False),
    ],
)
def test_the_types_concerned_are_known(type_, nests):
    """Only fixed-size lists inside each other, at any depth, are copied."""
    assert nests is nests_fixed_size_lists(type_)


def test_taking_from_a_whole_slice_is_right():
    """Row 1 of the rows from 1 on is row 2."""
    array = _squares(5)
    part = whole(array.slice(1))

    assert [array[2].as_py()] == part.take(pa.array([1])).to_pylist()
    assert 0 == part.offset


@pytest.mark.parametrize(
    "above",
    [
        lambda part: pa.StructArray.from_arrays([part], ["f"]),
        lambda part: pa.ListArray.from_arrays([0, 1, 2, 3], part),
        lambda part: pa.FixedSizeListArray.from_arrays(part.values.slice(2, 6), 2),
    ],
)
def test_a_slice_below_an_array_that_begins_at_0_is_copied_too(above):
    """Below a struct, a list and a fixed-size list."""
    array = above(_squares(5).slice(1, 3))

    assert 0 == array.offset
    assert array.slice(1, 1).to_pylist() == whole(array).take(pa.array([1])).to_pylist()


def test_rows_are_copied_where_a_column_must_be():
    """Of a table in two parts and of a batch; others are handed through."""
    table = pa.table({"a": _squares(6), "b": range(6)})
    sliced = pa.concat_tables([table.slice(1, 2), table.slice(3)])
    wanted = table.slice(2, 1).to_pylist()

    assert wanted == whole_rows(sliced).take(pa.array([1])).to_pylist()
    assert wanted == whole_rows(table.to_batches()[0].slice(1)).take(pa.array([1])).to_pylist()
    numbers = table.select(["b"])
    assert numbers is whole_rows(numbers)


def test_other_slices_are_not_copied():
    """A slice pyarrow can take from is handed through."""
    part = pa.array([1, 2, 3]).slice(1)

    assert part is whole(part)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("nulls", [False, True])
def test_rows_are_taken_that_are_asked_for_twice(tmp_path, version, nulls):
    """Of a struct over such lists, from a file and from a table."""
    mask = pa.array([False] * 6 + [nulls and version != "2.0"])  # which has no null structs
    column = pa.StructArray.from_arrays([_squares(7)], ["f"], mask=mask)
    rows = pa.table({"c": column})
    file = pylanceref.write_dataset(rows, tmp_path, data_storage_version=version)
    path = tmp_path / "data" / file.get_fragments()[0].data_files()[0].path
    places = [3, 4, 5, 6, 6]
    wanted = [column[at].as_py() for at in places]

    assert wanted == LanceFileReader(path).take_rows(places).to_table()["c"].to_pylist()
    assert wanted == file.take(places)["c"].to_pylist()


@pytest.mark.parametrize("version", ["legacy", *VERSIONS])
def test_edits_take_the_rows_that_are_meant(tmp_path, version):
    """Slices are merged, updated, put in, filtered and sampled."""
    rows = pa.table({"k": range(8), "c": _squares(8)})
    made = pylanceref.write_dataset(rows.slice(1), tmp_path, data_storage_version=version)
    made.update({"k": "k + 10"}, where="k % 2 = 0")
    source = pa.table({"k": [0, 1, 3, 90], "c": _squares(12).slice(8)}).slice(1)
    merge = made.merge_insert("k").when_matched_update_all().when_not_matched_insert_all()
    merge.execute(source)

    squares = _squares(12).to_pylist()
    wanted = {5: squares[5], 7: squares[7]}
    wanted |= {number + 10: squares[number] for number in (2, 4, 6)}
    wanted |= {1: squares[9], 3: squares[10], 90: squares[11]}
    found = made.to_table()
    assert wanted == dict(zip(found["k"].to_pylist(), found["c"].to_pylist(), strict=True))
    chosen = made.to_table(filter="k > 4 and k < 90", batch_size=2)
    assert {k: wanted[k] for k in (5, 7, 12, 14, 16)} == dict(
        zip(chosen["k"].to_pylist(), chosen["c"].to_pylist(), strict=True)
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_columns_are_updated_with_slices(tmp_path, version):
    """Two of four rows get new values, by a table that is a slice."""
    rows = pa.table({"k": range(4), "c": _squares(4)})
    made = pylanceref.write_dataset(rows, tmp_path, data_storage_version=version)
    right = pa.table({"k": [9, 1, 2], "c": _squares(7).slice(4)}).slice(1)
    fragment, fields = made.get_fragment(0).update_columns(right, "k", "k")
    update = pylanceref.LanceOperation.Update(updated_fragments=[fragment], fields_modified=fields)
    after = pylanceref.LanceDataset.commit(tmp_path, update, read_version=1)

    squares = _squares(7).to_pylist()
    assert [squares[at] for at in (0, 5, 6, 3)] == after.to_table()["c"].to_pylist()


def test_nulls_of_a_struct_over_slices_do_not_count(tmp_path):
    """A struct with nulls, over lists without any that begin at an offset, is written."""
    held = pa.StructArray.from_arrays(
        [_squares(5).slice(1)],
        fields=[pa.field("f", NESTED, nullable=False)],
        mask=pa.array([False, True, False, False]),
    )
    made = pylanceref.write_dataset(pa.table({"c": held}), tmp_path)

    assert held.to_pylist() == made.to_table()["c"].to_pylist()


def test_every_second_row_that_passes_is_sampled(tmp_path):
    """The batches of a scan begin inside a page."""
    rows = pa.table({"k": range(20_000), "c": _squares(31).take(pa.array(np.arange(20_000) % 31))})
    made = pylanceref.write_dataset(rows, tmp_path)
    sampler = ShardedBatchSampler(1, 2)
    batches = list(sampler(made, batch_size=4000, columns=["c"], filter="k >= 5"))

    found = [value for batch in batches for value in batch["c"].to_pylist()]
    assert rows["c"].to_pylist()[6::2] == found
