"""What functions of queries may make, asked through filters."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import QueryFailed, QueryRefused
from lanceref.core.query_limits import GROWN_BYTES, QueryTooLarge, calling, charge


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Return a table of texts, numbers, bytes, lists and documents."""
    columns = {
        "a": range(10),
        "s": ["a" * 40] * 10,
        "b": [b"x"] * 10,
        "l": [[1, 2]] * 10,
        "j": ['{"a":{"a":{"a":{"a":[1,{"a":2}]}}}}'] * 10,
    }
    return pylanceref.write_dataset(pa.table(columns), tmp_path_factory.mktemp("t") / "t")


@pytest.mark.parametrize(
    "text",
    [
        "repeat('a', 9000000000) = 'x'",
        "repeat(s, 100000000) = 'x'",
        "repeat(repeat(s, 1000), 1000000) = 'x'",
        "concat(repeat('a', 200000000), repeat('b', 200000000)) = s",
        "repeat('a', 50000000) || s = s",
        "lpad(s, 9223372036854775807, 'b') = 'x'",
        "rpad(s, 9223372036854775807) = 'x'",
        "replace(repeat(s, 100000), 'a', repeat('b', 1000000)) = s",
        "regexp_replace(repeat('a', 1000000), 'a', repeat('b', 1000000), 'g') = s",
        "array_length(range(0, 10000000000)) = 1",
        "array_length(generate_series(10000000000, 1, -1)) = 1",
        "array_length(array_repeat(a, 1000000000)) = 1",
        "array_length(array_repeat(array_repeat(a, 100000), 100000)) = 1",
        "array_length(array_resize(l, 10000000000, 1)) = 1",
        "array_to_string(range(0, 1000), repeat('a', 1000000)) = s",
        "arrow_cast(b, 'FixedSizeBinary(2147483647)') = b",
    ],
)
def test_a_result_is_bounded_before_it_is_made(table, text):
    """A filter whose functions make very much is refused, however they are nested."""
    with pytest.raises(QueryTooLarge, match=f"may make {GROWN_BYTES} bytes"):
        table.to_table(filter=text)


@pytest.mark.parametrize("name", ["json_extract", "json_exists", "json_array_length"])
def test_a_path_does_not_find_values_again_and_again(table, name):
    """A path of many `.**` is refused before it has found exponentially many values."""
    with pytest.raises(QueryTooLarge, match="again and again"):
        table.to_table(columns={"x": f"{name}(j, '${'.**' * 50}')"})


@pytest.mark.parametrize(
    "text",
    [
        "length(repeat(s, 1000)) = 40000",
        "length(lpad(s, 100000, 'xy')) = 100000",
        "array_length(range(0, 100000)) = 100000",
        "array_length(array_resize(l, 1000, 1)) = 1000",
        "length(regexp_replace(s, 'a', repeat('b', 1000), 'g')) = 40000",
    ],
)
def test_what_fits_is_made(table, text):
    """Results of some thousand bytes a row are answered."""
    assert 10 == table.count_rows(text)


def test_the_budget_is_one_of_a_step():
    """Each step of a query has the whole budget."""
    for _ in range(3):
        with calling(QueryFailed):
            charge(GROWN_BYTES)
            with pytest.raises(QueryTooLarge):
                charge(1)


@pytest.mark.parametrize(
    "error", [OverflowError, MemoryError, pa.ArrowCapacityError, KeyError, UnicodeError]
)
def test_errors_of_libraries_are_refusals(error):
    """An error of a library becomes the refusal of the step."""
    with pytest.raises(QueryRefused, match="why"), calling(QueryRefused):
        raise error("why")
