"""Random arrays."""

from collections import Counter
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.file_versions import V2_0, V2_1, V2_2
from lanceref_testing.arrays import NULL_PATTERNS, arrays, random_array
from lanceref_testing.fixed_width import INTEGER_PATTERNS
from lanceref_testing.strings import STRING_PATTERNS
from lanceref_testing.types import arrow_types


@settings(deadline=None)
@given(arrow_types(V2_2, max_depth=2).flatmap(lambda type_: arrays(type_, V2_2, 50)))
def test_arrays_are_valid_arrow(array):
    """Offsets, children and text hold together."""
    array.validate(full=True)


@pytest.mark.parametrize(
    ("type_", "patterns"),
    [(pa.int64(), INTEGER_PATTERNS), (pa.string(), STRING_PATTERNS)],
)
def test_every_pattern_is_drawn(type_, patterns):
    """All value patterns and all null patterns come up."""
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
    """2.0 has no place for the validity of a struct, at any level."""
    type_ = pa.list_(pa.struct([("s", pa.struct([("a", pa.int8())]))]))

    array = random_array(Random(seed), type_, 30, V2_0)

    assert 0 == array.values.null_count
    assert 0 == array.values.field(0).null_count


def test_a_field_that_is_not_nullable_has_no_nulls():
    """Children that cannot be null are not, under valid and null parents alike."""
    type_ = pa.struct([pa.field("a", pa.int8(), nullable=False)])

    for seed in range(50):
        assert 0 == random_array(Random(seed), type_, 30, V2_1).field(0).null_count
