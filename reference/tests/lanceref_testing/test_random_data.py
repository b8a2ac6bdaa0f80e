"""Random data: what is drawn is legal, covers every shape, and is the same for the same seed."""

from collections import Counter
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.file_versions import V2_0, V2_1, V2_2, V2_3
from lanceref_testing.arrays import NULL_PATTERNS, random_array
from lanceref_testing.fixed_width import INTEGER_PATTERNS
from lanceref_testing.strings import STRING_PATTERNS
from lanceref_testing.tables import random_sample, tables


@pytest.mark.parametrize(
    ("type_", "patterns"),
    [(pa.int64(), INTEGER_PATTERNS), (pa.string(), STRING_PATTERNS)],
)
def test_every_pattern_is_drawn(type_, patterns):
    """Every value pattern and every null pattern occurs within 200 seeds."""
    seen = Counter[str]()
    for seed in range(200):
        labels: set[str] = set()
        random_array(Random(seed), type_, 20, V2_1, labels=labels)
        seen.update(labels)

    assert {f"values {name}" for name in patterns} <= set(seen)
    assert {f"nulls {name}" for name in NULL_PATTERNS} <= set(seen)


@settings(deadline=None)
@given(st.integers(0, 2**32))
def test_structs_of_2_0_are_never_null(seed):
    """Structs for 2.0, which cannot store their validity, have no nulls at any level."""
    type_ = pa.list_(pa.struct([("s", pa.struct([("a", pa.int8())]))]))

    array = random_array(Random(seed), type_, 30, V2_0)

    assert 0 == array.values.null_count
    assert 0 == array.values.field(0).null_count


@pytest.mark.parametrize("version", [V2_0, V2_1, V2_2, V2_3])
def test_a_seed_gives_the_same_table_again(version):
    """A seed determines rows, field metadata, batches and labels of a sample."""
    for seed in range(20):
        first, again = random_sample(seed, version), random_sample(seed, version)

        assert first.table.schema.equals(again.table.schema, check_metadata=True)
        assert _bytes(first.table) == _bytes(again.table)
        assert (first.batch_rows, first.cache_bytes) == (again.batch_rows, again.cache_bytes)
        assert first.labels == again.labels


def _bytes(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


@settings(deadline=None, max_examples=30)
@given(tables(V2_2, max_depth=2))
def test_tables_are_valid_arrow(sample):
    """Every sample is a valid table that is labelled with its types and depth."""
    sample.table.validate(full=True)

    assert any(label.startswith("type ") for label in sample.labels)
    assert any(label.startswith("depth ") for label in sample.labels)
