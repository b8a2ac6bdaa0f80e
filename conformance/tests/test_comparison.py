"""Comparison of tables: equal whatever the layout, the first difference readable."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lance_conformance.comparison.array_equality import difference_mask
from lance_conformance.comparison.search_scores import align_scores, order_error
from lance_conformance.comparison.table_diff import first_difference

TYPES = [
    *(pa.bool_(), pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64()),
    *(pa.string(), pa.large_binary(), pa.decimal128(20, 3), pa.timestamp("us", "UTC")),
    *(pa.list_(pa.string()), pa.large_list(pa.float64()), pa.list_(pa.int16(), 2)),
    pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))]),
    pa.map_(pa.string(), pa.float32()),
    pa.dictionary(pa.int8(), pa.string()),
]


def values_of(kind: pa.DataType) -> st.SearchStrategy[object]:
    """Python values of an Arrow type, nulls among them."""
    if pa.types.is_boolean(kind):
        plain: st.SearchStrategy[object] = st.booleans()
    elif pa.types.is_integer(kind):
        bits = kind.bit_width - (not pa.types.is_unsigned_integer(kind))
        low = 0 if pa.types.is_unsigned_integer(kind) else -(2**bits)
        plain = st.integers(low, 2**bits - 1)
    elif pa.types.is_floating(kind):
        plain = st.floats(width=kind.bit_width)
    elif pa.types.is_string(kind) or pa.types.is_dictionary(kind):
        plain = st.text(max_size=5)
    elif pa.types.is_large_binary(kind):
        plain = st.binary(max_size=5)
    elif pa.types.is_decimal(kind):
        plain = st.decimals(-(10**9), 10**9, places=3)
    elif pa.types.is_timestamp(kind):
        plain = st.integers(0, 2**50)
    elif pa.types.is_map(kind):
        pairs = st.tuples(st.text(max_size=3), values_of(kind.item_type))
        plain = st.lists(pairs, max_size=3)
    elif pa.types.is_struct(kind):
        plain = st.fixed_dictionaries({field.name: values_of(field.type) for field in kind})
    else:
        size = getattr(kind, "list_size", None)
        inner = values_of(kind.value_type)
        plain = st.lists(inner, min_size=size or 0, max_size=size or 3)
    return st.none() | plain


def arrays() -> st.SearchStrategy[pa.Array]:
    """Arrays of every type above, not empty."""
    return st.sampled_from(TYPES).flatmap(
        lambda kind: st.lists(values_of(kind), min_size=1, max_size=8).map(
            lambda values: pa.array(values, kind)
        )
    )


@given(arrays(), st.data())
def test_layout_is_irrelevant(array, data):
    """A table equals itself after it was cut into chunks and sliced out of a longer one."""
    cut = data.draw(st.integers(0, len(array)))
    longer = pa.concat_arrays([array, array])
    chunks = [longer.slice(len(array), cut), array.slice(cut), array.slice(0, 0)]
    whole, pieces = pa.table({"c": array}), pa.table({"c": pa.chunked_array(chunks, array.type)})

    assert first_difference(whole, pieces) is None
    assert first_difference(pieces, whole, order="any") is None


@given(arrays(), st.data())
def test_another_row_is_found(array, data):
    """Replacing one row by another value is found, and the row is named."""
    row = data.draw(st.integers(0, len(array) - 1))
    other = data.draw(values_of(array.type))
    values = pa.array([other], array.type)
    differs = repr(values.to_pylist()) != repr(array.slice(row, 1).to_pylist())
    changed = pa.concat_arrays([array.slice(0, row), values, array.slice(row + 1)])
    diff = first_difference(pa.table({"c": array}), pa.table({"c": changed}))

    assert differs == (diff is not None)
    assert diff is None or diff.startswith(f"column c, row {row} (1 of {len(array)} rows differ)")


@given(arrays(), st.randoms())
def test_order_any_ignores_the_order(array, random):
    """A shuffled table equals the original when the order does not matter."""
    rows = list(range(len(array)))
    random.shuffle(rows)  # type: ignore[attr-defined]
    table = pa.table({"c": array, "n": [0] * len(array)})

    assert first_difference(table, table.take(rows), order="any") is None


def table(values: list[object], kind: pa.DataType | None = None) -> pa.Table:
    return pa.table({"c": pa.array(values, kind)})


def test_value_under_a_null_is_ignored():
    """Two arrays are equal when they differ only under a null."""
    validity = pa.py_buffer(b"\x01")
    ours, theirs = (
        pa.Array.from_buffers(pa.int8(), 2, [validity, pa.py_buffer(bytes(data))])
        for data in ([5, 1], [5, 2])
    )

    assert first_difference(pa.table({"c": ours}), pa.table({"c": theirs})) is None


def test_zero_has_a_sign_and_nan_has_none():
    """-0.0 is not 0.0; a NaN equals every other NaN."""
    nan = pa.array([float("nan")]).view(pa.uint64())
    other = pa.array([nan[0].as_py() ^ (1 << 63) ^ 7], pa.uint64()).view(pa.float64())

    assert first_difference(table([0.0]), table([-0.0])) is not None
    assert first_difference(table([float("nan")]), pa.table({"c": other})) is None
    assert first_difference(table([float("nan")]), table([1.0])) is not None


def test_empty_is_not_null():
    """An empty list, string or struct of nulls is not null."""
    assert first_difference(table([[], [1]]), table([None, [1]])) is not None
    assert first_difference(table([""]), table([None], pa.string())) is not None
    assert first_difference(table([{"x": None}]), table([None], table([{"x": None}])["c"].type))


@pytest.mark.parametrize(
    ("expected", "found", "difference"),
    [
        (table([1]), table([1, 2]), "rows: expected 1, found 2\nrow 1\n  found c: 2"),
        (table([1]), pa.table({"d": [1]}), "columns: expected ['c'], found ['d']"),
        (table([1]), table([1], pa.int32()), "column c: expected type int64, found int32"),
        (
            table(["a", "b"]),
            table(["a", "c"]),
            "column c, row 1 (1 of 2 rows differ)\n  expected 'b'\n  found    'c'",
        ),
    ],
)
def test_difference_is_readable(expected, found, difference):
    """The difference says what was expected and what was found, in words."""
    assert difference == first_difference(expected, found)


def test_earliest_row_wins_over_the_earliest_column():
    """Of several differences the one in the first row is shown."""
    ours, theirs = pa.table({"a": [1, 2], "b": [1, 2]}), pa.table({"a": [1, 9], "b": [9, 2]})
    difference = first_difference(ours, theirs)

    assert difference is not None
    assert difference.startswith("column b, row 0")


def test_case_may_accept_another_type():
    """A type that the case accepts is cast; a value that does not fit is a difference."""
    accept = {"int64": ["double"]}

    assert first_difference(table([1]), table([1.0]), accept_types=accept) is None
    assert first_difference(table([1]), table([1.5]), accept_types=accept) is not None


def test_text_is_equal_in_any_form():
    """Dictionaries, whose null items Arrow does not unify, views and run-ends, also in structs."""
    text = pa.array(["a", None, "b"])
    runs = pa.RunEndEncodedArray.from_arrays([1, 2, 3], text)
    for form in (text.dictionary_encode("encode"), text.cast(pa.string_view()), runs):
        for wrap in (list, lambda both: [pa.StructArray.from_arrays([one], ["x"]) for one in both]):
            columns = [pa.chunked_array([one.slice(1), one]) for one in wrap([text, form])]
            expected, found = (pa.table({"c": column}) for column in columns)
            assert first_difference(expected, found) is None
            assert first_difference(expected, found, order="any") is None


def test_slices_of_nested_fixed_size_lists_are_compared_by_value():
    """Arrow takes other items from such a slice: it is copied first."""
    leaf = pa.array(range(64), pa.int8())
    deep = leaf
    for _ in range(3):
        deep = pa.FixedSizeListArray.from_arrays(deep, 2)
    part = deep.slice(3, 4)
    rebuilt = pa.array(part.to_pylist(), part.type)

    assert not difference_mask(part, rebuilt).any()
    assert difference_mask(part, deep.slice(2, 4)).all()


def _found(ids: list[int], scores: list[float], name: str = "_score") -> pa.Table:
    return pa.table({"id": ids, name: pa.array(scores, pa.float32())})


@pytest.mark.parametrize(
    ("ids", "scores", "same"),
    [
        ([2, 1], [0.5000001, 0.5], True),
        ([1, 2], [0.5001, 0.5], False),
        *(([1, 3], [0.5, 0.5], False), ([1], [0.5], False)),
    ],
    ids=["near", "far", "another row", "a row less"],
)
def test_scores_are_the_same_within_a_share(ids, scores, same):
    """Whatever the order of rows that are equally good."""
    expected = _found([1, 2], [0.5, 0.5])
    difference = first_difference(expected, align_scores(expected, _found(ids, scores), "0.00001"),
                                  order="any")  # fmt: skip

    assert same == (difference is None)


@pytest.mark.parametrize(
    ("name", "values", "difference"),
    [
        ("_score", [2.0, 2.0, 1.0], False),
        ("_score", [1.0, 2.0], True),
        ("_distance", [1.0, 2.0], False),
        ("_distance", [2.0, 1.0], True),
        ("_distance", ["b", "a"], False),
    ],
)
def test_rows_come_best_first(name, values, difference):
    """High scores are good, small distances are; what is no number has no order."""
    assert difference == (order_error(pa.table({name: values})) is not None)


def test_value_out_of_python_range_is_shown():
    """A timestamp that Python cannot hold is shown as its integer."""
    ours, theirs = (table([value], pa.timestamp("s")) for value in (2**60, 2**60 + 1))
    difference = first_difference(ours, theirs)

    assert difference is not None
    assert str(2**60 + 1) in difference


def test_moments_without_a_date_are_sorted():
    """Python knows no day 10**9, nor one in a list."""
    days = pa.array([10**9, 3, None], pa.int32()).cast(pa.date32())
    lists = pa.ListArray.from_arrays([0, 1, 2, 3], days)
    both = pa.table({"day": days, "days": lists})

    assert first_difference(both, both.take([2, 0, 1]), order="any") is None
    other = pa.table({"day": days, "days": lists.take(pa.array([0, 0, 2]))})
    assert "days" in str(first_difference(both, other, order="any"))


def test_tables_without_scores_stay():
    """And so do those with other columns, or with nulls for scores."""
    plain, scored = pa.table({"id": [2, 1]}), _found([1], [1.0])
    nulls = pa.table({"id": [1], "_score": pa.array([None], pa.float32())})

    assert plain is align_scores(plain, plain, "0.1")
    assert _found([1], [3e-7]) == align_scores(_found([1], [3e-7]), _found([1], [-3e-7]), "0")
    assert plain is align_scores(scored, plain, "0.1")
    assert nulls.equals(align_scores(scored, nulls, "0.1"))
