"""Choice of dictionaries."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from lanceref.codecs.choose import Kind, choose_dictionary
from lanceref.codecs.encoder_inputs import Params
from lanceref.codecs.values import FixedSizeList
from lanceref.core.file_versions import V2_1, V2_2, V2_3

from .encoded_runs import fixed, texts_of, variable


def _chosen(values, version=V2_2, params=None, kind=None):
    return choose_dictionary(values, params or Params(), version, kind or Kind())


def _strings(distinct, count=1000):
    return variable([f"{i % distinct:04d}".encode() for i in range(count)])


def test_items_stand_in_the_order_of_their_first_use():
    """Indices are those of the items."""
    indices, items = _chosen(variable([b"dog", b"cat", b"dog"] * 40))

    assert texts_of(items) == [b"dog", b"cat"]
    assert indices[:3].tolist() == [0, 1, 0]


@pytest.mark.parametrize(("count", "taken"), [(99, False), (100, True)])
def test_few_values_have_no_dictionary(count, taken):
    """Below 100 values none is made."""
    assert (_chosen(_strings(5, count)) is not None) == taken


@pytest.mark.parametrize(
    ("distinct", "kind", "taken"),
    [
        (299, Kind(), True),
        (300, Kind(), False),
        (466, Kind(wide=True), True),
        (467, Kind(wide=True), False),
    ],
)
def test_items_and_indices_must_take_four_fifths_at_most(distinct, kind, taken):
    """Strings of four bytes: 299 distinct of 1,000 do, 300 do not; wide offsets allow 466."""
    assert (_chosen(_strings(distinct), kind=kind) is not None) == taken


@pytest.mark.parametrize(
    ("values", "version", "taken"),
    [
        (fixed([7, 8] * 100, 64), V2_1, False),
        (fixed([7, 8] * 100, 64), V2_2, True),
        (fixed([7, 8] * 100, 32), V2_2, False),
        (FixedSizeList(2, 100, None, fixed([1, 2] * 100, 64)), V2_2, False),
        (FixedSizeList(2, 100, None, fixed([1, 2] * 100, 64)), V2_3, True),
    ],
)
def test_which_values_may_have_one_depends_on_the_version(values, version, taken):
    """64-bit values from 2.2 on, lists in 2.3."""
    assert (_chosen(values, version) is not None) == taken


def test_lists_come_back_from_their_items():
    """Items of lists are lists."""
    values = FixedSizeList(2, 100, None, fixed([1, 2, 3, 4] * 50, 64))

    indices, items = _chosen(values, V2_3)

    assert items.items.data.view("<u8").tolist() == [1, 2, 3, 4]
    assert np.array_equal(indices, np.arange(100) % 2)


def test_a_divisor_bounds_the_items():
    """At most a quarter of the values with divisor 4."""
    params = Params(dict_divisor=4, dict_size_ratio=1.0)

    assert _chosen(_strings(250), params=params) is not None
    assert _chosen(_strings(251), params=params) is None


@given(st.integers(1, 60), st.sampled_from(["", "a prefix longer than sixteen bytes "]))
def test_distinct_values_are_counted_as_pyarrow_counts_them(distinct, prefix):
    """As many items as a divisor allows make a dictionary, and no more, wherever values differ."""
    values = variable([f"{prefix}{i % distinct}".encode() for i in range(120)])
    params = Params(dict_divisor=4, dict_size_ratio=1e9)

    assert (_chosen(values, params=params) is not None) == (distinct <= 30)


def test_short_values_do_not_borrow_bytes_of_the_next_ones():
    """What lies after a value is no part of it: many copies of few stay few."""
    values = variable([b"x", *(f"{i % 20}".encode() for i in range(199))])

    assert _chosen(values, params=Params(dict_size_ratio=1e9)) is not None
