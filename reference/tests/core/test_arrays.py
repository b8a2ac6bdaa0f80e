"""Arrow arrays: integers on the same memory, nesting, slices, comparison."""

import math
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core import comparison
from lanceref.core.arrow_buffers import whole
from lanceref.core.comparison import less, total_order
from lanceref.core.errors import QueryRefused
from lanceref.core.integers import arrow_array, difference, intersection, is_in, union, unique
from lanceref.file.schema_view import mapped, whole_rows

DTYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")


@given(st.sampled_from(DTYPES), st.lists(st.integers(0, 127)), st.integers(1, 3))
def test_values_are_kept(dtype, values, step):
    """Values and width are those of the NumPy array, whatever its strides."""
    numbers = np.array(values, dtype)[::step]
    found = arrow_array(numbers)
    found.validate(full=True)
    assert found.type == pa.from_numpy_dtype(numbers.dtype)
    assert found.to_pylist() == values[::step]


def test_memory_is_shared():
    """Nothing is copied where the integers lie side by side."""
    numbers = np.arange(9)
    assert arrow_array(numbers).buffers()[1].address == numbers.ctypes.data


def test_pandas_is_not_imported():
    """Making an array, and taking by it, leaves pandas alone."""
    program = (
        "import sys, numpy as np\n"
        "from lanceref.core.integers import arrow_array\n"
        "numbers = arrow_array(np.arange(9))\n"
        "assert numbers.take(numbers) == numbers\n"
        "print('pandas' in sys.modules)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


NUMBERS = st.lists(st.integers(0, 20))


@given(NUMBERS, NUMBERS, st.sampled_from(DTYPES), st.booleans())
def test_sets_are_those_of_python(left, right, dtype, ascending):
    """Whether what is given is one already or not; the type stays."""
    given_left = sorted(set(left)) if ascending else left
    one, other = np.array(given_left, dtype), np.array(right, dtype)
    found = [unique(one), union(one, other), difference(one, other), intersection(one, other)]
    mine, theirs = set(left), set(right)

    wanted = [mine, mine | theirs, mine - theirs, mine & theirs]
    assert [one.tolist() for one in found] == [sorted(one) for one in wanted]
    assert {one.dtype for one in found} == {np.dtype(dtype)}
    assert is_in(one, other).tolist() == [number in theirs for number in given_left]


@pytest.mark.parametrize(
    ("before", "after", "rows"),
    [
        (pa.list_(pa.int8()), pa.list_(pa.int16()), [[1], None, [], [2, None]]),
        (pa.large_list(pa.int8()), pa.large_list(pa.int16()), [[1], None, [], [2, None]]),
        (pa.list_(pa.int8(), 2), pa.list_(pa.int16(), 2), [[1, 2], None, [3, None]]),
        (
            pa.struct([("a", pa.int8()), ("b", pa.int8())]),
            pa.struct([("a", pa.int16()), ("b", pa.int16())]),
            [{"a": 1, "b": None}, None, {"a": None, "b": 4}],
        ),
    ],
)
def test_only_the_content_changes(before, after, rows):
    """Validity and offsets stay, of whole arrays and of slices."""
    array = pa.array(rows, before)

    for part in (array, array.slice(1), array.slice(2, 1)):
        changed = mapped(part, after, lambda _, child: child.cast(pa.int16()))
        changed.validate(full=True)
        assert changed.equals(part.cast(after))


NESTED_LISTS = pa.list_(pa.list_(pa.int8(), 2), 2)
VERSIONS = ["2.0", "2.1", "2.2", "2.3"]


def _squares(count):
    """Lists of two lists of two numbers, 0 to 3, 4 to 7 and so on."""
    return pa.array(
        [[[4 * i, 4 * i + 1], [4 * i + 2, 4 * i + 3]] for i in range(count)], NESTED_LISTS
    )


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


def test_nulls_of_a_struct_over_slices_do_not_count(tmp_path):
    """A struct with nulls, over lists without any that begin at an offset, is written."""
    held = pa.StructArray.from_arrays(
        [_squares(5).slice(1)],
        fields=[pa.field("f", NESTED_LISTS, nullable=False)],
        mask=pa.array([False, True, False, False]),
    )
    made = pylanceref.write_dataset(pa.table({"c": held}), tmp_path)

    assert held.to_pylist() == made.to_table()["c"].to_pylist()


NAN = float("nan")


def test_floats_have_a_total_order():
    """NaN is the greatest, -NaN the least; zeros differ, and so do neighbours."""
    near = [math.nextafter(-1.0, -2.0), -1.0, math.nextafter(-1.0, 0.0)]
    values = [-NAN, -math.inf, *near, -0.0, 0.0, 1.0, math.inf, NAN]
    keys = total_order(pa.array(values)).to_pylist()

    assert sorted(set(keys)) == keys


@pytest.mark.parametrize(
    ("compare", "wanted"),
    [
        (comparison.equal, [False, True, True, False, None]),
        (comparison.less_equal, [True, True, True, False, None]),
        (comparison.greater_equal, [False, True, True, True, None]),
    ],
)
def test_a_written_zero_counts_as_both_zeros(compare, wanted):
    """On either side, for every comparison."""
    values = pa.array([-1.0, -0.0, 0.0, NAN, None])
    turned = {
        comparison.equal: comparison.equal,
        comparison.less_equal: comparison.greater_equal,
        comparison.greater_equal: comparison.less_equal,
    }

    for zero in (pa.scalar(0.0), pa.scalar(-0.0)):
        assert wanted == compare(values, zero).to_pylist()
        assert wanted == turned[compare](zero, values).to_pylist()


@given(st.lists(st.tuples(st.floats(), st.floats()), max_size=8))
def test_exactly_one_of_three_holds(pairs):
    """Of less, equal and greater between two columns of floats."""
    left, right = (pa.array([pair[side] for pair in pairs], pa.float64()) for side in (0, 1))
    found = [
        compare(left, right).to_pylist()
        for compare in (less, comparison.equal, lambda one, other: less(other, one))
    ]

    assert all(1 == sum(row) for row in zip(*found, strict=True))


def test_lists_have_no_order():
    """A bound on a column of lists is refused; whether they are equal can be asked."""
    lists = pa.array([[1, 2], [], None])
    with pytest.raises(QueryRefused, match="no order"):
        less(lists, pa.scalar([1, 2], lists.type))

    same = comparison.equal(lists, pa.scalar([1, 2], lists.type))
    assert [True, False, None] == same.to_pylist()
