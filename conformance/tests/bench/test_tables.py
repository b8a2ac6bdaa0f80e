"""The benchmark's tables: their types and sizes."""

import numpy as np
import pyarrow as pa
import pytest
from lance_conformance.bench.tables import REFUSED, TABLES

TYPES = {
    "i32seq": pa.int32(),
    "i32small": pa.int32(),
    "i64rand": pa.int64(),
    "f32": pa.float32(),
    "fsl128": pa.list_(pa.float32(), 128),
    "bool": pa.bool_(),
    "strlow": pa.string(),
    "strhigh": pa.string(),
    "binlong": pa.binary(),
    "listi32": pa.list_(pa.int32()),
    "structnull": pa.struct([("x", pa.int32()), ("y", pa.float64())]),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_its_type_and_about_its_size(name):
    """One column `c` of the promised type; booleans have the rows of the int32 tables instead."""
    table = TABLES[name](1)
    table.validate(full=True)

    assert pa.schema([("c", TYPES[name])]) == table.schema
    if name == "bool":
        assert 2**18 == table.num_rows
    else:
        assert 0.8 <= table.nbytes / 2**20 <= 1.5


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_the_same_every_time(name):
    """The seed is fixed: figures of two runs are about the same bytes."""
    assert TABLES[name](1).equals(TABLES[name](1))


def test_values_have_the_promised_spread():
    """Ten bits, a hundred strings, a fifth and a tenth of nulls."""
    small = TABLES["i32small"](1)["c"].to_numpy()
    structs = TABLES["structnull"](1)["c"].combine_chunks()

    assert (0, 999) == (small.min(), small.max())
    assert 100 == len(TABLES["strlow"](1)["c"].unique())
    assert np.isclose(structs.null_count / len(structs), 0.1, atol=0.01)
    assert np.isclose(structs.field("x").null_count / len(structs), 0.2, atol=0.01)


def test_what_the_oracle_refuses_is_named():
    """Only tables there are."""
    assert {name for name, _ in REFUSED} <= TABLES.keys()
