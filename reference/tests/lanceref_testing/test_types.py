"""Random types."""

from collections import Counter
from random import Random

import pyarrow as pa
from hypothesis import given, settings
from lanceref.core.file_versions import V2_0, V2_2
from lanceref.core.logical_types import logical_type
from lanceref_testing.types import arrow_types, children, nesting, random_type, type_names


@settings(deadline=None)
@given(arrow_types(V2_2, max_depth=3))
def test_types_are_those_the_format_can_name(type_):
    """Every type drawn has a logical type, and is as deep as asked at most."""
    assert logical_type(type_)
    assert nesting(type_) <= 3


def test_maps_are_left_out_before_2_2():
    """2.0 cannot store maps."""
    seen = Counter(
        name for seed in range(400) for name in type_names(random_type(Random(seed), V2_0))
    )

    assert 0 == seen["map"]
    assert seen["struct"]


def test_a_seed_gives_the_same_type_again():
    """Types depend on the random source alone."""
    assert random_type(Random(7), V2_2) == random_type(Random(7), V2_2)


def test_nesting_counts_lists_structs_and_maps():
    """A leaf has depth 0, a vector too; each layer around adds one."""
    assert 0 == nesting(pa.list_(pa.float32(), 3))
    assert 2 == nesting(pa.list_(pa.struct([("a", pa.int8())])))


def test_a_census_names_every_type_in_the_tree():
    """Parameters are left out of names."""
    type_ = pa.list_(pa.struct([("t", pa.timestamp("us", "UTC")), ("d", pa.decimal128(9, 2))]))

    assert ["list", "struct", "timestamp", "decimal128"] == list(type_names(type_))
    assert [] == children(pa.list_(pa.int8(), 2))
