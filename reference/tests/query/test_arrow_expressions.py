"""Arrow expressions as SQL."""

from __future__ import annotations

import datetime
import decimal
import random

import pyarrow as pa
import pyarrow.compute as pc
import pylanceref
import pytest
from lanceref.query.arrow_expressions import sql_of

from ..index.tables import index_reads
from ..index.values import columns

F = pc.field
SCHEMA = pa.schema(
    [
        ("v", pa.list_(pa.float32(), 2)),
        ("a", pa.int64()),
        ("f", pa.float32()),
        ("s", pa.utf8()),
        ("big", pa.large_utf8()),
        ("b", pa.bool_()),
        ("st", pa.struct([("x", pa.int32())])),
        ("d", pa.date32()),
        ("t", pa.timestamp("us")),
        ("bin", pa.binary()),
        ("m", pa.decimal128(10, 2)),
        ("j", pa.json_()),
        ("odd name", pa.int64()),
    ]
)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (F("a") == 5, "(`a` = 5)"),
        (F("a") != -5, "(`a` != -5)"),
        ((F("a") > 1) & (F("a") <= 9), "((`a` > 1) and (`a` <= 9))"),
        ((F("a") >= 1) | ~(F("a") < 9), "((`a` >= 1) or (not (`a` < 9)))"),
        (F("a").is_null(), "(`a` is null)"),
        (F("odd name").is_valid(), "(`odd name` is not null)"),
        (F("b"), "`b`"),
        (F("b") == True, "(`b` = true)"),  # noqa: E712
        (F("st", "x") == 3, "(`st`.`x` = 3)"),
        (F("f") > 1.5, "(`f` > 1.5)"),
        (F("f") < float("inf"), "(`f` < cast('inf' as double))"),
        (F("s") == "it's", "(`s` = 'it''s')"),
        (F("big") == "x", "(`big` = 'x')"),
        (F("d") == datetime.date(1969, 12, 31), "(`d` = date '1969-12-31')"),
        (
            F("t") > datetime.datetime(2020, 1, 1, 2, 3, 4, 5),
            "(`t` > timestamp '2020-01-01 02:03:04.000005')",
        ),
        (F("bin") == b"x\xff", "(`bin` = X'78ff')"),
        (F("m") == decimal.Decimal("-1.25"), "(`m` = cast('-1.25' as decimal(3, 2)))"),
        (F("a").isin([1, 2]), "(`a` in (1, 2))"),
        (pc.starts_with(F("s"), "x"), "starts_with(`s`, 'x')"),
        (pc.match_substring(F("s"), "x"), "contains(`s`, 'x')"),
        (F("f").is_nan(), "isnan(`f`)"),
        (F("s") == pa.scalar(None, pa.utf8()), "(`s` = null)"),
    ],
)
def test_what_has_sql(expression, text):
    """Literals are written as values of their types."""
    assert sql_of(expression, SCHEMA) == text


@pytest.mark.parametrize(
    "expression",
    [
        pc.starts_with(F("s"), "x", ignore_case=True),
        F("a") + 1 == 3,
        F("a").cast("int32") == 3,
        F("a").isin([1, None]),
        pc.list_value_length(F("v")) == 2,
        F("missing") == 1,
        pc.utf8_upper(F("s")) == "X",
    ],
)
def test_what_has_none(expression):
    """It is asked as it is."""
    assert sql_of(expression, SCHEMA) is None


def expressions(name: str, values: pa.Array, count: int) -> list[pc.Expression]:
    """Return conditions on a column, seeded."""
    source = random.Random(name)
    held = [one for one in values.unique() if one.is_valid]
    compared = [pc.equal, pc.not_equal, pc.less, pc.less_equal, pc.greater, pc.greater_equal]

    def leaf() -> pc.Expression:
        if source.random() < 0.1:
            return source.choice([F(name).is_null(), F(name).is_valid()])
        if source.random() < 0.2:
            return F(name).isin(pa.array([one.as_py() for one in held[:2]], values.type))
        return source.choice(compared)(F(name), source.choice(held))

    def tree(depth: int) -> pc.Expression:
        if not depth or source.random() < 0.4:
            return leaf()
        if source.random() < 0.3:
            return ~tree(depth - 1)
        left, right = tree(depth - 1), tree(depth - 1)
        return left & right if source.random() < 0.5 else left | right

    return [tree(2) for _ in range(count)]


def found(dataset, expression, **scan) -> list[int]:
    """Return the row ids that an expression finds."""
    table = dataset.to_table(filter=expression, columns=[], with_row_id=True, **scan)
    return table["_rowid"].to_pylist()


@pytest.mark.parametrize("name", ["int64", "int32", "float64", "utf8", "bool", "date32", "binary"])
def test_an_index_is_asked(tmp_path, name):
    """And says what a scan says."""
    values = columns(60)[name]
    dataset = pylanceref.write_dataset(
        pa.table({"c": values}), tmp_path / "t", max_rows_per_file=40
    )
    dataset.create_scalar_index("c", "BTREE")
    for expression in expressions("c", values, 40):
        rows = found(dataset, expression)
        assert rows == found(dataset, expression, use_scalar_index=False), str(expression)
    plan = dataset.scanner(filter=F("c") == values.drop_null()[0]).explain_plan()
    assert "ScalarIndexQuery" in plan


def test_the_data_is_not_read(tmp_path):
    """Only the pages of the index that may have a value."""
    dataset = pylanceref.write_dataset(pa.table({"c": range(100_000)}), tmp_path / "t")
    everything = index_reads(dataset, F("c") == 77)
    dataset.create_scalar_index("c", "BTREE")
    assert index_reads(dataset, F("c") == 77) * 4 < everything


@pytest.mark.oracle
@pytest.mark.parametrize(
    "name",
    ["int64", "int32", "float32", "float64", "utf8", "bool", "date32", "timestamp", "binary"],
)
def test_the_oracle_finds_the_same(tmp_path, name):
    """With an index and without."""
    import lance

    values = columns(60)[name]
    path = str(tmp_path / "t")
    lance.write_dataset(pa.table({"c": values}), path, max_rows_per_file=40)
    lance.dataset(path).create_scalar_index("c", "BTREE")
    theirs, own = lance.dataset(path), pylanceref.dataset(path)
    for expression in expressions("c", values, 60):
        rows = found(theirs, expression)
        assert sorted(found(own, expression)) == sorted(rows), str(expression)
        assert found(own, expression, use_scalar_index=False) == sorted(rows), str(expression)
