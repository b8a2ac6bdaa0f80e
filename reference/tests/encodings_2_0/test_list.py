"""Lists."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.errors import CorruptPage, OutOfRange, UnknownEncoding

from .building import Column, Page, all_nulls, flat, list_page, open_built, scanned, taken, words

ITEMS = Column([Page(flat(8), 3, [b"\x01\x02\x03"]), Page(flat(8), 2, [b"\x04\x05"])])


@pytest.mark.parametrize("type_", [pa.list_(pa.int8()), pa.large_list(pa.int8())])
def test_ends_count_from_the_start_of_their_page(type_):
    """The second page of offsets owns the items after those of the first."""
    pages = [
        Page(list_page(2), 3, [words(1, 1 + 3, 2)]),
        Page(list_page(3), 2, [words(0, 3)]),
    ]
    column = open_built(type_, [Column(pages), ITEMS])

    assert [[1], None, [2], [], [3, 4, 5]] == scanned(column).to_pylist()
    assert [[2], [3, 4, 5], [3, 4, 5]] == taken(column, 2, 4, 4)
    assert type_ == column.type


def test_the_items_of_a_null_list_are_passed_over():
    """A null list may own items."""
    column = open_built(
        pa.list_(pa.int8()), [Column([Page(list_page(5), 3, [words(1, 4 + 6, 5)])]), ITEMS]
    )

    assert [[1], None, [5]] == scanned(column).to_pylist()
    assert [None, [5]] == taken(column, 1, 2)


def test_empty_lists_have_an_empty_page_of_items():
    """No items at all: the item page has no rows and no buffers."""
    column = open_built(
        pa.list_(pa.int8()),
        [Column([Page(list_page(0), 2, [words(0, 0)])]), Column([Page(all_nulls(), 0, [])])],
    )

    assert [[], []] == scanned(column).to_pylist()
    assert [[]] == taken(column, 1)


@pytest.mark.parametrize(
    ("page", "error", "clause"),
    [
        (Page(list_page(5, 5), 1, [words(5)]), CorruptPage, "L.array.list.null-adjustment"),
        (Page(list_page(5), 1, [words(4)]), CorruptPage, "L.array.list.num-items"),
        (Page(list_page(5, 100), 1, [words(6)]), OutOfRange, "L.array.ends.bound"),
        (Page(list_page(5), 2, [words(5, 4)]), CorruptPage, "L.array.ends.order"),
    ],
    ids=["adjustment", "last end", "beyond the items", "decreasing"],
)
def test_impossible_ends_are_refused(page, error, clause):
    """Ends never decrease and the last one is the number of items of the page."""
    column = open_built(pa.list_(pa.int8()), [Column([page]), ITEMS])

    with pytest.raises(error) as told:
        scanned(column)

    assert clause == told.value.clause


def test_another_number_of_items_is_refused():
    """The pages of offsets own exactly the items of the item column."""
    with pytest.raises(OutOfRange, match=r"L\.array\.list\.item-column"):
        open_built(pa.list_(pa.int8()), [Column([Page(list_page(4), 1, [words(4)])]), ITEMS])


def test_pages_of_another_encoding_are_refused():
    """A list's first column has list pages."""
    with pytest.raises(UnknownEncoding, match=r"L\.array\.list\.page"):
        open_built(pa.list_(pa.int8()), [ITEMS, ITEMS])


def test_a_null_in_a_list_that_has_none_is_refused():
    """A list field that is not nullable has no null rows."""
    field = pa.field("c", pa.list_(pa.int8()), nullable=False)
    column = open_built(field, [Column([Page(list_page(5), 1, [words(5 + 6)])]), ITEMS])

    with pytest.raises(CorruptPage, match=r"L\.array\.nullable\.field"):
        scanned(column)


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.none() | st.lists(st.integers(0, 99), max_size=4), min_size=1, max_size=9),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 5),
    st.sets(st.integers(0, 30), min_size=1),
)
def test_what_is_stored_by_the_rules_reads_back(pages, cut, rows):
    """Lists survive however pages of offsets and of items are cut."""
    lists = [one for page in pages for one in page]
    items = [item for one in lists for item in one or []]
    offsets = []
    for page in pages:
        total, at, ends = sum(len(one or []) for one in page), 0, []
        for one in page:
            at += len(one or [])
            ends.append(at + (total + 1 if one is None else 0))
        offsets.append(Page(list_page(total), len(page), [words(*ends)]))
    cuts = [bytes(items[i : i + cut]) for i in range(0, len(items), cut)]
    item_pages = [Page(flat(8), len(part), [part]) for part in cuts]
    column = open_built(pa.list_(pa.uint8()), [Column(offsets), Column(item_pages)])
    wanted = sorted(row for row in rows if row < len(lists))

    assert lists == scanned(column).to_pylist()
    assert [lists[row] for row in wanted] == taken(column, *wanted)
