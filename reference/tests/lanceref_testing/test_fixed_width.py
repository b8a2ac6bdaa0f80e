"""Random fixed-width values."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest
from lanceref_testing.fixed_width import INTEGER_PATTERNS, random_fixed
from lanceref_testing.types import FAMILIES


@pytest.mark.parametrize("name", INTEGER_PATTERNS)
@pytest.mark.parametrize("bound", [2, 100, 2**62])
def test_patterns_stay_below_their_bound(name, bound):
    """Integers are at least 0 and below the bound of their type."""
    values = INTEGER_PATTERNS[name](np.random.default_rng(1), 500, bound)

    assert 500 == len(values)
    assert 0 <= values.min()
    assert values.max() < bound


@pytest.mark.parametrize(
    "family", [name for name in FAMILIES if name not in ("string", "dictionary", "null")]
)
def test_values_are_legal_for_their_type(family):
    """Every fixed-width type gets valid Arrow values, with the nulls asked for."""
    validity = np.arange(200) % 3 > 0

    for seed in range(60):
        rng = Random(seed)
        array = random_fixed(rng, FAMILIES[family](rng), validity, set())

        array.validate(full=True)
        assert validity.tolist() == array.is_valid().to_pylist()


def test_dates_in_milliseconds_are_whole_days():
    """date64 counts milliseconds and holds whole days."""
    for seed in range(20):
        array = random_fixed(Random(seed), pa.date64(), np.ones(50, np.bool_), set())

        assert not np.any(np.asarray(array.cast(pa.int64())) % 86_400_000)
