"""Bounds of SQL: long texts, deep nesting and large results are refused before they are made."""

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import QueryFailed, QueryRefused
from lanceref.core.query_limits import GROWN_BYTES, QueryTooLarge, calling, charge
from pylanceref.sql.rewriting import NESTING, TEXT_BYTES


def written(root):
    """Write a table of every kind of value that the texts below ask for."""
    columns = {
        "a": range(10),
        "s": ["a"] * 10,
        "ts": pa.array([0] * 10, pa.timestamp("us")),
        "dec": pa.array([1] * 10).cast(pa.decimal128(38, 2)),
        "st": [{"x": 1}] * 10,
    }
    return pylanceref.write_dataset(pa.table(columns), root / "t")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Return the table, which no test changes."""
    return written(tmp_path_factory.mktemp("t"))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (" OR ".join(f"a = {number}" for number in range(1200)), 10),
        (" AND ".join(f"a != {number + 5}" for number in range(1200)), 5),
        (" OR ".join(f"a = {number} AND s = 'a'" for number in range(400)), 10),
        (" AND ".join(f"(a = {number} OR a < 3)" for number in range(400)), 3),
        ("a = " + " + ".join(["a"] + ["0"] * 200), 10),
        ("(" * 30 + "a = 1" + ")" * 30, 1),
    ],
)
def test_long_chains_are_answered(table, text, rows):
    """A chain of AND or OR has any number of conditions."""
    assert rows == table.count_rows(text)
    assert rows == table.to_table(filter=text).num_rows


@pytest.mark.parametrize("indexed", ["BTREE", "BITMAP"])
def test_long_chains_are_asked_of_an_index(tmp_path, indexed):
    """An index answers a chain of 1 200 conditions."""
    table = written(tmp_path)
    table.create_scalar_index("a", indexed)

    assert 10 == table.count_rows(" OR ".join(f"a = {number}" for number in range(1200)))


DEEP = {
    "brackets": "(" * 2000 + "a = 1" + ")" * 2000,
    "calls": "abs(" * 2000 + "a" + ")" * 2000 + " = 1",
    "not": "NOT " * 2000 + "a = 1",
    "sum": "a = " + "+".join("1" * 900),
    "text": "s = " + "||".join(["'a'"] * 900),
    "comparisons": "a" + " = 1" * 900,
    "casts": "a" + "::bigint" * 900 + " = 1",
    "truths": "(a = 1)" + " IS TRUE" * 900,
    "fields": "st." * 900 + "x = 1",
    "minus": "a = " + "- " * 2000 + "1",
    "type": f"arrow_cast(a, '{'List(' * 2000}Int8{')' * 2000}') = a",
    "digits": "a = " + "9" * 5000,
    "surrogate": "s = '\ud800'",
    "letter": "chr(55296) = s",
    "unit": "date_trunc('evil', ts) > ts",
    "precision": "CAST(a AS DECIMAL(0,0)) = 1",
    "product": "*".join(["dec"] * 101) + " = 1",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_what_cannot_be_evaluated_is_refused(table, text):
    """Texts that are too deep, or name impossible values, are refused by every operation."""
    asks = (
        lambda: table.to_table(filter=text),
        lambda: table.count_rows(text),
        lambda: table.to_table(columns={"x": text}),
        lambda: table.get_fragments()[0].to_table(filter=text),
        lambda: table.delete(text),
        lambda: table.update({"a": "1"}, where=text),
        lambda: table.update({"a": text}),
    )
    for ask in asks:
        with pytest.raises((ValueError, OSError)) as caught:
            ask()

        assert isinstance(caught.value, lanceref.core.errors.LanceError)
        assert len(str(caught.value)) < 3000


def test_a_text_is_bounded_in_bytes(table):
    """A text above the limit of bytes is refused before it is parsed."""
    with pytest.raises(QueryTooLarge, match=f"{TEXT_BYTES} are the most"):
        table.to_table(filter=f"s = '{'x' * TEXT_BYTES}'")


@pytest.mark.parametrize("kind", ["()", "[]"])
def test_the_limit_of_brackets_is_named(table, kind):
    """The error names the limit of nested brackets."""
    text = kind[0] * (NESTING + 1) + "1" + kind[1] * (NESTING + 1)
    with pytest.raises(QueryTooLarge, match=f"at most {NESTING} deep"):
        table.to_table(filter=text)


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
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
def test_a_result_is_bounded_before_it_is_made(grown, text):
    """Functions that make very much are refused, however they are nested."""
    with pytest.raises(QueryTooLarge, match=f"may make {GROWN_BYTES} bytes"):
        grown.to_table(filter=text)


@pytest.mark.parametrize("name", ["json_extract", "json_exists", "json_array_length"])
def test_a_path_does_not_find_values_again_and_again(grown, name):
    """A path of many `.**` is refused before it finds exponentially many values."""
    with pytest.raises(QueryTooLarge, match="again and again"):
        grown.to_table(columns={"x": f"{name}(j, '${'.**' * 50}')"})


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
